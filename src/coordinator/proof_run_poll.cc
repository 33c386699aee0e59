// What a run does all the time: polls, ticks, alarms, lags, samples.
#include <algorithm>

#include "coordinator/coordinator.h"
#include "track/state.h"

namespace sp::coordinator {

void ProofRun::poll(MonotonicTime now) {
  if (now < next_poll_ && !more_) return;
  tick_if_due(now);
  const bool counters = now >= next_counters_ || stage_ > Stage::kLoad;
  if (counters) next_counters_ = now + std::chrono::seconds{1};
  more_ = fleet_.poll(*ledger_, now, announced_ > ticked_ ? announced_ : 0, counters);
  if (!more_) next_poll_ = now + options_.limits.poll_period;
  complete_tick(now);
  take_alarms(now);
  watch_lag(now);
  journal_.faults(faults());
}

void ProofRun::tick_if_due(MonotonicTime now) {
  if (announced_ > ticked_ || now < next_tick_) return;
  ++announced_;
  next_tick_ = now + options_.proof.check_point_interval;
}

void ProofRun::complete_tick(MonotonicTime now) {
  if (announced_ == ticked_ || !ledger_->answered(announced_)) return;
  journal_.tick(announced_, now);
  ledger_->tick(announced_, now);
  ticked_ = announced_;
  if (hooks_.ticked) hooks_.ticked(ticked_, now);
  std::rotate(tick_times_.begin(), tick_times_.end() - 1, tick_times_.end());
  tick_times_.front() = now;
  sample(now);
}

// A tick that is announced from now on; what happened before it is known once it is complete.
void ProofRun::want_barrier(MonotonicTime now) {
  barrier_ = announced_ + 1;
  barrier_wanted_ = now;
  next_tick_ = now;
  next_poll_ = now;
}

void ProofRun::take_alarms(MonotonicTime now) {
  for (const auto& alarm : ledger_->take_alarms()) {
    ++report_.alarms;
    if (hooks_.alarm) hooks_.alarm(alarm, ledger_->key_name(alarm.key));
    if (++noticed_[alarm.code] > options_.limits.noticed_max) continue;
    report_.facts.noticed.push_back({alarm.code, alarm.group, alarm.key, alarm.sequence.value(), alarm.position,
                                     tick_times_.back(), now});
  }
}

// With many partitions and groups a look takes longer, so there are fewer.
void ProofRun::watch_lag(MonotonicTime now) {
  if (stage_ < Stage::kLoad || stage_ > Stage::kStopConsumers) return;
  const track::State& state = ledger_->state();
  const std::size_t looked_at = state.partitions.size() * state.groups.size();
  if (looked_at > options_.limits.lag_places_max && now - lag_looked_ < std::chrono::seconds{1}) return;
  lag_looked_ = now;
  places_.assign(state.partitions.size(), {});
  for (std::size_t at = 0; at < places_.size(); ++at) {
    std::uint64_t reached = ~std::uint64_t{0};
    for (const auto& group : state.groups) {
      reached = std::min(reached, at < group.partitions.size() ? group.partitions[at].reached : 0);
    }
    places_[at] = {state.partitions[at].acked_end, reached};
  }
  lag_.look(places_, faults(), now);
}

std::span<const core::FaultRecord> ProofRun::faults() const {
  const std::vector<core::FaultRecord>* all = hooks_.faults ? hooks_.faults() : nullptr;
  return all == nullptr ? std::span<const core::FaultRecord>() : *all;
}

void ProofRun::note_delta(const track::Delta& delta) {
  journal_.saw(delta, now_);
  if (stage_ != Stage::kRawRead) return;
  raw_.rows_came = raw_.rows_came || !delta.rows.empty();
  for (const auto& row : delta.rows) raw_.note(row);
}

// The series never outgrows samples_max: when it is full, every second point goes and the rest of
// the run is sampled half as often.
void ProofRun::sample(MonotonicTime now) {
  if (!loaded_) return;
  auto& samples = report_.samples;
  const Nanoseconds at = now - report_.load_begin;
  if (!samples.empty() && at - samples.back().at < sample_interval_) return;
  if (samples.size() >= options_.limits.samples_max) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); i += 2) samples[kept++] = samples[i];
    samples.resize(kept);
    sample_interval_ =
        std::max(2 * sample_interval_, 2 * Nanoseconds{options_.proof.check_point_interval});
  }
  samples.push_back({at, ledger_->progress(), ledger_->counts_so_far()});
}

}  // namespace sp::coordinator

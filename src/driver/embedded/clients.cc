#include "driver/embedded/clients.h"

#include <algorithm>

#include "base/check.h"
#include "core/payload.h"

namespace sp::driver::embedded {
namespace {

constexpr std::size_t kRawRecordsMax = 4'096;  // of one step

void show_record(Batch& batch, const Batch::Item& item, core::RunId run, std::size_t payload_bytes,
                 core::Observation& observation) {
  char* const at = batch.bytes.data() + item.at;
  observation.name = std::string_view(at, item.name_bytes);
  auto* const payload = reinterpret_cast<std::byte*>(at + item.name_bytes);
  if (item.flip > 0) payload[item.flip - 1] ^= std::byte{0x10};
  const auto reading = core::read_record({payload, item.payload_bytes}, observation.name, run,
                                          payload_bytes == 0 ? item.payload_bytes : payload_bytes);
  observation.content = reading.content;
  observation.sequence = reading.fields.sequence;
  observation.asked_partition = core::PartitionId(reading.fields.partition);
  if (reading.content == core::Content::kIntact) observation.published = reading.fields.published;
}

// Passes on what the batch holds. Not under the broker's lock.
void pass_on(Batch& batch, core::RunId run, std::size_t payload_bytes, core::ObservationSink& sink) {
  if (!batch.items.empty()) {
    sink.begin();
    for (const auto& item : batch.items) {
      core::Observation observation = item.observation;
      if (observation.event == core::Event::kDeliver || observation.event == core::Event::kRaw) {
        show_record(batch, item, run, payload_bytes, observation);
      } else if (item.name_bytes > 0) {
        observation.text = std::string_view(batch.bytes.data() + item.at, item.name_bytes);
      }
      sink.observe(observation);
    }
    sink.end();
  }
  batch.clear();
}

}  // namespace

EmbeddedProducer::EmbeddedProducer(State& state, Topic& topic, const ProducerSpec& spec) : state_(state) {
  core_.spec = spec;
  core_.topic = &topic;
  const std::lock_guard lock(state_.mutex);
  state_.producers.push_back(&core_);
}

EmbeddedProducer::~EmbeddedProducer() {
  if (!open_) return;
  const std::lock_guard lock(state_.mutex);
  const MonotonicTime now = state_.clock.now();
  state_.flush_producer(core_, now);
  state_.forget_acks(core_, now, nullptr);
  leave();
}

void EmbeddedProducer::leave() {
  open_ = false;
  std::erase(state_.producers, &core_);
}

SendStatus EmbeddedProducer::send(const core::Envelope& envelope, core::KeyRef key) {
  CHECK(open_, "nothing is sent after a close");
  const std::lock_guard lock(state_.mutex);
  const MonotonicTime now = state_.clock.now();
  state_.pump(now);
  return state_.send(core_, envelope, key, now);
}

void EmbeddedProducer::wait_for_acks(std::unique_lock<std::mutex>& lock, MonotonicTime until) {
  if (state_.options.simulated) return;
  core_.waiting = true;
  for (MonotonicTime now = state_.clock.now(); now < until; now = state_.clock.now()) {
    state_.pump(now);
    std::optional<MonotonicTime> next = state_.next_timer();
    if (!core_.acks.empty() && (!next || core_.acks.top().due < *next)) next = core_.acks.top().due;
    if (state_.frozen(now)) next = state_.frozen_until;
    if (next && *next <= now) break;
    state_.clock.wait_until(lock, core_.condition, next ? std::min(*next, until) : until);
  }
  core_.waiting = false;
}

std::size_t EmbeddedProducer::poll(Nanoseconds wait, core::ObservationSink& sink) {
  {
    std::unique_lock lock(state_.mutex);
    const MonotonicTime begin = state_.clock.now();
    if (wait > Nanoseconds{0}) wait_for_acks(lock, begin + wait);
    const MonotonicTime now = state_.clock.now();
    state_.pump(now);
    if (!state_.frozen(now)) state_.collect_acks(core_, now, now, batch_);
  }
  const std::size_t outcomes = batch_.items.size();
  pass_on(batch_, core::RunId(0), 0, sink);
  return outcomes;
}

std::size_t EmbeddedProducer::in_flight() const {
  const std::lock_guard lock(state_.mutex);
  return core_.acks.size() + core_.held;
}

void EmbeddedProducer::close(Nanoseconds wait, core::ObservationSink& sink) {
  if (!open_) return;
  {
    std::unique_lock lock(state_.mutex);
    const MonotonicTime until = state_.clock.now() + wait;
    state_.flush_producer(core_, state_.clock.now());
    while (!state_.options.simulated && !core_.acks.empty() && state_.clock.now() < until) {
      wait_for_acks(lock, until);
      const MonotonicTime now = state_.clock.now();
      if (!state_.frozen(now)) state_.collect_acks(core_, now, now, batch_);
    }
    // A simulation does not wait: what would be due within `wait` is told now.
    const MonotonicTime now = state_.clock.now();
    const MonotonicTime told_until = state_.options.simulated ? until : now;
    if (!state_.frozen(told_until)) state_.collect_acks(core_, told_until, now, batch_);
    state_.forget_acks(core_, now, &batch_);
    leave();
  }
  pass_on(batch_, core::RunId(0), 0, sink);
}

EmbeddedConsumer::EmbeddedConsumer(State& state, Topic& topic, const ConsumerSpec& spec)
    : state_(state), topic_(topic), run_(spec.run), payload_bytes_(spec.payload_bytes) {
  const std::lock_guard lock(state_.mutex);
  const std::string name = spec.group_name.empty() ? "consumer " + spec.name : spec.group_name;
  const auto found = topic_.groups.find(name);
  if (found != topic_.groups.end()) {
    group_ = &found->second;
  } else {
    const auto partitions = static_cast<std::uint32_t>(topic_.partitions.size());
    group_ = &topic_.groups.emplace(std::piecewise_construct, std::forward_as_tuple(name),
                                    std::forward_as_tuple(name, partitions)).first->second;
  }
  state_.book.add_group(name);
  const MonotonicTime now = state_.clock.now();
  member_ = &group_->add(spec, now);
  group_->join(*member_, now);
  state_.wake_all();
}

EmbeddedConsumer::~EmbeddedConsumer() {
  if (member_ == nullptr) return;
  const std::lock_guard lock(state_.mutex);
  member_->crashed = true;
  member_->seen = state_.clock.now();
  member_->rejoin_at.reset();
}

std::size_t EmbeddedConsumer::poll(std::size_t records_max, Nanoseconds wait, core::ObservationSink& sink) {
  CHECK(member_ != nullptr, "nothing is polled after a close");
  {
    std::unique_lock lock(state_.mutex);
    const MonotonicTime until = state_.clock.now() + wait;
    while (true) {
      const MonotonicTime now = state_.clock.now();
      const bool asked = std::any_of(member_->lineages.begin(), member_->lineages.end(), [](const Lineage& lineage) {
        return lineage.revoking && !lineage.announced;
      });
      state_.collect(topic_, *group_, *member_, records_max, now, batch_);
      if (!batch_.items.empty() || asked || state_.options.simulated || now >= until) break;
      auto next = state_.next_of(topic_, *group_, *member_, now);
      if (const auto timer = state_.next_timer(); timer && (!next || *timer < *next)) next = timer;
      if (state_.frozen(now)) next = state_.frozen_until;
      member_->waiting = true;
      // What is ready now but was not passed cannot become ready by waiting less than a moment.
      const MonotonicTime soonest = now + std::chrono::microseconds{20};
      state_.clock.wait_until(lock, member_->condition, next ? std::min(std::max(*next, soonest), until) : until);
      member_->waiting = false;
    }
  }
  const std::size_t deliveries = batch_.deliveries;
  pass_on(batch_, run_, payload_bytes_, sink);
  return deliveries;
}

std::vector<core::PartitionId> EmbeddedConsumer::revoking() const {
  std::vector<core::PartitionId> partitions;
  const std::lock_guard lock(state_.mutex);
  if (member_ == nullptr) return partitions;
  for (const auto& lineage : member_->lineages) {
    if (lineage.revoking && !lineage.lost) partitions.push_back(core::PartitionId(lineage.partition));
  }
  return partitions;
}

void EmbeddedConsumer::release(core::ObservationSink& sink) {
  {
    const std::lock_guard lock(state_.mutex);
    if (member_ == nullptr) return;
    state_.release(*group_, *member_, state_.clock.now(), batch_);
  }
  pass_on(batch_, run_, payload_bytes_, sink);
}

void EmbeddedConsumer::commit(std::span<const CommitPoint> points, core::ObservationSink& sink) {
  {
    const std::lock_guard lock(state_.mutex);
    if (member_ == nullptr) return;
    state_.commit(topic_, *group_, *member_, points, state_.clock.now(), batch_);
  }
  pass_on(batch_, run_, payload_bytes_, sink);
}

std::size_t EmbeddedConsumer::commits_open() const {
  const std::lock_guard lock(state_.mutex);
  return member_ == nullptr ? 0 : member_->commits.size();
}

void EmbeddedConsumer::pause(bool paused) {
  const std::lock_guard lock(state_.mutex);
  if (member_ != nullptr) member_->paused = paused;
}

void EmbeddedConsumer::close(Nanoseconds wait, core::ObservationSink& sink) {
  if (member_ == nullptr) return;
  {
    std::unique_lock lock(state_.mutex);
    const MonotonicTime until = state_.clock.now() + wait;
    while (!state_.options.simulated && !member_->commits.empty() && state_.clock.now() < until) {
      const MonotonicTime now = state_.clock.now();
      if (!state_.frozen(now)) state_.collect_commits(*group_, *member_, now, now, batch_);
      if (member_->commits.empty()) break;
      const MonotonicTime due = std::max(member_->commits.front().due, state_.frozen_until);
      state_.clock.wait_until(lock, member_->condition, std::min(due, until));
    }
    state_.close_member(*group_, *member_, state_.options.simulated ? until : state_.clock.now(), state_.clock.now(),
                        batch_);
    member_ = nullptr;
  }
  pass_on(batch_, run_, payload_bytes_, sink);
}

EmbeddedRawReader::EmbeddedRawReader(State& state, Topic& topic, const RawSpec& spec)
    : state_(state), topic_(topic), spec_(spec) {}

// The next records of the current target, at most kRawRecordsMax, and its end if that was reached.
void EmbeddedRawReader::read_some(MonotonicTime now) {
  const RawTarget& target = spec_.targets[target_];
  const PartitionLog& log = topic_.partitions[target.partition.value()].log;
  core::Observation edge;
  edge.event = core::Event::kRawBegin;
  edge.time = now;
  edge.partition = target.partition;
  edge.offset = target.begin;
  edge.end = target.end;
  if (!begun_) {
    begun_ = true;
    next_ = target.begin.value();
    batch_.items.push_back({edge, 0, 0, 0, 0});
  }
  const std::uint64_t end = std::min(target.end.value(), log.end());
  next_ = std::max(next_, log.begin());
  for (; next_ < end && batch_.deliveries < kRawRecordsMax; ++next_) {
    const LogRecord record = log.at(next_);
    ++batch_.deliveries;
    if (record.empty) continue;
    core::Observation raw = edge;
    raw.event = core::Event::kRaw;
    raw.offset = core::Offset(next_);
    raw.end = core::Offset(0);
    raw.has_position = true;
    if (record.marked) state_.book.read({target.partition, raw.offset});
    batch_.items.push_back({raw, batch_.bytes.size(), record.key.size(), record.payload.size(), 0});
    batch_.bytes.append(record.key);
    batch_.bytes.append(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  }
  if (next_ < end) return;
  edge.event = core::Event::kRawEnd;
  edge.reached = log.end() >= target.end.value();
  batch_.items.push_back({edge, 0, 0, 0, 0});
  ++target_;
  begun_ = false;
}

Result<bool> EmbeddedRawReader::step(Nanoseconds wait, core::ObservationSink& sink) {
  {
    std::unique_lock lock(state_.mutex);
    MonotonicTime now = state_.clock.now();
    if (state_.frozen(now) && !state_.options.simulated) {
      std::condition_variable nobody;
      state_.clock.wait_until(lock, nobody, std::min(now + wait, state_.frozen_until));
      now = state_.clock.now();
    }
    if (state_.frozen(now)) return false;
    while (target_ < spec_.targets.size() && batch_.deliveries < kRawRecordsMax) read_some(now);
  }
  pass_on(batch_, spec_.run, spec_.payload_bytes, sink);
  return target_ >= spec_.targets.size();
}

}  // namespace sp::driver::embedded

#include "workload/producer_loop.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"

namespace sp::workload {

using core::Event;
using core::Observation;

namespace {

// Keys looked at for one slot, so that a step stays short however many are blocked.
constexpr std::uint32_t kKeysTriedMax = 256;
// Batches in one step before outcomes are looked at.
constexpr int kBatchesInStepMax = 4;
constexpr std::size_t kOpenBytesMax = std::size_t{64} << 20;
// Records handed over at once, and what their payloads may hold: they are written and read again while the cache has them.
constexpr std::size_t kHandedOverMax = 64;
constexpr std::size_t kHandedOverBytesMax = std::size_t{64} << 10;
constexpr std::size_t kIndexDigitsMax = 10;

OpenAttempts::Options open_options(const ProducerOptions& options) {
  OpenAttempts::Options open;
  open.keys = options.keys;
  open.partitions = options.partitions;
  open.open_max = std::clamp<std::size_t>(kOpenBytesMax / options.payload_bytes, 16, options.open_max);
  return open;
}

}  // namespace

ProducerLoop::ProducerLoop(ProducerOptions options, std::unique_ptr<driver::Producer> producer, Evidence& evidence,
                           const MonotonicClock& clock, const WallClock& wall)
    : options_(std::move(options)),
      producer_(std::move(producer)),
      evidence_(evidence),
      clock_(clock),
      wall_(wall),
      stats_(fmt::format("producer {}", options_.index)),
      open_(open_options(options_)),
      outcomes_(options_.payload_bytes, open_, evidence_, stats_, clock_),
      pacing_(options_.rate, options_.catch_up_max) {
  CHECK(options_.payload_bytes >= core::kPayloadBytesMin, "validation refuses shorter payloads");
  staged_.reserve(options_.batch_max);
  for (Observation& invoke : invokes_) {
    invoke.event = Event::kInvoke;
    invoke.process = options_.index;
  }
  make_places();
}

MonotonicTime ProducerLoop::step(MonotonicTime now) {
  if (phase_ == Phase::kDone) return kNever;
  if (phase_ == Phase::kNew) {
    pacing_.start(now);
    phase_ = Phase::kSending;
  }
  if (phase_ == Phase::kSending && stop_) begin_drain(now);
  Nanoseconds wait{};
  MonotonicTime due = kNever;
  if (phase_ == Phase::kSending) {
    const Sent sent = send_due(now);
    wait = wait_after(sent);
    if (sent == Sent::kBlocked) note_blocked(now);
    if (sent == Sent::kBatchLimit) due = now;
    if (sent == Sent::kAllDue && !pacing_.unlimited() && options_.keys > 0) due = pacing_.next();
  } else {
    wait = producer_->in_flight() == 0 ? Nanoseconds{0} : options_.waits.until(drain_deadline_ - now);
  }
  producer_->poll(wait, outcomes_);
  const MonotonicTime after = clock_.now();
  if (phase_ == Phase::kDraining && (producer_->in_flight() == 0 || after >= drain_deadline_)) {
    finish();
    return kNever;
  }
  // Unlimited on a virtual clock: as fast as steps come, or time would stand still.
  if (pacing_.unlimited()) due = kNever;
  return options_.waits.next(after, due);
}

Nanoseconds ProducerLoop::wait_after(Sent sent) const {
  if (!options_.waits.blocking() || sent == Sent::kBatchLimit) return Nanoseconds{0};
  if (sent == Sent::kBlocked) {
    // With more keys than one slot tries, the next try may find one that is free.
    const bool tried_all = options_.keys <= kKeysTriedMax;
    return tried_all ? options_.waits.poll_max : options_.waits.poll_min;
  }
  if (options_.keys == 0) return options_.waits.poll_max;
  return options_.waits.until(pacing_.next() - clock_.now());
}

ProducerLoop::Sent ProducerLoop::send_due(MonotonicTime now) {
  bool key_free = true;
  Sent sent = Sent::kBatchLimit;
  for (int batch = 0; batch < kBatchesInStepMax; ++batch) {
    if (!send_staged() || !key_free) {
      sent = Sent::kBlocked;
      break;
    }
    if (options_.keys == 0 || pacing_.due(now) == 0) {
      sent = Sent::kAllDue;
      break;
    }
    if (evidence_.held_back()) {
      sent = Sent::kBlocked;
      break;
    }
    key_free = stage(now);
  }
  // What the last round staged goes out in this step too.
  if (sent == Sent::kBatchLimit && !send_staged()) sent = Sent::kBlocked;
  return sent;
}

bool ProducerLoop::stage(MonotonicTime now) {
  const std::uint64_t due = pacing_.due(now);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(due, options_.batch_max));
  bool key_free = true;
  std::size_t uncalled = 0;  // of invokes_
  stats_.lock();
  evidence_.begin();
  while (staged_.size() < wanted) {
    const auto key = pick();
    if (!key) {
      ++put_off_;
      key_free = false;
      break;
    }
    const core::Sequence sequence = open_.open(*key, pacing_.take(now));
    Observation& invoke = invokes_[uncalled++];
    invoke.time = now;
    invoke.key = {options_.block, *key};
    invoke.sequence = sequence;
    staged_.push_back({*key, sequence});
    if (uncalled == invokes_.size()) evidence_.observe_all(std::span(invokes_).first(std::exchange(uncalled, 0)));
  }
  evidence_.observe_all(std::span(invokes_).first(uncalled));
  evidence_.end();
  stats_.counts.attempts += staged_.size();
  stats_.counts.queue_full += std::exchange(put_off_, 0);
  stats_.counts.slots_dropped = pacing_.dropped();
  stats_.unlock();
  return key_free;
}

void ProducerLoop::note_blocked(MonotonicTime now) {
  (void)pacing_.due(now);  // gives up what is too old
  const std::lock_guard lock(stats_);
  stats_.counts.queue_full += std::exchange(put_off_, 0);
  stats_.counts.slots_dropped = pacing_.dropped();
}

std::optional<std::uint32_t> ProducerLoop::pick() {
  if (open_.size() >= open_.limit()) return std::nullopt;
  const std::uint32_t tries = std::min(options_.keys, kKeysTriedMax);
  for (std::uint32_t tried = 0; tried < tries; ++tried) {
    const std::uint32_t key = cursor_;
    cursor_ = cursor_ + 1 == options_.keys ? 0 : cursor_ + 1;
    if (!open_.may_open(key)) continue;
    if (tried > 0) ++put_off_;  // the slot of the one whose turn it was
    return key;
  }
  return std::nullopt;
}

// A place for each record that is handed over at once: its key, whose prefix stays there, and its payload.
void ProducerLoop::make_places() {
  const std::size_t places = std::clamp<std::size_t>(kHandedOverBytesMax / options_.payload_bytes, 1,
                                                     std::min(options_.batch_max, kHandedOverMax));
  outgoing_.resize(places);
  payloads_.resize(places * options_.payload_bytes);
  key_bytes_ = options_.key_prefix.size() + kIndexDigitsMax;
  for (std::size_t i = 0; i < places; ++i) keys_.append(options_.key_prefix).append(kIndexDigitsMax, ' ');
}

void ProducerLoop::write(std::size_t place, const Staged& record, core::PayloadFields& fields) {
  char* const name = keys_.data() + place * key_bytes_;
  const char* const end = std::to_chars(name + options_.key_prefix.size(), name + key_bytes_, record.key).ptr;
  const std::string_view key(name, static_cast<std::size_t>(end - name));
  const std::span<std::byte> payload(payloads_.data() + place * options_.payload_bytes, options_.payload_bytes);
  fields.sequence = record.sequence;
  core::write_payload(fields, key, payload);
  driver::Outgoing& out = outgoing_[place];
  out.key = {options_.block, record.key};
  out.envelope.key = key;
  out.envelope.sequence = record.sequence;
  out.envelope.payload = payload;
}

bool ProducerLoop::send_staged() {
  if (staged_begin_ == staged_.size()) return true;
  core::PayloadFields fields;
  fields.run = options_.run;
  fields.incarnation = options_.incarnation;
  fields.published = wall_.now();
  while (staged_begin_ < staged_.size()) {
    const std::size_t count = std::min(outgoing_.size(), staged_.size() - staged_begin_);
    for (std::size_t i = 0; i < count; ++i) write(i, staged_[staged_begin_ + i], fields);
    const std::size_t taken = producer_->send_all(std::span(outgoing_).first(count));
    staged_begin_ += taken;
    if (taken < count) {
      ++put_off_;
      open_.refused(producer_->in_flight());
      return false;
    }
  }
  staged_.clear();
  staged_begin_ = 0;
  return true;
}

void ProducerLoop::observe_all(Event event, std::string_view why,
                               const std::vector<OpenAttempts::Attempt>& attempts) {
  Observation outcome;
  outcome.event = event;
  outcome.process = options_.index;
  outcome.time = clock_.now();
  outcome.text = why;
  outcomes_.begin();
  for (const OpenAttempts::Attempt& attempt : attempts) {
    outcome.key = {options_.block, attempt.key};
    outcome.sequence = attempt.sequence;
    outcomes_.observe(outcome);
  }
  outcomes_.end();
}

void ProducerLoop::begin_drain(MonotonicTime now) {
  phase_ = Phase::kDraining;
  drain_deadline_ = now + options_.close_wait;
  std::vector<OpenAttempts::Attempt> never_sent;
  for (; staged_begin_ < staged_.size(); ++staged_begin_) {
    never_sent.push_back({staged_[staged_begin_].key, staged_[staged_begin_].sequence});
  }
  staged_.clear();
  staged_begin_ = 0;
  if (!never_sent.empty()) observe_all(Event::kFail, "the client library's queue stayed full to the end", never_sent);
}

void ProducerLoop::finish() {
  producer_->close(Nanoseconds{0}, outcomes_);
  producer_.reset();
  const auto left = open_.all();
  if (!left.empty()) observe_all(Event::kInfo, "the driver closed without an outcome", left);
  {
    const std::lock_guard lock(stats_);
    stats_.counts.queue_full += put_off_;
    stats_.counts.slots_dropped = pacing_.dropped();
  }
  phase_ = Phase::kDone;
  done_ = true;
}

}  // namespace sp::workload

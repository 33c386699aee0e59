// A clean stream of acked and received observations through Recorder, Ledger and judge: what a judge of a history cannot be faster than.
//
//     Order, which key next ─► Stream, acks and deliveries ─► Replay: run(records) … finish() ─► Judgement
//
// The stream is made as it goes, so that the memory measured is not the bench's.
//
// Shape:    each record is one ack and one delivery; deltas of 8,192 records, a tick every 10 million.
// Limits:   none.   Errors: none.   Threads: one owner.   Source: ledger_bench.cc, check_bench.cc.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/prng.h"
#include "core/observation.h"
#include "judge/judge.h"
#include "track/ledger.h"
#include "track/recorder.h"

namespace sp::bench {

constexpr std::uint32_t kReplayPartitions = 12;
constexpr std::uint64_t kRecordsBetweenTicks = 10'000'000;

// The order in which keys are written: round robin, which needs no memory, or drawn beforehand.
class Order {
 public:
  Order(std::uint32_t keys, bool random) : keys_(keys), drawn_(random ? kDrawn : 0) {
    Prng prng(7);
    for (auto& key : drawn_) key = static_cast<std::uint32_t>(prng.below(keys));
  }
  [[nodiscard]] std::uint32_t keys() const { return keys_; }
  [[nodiscard]] bool random() const { return !drawn_.empty(); }
  std::uint32_t next() {
    if (random()) return drawn_[turn_++ & (kDrawn - 1)];
    const std::uint32_t key = at_;
    at_ = at_ + 1 == keys_ ? 0 : at_ + 1;
    return key;
  }

 private:
  static constexpr std::size_t kDrawn = std::size_t{1} << 22U;
  std::uint32_t keys_;
  std::vector<std::uint32_t> drawn_;
  std::uint64_t turn_ = 0;
  std::uint32_t at_ = 0;
};

// The stream: what was acked, and a batch later what was handed over. In order, a key's sequence is the number of the round.
class Stream {
 public:
  Stream(Order& order, std::uint32_t block) : order_(order), block_(block), offsets_(kReplayPartitions) {
    if (order.random()) next_.resize(order.keys());
    ack_.event = core::Event::kOk;
    ack_.has_position = true;
    batch_.resize(kBatch, ack_);
    for (auto& delivery : batch_) delivery.event = core::Event::kDeliver;
  }
  // Up to `records_max` records, each acked and received; how many.
  std::uint64_t step(track::Recorder& recorder, std::uint64_t records_max) {
    const std::uint64_t filled = std::min<std::uint64_t>(records_max, kBatch);
    for (std::uint64_t i = 0; i < filled; ++i) {
      const std::uint32_t key = order_.next();
      const std::uint32_t partition = key % kReplayPartitions;
      ack_.key = {block_, key};
      ack_.sequence = core::Sequence{sequence_of(key)};
      ack_.partition = core::PartitionId{partition};
      ack_.offset = core::Offset{offsets_[partition]++};
      recorder.observe(ack_);
      core::Observation& delivery = batch_[i];
      delivery.key = ack_.key;
      delivery.sequence = ack_.sequence;
      delivery.partition = ack_.partition;
      delivery.offset = ack_.offset;
    }
    for (std::uint64_t i = 0; i < filled; ++i) recorder.observe(batch_[i]);
    return filled;
  }

 private:
  static constexpr std::size_t kBatch = 256;

  std::uint64_t sequence_of(std::uint32_t key) {
    if (!next_.empty()) return next_[key]++;
    if (key == 0) ++round_;
    return round_ - 1;
  }

  Order& order_;
  std::uint32_t block_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> next_;
  std::uint64_t round_ = 0;
  core::Observation ack_;
  std::vector<core::Observation> batch_;
};

inline track::LedgerOptions ledger_options(core::RunId run) {
  track::LedgerOptions options;
  options.run = run;
  options.contract.at_least_once = true;
  options.contract.ordering = true;
  options.contract.raw_read = core::RawReadScope::kNone;
  options.contract.timeout = std::chrono::seconds(30);
  return options;
}

class Replay {
 public:
  explicit Replay(Order& order)
      : ledger_(ledger_options(kRun)),
        recorder_(kSource, kRun),
        stream_(order, recorder_.keys().block({kSource, 0})) {
    ledger_.declare({kSource, 0}, order.keys());
    ledger_.expect(kSource);
    core::Observation assigned;
    assigned.event = core::Event::kAssign;
    assigned.has_start = true;
    for (std::uint32_t p = 0; p < kReplayPartitions; ++p) {
      assigned.partition = core::PartitionId{p};
      recorder_.observe(assigned);
    }
  }

  void run(std::uint64_t records) {
    const std::uint64_t end = records_ + records;
    while (records_ < end) {
      const std::uint64_t cut = std::min(end, records_ + kRecordsInDelta);
      while (records_ < cut) records_ += stream_.step(recorder_, cut - records_);
      pass();
      if (records_ / kRecordsBetweenTicks != ticks_) tick();
    }
  }
  void tick() {
    ++ticks_;
    core::Observation answer;
    answer.event = core::Event::kTick;
    answer.number = ticks_;
    recorder_.observe(answer);
    pass();
    ledger_.tick(ticks_, clock_.now());
  }
  judge::Judgement finish() {
    ledger_.close_load();
    ledger_.close_consumers(clock_.now());
    ledger_.finish();
    return judge::judge(ledger_, ledger_options(kRun).contract, {});
  }
  [[nodiscard]] std::size_t ledger_bytes() const { return ledger_.bytes(); }

 private:
  static constexpr core::RunId kRun{42};
  static constexpr core::SourceId kSource{0, 1};
  static constexpr std::uint64_t kRecordsInDelta = 8192;

  void pass() {
    if (auto delta = recorder_.hand_over(false)) ledger_.apply(std::move(*delta));
  }

  SystemMonotonicClock clock_;
  track::Ledger ledger_;
  track::Recorder recorder_;
  Stream stream_;
  std::uint64_t records_ = 0;
  std::uint64_t ticks_ = 0;
};

}  // namespace sp::bench

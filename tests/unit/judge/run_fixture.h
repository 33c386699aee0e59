// A run told in verbs and judged: worker 0 produces keys of one block, worker 1 consumes for the first group; one record stands where its
// sequence says unless a test says otherwise.
//
// Errors: none.   Threads: one.   Source: docs/algebra.md 5.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "judge/judge.h"
#include "track/recorder.h"
#include "track/state.h"

namespace sp::judge {

struct At {
  std::uint32_t key = 0;
  std::uint32_t partition = 0;
  std::optional<std::uint64_t> offset = std::nullopt;  // absent: the sequence
  std::uint32_t consumer = 0;
  bool placed = true;
  core::Content content = core::Content::kIntact;
};

class RunTest : public testing::Test {
 protected:
  static constexpr core::RunId kRun{7};

  // Before the first verb.
  core::Contract contract_;
  RunFacts facts_;
  std::vector<std::string> groups_ = {"g"};
  JudgeOptions judge_options_;
  track::LedgerLimits limits_;
  std::uint32_t keys_ = 4;

  RunTest() {
    contract_.at_least_once = true;
    contract_.timeout = std::chrono::seconds(10);
    contract_.raw_read = core::RawReadScope::kNone;
  }
  track::Ledger& ledger() {
    if (ledger_) return *ledger_;
    track::LedgerOptions options;
    options.run = kRun;
    options.contract = contract_;
    options.groups = groups_;
    options.limits = limits_;
    ledger_ = std::make_unique<track::Ledger>(std::move(options));
    ledger_->declare({{0, 1}, 0}, keys_);
    for (const std::uint32_t worker : {0U, 1U, 2U}) ledger_->expect({worker, 1});
    return *ledger_;
  }
  void attempt(core::Event event, std::uint64_t s, const At& at = {}) {
    core::Observation seen = about(event, s, at);
    seen.key = {block_, at.key};
    seen.has_position = event == core::Event::kOk && at.placed;
    producer_.observe(seen);
  }
  void ack(std::uint64_t first, std::uint64_t last, const At& at = {}) {
    for (auto s = first; s <= last; ++s) attempt(core::Event::kOk, s, at);
  }
  void deliver(std::uint64_t first, std::uint64_t last, const At& at = {}) { deliver_to(consumer_, first, last, at); }
  void deliver_to(track::Recorder& reader, std::uint64_t first, std::uint64_t last, const At& at = {}) {
    for (auto s = first; s <= last; ++s) {
      core::Observation seen = about(core::Event::kDeliver, s, at);
      seen.key = {reader.keys().block({{0, 1}, 0}), at.key};
      seen.has_position = at.placed;
      seen.content = at.content;
      reader.observe(seen);
    }
  }
  void assign(track::Recorder& reader, std::optional<std::uint64_t> generation, std::optional<std::uint64_t> start, const At& at = {}) {
    core::Observation seen = about(core::Event::kAssign, 0, at);
    seen.has_generation = generation.has_value();
    seen.generation = core::Generation{generation.value_or(0)};
    seen.has_start = start.has_value();
    seen.start = core::Offset{start.value_or(0)};
    reader.observe(seen);
  }
  void commit(track::Recorder& reader, std::uint64_t next, const At& at = {}) {
    At where = at;
    where.offset = next;
    reader.observe(about(core::Event::kCommitInvoke, 0, where));
    reader.observe(about(core::Event::kCommitOk, 0, where));
  }
  void report() {
    for (track::Recorder* recorder : {&producer_, &consumer_, &other_}) {
      if (!recorder->cut(false)) continue;
      for (const auto* delta : recorder->pending(recorder->acknowledged())) ledger().apply(*delta);
      recorder->acknowledge(recorder->last_cut());
    }
    ledger().round();
    ledger().round();
  }
  void tick(std::int64_t second) {
    ++tick_;
    for (track::Recorder* recorder : {&producer_, &consumer_, &other_}) {
      core::Observation seen;
      seen.event = core::Event::kTick;
      seen.number = tick_;
      recorder->observe(seen);
    }
    report();
    ledger().tick(tick_, MonotonicTime{std::chrono::seconds(second)});
  }
  // What the raw read finds of the partition: [begin, end) with these records (key 0, sequence at offset).
  struct Stands {
    std::uint64_t sequence = 0;
    std::uint64_t offset = 0;
    core::Content content = core::Content::kIntact;
    std::uint32_t key = 0;
  };
  void raw_read(std::uint64_t begin, std::uint64_t end, const std::vector<Stands>& records, std::uint32_t partition = 0) {
    close();
    const track::RawRange bounds{core::PartitionId{partition}, core::Offset{begin}, core::Offset{end}};
    for (const auto& range : ledger().raw_targets({bounds}, contract_.raw_read)) {
      core::Observation bound;
      bound.event = core::Event::kRawBegin;
      bound.partition = range.partition;
      bound.offset = range.begin;
      bound.end = range.end;
      consumer_.observe(bound);
      for (const auto& [sequence, offset, content, key] : records) {
        if (offset < range.begin.value() || offset >= range.end.value()) continue;
        core::Observation raw = about(core::Event::kRaw, sequence, {.partition = partition, .offset = offset});
        raw.key = {consumer_.keys().block({{0, 1}, 0}), key};
        raw.has_position = true;
        raw.content = content;
        consumer_.observe(raw);
      }
      bound.event = core::Event::kRawEnd;
      bound.reached = true;
      consumer_.observe(bound);
    }
    facts_.raw_read_complete = true;
    report();
  }
  void close() {
    if (std::exchange(closed_, true)) return;
    report();
    ledger().close_load();
    ledger().close_consumers(MonotonicTime{std::chrono::seconds(judged_at_)});
  }
  const Judgement& judged() {
    close();
    ledger().finish();
    judgement_ = judge(ledger(), contract_, facts_, judge_options_);
    return judgement_;
  }
  std::uint64_t count(core::Code code) const { return judgement_.counts[code]; }
  // "lost 3..4 by log; …"
  std::string found() const {
    std::string text;
    for (const auto& one : judgement_.findings) {
      text += std::string(core::code_row(one.code).name) + " " + std::to_string(one.first) + ".." + std::to_string(one.last);
      if (one.blame != core::Blame::kNone) text += " by " + std::string(core::blame_name(one.blame));
      text += "; ";
    }
    return text;
  }

  std::int64_t judged_at_ = 1000;
  track::Recorder producer_{core::SourceId{0, 1}, kRun};
  track::Recorder consumer_{core::SourceId{1, 1}, kRun};
  track::Recorder other_{core::SourceId{2, 1}, kRun};
  std::uint32_t block_ = producer_.keys().block({{0, 1}, 0});
  std::unique_ptr<track::Ledger> ledger_;
  Judgement judgement_;

 private:
  static core::Observation about(core::Event event, std::uint64_t s, const At& at) {
    core::Observation seen;
    seen.event = event;
    seen.sequence = core::Sequence{s};
    seen.partition = core::PartitionId{at.partition};
    seen.offset = core::Offset{at.offset.value_or(s)};
    seen.process = at.consumer;
    return seen;
  }
  std::uint64_t tick_ = 0;
  bool closed_ = false;
};

}  // namespace sp::judge

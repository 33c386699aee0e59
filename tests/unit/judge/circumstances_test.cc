#include "judge/circumstances.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "track/recorder.h"

namespace sp::judge {
namespace {

using namespace std::chrono_literals;
using core::Event;
using core::Observation;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr core::RunId kRun{7};

MonotonicTime at(double seconds) {
  return MonotonicTime{std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(seconds))};
}

// Worker 0 produces to key 0 of partition 0, worker 1 consumes it; position = sequence. The run began at 1 s, the load at 2 s,
// the judgement is at 99 s; the timeout is 10 s.
class CircumstancesTest : public testing::Test {
 protected:
  CircumstancesTest() {
    facts_.raw_read_complete = true;
    facts_.times = RunTimes{at(1), WallTime{1000h}, at(2), at(99)};
    contract_.at_least_once = true;
    contract_.timeout = 10s;
    contract_.raw_read = core::RawReadScope::kHoles;
    track::LedgerOptions options;
    options.run = kRun;
    options.contract = contract_;
    ledger_ = std::make_unique<track::Ledger>(std::move(options));
    ledger_->declare({{0, 1}, 0}, 1);
    ledger_->expect({0, 1});
    ledger_->expect({1, 1});
  }
  Observation about(Event event, std::uint32_t block, std::uint64_t sequence) const {
    Observation observation;
    observation.event = event;
    observation.key = {block, 0};
    observation.sequence = core::Sequence{sequence};
    observation.offset = core::Offset{sequence};
    observation.has_position = true;
    observation.process = consumer_;
    return observation;
  }
  void ack(std::uint64_t first, std::uint64_t last) {
    for (auto s = first; s <= last; ++s) producer_.observe(about(Event::kOk, block_, s));
  }
  void deliver(std::uint64_t first, std::uint64_t last) {
    for (auto s = first; s <= last; ++s) reader_.observe(about(Event::kDeliver, block_seen_, s));
  }
  void assign(std::uint32_t consumer, std::uint64_t generation, std::uint64_t start) {
    consumer_ = consumer;
    Observation observation = about(Event::kAssign, 0, 0);
    observation.has_generation = observation.has_start = true;
    observation.generation = core::Generation{generation};
    observation.start = core::Offset{start};
    reader_.observe(observation);
  }
  void revoke() { reader_.observe(about(Event::kRevoke, 0, 0)); }
  // What was seen so far reaches the ledger.
  void report() {
    for (track::Recorder* recorder : {&producer_, &reader_}) {
      if (!recorder->cut(false)) continue;
      for (const auto* delta : recorder->pending(recorder->acknowledged())) ledger_->apply(*delta);
      recorder->acknowledge(recorder->last_cut());
    }
    ledger_->round();
  }
  void tick(double seconds) {
    ++tick_;
    for (track::Recorder* recorder : {&producer_, &reader_}) {
      Observation observation;
      observation.event = Event::kTick;
      observation.number = tick_;
      recorder->observe(observation);
    }
    report();
    ledger_->tick(tick_, at(seconds));
  }
  void notice(core::Code code, std::uint64_t sequence, double since, double seconds) {
    for (const auto& alarm : ledger_->take_alarms()) {
      if (alarm.code != code || alarm.sequence.value() != sequence) continue;
      facts_.noticed.push_back({code, alarm.group, alarm.key, sequence, alarm.position, at(since), at(seconds)});
    }
    ASSERT_FALSE(facts_.noticed.empty());
  }
  void fault(std::uint64_t number, std::string name, double begin, std::optional<double> end, std::optional<double> recovered) {
    core::FaultRecord one;
    one.number = number;
    one.name = std::move(name);
    one.begin = at(begin);
    one.effect_seen = at(begin);
    if (end) one.end = at(*end);
    if (recovered) one.recovered = at(*recovered);
    facts_.faults.push_back(one);
  }
  // Ends the run at `seconds`; the finding of the code, of which there must be one.
  Finding finish(core::Code code, double seconds) {
    ledger_->close_load();
    ledger_->close_consumers(at(seconds));
    (void)ledger_->raw_targets({{core::PartitionId{0}, core::Offset{0}, core::Offset{100}}}, core::RawReadScope::kHoles);
    ledger_->finish();
    judgement_ = judge(*ledger_, contract_, facts_);
    const auto& all = judgement_.findings;
    const auto is = [code](const Finding& one) { return one.code == code; };
    EXPECT_EQ(std::count_if(all.begin(), all.end(), is), 1);
    const auto found = std::find_if(all.begin(), all.end(), is);
    return found == all.end() ? Finding{} : *found;
  }
  // "consumer 1 generation 2 from 5 to 9, open"
  static std::vector<std::string> told(const Finding& finding) {
    std::vector<std::string> lines;
    for (const auto& lineage : finding.lineages) {
      std::string line = lineage.consumer.substr(lineage.consumer.find("consumer"));
      line += " generation " + std::to_string(lineage.generation->value());
      if (lineage.first) {
        line += " from " + std::to_string(lineage.first->value()) + " to " + std::to_string(lineage.next->value());
      }
      lines.push_back(line + ", " + std::string(lineage.closed));
    }
    return lines;
  }

  track::Recorder producer_{core::SourceId{0, 1}, kRun};
  track::Recorder reader_{core::SourceId{1, 1}, kRun};
  std::uint32_t block_ = producer_.keys().block({{0, 1}, 0});
  std::uint32_t block_seen_ = reader_.keys().block({{0, 1}, 0});
  std::uint32_t consumer_ = 0;
  std::uint64_t tick_ = 0;
  core::Contract contract_;
  RunFacts facts_;
  std::unique_ptr<track::Ledger> ledger_;
  Judgement judgement_;
};

TEST_F(CircumstancesTest, ALossIsEstablishedByTheTickAtWhichItWasOverdue) {
  assign(0, 1, 0);
  tick(3);
  ack(0, 9);
  deliver(0, 3);
  deliver(5, 9);
  tick(5);
  tick(10);
  tick(15.5);
  const Finding lost = finish(core::Code::kLost, 20);
  EXPECT_EQ(lost.first, 4U);
  EXPECT_EQ(lost.time, 14500ms);
  EXPECT_EQ(lost.wall, WallTime{1000h} + 14500ms);
}

TEST_F(CircumstancesTest, ALossBeforeItsDeadlineIsEstablishedByTheJudgement) {
  assign(0, 1, 0);
  tick(3);
  ack(0, 9);
  deliver(0, 8);
  report();
  const Finding lost = finish(core::Code::kLost, 5);
  EXPECT_EQ(lost.time, 98s);
}

TEST_F(CircumstancesTest, FaultsAreThoseFeltBetweenTheAckAndTheEstablishing) {
  assign(0, 1, 0);
  tick(3);
  tick(6);
  ack(0, 9);
  deliver(0, 8);
  tick(9);  // knows the ack: it came after 6
  tick(19);
  fault(1, "over-before", 3, 5, 5.9);
  fault(2, "still-felt", 3, 5, 6.1);
  fault(3, "inside", 8, 8.5, 8.7);
  fault(4, "never-recovered", 4, 5, std::nullopt);
  fault(5, "inside", 18, 30, 31);
  fault(6, "begun-after", 19.5, 30, 31);
  fault(7, "never-ended", 4, std::nullopt, std::nullopt);
  fault(8, "dud", 3, 5, std::nullopt);
  facts_.faults.back().effect_seen.reset();
  const Finding lost = finish(core::Code::kLost, 30);
  EXPECT_EQ(lost.time, 18s);
  EXPECT_THAT(lost.faults, ElementsAre("still-felt", "inside", "never-recovered", "never-ended"));
  EXPECT_THAT(lost.fault_numbers, ElementsAre(2, 3, 4, 5, 7));
}

TEST_F(CircumstancesTest, WhatWasNoticedOnTheWayIsEstablishedThen) {
  assign(0, 1, 0);
  tick(3);
  ack(0, 9);
  deliver(0, 9);
  deliver(7, 7);
  report();
  notice(core::Code::kDuplicateDelivery, 7, 4, 6);
  tick(8);
  fault(1, "before", 2, 3, 3.5);
  fault(2, "inside", 5, 5.5, 5.7);
  fault(3, "after", 6.5, 7, 7);
  const Finding twice = finish(core::Code::kDuplicateDelivery, 20);
  EXPECT_EQ(twice.time, 5s);
  EXPECT_THAT(twice.faults, ElementsAre("inside"));
}

TEST_F(CircumstancesTest, WhatNobodyNoticedIsAboutTheWholeLoad) {
  assign(0, 1, 0);
  tick(3);
  ack(0, 9);
  deliver(0, 9);
  deliver(7, 7);
  tick(8);
  fault(1, "before-the-load", 1, 1.5, 1.7);
  fault(2, "long-ago", 2.5, 3, 3.5);
  const Finding twice = finish(core::Code::kDuplicateDelivery, 20);
  EXPECT_EQ(twice.time, 98s);
  EXPECT_THAT(twice.faults, ElementsAre("long-ago"));
}

TEST_F(CircumstancesTest, ARangeHasTheEarliestMomentOfItsRecords) {
  assign(0, 1, 0);
  tick(3);
  ack(0, 4);
  deliver(0, 3);  // 4 is missing from here on
  tick(5);
  ack(5, 9);      // and 5 from here on
  deliver(6, 9);
  tick(8);
  tick(16);
  tick(19);
  const Finding lost = finish(core::Code::kLost, 20);
  EXPECT_EQ(lost.first, 4U);
  EXPECT_EQ(lost.last, 5U);
  EXPECT_EQ(lost.time, 15s);
}

TEST_F(CircumstancesTest, WithoutTimesAFindingHasNone) {
  facts_.times.reset();
  fault(1, "kill-leader", 3, 5, 6);
  assign(0, 1, 0);
  ack(0, 9);
  deliver(0, 8);
  tick(5);
  const Finding lost = finish(core::Code::kLost, 20);
  EXPECT_EQ(lost.time, std::nullopt);
  EXPECT_EQ(lost.wall, std::nullopt);
  EXPECT_THAT(lost.faults, IsEmpty());
}

TEST_F(CircumstancesTest, ALossPassedOverNamesTheConsumerThatWentPastAndWhoReadThere) {
  ack(0, 9);
  assign(0, 1, 0);
  deliver(0, 3);
  revoke();
  assign(1, 2, 5);
  deliver(5, 9);
  tick(5);
  facts_.raw_read_complete = false;
  const Finding lost = finish(core::Code::kLost, 20);
  EXPECT_EQ(lost.first, 4U);
  EXPECT_THAT(told(lost), ElementsAre("consumer 0 generation 1 from 0 to 4, revoked", "consumer 1 generation 2 from 5 to 10, open"));
}

TEST_F(CircumstancesTest, OfManyLineagesTheNearestAreNamed) {
  ack(0, 59);
  for (std::uint32_t i = 0; i < 12; ++i) {
    assign(i, i + 1, i * 5);
    if (i == 6) deliver(31, 34);
    if (i != 6) deliver(i * 5, i * 5 + 4);
    revoke();
  }
  tick(5);
  const Finding lost = finish(core::Code::kLost, 20);
  EXPECT_EQ(lost.first, 30U);
  ASSERT_EQ(lost.lineages.size(), Circumstances::kLineagesMax);
  EXPECT_EQ(told(lost)[2], "consumer 6 generation 7 from 31 to 35, revoked");
  EXPECT_EQ(told(lost).front(), "consumer 4 generation 5 from 20 to 25, revoked");
  EXPECT_EQ(told(lost).back(), "consumer 8 generation 9 from 40 to 45, revoked");
}

}  // namespace
}  // namespace sp::judge

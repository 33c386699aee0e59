#include "coordinator/coordinator.h"

#include <gtest/gtest.h>

#include "unit/coordinator/fake_worker.h"

namespace sp::coordinator {
namespace {

using namespace std::chrono_literals;
using judge::Status;

// A run over fake workers, its time turned by hand.
class ProofRunTest : public testing::Test {
 protected:
  std::vector<std::string> calls;
  std::vector<std::unique_ptr<FakeWorker>> workers;
  std::vector<std::string> said;
  std::vector<std::string> alarms;
  std::vector<core::FaultRecord> faults;
  std::optional<WallTime> started;
  std::unique_ptr<ProofRun> run;
  proof::Proof proof;
  RunLimits limits;
  MonotonicTime now{1s};

  ProofRunTest() {
    proof.at_least_once = true;
    proof.ordering = true;
    proof.partitions = 1;
    proof.producers = 1;
    proof.consumers = 1;
    proof.keys = 1;
    proof.duration = 10s;
    proof.check_point_interval = 2s;
    proof.timeout = 5s;
    proof.final_wait = 3s;
  }

  FakeWorker& worker(std::size_t index = 0) {
    while (workers.size() <= index) {
      workers.push_back(std::make_unique<FakeWorker>(calls));
      workers.back()->partitions = proof.partitions;
    }
    return *workers[index];
  }

  void begin() {
    worker();
    std::vector<control::WorkerPort*> ports;
    for (auto& one : workers) {
      one->partitions = proof.partitions;
      ports.push_back(one.get());
    }
    RunHooks hooks;
    hooks.message = [this](std::string_view text) { said.emplace_back(text); };
    hooks.alarm = [this](const track::Alarm& alarm, const std::string& key) {
      alarms.push_back(std::string(core::code_row(alarm.code).name) + " " + key);
    };
    hooks.faults = [this] { return &faults; };
    run = std::make_unique<ProofRun>(
        RunOptions{core::RunId{7}, proof, "program 1", started, limits, {}}, ports, hooks);
  }

  // Steps until `until` or the end, at most `longest` of the run's time.
  void go(const std::function<bool()>& until = [] { return false; }, Nanoseconds longest = 300s) {
    if (!run) begin();
    const MonotonicTime end = now + longest;
    while (!run->done() && !until() && now < end) {
      const MonotonicTime next = run->step(now);
      if (!run->done() && !until()) now = std::max(next, now);
    }
  }
  void go_to(Stage stage) {
    go([&] { return run->stage() == stage; });
    ASSERT_EQ(stage_name(run->stage()), stage_name(stage));
  }
  void go_for(Nanoseconds span) {
    const MonotonicTime end = now + span;
    go([&] { return now >= end; });
  }

  // A fault that was felt, released and over at once.
  static core::FaultRecord fault_at(MonotonicTime time) {
    core::FaultRecord fault;
    fault.number = 1;
    fault.name = "kill-leader";
    fault.begin = time;
    fault.effect_seen = fault.released = fault.end = time;
    return fault;
  }
  // The calls in their order, each name once in a row, ticks left out.
  std::string story() const {
    std::string text;
    std::string last;
    for (const auto& call : calls) {
      if (call == "tick" || call == last) continue;
      text += (text.empty() ? "" : " ") + call;
      last = call;
    }
    return text;
  }
  bool heard(std::string_view part) const {
    for (const auto& text : said) {
      if (text.find(part) != std::string::npos) return true;
    }
    return false;
  }
  Status status() const { return run->report().judgement.status; }
};

TEST_F(ProofRunTest, CleanRunTakesTheSixStepsInOrderAndPasses) {
  proof.raw_read = core::RawReadScope::kFull;
  go();
  EXPECT_EQ(story(),
            "prepare create-topic start-consumers start-producers stop-producers stop-consumers "
            "log-bounds raw-read "
            "delete-topic remove");
  EXPECT_EQ(status(), Status::kPassed) << run->report().judgement.reasons.size();
  EXPECT_TRUE(run->report().facts.raw_read_complete);
  EXPECT_GE(run->report().judgement.coverage.acked, 99U);
  EXPECT_EQ(run->report().load, 10s);
}

TEST_F(ProofRunTest, ConsumersAreAssignedBeforeAnythingIsProduced) {
  worker().assigns = false;
  go([&] { return now >= MonotonicTime{20s}; });
  EXPECT_EQ(stage_name(run->stage()), "assign");
  worker().assigns = true;
  go_to(Stage::kLoad);
}

// No worker can know of a group that it holds a part of only.
TEST_F(ProofRunTest, ConsumersBeyondThePartitionsOfTheirGroupAreNotWaitedFor) {
  proof.workers = 2;
  proof.producers = 2;
  proof.keys = 2;
  proof.groups = 2;
  proof.consumers = 6;  // three of each group
  proof.partitions = 2;
  worker(1);
  begin();
  worker(0).assigned = 2;
  worker(1).assigned = 1;
  go_for(10s);
  EXPECT_EQ(stage_name(run->stage()), "assign") << "a partition of one group is nobody's yet";
  worker(1).assigned = 2;
  go_for(1s);
  EXPECT_EQ(stage_name(run->stage()), "load");
}

TEST_F(ProofRunTest, ConsumersThatAreNeverAssignedEndTheRunThroughTheWholeEnd) {
  worker().assigns = false;
  go();
  EXPECT_TRUE(heard("1 of 1 consumers were never assigned"));
  EXPECT_EQ(story(),
            "prepare create-topic start-consumers stop-producers stop-consumers log-bounds remove");
  EXPECT_EQ(status(), Status::kInconclusive);
}

TEST_F(ProofRunTest, TickIsAnnouncedOnlyAfterEveryWorkerAnsweredTheOneBefore) {
  proof.workers = 2;
  proof.producers = proof.consumers = 2;
  proof.keys = proof.partitions = 2;
  worker(1).answers_ticks = false;
  begin();
  go_to(Stage::kLoad);
  go_for(7s);
  EXPECT_EQ(worker(0).ticks, std::vector<std::uint64_t>{1});
  EXPECT_EQ(worker(1).ticks, std::vector<std::uint64_t>{1});
  EXPECT_TRUE(run->report().samples.empty());
}

// Its last evidence may be missing, so this is no pass; but it is an end.
TEST_F(ProofRunTest, WorkerThatNeverAnswersATickAgainDelaysTheEndButNotForEver) {
  begin();
  go_to(Stage::kLoad);
  go_for(3s);
  worker().answers_ticks = false;
  go();
  ASSERT_TRUE(run->done()) << stage_name(run->stage());
  EXPECT_EQ(status(), Status::kInconclusive);
  EXPECT_TRUE(heard("worker 0 did not answer tick 2 within 30 s of the stop of the producers"));
  EXPECT_TRUE(heard("of the stop of the consumers"));
  EXPECT_EQ(story(),
            "prepare create-topic start-consumers start-producers stop-producers stop-consumers log-bounds remove");
  EXPECT_LT(now, MonotonicTime{100s});
}

TEST_F(ProofRunTest, TicksComeEveryCheckPointIntervalAndMakeSamples) {
  begin();
  go_to(Stage::kLoad);
  go_for(9s);
  EXPECT_EQ(worker().ticks, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  ASSERT_EQ(run->report().samples.size(), 4U);
  EXPECT_EQ(run->report().samples[0].at, 2s);
  EXPECT_EQ(run->report().samples[3].at, 8s);
}

TEST_F(ProofRunTest, EvidenceIsAcknowledgedOnceItWasTaken) {
  begin();
  go_to(Stage::kLoad);
  go_for(1s);
  EXPECT_GE(worker().acknowledged, 8U);
}

TEST_F(ProofRunTest, UnreachableBrokerAtTheStartIsOneSentence) {
  worker().topic_error = "no broker of localhost:1 answers";
  go();
  EXPECT_EQ(report::exit_code(run->report()), 3);
  EXPECT_EQ(run->report().failure,
            "topic " + run->report().topic + ": no broker of localhost:1 answers");
  EXPECT_EQ(story(), "prepare create-topic remove");
}

TEST_F(ProofRunTest, ConsumerThatIsRefusedBeforeTheLoadCannotRun) {
  worker().consumers_fail = true;
  go();
  EXPECT_EQ(report::exit_code(run->report()), 3);
  EXPECT_NE(run->report().failure.find("READ on GROUP"), std::string::npos);
}

TEST_F(ProofRunTest, WhatIsRefusedBeforeAnythingWentThroughIsToldAndCannotRun) {
  proof.groups = 2;
  worker().delivers = false;
  worker().consumers_refused = "consumer 0: needs READ on topic 't'";
  go();
  EXPECT_EQ(report::exit_code(run->report()), 3);
  EXPECT_EQ(run->report().failure, "worker 0: consumer 0: needs READ on topic 't'");
  EXPECT_EQ(story(), "prepare create-topic start-consumers start-producers remove");
  EXPECT_LT(now, MonotonicTime{5s}) << "long before the load is over";
}

TEST_F(ProofRunTest, AllThatIsRefusedIsToldTogether) {
  worker().acknowledges = false;
  begin();
  go_to(Stage::kLoad);
  worker().consumers_refused = "consumer 0: needs READ on topic 't'";
  go_for(1s);
  worker().producers_refused = "producer 0: needs WRITE on topic 't'";
  go();
  EXPECT_EQ(run->report().failure,
            "worker 0: consumer 0: needs READ on topic 't'; and worker 0: producer 0: needs WRITE on topic 't'");
}

TEST_F(ProofRunTest, RefusalInALoadThatIsOverSoonerThanItCountsCannotRunEither) {
  proof.duration = 1s;
  worker().delivers = false;
  begin();
  go_to(Stage::kLoad);
  worker().consumers_refused = "consumer 0: needs READ on topic 't'";
  proof.final_wait = 0s;
  go();
  EXPECT_EQ(report::exit_code(run->report()), 3);
}

TEST_F(ProofRunTest, RefusalThatIsOverInTimeChangesNothing) {
  worker().consumers_refused = "consumer 0: unknown member";
  worker().delivers = false;
  begin();
  go_to(Stage::kLoad);
  go_for(1s);
  worker().consumers_refused.clear();
  worker().delivers = true;
  worker().deliver_rest();
  go();
  EXPECT_EQ(status(), Status::kPassed);
}

TEST_F(ProofRunTest, RefusalAfterSomethingWentThroughIsMissingEvidenceAndNoLoss) {
  const auto run_it = [this](const std::string& refusal) {
    run.reset();
    workers.clear();
    now = MonotonicTime{1s};
    begin();
    go_to(Stage::kLoad);
    go_for(2s);
    worker().delivers = false;
    worker().consumers_refused = refusal;
    go();
  };
  proof.raw_read = core::RawReadScope::kHoles;
  run_it("consumer 0: needs READ on topic 't'");
  EXPECT_EQ(status(), Status::kInconclusive);
  EXPECT_EQ(run->report().judgement.counts[core::Code::kLost], 0U);
  EXPECT_GT(run->report().judgement.undecided, 0U);
  EXPECT_TRUE(heard("the consumers of group r00000007-0 were refused to the end"));
  EXPECT_TRUE(heard("needs READ on topic 't'"));
  run_it("");
  EXPECT_EQ(status(), Status::kFailed) << "the same without a refusal is lost";
}

TEST_F(ProofRunTest, WhatTheRawReadProvesIsLostWhoeverWasRefused) {
  begin();
  go_to(Stage::kLoad);
  go_for(2s);
  worker().delivers = false;
  worker().consumers_refused = "consumer 0: needs READ on topic 't'";
  worker().gone = {50};
  go();
  EXPECT_EQ(status(), Status::kFailed);
  ASSERT_EQ(run->report().judgement.counts[core::Code::kLost], 1U);
  EXPECT_EQ(run->report().judgement.findings.front().blame, core::Blame::kLog);
}

TEST_F(ProofRunTest, WhatNobodyMayLookForIsNotLost) {
  begin();
  go_to(Stage::kLoad);
  go_for(2s);
  worker().delivers = false;
  worker().raw_read_denied = true;
  go();
  EXPECT_EQ(status(), Status::kInconclusive);
  EXPECT_EQ(run->report().judgement.counts[core::Code::kLost], 0U);
  EXPECT_TRUE(run->report().facts.raw_read_refused);
  EXPECT_TRUE(heard("needs READ on topic 't'"));
}

TEST_F(ProofRunTest, ProducersRefusedToTheEndAreMissingEvidence) {
  begin();
  go_to(Stage::kLoad);
  go_for(2s);
  worker().acknowledges = false;
  worker().producers_refused = "producer 0: needs WRITE on topic 't'";
  go();
  EXPECT_EQ(status(), Status::kInconclusive);
  EXPECT_TRUE(heard("producers were refused to the end of the load: worker 0: producer 0: needs WRITE"));
}

TEST_F(ProofRunTest, ConsumersThatAreNeverAssignedAreToldWithTheirLastWords) {
  worker().assigns = false;
  worker().says = "consumer 3: the coordinator is loading";
  go();
  EXPECT_TRUE(heard("the last that a client reported: worker 0: consumer 3: the coordinator is loading"));
}

TEST_F(ProofRunTest, TopicWithFewerPartitionsThanAskedIsRefused) {
  begin();
  worker().partitions = 0;
  go();
  EXPECT_NE(run->report().failure.find("has 0 partitions, 1 were asked for"), std::string::npos);
}

TEST_F(ProofRunTest, NothingIsReadOfTheLogWhenNothingIsMissing) {
  go();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "raw-read"), 0);
  EXPECT_TRUE(run->report().facts.raw_read_complete);
  EXPECT_EQ(status(), Status::kPassed);
}

TEST_F(ProofRunTest, StopRunsTheWholeEndAndSaysStopped) {
  proof.raw_read = core::RawReadScope::kFull;
  begin();
  go_to(Stage::kLoad);
  go_for(3s);
  run->stop();
  go();
  EXPECT_EQ(story(),
            "prepare create-topic start-consumers start-producers stop-producers stop-consumers "
            "log-bounds raw-read remove");
  EXPECT_TRUE(run->report().facts.stopped);
  EXPECT_EQ(status(), Status::kStopped);
}

TEST_F(ProofRunTest, StopWhileWaitingForPartitionsIsStoppedToo) {
  worker().assigns = false;
  begin();
  go_to(Stage::kAssign);
  run->stop();
  go();
  EXPECT_TRUE(run->report().facts.stopped);
  EXPECT_EQ(story(),
            "prepare create-topic start-consumers stop-producers stop-consumers log-bounds remove");
  EXPECT_NE(status(), Status::kPassed);
}

TEST_F(ProofRunTest, StopAfterTheLoadChangesNothing) {
  worker().delivers = false;
  begin();
  go_to(Stage::kFinalWait);
  run->stop();
  worker().deliver_rest();
  go();
  EXPECT_FALSE(run->report().facts.stopped);
  EXPECT_EQ(status(), Status::kPassed);
}

TEST_F(ProofRunTest, InterruptEndsAtOnce) {
  worker().delivers = false;
  begin();
  go_to(Stage::kLoad);
  go_for(3s);
  run->stop();
  run->step(now);
  run->interrupt();
  run->step(now);
  EXPECT_TRUE(run->done());
  EXPECT_TRUE(run->report().facts.interrupted);
  EXPECT_EQ(run->report().judgement.counts[core::Code::kLost], 0U);
  EXPECT_NE(status(), Status::kPassed);
  EXPECT_EQ(story(), "prepare create-topic start-consumers start-producers stop-producers remove");
}

TEST_F(ProofRunTest, WorkerThatStaysAwayIsLostAndTheOthersGoOn) {
  proof.workers = 2;
  proof.producers = proof.consumers = 2;
  proof.keys = proof.partitions = 2;
  worker(1);
  begin();
  go_to(Stage::kLoad);
  go_for(3s);
  worker(1).away = true;
  go();
  EXPECT_TRUE(heard("worker 1: lost: connection refused"));
  ASSERT_EQ(run->report().facts.workers_lost.size(), 1U);
  EXPECT_NE(run->report().facts.workers_lost[0].find("worker 1 with its 1 keys"),
            std::string::npos);
  EXPECT_EQ(status(), Status::kInconclusive);
  EXPECT_GE(worker(0).ticks.size(), 3U);
}

TEST_F(ProofRunTest, WorkerThatComesBackInTimeWasNeverLost) {
  begin();
  go_to(Stage::kLoad);
  worker().away = true;
  go_for(5s);
  worker().away = false;
  go();
  EXPECT_FALSE(heard("lost"));
  EXPECT_EQ(status(), Status::kPassed);
}

TEST_F(ProofRunTest, WorkerThatComesBackLateBringsItsEvidence) {
  proof.duration = 30s;
  begin();
  go_to(Stage::kLoad);
  go_for(2s);
  worker().away = true;
  go_for(12s);
  EXPECT_TRUE(heard("worker 0: lost"));
  worker().away = false;
  go();
  EXPECT_TRUE(heard("worker 0: back"));
  EXPECT_TRUE(run->report().facts.workers_lost.empty());
}

TEST_F(ProofRunTest, NothingEverAcknowledgedIsInconclusive) {
  worker().acknowledges = false;
  go();
  EXPECT_EQ(status(), Status::kInconclusive);
  EXPECT_EQ(run->report().judgement.coverage.acked, 0U);
}

TEST_F(ProofRunTest, UndeliveredRecordsAreWaitedForAndThenRead) {
  worker().delivers = false;
  go();
  EXPECT_NE(status(), Status::kPassed);
  const auto& timings = run->report().timings;
  const auto wait = std::find_if(timings.begin(), timings.end(),
                                 [](const auto& one) { return one.stage == "final-wait"; });
  ASSERT_NE(wait, timings.end());
  EXPECT_EQ(wait->took, 3s);
  EXPECT_FALSE(run->report().topic_deleted);
}

TEST_F(ProofRunTest, LogThatDoesNotShowItsEndYetIsAskedAgain) {
  proof.raw_read = core::RawReadScope::kFull;
  worker().bounds_behind = 3;
  go();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "log-bounds"), 4);
  EXPECT_EQ(status(), Status::kPassed);
}

TEST_F(ProofRunTest, BrokersKilledForGoodLeaveTheRawReadIncomplete) {
  proof.timeout = 600s;  // no record is past its deadline: nothing is proven
  worker().delivers = false;
  worker().bounds_error = "all brokers down";
  go();
  EXPECT_FALSE(run->report().facts.raw_read_complete);
  EXPECT_EQ(run->report().facts.raw_read_problem, "all brokers down");
  EXPECT_EQ(status(), Status::kInconclusive);
}

TEST_F(ProofRunTest, SystemThatIsGoneAtTheEndIsNeverAPassThoughAllWasReceived) {
  worker().bounds_error = "all brokers down";
  go();
  EXPECT_EQ(status(), Status::kInconclusive);
}

TEST_F(ProofRunTest, RawReadThatCannotStartSaysWhy) {
  proof.raw_read = core::RawReadScope::kFull;
  worker().raw_read_error = "no right to read";
  go();
  EXPECT_EQ(run->report().facts.raw_read_problem, "no right to read");
  EXPECT_EQ(status(), Status::kInconclusive);
}

TEST_F(ProofRunTest, TopicIsKeptWhenAskedOrWhenItWasThereBefore) {
  proof.keep_topic = true;
  go();
  EXPECT_FALSE(run->report().topic_deleted);
  run.reset();
  proof.keep_topic = false;
  proof.topic_exists = proof::TopicExists::kReuse;
  workers.clear();
  go();
  EXPECT_FALSE(run->report().topic_deleted);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "delete-topic"), 0);
}

TEST_F(ProofRunTest, FaultKindWithoutEffectIsNamed) {
  proof.chaos = {"kill-leader:every=3s", "freeze-leader:at=1s"};
  core::FaultRecord kill;
  kill.number = 1;
  kill.name = "kill-leader";
  kill.effect_seen = now;
  core::FaultRecord dud = kill;
  dud.number = 2;
  dud.effect_seen.reset();
  faults = {kill, dud};
  go();
  EXPECT_EQ(run->report().facts.faults_without_effect, std::vector<std::string>{"freeze-leader"});
  EXPECT_EQ(run->report().facts.faults.size(), 2U);
  EXPECT_EQ(status(), Status::kInconclusive);
}

TEST_F(ProofRunTest, DuplicateRaisesItsAlarmWithinASecond) {
  begin();
  go_to(Stage::kLoad);
  go_for(1s);
  ASSERT_TRUE(alarms.empty());
  worker().deliver_last_again();
  go_for(900ms);
  ASSERT_EQ(alarms.size(), 1U);
  EXPECT_EQ(alarms[0].substr(0, 20), "duplicate-delivery r");
}

TEST_F(ProofRunTest, WhatIsNoticedOnTheWayKeepsItsTime) {
  started = WallTime{1000h};
  begin();
  const MonotonicTime first_step = now;
  go_to(Stage::kLoad);
  go_for(1s);
  worker().deliver_last_again();
  const MonotonicTime sent = now;
  go();
  ASSERT_EQ(run->report().judgement.findings.size(), 1U);
  const judge::Finding& finding = run->report().judgement.findings.front();
  EXPECT_GE(*finding.time, sent - first_step);
  EXPECT_LE(*finding.time, sent - first_step + 300ms);
  EXPECT_EQ(finding.wall, WallTime{1000h} + *finding.time);
}

TEST_F(ProofRunTest, ALossIsEstablishedAtTheTickThatFoundItOverdueAndNamesTheFaultsMeanwhile) {
  begin();
  go_to(Stage::kLoad);
  faults = {fault_at(now)};  // recovered within a second
  go_for(3s);                // tick 1 was at 2 s
  worker().delivers = false;
  faults.push_back(fault_at(now + 100ms));
  faults.back().number = 2;
  faults.back().name = "freeze-leader";
  go();
  ASSERT_EQ(run->report().judgement.findings.size(), 1U);
  const judge::Finding& lost = run->report().judgement.findings.front();
  // Known at tick 2, 4 s into the load, overdue 5 s later: found by the tick at 10 s, or that of the end.
  const Nanoseconds load_begin = run->report().load_begin - run->report().facts.times->begin;
  EXPECT_GE(*lost.time - load_begin, 9s);
  EXPECT_LE(*lost.time - load_begin, 10500ms);
  EXPECT_EQ(lost.wall, std::nullopt);
  EXPECT_EQ(lost.faults, std::vector<std::string>{"freeze-leader"});
}

TEST_F(ProofRunTest, RecoveryAndStalenessAreMeasuredOnTheWay) {
  begin();
  go_to(Stage::kLoad);
  go_for(3s);
  worker().delivers = false;
  faults = {fault_at(now)};
  faults[0].released = faults[0].end = std::nullopt;
  go_for(2s);
  faults[0].released = faults[0].end = now;
  const MonotonicTime released = now;
  go_for(1s);
  worker().delivers = true;
  worker().deliver_rest();
  const MonotonicTime mended = now;
  go();
  const report::Report& report = run->report();
  ASSERT_TRUE(report.facts.faults[0].recovered) << report.facts.faults[0].no_recovery;
  EXPECT_GE(*report.facts.faults[0].recovered, mended);
  EXPECT_LE(*report.facts.faults[0].recovered, mended + 400ms);
  EXPECT_GE(*report.facts.faults[0].recovered - released, 1s);
  EXPECT_GE(*report.staleness, 3s);
  EXPECT_LE(*report.staleness, 3500ms);
}

TEST_F(ProofRunTest, AFaultThatTheLoadDidNotOutliveHasNoRecovery) {
  proof.chaos = {"kill-leader:at=9s"};
  begin();
  go_to(Stage::kLoad);
  faults = {fault_at(now + 10s)};
  go();
  EXPECT_EQ(run->report().facts.faults[0].recovered, std::nullopt);
  EXPECT_NE(run->report().facts.faults[0].no_recovery, "");
}

TEST_F(ProofRunTest, RestartedWorkerIsANewIncarnationWithTheSameShares) {
  begin();
  go_to(Stage::kLoad);
  go_for(2s);
  FakeWorker fresh(calls);
  const auto before = worker().plan;
  run->restarted(0, fresh, now);
  go();
  EXPECT_EQ(fresh.plan.source, (core::SourceId{0, 2}));
  EXPECT_EQ(fresh.plan.producers.size(), before.producers.size());
  EXPECT_TRUE(heard("came back as incarnation 2"));
  EXPECT_TRUE(run->report().facts.workers_lost.empty());
  run.reset();
}

TEST_F(ProofRunTest, UnlimitedRunGoesOnUntilItIsStopped) {
  proof.duration = 0s;
  begin();
  go_to(Stage::kLoad);
  go_for(100s);
  EXPECT_EQ(stage_name(run->stage()), "load");
  EXPECT_FALSE(run->live(now).load_left.has_value());
  run->stop();
  go();
  EXPECT_EQ(status(), Status::kStopped);
}

TEST(WeakerSettingsTest, NamesEachSettingThatPromisesLess) {
  proof::Proof proof;
  proof.driver = "kafka";
  proof.replication = 3;
  proof.at_least_once = true;
  proof.ordering = true;
  EXPECT_TRUE(weaker_settings(proof, {{"acks", "all"}, {"enable.idempotence", "true"}}).empty());
  EXPECT_EQ(weaker_settings(proof, {{"acks", "1"}}).size(), 1U);
  EXPECT_EQ(weaker_settings(proof, {{"acks", "0"}, {"enable.idempotence", "false"}}).size(), 2U);
  EXPECT_TRUE(
      weaker_settings(proof, {{"enable.idempotence", "false"}, {"max.in.flight", "1"}}).empty());
  proof.at_least_once = false;
  EXPECT_TRUE(weaker_settings(proof, {{"acks", "1"}}).empty());
}

}  // namespace
}  // namespace sp::coordinator

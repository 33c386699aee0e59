#include "scenario/fault/nemesis.h"

#include <algorithm>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sp::scenario::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Three nodes and one partition that behave as Kafka was measured to: a dead or frozen leader is replaced after 3.5 s,
// a dead or frozen follower leaves the in-sync set after 2.5 s if a majority lives, a node is back 2 s after it runs
// again.
class World final : public Target, public Observer {
 public:
  bool deaf = false;             // signals do nothing
  std::vector<std::string> log;  // "6.0 kill 1"

  void advance_to(MonotonicTime now) {
    now_ = now;
    for (auto& [node, state] : nodes_) {
      const bool up = state.running && !state.frozen;
      const bool majority = std::count_if(nodes_.begin(), nodes_.end(), [](const auto& each) {
                              return each.second.running && !each.second.frozen;
                            }) >= 2;
      const auto patience = milliseconds(state.orderly ? 0 : node == leader_ ? 3500 : 2500);
      if (!up && majority && now - state.changed >= patience) in_sync_.erase(node);
      if (up && leader_ >= 0 && now - state.changed >= seconds(2)) in_sync_.insert(node);
      if (leader_ == node && !in_sync_.contains(node)) leader_ = first_up();
    }
    if (none_up() || leader_ < 0) leader_ = first_up();
  }
  [[nodiscard]] std::vector<std::int32_t> nodes() const override { return {1, 2, 3}; }
  Result<void> kill(std::int32_t node) override {
    return act("kill", node, [](Node& n) {
      n.running = false;
      n.frozen = false;
    });
  }
  Result<void> stop(std::int32_t node) override {
    return act("stop", node, [](Node& n) {
      n.running = false;
      n.orderly = true;
    });
  }
  Result<void> freeze(std::int32_t node) override {
    return act("freeze", node, [](Node& n) { n.frozen = true; });
  }
  Result<void> thaw(std::int32_t node) override {
    return act("thaw", node, [](Node& n) { n.frozen = false; });
  }
  Result<void> restart(std::int32_t node) override {
    return act("restart", node, [](Node& n) {
      n.running = true;
      n.orderly = false;
    });
  }
  [[nodiscard]] bool running(std::int32_t node) override { return nodes_.at(node).running; }

  [[nodiscard]] std::optional<Sighting> latest() override {
    Sighting seen;
    seen.asked = now_;
    seen.told = now_;
    seen.silence_asked = now_;
    seen.silence_told = now_;
    for (const auto& [node, state] : nodes_) {
      if (!state.running || state.frozen) seen.silent.push_back(node);
    }
    if (none_up()) {
      seen.state = fail(ErrorCode::kUnavailable, "no node answers");
      return seen;
    }
    driver::PartitionState zero;
    if (leader_ >= 0) zero.leader = leader_;
    zero.replicas = {1, 2, 3};
    zero.in_sync.assign(in_sync_.begin(), in_sync_.end());
    driver::ClusterState state;
    state.partitions.push_back(zero);
    seen.state = state;
    return seen;
  }
  [[nodiscard]] bool whole() const {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const auto& each) { return each.second.running && !each.second.frozen; });
  }

 private:
  struct Node {
    bool running = true;
    bool frozen = false;
    bool orderly = false;  // it said good-bye
    MonotonicTime changed{};
  };
  template <typename Change>
  Result<void> act(std::string_view verb, std::int32_t node, Change change) {
    const auto tenths = std::chrono::duration_cast<milliseconds>(now_.time_since_epoch()).count() / 100;
    log.push_back(fmt::format("{}.{} {} {}", tenths / 10, tenths % 10, verb, node));
    if (deaf) return {};
    change(nodes_.at(node));
    nodes_.at(node).changed = now_;
    return {};
  }
  [[nodiscard]] bool none_up() const {
    return std::none_of(nodes_.begin(), nodes_.end(),
                        [](const auto& each) { return each.second.running && !each.second.frozen; });
  }
  [[nodiscard]] std::int32_t first_up() const {
    for (const auto& [node, state] : nodes_) {
      if (state.running && !state.frozen && in_sync_.contains(node)) return node;
    }
    return -1;
  }

  MonotonicTime now_{};
  std::map<std::int32_t, Node> nodes_ = {{1, {}}, {2, {}}, {3, {}}};
  std::set<std::int32_t> in_sync_ = {1, 2, 3};
  std::int32_t leader_ = 1;
};

class NemesisTest : public testing::Test {
 protected:
  void run(const std::vector<std::string>& chaos, Nanoseconds duration, std::uint64_t seed = 1) {
    std::vector<ChaosSpec> specs;
    for (const auto& text : chaos) specs.push_back(parse_chaos(text).value());
    nemesis_.emplace(specs, NemesisOptions{seed, MonotonicTime{}, duration}, world_, world_);
    play_until(MonotonicTime(std::chrono::hours(1)));
  }
  void play_until(MonotonicTime end) {
    while (now_ < end) {
      world_.advance_to(now_);
      const MonotonicTime next = nemesis_->step(now_);
      if (nemesis_->done()) return;
      ASSERT_GE(next, now_);
      now_ = std::min({next, end, now_ + milliseconds(500)});
      if (next == now_) now_ += milliseconds(1);
    }
  }
  // "20.0": in seconds.
  [[nodiscard]] static std::string at(MonotonicTime time) {
    const auto tenths = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count() / 100;
    return fmt::format("{}.{}", tenths / 10, tenths % 10);
  }
  // "1 kill-leader of node 1 at 20.0: leader of partition 0 moved from 1 to 2 at 23.5, over at 30.0"
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> lines;
    for (const auto& record : nemesis_->records()) {
      lines.push_back(fmt::format("{} {} of {} at {}: {}{}, {}", record.number, record.name, record.target,
                                  at(record.begin), record.effect.empty() ? "no effect" : record.effect,
                                  record.effect_seen ? " at " + at(*record.effect_seen) : "",
                                  record.end ? "over at " + at(*record.end) : "not over"));
    }
    return lines;
  }
  World world_;
  std::optional<Nemesis> nemesis_;
  MonotonicTime now_{};
};

TEST_F(NemesisTest, KilledLeaderMovesAndComesBack) {
  run({"kill-leader:every=20s,down=8s"}, seconds(60));
  EXPECT_THAT(
      told(),
      ElementsAre(
          "1 kill-leader of node 1 at 20.0: leader of partition 0 moved from 1 to 2 at 23.5, over at 30.0",
          "2 kill-leader of node 2 at 40.0: leader of partition 0 moved from 2 to 1 at 43.5, over at 50.0"));
  EXPECT_THAT(world_.log, ElementsAre("20.0 kill 1", "28.0 restart 1", "40.0 kill 2", "48.0 restart 2"));
  EXPECT_THAT(nemesis_->notes(), IsEmpty());
}

TEST_F(NemesisTest, WithSignalsThatDoNothingThereIsNoEffectOfAnyKind) {
  for (const auto& row : kind_rows()) {
    world_.log.clear();
    now_ = {};
    world_.deaf = true;
    run({fmt::format("{}:at=5s", row.name)}, seconds(60));
    ASSERT_EQ(nemesis_->records().size(), 1U) << row.name;
    const auto& record = nemesis_->records().front();
    EXPECT_FALSE(record.took_effect()) << row.name << ": " << record.effect;
    EXPECT_EQ(record.effect, "") << row.name;
    EXPECT_TRUE(record.end.has_value()) << row.name;
    EXPECT_FALSE(world_.log.empty()) << row.name;
  }
}

// Shows leader 1 before 10 s; then only what a look that began at 9.9 s found: leader 2.
class LateTeller final : public Observer {
 public:
  MonotonicTime now{};
  [[nodiscard]] std::optional<Sighting> latest() override {
    const bool late = now >= MonotonicTime(seconds(10) + milliseconds(1));
    driver::PartitionState zero;
    zero.leader = late ? 2 : 1;
    zero.replicas = {1, 2, 3};
    zero.in_sync = {1, 2, 3};
    driver::ClusterState state;
    state.partitions.push_back(zero);
    return Sighting{late ? MonotonicTime(milliseconds(9900)) : now, now, state, {}, {}, {}};
  }
};

TEST_F(NemesisTest, AMoveThatALookFoundBeforeTheFaultIsNotItsEffect) {
  LateTeller teller;
  Nemesis nemesis({parse_chaos("kill-leader:at=10s,down=1s").value()},
                  NemesisOptions{1, MonotonicTime{}, seconds(60)}, world_, teller);
  for (; teller.now < MonotonicTime(seconds(100)); teller.now += milliseconds(100))
    (void)nemesis.step(teller.now);
  ASSERT_EQ(nemesis.records().size(), 1U);
  EXPECT_EQ(nemesis.records().front().target, "node 1");
  EXPECT_EQ(nemesis.records().front().effect, "");
  EXPECT_FALSE(nemesis.records().front().took_effect());
  EXPECT_THAT(nemesis.notes(),
              testing::Contains(HasSubstr("node 1 was not back in sync 60 s after the release")));
}

TEST_F(NemesisTest, KilledFollowerLeavesTheInSyncSet) {
  run({"kill-follower:at=10s"}, seconds(60));
  EXPECT_THAT(told(),
              ElementsAre(testing::MatchesRegex("1 kill-follower of node [23] at 10.0: node [23] left the "
                                                "in-sync set of partition 0 at 12.5, over at 18.0")));
}

// A look that began at 10.5 s, while all nodes were dead, and failed at 14 s, when they ran again.
class SlowTeller final : public Observer {
 public:
  MonotonicTime now{};
  MonotonicTime asked{milliseconds(10'500)};
  [[nodiscard]] std::optional<Sighting> latest() override {
    if (now < MonotonicTime(seconds(14))) return std::nullopt;
    return Sighting{asked, now, fail(ErrorCode::kUnavailable, "nobody"), {}, {}, {}};
  }
};

TEST_F(NemesisTest, AFailedLookCountsIfItBeganWhileEveryNodeWasHeld) {
  for (const bool during : {true, false}) {
    SlowTeller teller;
    if (!during) teller.asked = MonotonicTime(seconds(13));
    Nemesis nemesis({parse_chaos("kill-all:at=10s,down=2s").value()},
                    NemesisOptions{1, MonotonicTime{}, seconds(60)}, world_, teller);
    for (; teller.now < MonotonicTime(seconds(15)); teller.now += milliseconds(100))
      (void)nemesis.step(teller.now);
    EXPECT_EQ(nemesis.records().front().effect, during ? "no node answers" : "");
    if (during) {
      EXPECT_EQ(nemesis.records().front().effect_seen, MonotonicTime(seconds(14)));
    }
  }
}

TEST_F(NemesisTest, TheSeedChoosesTheFollower) {
  std::set<std::string> chosen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::string> first;
    for (int twice = 0; twice < 2; ++twice) {
      world_ = World();
      now_ = {};
      run({"kill-follower:every=20s"}, seconds(120), seed);
      if (twice == 0)
        first = told();
      else
        EXPECT_EQ(told(), first) << "the same seed, the same choices";
    }
    chosen.insert(nemesis_->records().front().target);
  }
  EXPECT_THAT(chosen, ElementsAre("node 2", "node 3"));
}

TEST_F(NemesisTest, ShortFreezeOfAFollowerIsNotFelt) {
  run({"freeze-follower:at=10s,for=1s"}, seconds(60));
  EXPECT_THAT(told(), ElementsAre(HasSubstr("no effect, over at 21.0")));
}

TEST_F(NemesisTest, KillAllIsFeltWhenNobodyAnswers) {
  run({"kill-all:at=10s,down=5s"}, seconds(60));
  EXPECT_THAT(told(),
              ElementsAre(testing::StartsWith("1 kill-all of nodes 1, 2 and 3 at 10.0: no node answers")));
  EXPECT_TRUE(world_.whole());
}

TEST_F(NemesisTest, FrozenFollowersAndAKilledLeaderOverlap) {
  run({"freeze-followers:at=5s,for=3s", "kill-leader:at=6s,down=10s"}, seconds(30));
  EXPECT_THAT(world_.log, ElementsAre("5.0 freeze 2", "5.0 freeze 3", "6.0 kill 1", "8.0 thaw 2",
                                      "8.0 thaw 3", "16.0 restart 1"));
  const auto lines = told();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(
      lines[0],
      HasSubstr("1 freeze-followers of nodes 2 and 3 at 5.0: nodes 2 and 3 stopped answering at 5.0"));
  EXPECT_THAT(lines[1], HasSubstr("2 kill-leader of node 1 at 6.0: no node answers, then leader of partition "
                                  "0 moved from 1 to 2 at 6.0"));
  EXPECT_TRUE(world_.whole());
}

TEST_F(NemesisTest, AFrozenNodeThatKillAllKillsStartsWithTheOthers) {
  run({"freeze-leader:at=5s,for=20s", "kill-all:at=10s,down=5s"}, seconds(60));
  EXPECT_THAT(world_.log, ElementsAre("5.0 freeze 1", "10.0 kill 1", "10.0 kill 2", "10.0 kill 3",
                                      "15.0 restart 1", "15.0 restart 2", "15.0 restart 3", "25.0 thaw 1"));
  EXPECT_TRUE(world_.whole());
}

TEST_F(NemesisTest, ASecondKillWaitsForANewLeader) {
  run({"kill-leader:at=5s,down=8s", "kill-leader:at=6s,down=8s"}, seconds(60));
  EXPECT_THAT(world_.log, ElementsAre("5.0 kill 1", "8.5 kill 2", "13.0 restart 1", "16.5 restart 2"));
}

TEST_F(NemesisTest, WhenThereIsNobodyToStrikeItSaysSo) {
  run({"kill-all:at=5s,down=20s", "kill-leader:at=7s"}, seconds(60));
  ASSERT_EQ(told().size(), 2U);
  EXPECT_EQ(told()[1], "2 kill-leader of nobody at 12.0: no effect, over at 12.0");
  EXPECT_THAT(
      nemesis_->notes(),
      testing::Contains(HasSubstr("fault 2 (kill-leader at 12.0 s): the state of the topic is not known")));
}

TEST_F(NemesisTest, RollingRestartTakesEachNodeInTurn) {
  run({"restart-rolling:at=5s,down=3s"}, seconds(60));
  EXPECT_THAT(world_.log, ElementsAre("5.0 stop 1", "8.0 restart 1", testing::EndsWith("stop 2"),
                                      testing::EndsWith("restart 2"), testing::EndsWith("stop 3"),
                                      testing::EndsWith("restart 3")));
  EXPECT_THAT(told(), ElementsAre(HasSubstr("restart-rolling of nodes 1, 2 and 3 at 5.0: nodes 1, 2 and 3 "
                                            "left the in-sync sets and came back")));
  EXPECT_TRUE(world_.whole());
}

TEST_F(NemesisTest, AFaultIsReleasedWhenNothingIsHeldAnyMore) {
  run({"kill-leader:at=20s,down=8s"}, seconds(60));
  ASSERT_EQ(nemesis_->records().size(), 1U);
  EXPECT_EQ(at(nemesis_->records()[0].released.value()), "28.0");
  EXPECT_EQ(at(nemesis_->records()[0].end.value()), "30.0");
}

TEST_F(NemesisTest, ARollingRestartIsReleasedWithItsLastNode) {
  nemesis_.emplace({parse_chaos("restart-rolling:at=5s,down=3s").value()},
                   NemesisOptions{1, MonotonicTime{}, seconds(60)}, world_, world_);
  play_until(MonotonicTime(seconds(9)));  // node 1 runs again
  EXPECT_FALSE(nemesis_->records()[0].released);
  play_until(MonotonicTime(std::chrono::hours(1)));
  ASSERT_TRUE(nemesis_->records()[0].released);
  EXPECT_EQ(world_.log.back(), at(*nemesis_->records()[0].released) + " restart 3");
}

TEST_F(NemesisTest, ReleaseAllMendsAtOnceAndStartsNothing) {
  std::vector<ChaosSpec> specs;
  for (const char* text :
       {"kill-leader:every=20s,down=30s", "freeze-follower:at=21s,for=60s", "restart-rolling:at=300s"}) {
    specs.push_back(parse_chaos(text).value());
  }
  nemesis_.emplace(specs, NemesisOptions{1, MonotonicTime{}, seconds(600)}, world_, world_);
  play_until(MonotonicTime(seconds(25)));
  EXPECT_FALSE(world_.whole());
  EXPECT_FALSE(nemesis_->done());
  const MonotonicTime released = now_;
  nemesis_->release_all(now_);
  EXPECT_TRUE(world_.whole());
  play_until(MonotonicTime(seconds(120)));
  EXPECT_TRUE(nemesis_->done());
  EXPECT_EQ(nemesis_->records().size(), 2U);
  for (const auto& record : nemesis_->records()) {
    EXPECT_TRUE(record.end.has_value());
    EXPECT_EQ(record.released, released);
  }
}

TEST_F(NemesisTest, RollingRestartThatIsCutShortCountsWhatItDid) {
  nemesis_.emplace({parse_chaos("restart-rolling:at=5s,down=3s").value()},
                   NemesisOptions{1, MonotonicTime{}, seconds(60)}, world_, world_);
  play_until(MonotonicTime(seconds(12)));
  nemesis_->release_all(now_);
  play_until(MonotonicTime(seconds(120)));
  EXPECT_TRUE(nemesis_->done());
  EXPECT_TRUE(world_.whole());
  EXPECT_THAT(nemesis_->notes(), testing::Contains(HasSubstr("cut short")));
  EXPECT_TRUE(nemesis_->records().front().end.has_value());
}

TEST_F(NemesisTest, WithNothingAskedItIsDoneAtOnce) {
  nemesis_.emplace(std::vector<ChaosSpec>{}, NemesisOptions{}, world_, world_);
  EXPECT_TRUE(nemesis_->done());
  EXPECT_EQ(nemesis_->step(MonotonicTime{}), MonotonicTime::max());
}

}  // namespace
}  // namespace sp::scenario::fault

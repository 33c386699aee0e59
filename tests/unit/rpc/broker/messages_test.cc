#include "rpc/broker/detail/messages.h"

#include <gtest/gtest.h>

namespace sp::rpc::broker::detail {
namespace {

// All that an observation says.
std::string text_of(const core::Observation& o) {
  return fmt::format("{} {} {} {}{}{}{} {} {} {} {} {} {}.{} {} {} {} {} {} {} {} {} {} {} '{}' '{}' '{}'", static_cast<int>(o.event),
                     static_cast<int>(o.content), static_cast<int>(o.close), o.has_position, o.has_generation, o.has_start, o.reached,
                     static_cast<int>(o.refusal), static_cast<int>(o.failure), o.classic, o.process, o.group.value(), o.key.block,
                     o.key.index, o.sequence.value(), o.partition.value(), o.offset.value(), o.end.value(), o.start.value(),
                     o.generation.value(), o.number, o.asked_partition.value(), o.time.time_since_epoch().count(),
                     o.published.time_since_epoch().count(), o.name, o.text, o.instance);
}

std::string over_the_line(const core::Observation& observation) {
  v1::Observation sent;
  put(observation, sent);
  v1::Observation come;
  EXPECT_TRUE(come.ParseFromString(sent.SerializeAsString()));
  const auto read = observation_of(come);
  EXPECT_TRUE(read);
  return read ? text_of(*read) : "";
}

core::Observation full() {
  core::Observation o;
  o.content = core::Content::kOtherRun;
  o.close = core::LineageClose::kClosed;
  o.has_position = o.has_generation = o.has_start = o.reached = true;
  o.refusal = core::Refusal::kName;
  o.failure = core::Failure::kFenced;
  o.classic = false;
  o.process = 1;
  o.group = core::GroupIndex(2);
  o.key = {~std::uint32_t{0}, 4};
  o.sequence = core::Sequence(~std::uint64_t{0});
  o.partition = core::PartitionId(6);
  o.offset = core::Offset(std::uint64_t{1} << 63U);
  o.end = core::Offset(8);
  o.start = core::Offset(9);
  o.generation = core::Generation(10);
  o.number = 11;
  o.asked_partition = core::PartitionId(0);
  o.time = MonotonicTime(Nanoseconds(-12));
  o.published = WallTime(Nanoseconds(1'700'000'000'000'000'123));
  o.name = std::string_view("k\0\xff\n", 4);
  o.text = "m\xc3";
  o.instance = "i";
  return o;
}

TEST(BrokerMessagesTest, AnObservationOfEveryKindComesBackExactly) {
  for (int event = 0; event <= static_cast<int>(core::Event::kEnd); ++event) {
    core::Observation bare;
    bare.event = static_cast<core::Event>(event);
    EXPECT_EQ(over_the_line(bare), text_of(bare));
    core::Observation all = full();
    all.event = bare.event;
    EXPECT_EQ(over_the_line(all), text_of(all));
  }
}

TEST(BrokerMessagesTest, EveryValueOfTheSmallEnumerationsComesBack) {
  core::Observation o;
  for (const auto content : {core::Content::kIntact, core::Content::kUnchecked, core::Content::kDamaged, core::Content::kOtherRun}) {
    o.content = content;
    EXPECT_EQ(over_the_line(o), text_of(o));
  }
  for (const auto close : {core::LineageClose::kRevoked, core::LineageClose::kLost, core::LineageClose::kClosed}) {
    o.close = close;
    EXPECT_EQ(over_the_line(o), text_of(o));
  }
  for (const auto refusal : {core::Refusal::kNone, core::Refusal::kRight, core::Refusal::kName}) {
    o.refusal = refusal;
    EXPECT_EQ(over_the_line(o), text_of(o));
  }
  for (const auto failure : {core::Failure::kRefused, core::Failure::kAborted, core::Failure::kFenced}) {
    o.failure = failure;
    EXPECT_EQ(over_the_line(o), text_of(o));
  }
}

TEST(BrokerMessagesTest, AnObservationOfAnUnknownKindIsRefused) {
  v1::Observation message;
  message.set_event(static_cast<v1::Event>(99));
  const auto read = observation_of(message);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kParse);
}

TEST(BrokerMessagesTest, AClusterStateWithoutALeaderComesBack) {
  driver::ClusterState state;
  state.nodes = {0, 3};
  state.partitions = {{core::PartitionId(0), 3, {3, 0}, {3}}, {core::PartitionId(1), std::nullopt, {}, {}}};
  v1::ClusterState message;
  put(state, message);
  const auto read = state_of(message);
  EXPECT_FALSE(read.controller);
  EXPECT_EQ(read.nodes, state.nodes);
  ASSERT_EQ(read.partitions.size(), 2U);
  EXPECT_EQ(read.partitions[0].leader, 3);
  EXPECT_EQ(read.partitions[0].replicas, (std::vector<std::int32_t>{3, 0}));
  EXPECT_FALSE(read.partitions[1].leader);
}

TEST(BrokerMessagesTest, BoundsThatEndBeforeTheyBeginAreRefused) {
  v1::LogBounds message;
  auto& range = *message.add_partitions();
  range.set_begin(4);
  range.set_end(3);
  EXPECT_FALSE(bounds_of(message));
}

}  // namespace
}  // namespace sp::rpc::broker::detail

// label: threads
#include "rpc/broker/remote_driver.h"

#include <gtest/gtest.h>

#include "driver/embedded/defects.h"
#include "unit/rpc/broker/shared_broker.h"

namespace sp::rpc::broker {
namespace {

using core::Event;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

struct RemoteDriverTest : SharedBrokerTest {};

TEST_F(RemoteDriverTest, ARecordSentThroughOneDriverReachesTheConsumerOfAnother) {
  serve();
  const auto one = driver();
  const auto other = driver();
  make_topic(*one, 1);
  const auto from = producer(*one);
  const auto to = consumer(*other);
  Notes sent;
  Notes got;
  const MonotonicTime begin = clock.now();
  send(*from, 9);
  EXPECT_EQ(from->in_flight(), 1U);
  ASSERT_TRUE(until([&] { from->poll(kSoon, sent); }, [&] { return sent.count(Event::kOk) == 1; }));
  EXPECT_EQ(from->in_flight(), 0U);
  ASSERT_TRUE(until([&] { to->poll(100, kSoon, got); }, [&] { return got.count(Event::kDeliver) == 1; }));
  const auto& ack = sent.first(Event::kOk);
  EXPECT_EQ(ack.seen.key, (core::KeyRef{3, 4}));
  EXPECT_EQ(ack.seen.sequence, core::Sequence(9));
  EXPECT_TRUE(ack.seen.has_position);
  const auto& delivery = got.first(Event::kDeliver);
  EXPECT_EQ(delivery.name, "key");
  EXPECT_EQ(delivery.seen.sequence, core::Sequence(9));
  EXPECT_EQ(delivery.seen.content, core::Content::kIntact);
  EXPECT_EQ(delivery.seen.offset, ack.seen.offset);
  EXPECT_EQ(delivery.seen.process, 5U);
  EXPECT_LE(delivery.seen.time, clock.now());
  EXPECT_GE(delivery.seen.time, begin) << "told by our clock, not by the broker's";
  EXPECT_EQ(got.held(), 1U);
}

TEST_F(RemoteDriverTest, ADriverSaysWhatTheBrokerSays) {
  serve();
  const auto one = driver();
  EXPECT_EQ(one->name(), "embedded");
  EXPECT_TRUE(one->client().starts_with("embedded broker ")) << one->client();
  EXPECT_EQ(one->effective_settings().at("broker.address"), remote.address);
  EXPECT_EQ(one->describe_topic("orders").error().code, ErrorCode::kNotFound);
  make_topic(*one, 3);
  EXPECT_EQ(one->describe_topic("orders")->partitions, 3U);
  EXPECT_EQ(one->bounds("orders")->size(), 3U);
  EXPECT_EQ(one->cluster_state("orders")->partitions.size(), 3U);
  driver::TopicSpec again;
  again.name = "orders";
  EXPECT_EQ(one->create_topic(again).error().code, ErrorCode::kExists);
  EXPECT_TRUE(one->delete_topic("orders"));
  EXPECT_FALSE(open(clock, remote, {{"fetch.min.bytes", "1"}})) << "an unknown setting";
}

TEST_F(RemoteDriverTest, CommitsHoldForTheNextMemberAfterAClose) {
  serve();
  const auto one = driver();
  make_topic(*one, 1);
  const auto from = producer(*one);
  Notes notes;
  for (std::uint64_t i = 0; i < 3; ++i) send(*from, i);
  auto first = consumer(*one);
  ASSERT_TRUE(until(
      [&] {
        from->poll(0ms, notes);
        first->poll(100, kSoon, notes);
      },
      [&] { return notes.count(Event::kDeliver) == 3; }));
  const std::vector<driver::CommitPoint> points{{core::PartitionId(0), core::Offset(2)}, {core::PartitionId(8), core::Offset(1)}};
  first->commit(points, notes);
  EXPECT_EQ(notes.count(Event::kCommitInvoke), 1U) << "one of the two is not its own";
  EXPECT_EQ(first->commits_open(), 1U);
  first->close(10s, notes);
  EXPECT_EQ(notes.count(Event::kCommitOk), 1U);
  EXPECT_EQ(notes.first(Event::kRevoke).seen.close, core::LineageClose::kClosed);
  EXPECT_EQ(notes.held(), 0U);
  const auto second = consumer(*one);
  Notes later;
  ASSERT_TRUE(until([&] { second->poll(100, kSoon, later); }, [&] { return later.count(Event::kDeliver) == 1; }));
  EXPECT_EQ(later.first(Event::kDeliver).seen.offset, core::Offset(2));
}

TEST_F(RemoteDriverTest, AMemberGivesBackWhatAnotherIsToHave) {
  serve();
  const auto one = driver();
  make_topic(*one, 2);
  const auto first = consumer(*one);
  Notes notes;
  ASSERT_TRUE(until([&] { first->poll(10, kSoon, notes); }, [&] { return notes.held() == 2; }));
  const auto second = consumer(*one);
  Notes others;
  ASSERT_TRUE(until([&] { first->poll(10, kSoon, notes); }, [&] { return first->revoking().size() == 1; }));
  EXPECT_EQ(notes.held(), 2U);
  first->release(notes);
  EXPECT_EQ(notes.held(), 1U);
  EXPECT_TRUE(first->revoking().empty());
  EXPECT_TRUE(until([&] { second->poll(10, kSoon, others); }, [&] { return others.held() == 1; }));
}

TEST_F(RemoteDriverTest, AMemberWhoseProcessVanishesLosesItsPartitions) {
  serve();
  const auto one = driver();
  make_topic(*one, 2);
  Notes lost;
  Notes kept;
  auto gone = consumer(*one);
  ASSERT_TRUE(until([&] { gone->poll(10, kSoon, lost); }, [&] { return lost.held() == 2; }));
  const auto stays = consumer(*one);
  gone.reset();
  EXPECT_EQ(server->handles(), 2U) << "nobody told the broker";
  EXPECT_TRUE(until([&] { stays->poll(10, kSoon, kept); }, [&] { return kept.held() == 2; }));
  EXPECT_EQ(server->handles(), 1U);
}

TEST_F(RemoteDriverTest, ARawReadSeesAllThatIsStored) {
  serve();
  const auto one = driver();
  make_topic(*one, 2);
  const auto from = producer(*one);
  Notes notes;
  for (std::uint64_t i = 0; i < 10; ++i) send(*from, i, i < 6 ? 0U : 1U);
  from->close(10s, notes);
  ASSERT_EQ(notes.count(Event::kOk), 10U);
  driver::RawSpec spec;
  spec.topic = "orders";
  spec.run = kRun;
  spec.payload_bytes = kPayloadBytes;
  const auto bounds = one->bounds("orders");
  ASSERT_TRUE(bounds);
  for (const auto& part : *bounds) spec.targets.push_back({part.partition, part.begin, part.end});
  auto reader = one->open_raw_reader(spec);
  ASSERT_TRUE(reader);
  bool done = false;
  ASSERT_TRUE(until([&] { done = (*reader)->step(kSoon, notes).value(); }, [&] { return done; }));
  EXPECT_EQ(notes.count(Event::kRaw), 10U);
  EXPECT_EQ(notes.count(Event::kRawBegin), 2U);
  EXPECT_EQ(notes.count(Event::kRawEnd), 2U);
  EXPECT_TRUE(notes.first(Event::kRawEnd).seen.reached);
}

TEST_F(RemoteDriverTest, APlantedLossIsInTheTruth) {
  options.defects = *driver::embedded::parse_defects({"lose:count=1"});
  options.expected.records = 20;
  options.expected.keys = 1;
  serve();
  EXPECT_EQ(*read_truth(remote), "");
  const auto one = driver();
  make_topic(*one, 1);
  const auto reads = consumer(*one);  // losses count in groups
  const auto from = producer(*one);
  Notes notes;
  for (std::uint64_t i = 0; i < 60; ++i) send(*from, i);
  from->close(10s, notes);
  EXPECT_EQ(notes.count(Event::kOk), 60U);
  const auto truth = read_truth(remote);
  ASSERT_TRUE(truth);
  EXPECT_TRUE(truth->find(R"("kind":"lose")") != std::string::npos) << *truth;
  EXPECT_EQ(*truth, driver::embedded::truth_text(broker->truth()));
}

TEST_F(RemoteDriverTest, ABrokerThatIsStartedAgainKnowsNobodyAndSaysSo) {
  options.ack = {1h, 1h};
  serve();
  const auto one = driver();
  make_topic(*one, 1);
  const auto from = producer(*one);
  const auto to = consumer(*one);
  driver::RawSpec spec;
  spec.topic = "orders";
  spec.targets = {{core::PartitionId(0), core::Offset(0), core::Offset(5)}};
  auto reader = one->open_raw_reader(spec);
  ASSERT_TRUE(reader);
  Notes sent;
  Notes got;
  send(*from, 0);
  from->poll(0ms, sent);
  ASSERT_TRUE(until([&] { to->poll(10, kSoon, got); }, [&] { return got.count(Event::kDeliver) == 1; }));
  to->commit(std::vector<driver::CommitPoint>{{core::PartitionId(0), core::Offset(1)}}, got);
  end();
  options.ack = {};
  serve();
  ASSERT_TRUE(until([&] { from->poll(kSoon, sent); }, [&] { return sent.count(Event::kInfo) == 1; }));
  ASSERT_TRUE(until([&] { to->poll(10, kSoon, got); }, [&] { return got.count(Event::kRevoke) == 1; }));
  EXPECT_EQ(got.first(Event::kRevoke).seen.close, core::LineageClose::kLost);
  EXPECT_EQ(got.count(Event::kCommitInfo), 1U);
  EXPECT_EQ(to->commits_open(), 0U);
  EXPECT_TRUE(got.first(Event::kClientError).text.find("started again") != std::string::npos) << got.first(Event::kClientError).text;
  Result<bool> read = false;
  ASSERT_TRUE(until([&] { read = (*reader)->step(kSoon, got); }, [&] { return !read; }));
  EXPECT_EQ(got.count(Event::kRawEnd), 1U);
  EXPECT_FALSE(got.first(Event::kRawEnd).seen.reached);
  const auto refused_for_good = [&] { return got.notes.back().seen.refusal == core::Refusal::kName; };
  EXPECT_TRUE(until([&] { to->poll(10, kSoon, got); }, refused_for_good)) << "it has no such topic";
  make_topic(*one, 1);
  send(*from, 1);
  ASSERT_TRUE(until([&] { from->poll(kSoon, sent); }, [&] { return sent.count(Event::kOk) + sent.count(Event::kFail) == 1; }));
  ASSERT_TRUE(until([&] { to->poll(10, kSoon, got); }, [&] { return got.count(Event::kReconnect) == 1 && got.held() == 1; }));
}

TEST_F(RemoteDriverTest, ABrokerThatIsGoneLeavesUnknownWhatWasSentAndFailsWhatWasNot) {
  options.ack = {1h, 1h};
  serve();
  const auto one = driver();
  make_topic(*one, 1);
  const auto from = producer(*one);
  const auto to = consumer(*one);
  Notes sent;
  Notes got;
  send(*from, 0);
  from->poll(0ms, sent);
  ASSERT_TRUE(until([&] { to->poll(10, kSoon, got); }, [&] { return got.held() == 1; }));
  end();
  ASSERT_TRUE(until([&] { from->poll(kSoon, sent); }, [&] { return sent.count(Event::kInfo) == 1; }));
  send(*from, 1);
  ASSERT_TRUE(until([&] { from->poll(kSoon, sent); }, [&] { return sent.count(Event::kFail) == 1; }));
  ASSERT_TRUE(until([&] { to->poll(10, kSoon, got); }, [&] { return got.count(Event::kRevoke) == 1; }));
  EXPECT_EQ(got.count(Event::kDisconnect), 1U);
  EXPECT_EQ(from->in_flight(), 0U);
  const auto described = one->describe_topic("orders");
  ASSERT_FALSE(described);
  EXPECT_EQ(described.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(described.error().message.find(remote.address) != std::string::npos) << described.error().message;
  from->close(0ms, sent);
  to->close(0ms, got);
  EXPECT_EQ(sent.notes.back().seen.event, Event::kFail) << "each attempt has one outcome";
  EXPECT_FALSE(open(clock, remote));
}

TEST_F(RemoteDriverTest, WhatNoCallHoldsFailsAndWhatNoTokenOpensIsDenied) {
  server_options.credentials.token = "secret";
  serve();
  EXPECT_EQ(open(clock, remote).error().code, ErrorCode::kDenied);
  remote.credentials.token = "secret";
  const auto one = driver();
  make_topic(*one, 1);
  const auto from = producer(*one);
  core::Envelope envelope;
  const std::string key(kKeyBytesMax + 1, 'k');
  const std::vector<std::byte> payload(kPayloadBytes);
  envelope.key = key;
  envelope.payload = payload;
  EXPECT_EQ(from->send(envelope, {}), driver::SendStatus::kAccepted);
  Notes notes;
  from->poll(0ms, notes);
  EXPECT_EQ(notes.count(Event::kFail), 1U);
}

TEST_F(RemoteDriverTest, AnAddressThatIsNoneIsRefusedByName) {
  for (const char* const address : {"", "here", "here:", ":1", "here:0", "here:70000"}) {
    remote.address = address;
    const auto opened = open(clock, remote);
    ASSERT_FALSE(opened) << address;
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid) << address;
  }
}

}  // namespace
}  // namespace sp::rpc::broker

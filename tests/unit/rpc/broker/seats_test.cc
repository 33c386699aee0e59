// label: threads
#include "rpc/broker/detail/seats.h"

#include <gtest/gtest.h>

#include "driver/embedded/embedded.h"
#include "unit/rpc/broker/shared_broker.h"

namespace sp::rpc::broker::detail {
namespace {

// The server's side, call by call.
struct SeatsTest : testing::Test {
  SystemMonotonicClock clock;
  SystemWallClock wall;
  driver::embedded::Broker broker{clock, wall, slow()};
  std::unique_ptr<driver::Driver> driver = std::move(*driver::embedded::EmbeddedDriver::make(broker));
  Seats seats{*driver, clock, 42, std::chrono::hours(1)};
  v1::Handle handle;

  // No outcome comes before the end of a test.
  static driver::embedded::BrokerOptions slow() {
    driver::embedded::BrokerOptions options;
    options.ack = {std::chrono::hours(1), std::chrono::hours(1)};
    return options;
  }
  SeatsTest() {
    driver::TopicSpec topic;
    topic.name = "orders";
    EXPECT_TRUE(driver->create_topic(topic));
    handle = seats.reserve().value();
  }
  Result<void> open_producer() {
    v1::OpenRequest request;
    *request.mutable_handle() = handle;
    request.mutable_producer()->set_topic("orders");
    return seats.open(request);
  }
  v1::ExchangeRequest produce(std::uint64_t number, std::uint64_t sequence) {
    v1::ExchangeRequest request;
    *request.mutable_handle() = handle;
    request.set_number(number);
    auto& record = *request.mutable_produce()->add_records();
    record.set_key("key");
    record.set_sequence(sequence);
    record.set_payload(std::string(8, 'x'));
    return request;
  }
  v1::ExchangeAnswer call(const v1::ExchangeRequest& request) {
    v1::ExchangeAnswer answer;
    seats.exchange(request, answer);
    return answer;
  }
  std::uint64_t stored() { return driver->bounds("orders").value()[0].end.value(); }
};

TEST_F(SeatsTest, ACallThatComesTwiceIsCarriedOutOnceAndAnsweredAlike) {
  ASSERT_TRUE(open_producer());
  const auto first = call(produce(1, 0));
  const auto second = call(produce(1, 0));
  EXPECT_EQ(stored(), 1U);
  EXPECT_EQ(first.exchanged().taken(), 1U);
  EXPECT_EQ(first.SerializeAsString(), second.SerializeAsString());
  EXPECT_TRUE(call(produce(2, 1)).has_exchanged());
  EXPECT_EQ(stored(), 2U);
}

TEST_F(SeatsTest, AnOpenThatComesTwiceOpensOneClient) {
  ASSERT_TRUE(open_producer());
  ASSERT_TRUE(call(produce(1, 0)).has_exchanged());
  ASSERT_TRUE(open_producer());
  EXPECT_EQ(call(produce(2, 1)).exchanged().in_flight(), 2U) << "it is still the first one";
  EXPECT_EQ(seats.count(), 1U);
}

TEST_F(SeatsTest, ACallOutOfItsOrderIsRefused) {
  EXPECT_TRUE(call(produce(1, 0)).has_error()) << "before it is open";
  ASSERT_TRUE(open_producer());
  EXPECT_TRUE(call(produce(2, 0)).has_error());
  EXPECT_EQ(stored(), 0U);
}

TEST_F(SeatsTest, AHandleOfAFormerLifeIsNotFound) {
  ASSERT_TRUE(open_producer());
  handle.set_broker(41);
  const auto answer = call(produce(1, 0));
  ASSERT_TRUE(answer.has_error());
  EXPECT_EQ(answer.error().code(), v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(SeatsTest, ARecordThatNoBrokerStoresIsRefusedWithAllOfItsCall) {
  ASSERT_TRUE(open_producer());
  auto tiny = produce(1, 0);
  *tiny.mutable_produce()->add_records() = tiny.produce().records(0);
  tiny.mutable_produce()->mutable_records(1)->set_payload("x");
  EXPECT_TRUE(call(tiny).has_error());
  auto elsewhere = produce(2, 0);
  elsewhere.mutable_produce()->mutable_records(0)->set_partition(1);
  EXPECT_TRUE(call(elsewhere).has_error());
  auto long_key = produce(3, 0);
  long_key.mutable_produce()->mutable_records(0)->set_key(std::string(kKeyBytesMax + 1, 'k'));
  EXPECT_TRUE(call(long_key).has_error());
  EXPECT_EQ(stored(), 0U);
}

TEST_F(SeatsTest, CallsOfAnotherKindOfClientAndAfterACloseAreRefused) {
  ASSERT_TRUE(open_producer());
  v1::ExchangeRequest request;
  *request.mutable_handle() = handle;
  request.set_number(1);
  request.mutable_consume()->set_records_max(1);
  EXPECT_TRUE(call(request).has_error());
  request.set_number(2);
  request.mutable_raw_step();
  EXPECT_TRUE(call(request).has_error());
  request.set_number(3);
  request.clear_call();
  EXPECT_TRUE(call(request).has_error());
  request.set_number(4);
  request.mutable_close();
  EXPECT_TRUE(call(request).has_exchanged());
  EXPECT_TRUE(call(produce(5, 0)).has_error());
}

TEST_F(SeatsTest, ATopicThatIsNotThereAndNoClientAtAllAreRefused) {
  v1::OpenRequest request;
  *request.mutable_handle() = handle;
  EXPECT_EQ(seats.open(request).error().code, ErrorCode::kParse);
  request.mutable_producer()->set_topic("nothing");
  EXPECT_EQ(seats.open(request).error().code, ErrorCode::kNotFound);
  request.mutable_raw_reader()->set_topic("orders");
  request.mutable_raw_reader()->add_targets()->set_partition(7);
  EXPECT_EQ(seats.open(request).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace sp::rpc::broker::detail

#include "workload/standing_refusal.h"

#include <gtest/gtest.h>

#include "unit/workload/fake_evidence.h"
#include "workload/delivery_sink.h"
#include "workload/outcome_sink.h"

namespace sp::workload {
namespace {

using namespace std::chrono_literals;
using core::Event;
using core::Refusal;

core::Observation observation(Event event, Refusal refusal = Refusal::kNone, std::string_view text = {}) {
  core::Observation one;
  one.event = event;
  one.refusal = refusal;
  one.text = text;
  one.time = MonotonicTime{1s};
  return one;
}

constexpr MonotonicTime kAtOnce{1s};

TEST(StandingRefusalTest, AMissingRightStandsAtOnceAndAnUnknownNameIfItStaysUnknown) {
  StandingRefusal right;
  right.note(Refusal::kRight, "needs READ", kAtOnce);
  EXPECT_EQ(right.text(kAtOnce), "needs READ");
  StandingRefusal name;
  name.note(Refusal::kName, "unknown topic", kAtOnce);
  name.note(Refusal::kName, "unknown topic", kAtOnce + 10s);
  EXPECT_EQ(name.text(kAtOnce + kNamePatience - 1ns), "");
  EXPECT_EQ(name.text(kAtOnce + kNamePatience), "unknown topic");
}

TEST(StandingRefusalTest, WhatWasWithdrawnBeginsAnew) {
  StandingRefusal name;
  name.note(Refusal::kName, "unknown topic", kAtOnce);
  name.withdraw();
  EXPECT_EQ(name.text(kAtOnce + 1h), "");
  name.note(Refusal::kName, "unknown topic", kAtOnce + 1h);
  EXPECT_EQ(name.text(kAtOnce + 1h), "");
  name.note(Refusal::kRight, "needs READ", kAtOnce + 1h);
  EXPECT_EQ(name.text(kAtOnce + 1h), "needs READ") << "sooner than the name would have";
}

class RefusalSinkTest : public testing::Test {
 protected:
  ManualClock clock_{kAtOnce};
  ManualWallClock wall_{clock_, WallTime{1000h}};
  fake::FakeEvidence evidence_;
  Stats stats_{"client 0"};
};

TEST_F(RefusalSinkTest, AConsumersRefusalEndsWithAnAssignmentOrADelivery) {
  DeliverySink sink({}, evidence_, stats_, wall_);
  for (const Event proof : {Event::kAssign, Event::kDeliver}) {
    sink.observe(observation(Event::kClientError, Refusal::kRight, "needs READ"));
    sink.observe(observation(Event::kClientError, Refusal::kNone, "a connection broke"));
    sink.observe(observation(Event::kRevoke));
    EXPECT_EQ(sink.refusal(kAtOnce), "needs READ");
    sink.observe(observation(proof));
    EXPECT_EQ(sink.refusal(kAtOnce), "");
  }
}

TEST_F(RefusalSinkTest, AProducersRefusalEndsWithAnAcknowledgement) {
  OpenAttempts::Options options;
  options.keys = 1;
  OpenAttempts open(options);
  OutcomeSink sink(100, open, evidence_, stats_, clock_);
  for (const Event refused : {Event::kClientError, Event::kFail, Event::kInfo}) {
    sink.observe(observation(refused, Refusal::kRight, "needs WRITE"));
    sink.observe(observation(Event::kInfo, Refusal::kNone, "timed out"));
    EXPECT_EQ(sink.refusal(kAtOnce), "needs WRITE");
    sink.observe(observation(Event::kOk));
    EXPECT_EQ(sink.refusal(kAtOnce), "");
  }
}

}  // namespace
}  // namespace sp::workload

#include "coordinator/fleet.h"

#include <gtest/gtest.h>

#include "unit/coordinator/fake_worker.h"

namespace sp::coordinator {
namespace {

using namespace std::chrono_literals;

// A worker whose answers are fetched: notes what it was asked, and that poll() wants that very answer.
class AskedWorker final : public control::WorkerPort {
 public:
  AskedWorker(FakeWorker& worker, std::string name, std::vector<std::string>& calls)
      : worker_(worker), name_(std::move(name)), calls_(calls) {}
  void ask(const control::WorkerPoll& request) override {
    calls_.push_back("ask " + name_);
    asked_ = request;
  }
  Result<control::WorkerReport> poll(const control::WorkerPoll& request) override {
    calls_.push_back((asked_ == request ? "poll " : "poll unasked ") + name_);
    asked_.reset();
    auto report = worker_.poll(request);
    if (report && more_ > 0) report->more = more_-- > 0;
    return report;
  }
  void has_more(int times) { more_ = times; }
  Result<control::WorkerHello> prepare(const control::WorkerPlan& plan) override { return worker_.prepare(plan); }
  Result<std::uint32_t> create_topic() override { return worker_.create_topic(); }
  Result<void> delete_topic() override { return worker_.delete_topic(); }
  Result<void> start_consumers() override { return worker_.start_consumers(); }
  Result<void> start_producers() override { return worker_.start_producers(); }
  Result<void> stop_producers() override { return worker_.stop_producers(); }
  Result<void> stop_consumers() override { return worker_.stop_consumers(); }
  Result<std::vector<control::LogBounds>> log_bounds() override { return worker_.log_bounds(); }
  Result<void> start_raw_read(const control::RawReadRequest& request) override { return worker_.start_raw_read(request); }
  Result<void> remove() override { return worker_.remove(); }

 private:
  FakeWorker& worker_;
  std::string name_;
  std::vector<std::string>& calls_;
  std::optional<control::WorkerPoll> asked_;
  int more_ = 0;
};

struct FleetTest : testing::Test {
  std::vector<std::string> ignored;
  std::vector<std::string> calls;
  FakeWorker worker_a{ignored};
  FakeWorker worker_b{ignored};
  AskedWorker a{worker_a, "a", calls};
  AskedWorker b{worker_b, "b", calls};
  track::Ledger ledger{{.run = core::RunId{7}, .contract = {}, .groups = {"g"}, .limits = {}}};
  Fleet fleet{{}, {[](const Fleet::Worker&, std::string_view) {}, {}, {}}};

  FleetTest() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      const core::SourceId source{i, 1};
      control::WorkerPlan plan;
      plan.run = core::RunId{7};
      plan.source = source;
      AskedWorker& worker = i == 0 ? a : b;
      EXPECT_TRUE(worker.prepare(plan));
      fleet.add(worker, source);
      ledger.declare({source, 0}, 1);
      ledger.expect(source);
    }
  }
  std::vector<std::string> poll(MonotonicTime now, std::uint64_t tick = 0) {
    calls.clear();
    fleet.poll(ledger, now, tick, false);
    return calls;
  }
};

using Calls = std::vector<std::string>;

TEST_F(FleetTest, AllAreAskedBeforeTheFirstIsPolled) {
  EXPECT_EQ(poll(MonotonicTime{1s}), (Calls{"ask a", "ask b", "poll a", "poll b"}));
}

TEST_F(FleetTest, PollWantsTheAnswerThatWasAskedFor) {
  ASSERT_TRUE(a.start_producers());
  for (std::uint64_t tick = 1; tick < 4; ++tick) {
    EXPECT_EQ(poll(MonotonicTime{tick * 1s}, tick), (Calls{"ask a", "ask b", "poll a", "poll b"}));
  }
}

TEST_F(FleetTest, WhoHasMoreIsPolledAgainWithoutBeingAsked) {
  a.has_more(1);
  EXPECT_EQ(poll(MonotonicTime{1s}), (Calls{"ask a", "ask b", "poll a", "poll unasked a", "poll b"}));
}

TEST_F(FleetTest, WhoIsLostIsAskedAgainNowAndThenOnly) {
  worker_b.away = true;
  poll(MonotonicTime{1s});
  poll(MonotonicTime{12s});
  EXPECT_EQ(fleet.live(), 1U);
  EXPECT_EQ(poll(MonotonicTime{12'500ms}), (Calls{"ask a", "poll a"}));
  EXPECT_EQ(poll(MonotonicTime{13s}), (Calls{"ask a", "ask b", "poll a", "poll b"}));
}

}  // namespace
}  // namespace sp::coordinator

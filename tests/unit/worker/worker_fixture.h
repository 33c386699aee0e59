// What every test of a worker needs: a plan of two producers and two consumers, a fake broker under it, and a coordinator of a
// few lines. `Time` brings clock_ and wall_, which outlive the worker.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/workload/fake_driver.h"
#include "worker/worker.h"

namespace sp::worker {

template <typename Time>
class WorkerFixture : public testing::Test, protected Time {
 protected:
  explicit WorkerFixture(double rate) {
    broker_.topics = {"t"};
    broker_.assign_at_open = true;
    broker_.consumers_expected = 2;
    plan_.run = core::RunId{7};
    plan_.topic = "t";
    plan_.group_prefix = "g";
    plan_.proof.partitions = 4;
    plan_.proof.payload_bytes = 64;
    plan_.producers = {{0, 0, 4, rate}, {0, 1, 4, rate}};
    plan_.consumers = {{0, 0, core::GroupIndex{0}}, {0, 1, core::GroupIndex{0}}};
  }
  void make() {
    const auto factory = [this](const proof::Proof&) -> Result<std::unique_ptr<driver::Driver>> {
      if (!driver_failure_.empty()) return fail(ErrorCode::kInvalid, driver_failure_);
      return std::make_unique<fake::FakeDriver>(broker_);
    };
    worker_ = std::make_unique<Worker>(this->clock_, this->wall_, factory, options_);
  }
  // Takes what the worker has to say; acknowledges it unless told otherwise.
  control::WorkerReport poll(std::optional<std::uint64_t> tick = std::nullopt) {
    auto answer = worker_->poll({acknowledge_ ? last_ : 0, tick, rows_a_poll_, true});
    EXPECT_TRUE(answer);
    for (const auto& delta : answer->deltas) {
      if (delta.number <= last_) continue;
      EXPECT_EQ(delta.number, last_ + 1);
      last_ = delta.number;
      rows_.insert(rows_.end(), delta.rows.begin(), delta.rows.end());
      commits_.insert(commits_.end(), delta.commits.begin(), delta.commits.end());
    }
    return *answer;
  }
  [[nodiscard]] std::size_t rows(track::RowKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(rows_.begin(), rows_.end(), [kind](const track::Row& row) { return row.kind == kind; }));
  }
  // Everything that stands in the log was committed, and nothing beyond.
  void expect_all_committed() {
    std::map<std::uint32_t, std::uint64_t> committed;
    for (const auto& [partition, next] : broker_.commits) committed[partition] = next;
    for (std::uint32_t p = 0; p < 4; ++p) EXPECT_EQ(committed[p], broker_.logs[p].size());
  }

  fake::FakeBroker broker_{4};
  WorkerOptions options_;
  control::WorkerPlan plan_;
  std::string driver_failure_;
  std::unique_ptr<Worker> worker_;
  bool acknowledge_ = true;
  std::size_t rows_a_poll_ = 2'000'000;
  std::uint64_t last_ = 0;
  std::vector<track::Row> rows_;
  std::vector<track::CommitFact> commits_;
};

}  // namespace sp::worker

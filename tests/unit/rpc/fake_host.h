// A worker process for tests of the line: notes what it is told, and answers what a test says.
//
//     host.port.change([](auto& says) { says.report = …; });   host.port.block();   … a poll waits in it …   host.port.release();
//
// Errors: those the test sets.   Threads: any; one lock.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "control/worker_host.h"

namespace sp::rpc {

class FakePort final : public control::WorkerPort {
 public:
  // What a test turns.
  struct Says {
    control::WorkerHello hello;
    control::WorkerReport report;
    std::vector<control::LogBounds> bounds;
    std::optional<Error> error;  // every call says this
  };
  // What a test looks at.
  struct Seen {
    std::optional<control::WorkerPlan> plan;
    std::vector<std::string> calls;
    std::vector<control::WorkerPoll> polls;
    std::vector<control::RawReadRequest> raw_reads;
  };

  template <typename Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change(says_);
  }
  [[nodiscard]] Seen seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  // Polls wait from here on, until release().
  void block() {
    const std::lock_guard lock(mutex_);
    blocked_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    blocked_ = false;
    changed_.notify_all();
  }
  [[nodiscard]] std::size_t begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  // Until so many polls have begun since the start.
  void wait_for_polls(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= count; });
  }

  Result<control::WorkerHello> prepare(const control::WorkerPlan& given) override {
    const std::lock_guard lock(mutex_);
    seen_.plan = given;
    return answer("prepare", says_.hello);
  }
  Result<std::uint32_t> create_topic() override {
    const std::lock_guard lock(mutex_);
    return answer("create_topic", std::uint32_t{12});
  }
  Result<void> delete_topic() override { return done("delete_topic"); }
  Result<void> start_consumers() override { return done("start_consumers"); }
  Result<void> start_producers() override { return done("start_producers"); }
  Result<control::WorkerReport> poll(const control::WorkerPoll& request) override {
    std::unique_lock lock(mutex_);
    seen_.polls.push_back(request);
    auto report = says_.report;
    report.messages.push_back("poll " + std::to_string(++begun_));
    changed_.notify_all();
    changed_.wait(lock, [this] { return !blocked_; });
    if (says_.error) return tl::unexpected(*says_.error);
    return report;
  }
  Result<void> stop_producers() override { return done("stop_producers"); }
  Result<void> stop_consumers() override { return done("stop_consumers"); }
  Result<std::vector<control::LogBounds>> log_bounds() override {
    const std::lock_guard lock(mutex_);
    return answer("log_bounds", says_.bounds);
  }
  Result<void> start_raw_read(const control::RawReadRequest& request) override {
    const std::lock_guard lock(mutex_);
    seen_.raw_reads.push_back(request);
    return noted("start_raw_read");
  }
  Result<void> remove() override { return done("remove"); }

 private:
  Result<void> done(const char* call) {
    const std::lock_guard lock(mutex_);
    return noted(call);
  }
  // Under the lock.
  Result<void> noted(const char* call) {
    seen_.calls.emplace_back(call);
    if (says_.error) return tl::unexpected(*says_.error);
    return {};
  }
  template <typename T>
  Result<T> answer(const char* call, const T& value) {
    if (auto good = noted(call); !good) return tl::unexpected(std::move(good).error());
    return value;
  }

  std::mutex mutex_;  // guards all of it
  std::condition_variable changed_;
  Says says_;
  Seen seen_;
  bool blocked_ = false;
  std::size_t begun_ = 0;
};

class FakeHost final : public control::WorkerHost {
 public:
  control::WorkerInfo who{"left", "1.2.3", 0xFEDCBA9876543210U, "zone \xFF", 0};
  FakePort port;
  core::RunId run{0xF234567890ABCDEFU};
  core::SourceId source{3, 2};

  [[nodiscard]] control::WorkerInfo info() const override { return who; }
  [[nodiscard]] Result<control::WorkerHello> prepare(const control::WorkerPlan& plan) override { return port.prepare(plan); }
  [[nodiscard]] Result<control::SharedPort> find(core::RunId of, core::SourceId wanted) override {
    if (of != run || wanted != source) return fail(ErrorCode::kNotFound, "this worker process does not know it");
    return control::SharedPort(&port, [](control::WorkerPort*) {});  // the host's own
  }
  [[nodiscard]] Result<void> remove(core::RunId of, core::SourceId wanted) override {
    return of == run && wanted == source ? port.remove() : Result<void>();
  }
};

}  // namespace sp::rpc

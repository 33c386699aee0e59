// A worker process for tests of the line: notes what it is told, and answers what a test says.
//
//     host.port.report = …;   host.port.block();   … a poll waits in it …   host.port.release();
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
  // What a test turns; before the call that shows it.
  control::WorkerHello hello;
  control::WorkerReport report;
  std::vector<control::LogBounds> bounds;
  std::optional<Error> error;  // every call says this

  // What a test looks at, between calls.
  std::optional<control::WorkerPlan> plan;
  std::vector<std::string> calls;
  std::vector<control::WorkerPoll> polls;
  std::vector<control::RawReadRequest> raw_reads;

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
  // Until nobody is in a poll.
  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ == ended_; });
  }

  Result<control::WorkerHello> prepare(const control::WorkerPlan& given) override {
    plan = given;
    return answer("prepare", hello);
  }
  Result<std::uint32_t> create_topic() override { return answer("create_topic", std::uint32_t{12}); }
  Result<void> delete_topic() override { return done("delete_topic"); }
  Result<void> start_consumers() override { return done("start_consumers"); }
  Result<void> start_producers() override { return done("start_producers"); }
  Result<control::WorkerReport> poll(const control::WorkerPoll& request) override {
    std::unique_lock lock(mutex_);
    polls.push_back(request);
    auto says = report;
    says.messages.push_back("poll " + std::to_string(++begun_));
    changed_.notify_all();
    changed_.wait(lock, [this] { return !blocked_; });
    ++ended_;
    changed_.notify_all();
    if (error) return tl::unexpected(*error);
    return says;
  }
  Result<void> stop_producers() override { return done("stop_producers"); }
  Result<void> stop_consumers() override { return done("stop_consumers"); }
  Result<std::vector<control::LogBounds>> log_bounds() override { return answer("log_bounds", bounds); }
  Result<void> start_raw_read(const control::RawReadRequest& request) override {
    raw_reads.push_back(request);
    return done("start_raw_read");
  }
  Result<void> remove() override { return done("remove"); }

 private:
  Result<void> done(const char* call) {
    const std::lock_guard lock(mutex_);
    calls.emplace_back(call);
    if (error) return tl::unexpected(*error);
    return {};
  }
  template <typename T>
  Result<T> answer(const char* call, const T& value) {
    if (auto good = done(call); !good) return tl::unexpected(std::move(good).error());
    return value;
  }

  std::mutex mutex_;  // guards all of it while calls go on
  std::condition_variable changed_;
  bool blocked_ = false;
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
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

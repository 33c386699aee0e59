#include "rpc/logged_worker.h"

#include <optional>
#include <utility>

#include <fmt/core.h>

#include "rpc/answer_bytes.h"

namespace sp::rpc {

using control::InputKind;
using control::PortCall;

LoggedWorker::LoggedWorker(std::uint32_t worker, std::unique_ptr<DialedWorker> remote, control::LoggedRun& log)
    : worker_(worker), remote_(std::move(remote)), run_(log) {}

bool LoggedWorker::take_gone() { return std::exchange(gone_, false); }

Result<void> LoggedWorker::make_durable(std::uint64_t up_to) {
  if (run_.durable >= up_to) return {};
  auto done = run_.log->commit();
  if (done) {
    run_.durable = run_.log->count();
    run_.broken.clear();
  } else {
    run_.broken = done.error().message;
  }
  return done;
}

// All ports of a run and whoever steps it read the same log in turn, so the next input is an answer to this call, or none is left.
template <typename Answer, typename Read, typename Ask>
Answer LoggedWorker::answer(PortCall call, std::uint64_t committed_to, Read read, Ask ask) {
  const auto diverged = [&](std::string what) -> Answer {
    if (run_.diverged.empty()) run_.diverged = std::move(what);
    return fail(ErrorCode::kInternal, run_.diverged);
  };
  if (!run_.diverged.empty()) return diverged("");
  if (!run_.live) {
    auto input = run_.log->replay();
    if (!input) return diverged(input.error().message);
    if (*input) {
      if ((*input)->kind != InputKind::kAnswer || (*input)->call != call || (*input)->worker != worker_) {
        return diverged(
            fmt::format("input {} of its log is no answer of worker {} to call {}", run_.log->count(), worker_, static_cast<int>(call)));
      }
      auto said = read((*input)->bytes);
      if (!said) return diverged(fmt::format("input {} of its log: {}", run_.log->count(), said.error().message));
      return *std::move(said);
    }
    run_.live = true;
    run_.durable = run_.log->count();
  }
  if (auto durable = make_durable(committed_to); !durable) {
    return fail(ErrorCode::kUnavailable, "the coordinator cannot keep its log: " + durable.error().message);
  }
  Answer said = ask();
  // Other calls say kNotFound of a topic too.
  if (call == PortCall::kPoll && !said && said.error().code == ErrorCode::kNotFound) gone_ = true;
  run_.log->append({InputKind::kAnswer, call, worker_, 0, to_bytes(said)});
  appended_ = run_.log->count();
  return said;
}

Result<control::WorkerHello> LoggedWorker::prepare(const control::WorkerPlan& plan) {
  using Said = Result<control::WorkerHello>;
  const bool again = !run_.live;
  Said hello = answer<Said>(PortCall::kPrepare, run_.log->count(), hello_from_bytes, [&] { return remote_->prepare(plan); });
  if (again) remote_->attach(plan.run, plan.source);
  gone_ = false;
  return hello;
}

Result<std::uint32_t> LoggedWorker::create_topic() {
  return answer<Result<std::uint32_t>>(PortCall::kCreateTopic, run_.log->count(), partitions_from_bytes,
                                       [&] { return remote_->create_topic(); });
}

Result<void> LoggedWorker::delete_topic() {
  return answer<Result<void>>(PortCall::kDeleteTopic, run_.log->count(), void_from_bytes, [&] { return remote_->delete_topic(); });
}

Result<void> LoggedWorker::start_consumers() {
  return answer<Result<void>>(PortCall::kStartConsumers, run_.log->count(), void_from_bytes, [&] { return remote_->start_consumers(); });
}

Result<void> LoggedWorker::start_producers() {
  return answer<Result<void>>(PortCall::kStartProducers, run_.log->count(), void_from_bytes, [&] { return remote_->start_producers(); });
}

// What is asked here must be as durable as what a poll says. While the log is done again nobody is asked.
void LoggedWorker::ask(const control::WorkerPoll& request) {
  if (run_.live && run_.diverged.empty() && make_durable(appended_)) remote_->ask(request);
}

Result<control::WorkerReport> LoggedWorker::poll(const control::WorkerPoll& request) {
  return answer<Result<control::WorkerReport>>(PortCall::kPoll, appended_, report_from_bytes, [&] { return remote_->poll(request); });
}

Result<void> LoggedWorker::stop_producers() {
  return answer<Result<void>>(PortCall::kStopProducers, run_.log->count(), void_from_bytes, [&] { return remote_->stop_producers(); });
}

Result<void> LoggedWorker::stop_consumers() {
  return answer<Result<void>>(PortCall::kStopConsumers, run_.log->count(), void_from_bytes, [&] { return remote_->stop_consumers(); });
}

Result<std::vector<control::LogBounds>> LoggedWorker::log_bounds() {
  using Said = Result<std::vector<control::LogBounds>>;
  return answer<Said>(PortCall::kLogBounds, run_.log->count(), log_bounds_from_bytes, [&] { return remote_->log_bounds(); });
}

Result<void> LoggedWorker::start_raw_read(const control::RawReadRequest& request) {
  return answer<Result<void>>(PortCall::kStartRawRead, run_.log->count(), void_from_bytes,
                              [&] { return remote_->start_raw_read(request); });
}

Result<void> LoggedWorker::remove() {
  return answer<Result<void>>(PortCall::kRemove, run_.log->count(), void_from_bytes, [&] { return remote_->remove(); });
}

}  // namespace sp::rpc

#include "rpc/remote_worker.h"

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <proto/worker.grpc.pb.h>

#include "base/text.h"
#include "rpc/detail/messages.h"
#include "rpc/detail/wire.h"
#include "rpc/line.h"

namespace sp::rpc {

namespace v1 = ::streaming_proof::v1;

// The connection, and the poll that is in flight.
class RemoteWorker::Line {
 public:
  Line(MonotonicClock& clock, const RemoteOptions& options)
      : clock_(clock), options_(options), stub_(v1::Worker::NewStub(channel_to(options.address, options.credentials))) {}
  ~Line() {
    if (!call_) return;
    call_->context.TryCancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return call_->done; });  // the library writes into it until then
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void attach(core::RunId run, core::SourceId source) {
    if (source_ && source_->run == run && source_->source == source) return;
    give_up(clock_.now() + options_.poll_wait);  // it is about another one
    source_ = {run, source};
    messages_.clear();
  }

  Result<control::WorkerHello> prepare(const control::WorkerPlan& plan);
  void ask(const control::WorkerPoll& request);
  Result<control::WorkerReport> poll(const control::WorkerPoll& request);

  // Makes one call and waits for it; `fill` completes the request, whose source is filled in.
  template <typename T, typename Request, typename Answer, typename Fill>
  Result<T> call(Nanoseconds deadline, grpc::Status (v1::Worker::Stub::*method)(grpc::ClientContext*, const Request&, Answer*),
                 Fill fill) {
    Request request;
    if constexpr (!std::is_same_v<Request, v1::InfoRequest>) {
      if (!source_) return fail(ErrorCode::kInvalid, "a remote worker is called before prepare or attach: it does not know its run");
      detail::put(source_->run, source_->source, *request.mutable_source());
    }
    fill(request);
    grpc::ClientContext context;
    prepare_context(context, deadline);
    Answer answer;
    const grpc::Status status = ((*stub_).*method)(&context, request, &answer);
    if (!status.ok()) return tl::unexpected(error_of(status, deadline));
    return flat<T>(detail::outcome_of(answer));
  }
  template <typename T, typename Answer>
  Result<T> call(Nanoseconds deadline, grpc::Status (v1::Worker::Stub::*method)(grpc::ClientContext*, const v1::CallRequest&, Answer*)) {
    return call<T>(deadline, method, [](v1::CallRequest&) {});
  }

  [[nodiscard]] const RemoteOptions& options() const { return options_; }

 private:
  // A poll that was sent. Written by its owner until it is sent, then by the library until it is done.
  struct PollCall {
    control::WorkerPoll request;
    grpc::ClientContext context;
    v1::PollRequest message;
    v1::ReportAnswer answer;
    grpc::Status status;
    bool done = false;  // under the line's mutex
    bool late = false;  // whoever asked has given up on it
  };

  struct About {
    core::RunId run;
    core::SourceId source;
  };

  void prepare_context(grpc::ClientContext& context, Nanoseconds deadline) const {
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(deadline.count(), GPR_TIMESPAN)));
    const std::string& token = options_.credentials.token;
    if (!token.empty()) context.AddMetadata(kTokenHeader, kTokenScheme + token);
  }
  template <typename T>
  Result<T> flat(detail::Outcome<T>&& outcome) const {
    if (!outcome) return fail_up(std::move(outcome), "worker at " + options_.address);
    return std::move(*outcome);
  }
  [[nodiscard]] Error error_of(const grpc::Status& status, Nanoseconds deadline) const;
  [[nodiscard]] tl::unexpected<Error> no_answer_yet() const;
  void begin(const control::WorkerPoll& request);
  // True if it is done by then.
  bool wait(MonotonicTime until);
  // Without the poll that was sent, and what it held for a person kept; false: it is still in flight at `until`, and late.
  bool give_up(MonotonicTime until);
  Result<control::WorkerReport> take();

  MonotonicClock& clock_;
  const RemoteOptions options_;
  std::unique_ptr<v1::Worker::Stub> stub_;
  std::optional<About> source_;
  std::unique_ptr<PollCall> call_;      // sent, and not taken
  std::vector<std::string> messages_;   // of late answers
  std::mutex mutex_;                    // guards call_->done and what the library writes before it
  std::condition_variable changed_;
};

Error RemoteWorker::Line::error_of(const grpc::Status& status, Nanoseconds deadline) const {
  const std::string where = "worker at " + options_.address;
  const std::string says = printable(status.error_message());
  const grpc::StatusCode code = status.error_code();
  if (code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::PERMISSION_DENIED) {
    return {ErrorCode::kDenied, fmt::format("{} refuses the call: {}; give the coordinator the worker's token", where, says)};
  }
  if (code == grpc::StatusCode::RESOURCE_EXHAUSTED) return {ErrorCode::kFull, fmt::format("{}: {}", where, says)};
  if (code == grpc::StatusCode::UNIMPLEMENTED) {
    return {ErrorCode::kUnsupported, fmt::format("{} does not know this call: let it be of the coordinator's release", where)};
  }
  if (code == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return {ErrorCode::kUnavailable, fmt::format("{} did not answer within {}", where, human_duration(deadline))};
  }
  return {ErrorCode::kUnavailable, fmt::format("{} cannot be reached: {}", where, says)};
}

tl::unexpected<Error> RemoteWorker::Line::no_answer_yet() const {
  return fail(ErrorCode::kUnavailable, fmt::format("worker at {} has not answered a poll for more than {}", options_.address,
                                                   human_duration(options_.poll_wait)));
}

Result<control::WorkerHello> RemoteWorker::Line::prepare(const control::WorkerPlan& plan) {
  attach(plan.run, plan.source);
  v1::PrepareRequest request;
  if (auto exact = detail::put(plan, request); !exact) return tl::unexpected(std::move(exact).error());
  return call<control::WorkerHello>(options_.long_call_deadline, &v1::Worker::Stub::Prepare,
                                    [&](v1::PrepareRequest& to) { to = std::move(request); });
}

void RemoteWorker::Line::begin(const control::WorkerPoll& request) {
  {
    const std::lock_guard lock(mutex_);  // whoever notes its end finds all of it made
    call_ = std::make_unique<PollCall>();
    call_->request = request;
    prepare_context(call_->context, options_.poll_deadline);
    detail::put(source_->run, source_->source, *call_->message.mutable_source());
    detail::put(request, call_->message);
  }
  stub_->async()->Poll(&call_->context, &call_->message, &call_->answer, [this, call = call_.get()](grpc::Status status) {
    const std::lock_guard lock(mutex_);
    call->status = std::move(status);
    call->done = true;
    changed_.notify_all();  // under the lock: whoever waits may destroy all of this as soon as it has it
  });
}

bool RemoteWorker::Line::wait(MonotonicTime until) {
  std::unique_lock lock(mutex_);
  while (!call_->done) {
    if (!clock_.wait_until(lock, changed_, until)) break;
  }
  return call_->done;
}

bool RemoteWorker::Line::give_up(MonotonicTime until) {
  if (!call_) return true;
  if (!wait(clock_.now())) {
    call_->late = true;
    call_->context.TryCancel();
    if (!wait(until)) return false;
  }
  if (auto report = take()) {
    for (auto& message : report->messages) {
      if (messages_.size() < kMessagesKeptMax) messages_.push_back(std::move(message));
    }
  }
  return true;
}

// Of the call that is done.
Result<control::WorkerReport> RemoteWorker::Line::take() {
  const std::unique_ptr<PollCall> call = std::move(call_);
  if (!call->status.ok()) return tl::unexpected(error_of(call->status, options_.poll_deadline));
  return flat<control::WorkerReport>(detail::outcome_of(call->answer));
}

void RemoteWorker::Line::ask(const control::WorkerPoll& request) {
  if (!source_) return;
  const MonotonicTime now = clock_.now();
  if (call_ && !wait(now)) return;  // in flight: poll() says what that comes to
  // An answer that nobody has taken tells how things were then.
  if (give_up(now)) begin(request);
}

Result<control::WorkerReport> RemoteWorker::Line::poll(const control::WorkerPoll& request) {
  if (!source_) return fail(ErrorCode::kInvalid, "a remote worker is polled before prepare or attach: it does not know its run");
  const MonotonicTime until = clock_.now() + options_.poll_wait;
  if (call_ && call_->late && !wait(clock_.now())) return no_answer_yet();
  if (call_ && (call_->late || call_->request != request) && !give_up(until)) return no_answer_yet();
  if (!call_) begin(request);
  if (!wait(until)) {
    call_->late = true;
    return no_answer_yet();
  }
  auto report = take();
  if (report && !messages_.empty()) {
    messages_.insert(messages_.end(), std::make_move_iterator(report->messages.begin()),
                     std::make_move_iterator(report->messages.end()));
    report->messages = std::exchange(messages_, {});
  }
  return report;
}

RemoteWorker::RemoteWorker(std::unique_ptr<Line> line) : line_(std::move(line)) {}
RemoteWorker::~RemoteWorker() = default;

Result<std::unique_ptr<RemoteWorker>> RemoteWorker::open(MonotonicClock& clock, const RemoteOptions& options) {
  if (options.address.empty()) return fail(ErrorCode::kInvalid, "a remote worker without an address: give HOST:PORT");
  if (auto good = check(options.credentials); !good) return fail_up(std::move(good), "credentials for worker " + options.address);
  return std::unique_ptr<RemoteWorker>(new RemoteWorker(std::make_unique<Line>(clock, options)));
}

Result<control::WorkerInfo> RemoteWorker::info() {
  return line_->call<control::WorkerInfo>(line_->options().call_deadline, &v1::Worker::Stub::Info, [](v1::InfoRequest&) {});
}

void RemoteWorker::attach(core::RunId run, core::SourceId source) { line_->attach(run, source); }

Result<control::WorkerHello> RemoteWorker::prepare(const control::WorkerPlan& plan) { return line_->prepare(plan); }

Result<std::uint32_t> RemoteWorker::create_topic() {
  return line_->call<std::uint32_t>(line_->options().long_call_deadline, &v1::Worker::Stub::CreateTopic);
}
Result<void> RemoteWorker::delete_topic() {
  return line_->call<void>(line_->options().long_call_deadline, &v1::Worker::Stub::DeleteTopic);
}
Result<void> RemoteWorker::start_consumers() {
  return line_->call<void>(line_->options().long_call_deadline, &v1::Worker::Stub::StartConsumers);
}
Result<void> RemoteWorker::start_producers() {
  return line_->call<void>(line_->options().long_call_deadline, &v1::Worker::Stub::StartProducers);
}
void RemoteWorker::ask(const control::WorkerPoll& request) { line_->ask(request); }
Result<control::WorkerReport> RemoteWorker::poll(const control::WorkerPoll& request) { return line_->poll(request); }
Result<void> RemoteWorker::stop_producers() {
  return line_->call<void>(line_->options().call_deadline, &v1::Worker::Stub::StopProducers);
}
Result<void> RemoteWorker::stop_consumers() {
  return line_->call<void>(line_->options().call_deadline, &v1::Worker::Stub::StopConsumers);
}
Result<std::vector<control::LogBounds>> RemoteWorker::log_bounds() {
  return line_->call<std::vector<control::LogBounds>>(line_->options().long_call_deadline, &v1::Worker::Stub::ReadLogBounds);
}
Result<void> RemoteWorker::start_raw_read(const control::RawReadRequest& request) {
  return line_->call<void>(line_->options().long_call_deadline, &v1::Worker::Stub::StartRawRead,
                           [&](v1::RawReadRequest& to) { detail::put(request, to); });
}
Result<void> RemoteWorker::remove() {
  return line_->call<void>(line_->options().long_call_deadline, &v1::Worker::Stub::Remove);
}

}  // namespace sp::rpc

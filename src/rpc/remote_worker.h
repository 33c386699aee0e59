// A worker in another process, behind the port that a coordinator drives: gRPC to a WorkerServer.
//
//     open ─► prepare(plan)                           or attach(run, source), of a proof that was prepared before
//          ─► ask(request) … poll(request)            of all workers first ask(), then poll(): they are awaited at once
//
//     no answer within `poll_wait`    poll() says kUnavailable; the call stays in flight, and poll() says so at once until it is
//                                     done or `poll_deadline` is over
//     an answer that comes too late   is dropped but for its messages, which the next report tells: what it says of a worker is no
//                                     answer to what is asked now, and its deltas are handed out again until acknowledged
//
// The connection goes straight to the address, without a proxy, and is made again when it is lost, within a second or two.
//
// Limits:   messages of 64 MiB; kMessagesKeptMax messages of late answers.
// Errors:   the worker's own, with code and sentence; kUnavailable: it cannot be reached or does not answer in time; kDenied: it
//           does not accept the token; kFull: an answer is too large, or too many calls are there; kUnsupported: it is of an earlier
//           release; kInvalid: called before prepare() or attach(). A process that was restarted says kNotFound.
// Threads:  one owner. No call blocks longer than its deadline; the clock is that of the machine.
// Source:   control/worker_port.h; proto/worker.proto.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/worker_host.h"
#include "control/worker_port.h"
#include "rpc/credentials.h"

namespace sp::rpc {

struct RemoteOptions {
  std::string address;  // "host:port"
  ClientCredentials credentials;
  Nanoseconds poll_wait = std::chrono::seconds(1);
  Nanoseconds poll_deadline = std::chrono::seconds(5);
  Nanoseconds call_deadline = std::chrono::seconds(5);        // info, stop_*
  Nanoseconds long_call_deadline = std::chrono::seconds(60);  // prepare, *_topic, start_*, log_bounds, remove
};

class RemoteWorker final : public control::WorkerPort {
 public:
  static constexpr std::size_t kMessagesKeptMax = 200;

  // Does not wait for the worker: whether it is there shows in the first call. The clock outlives the worker. Errors: kInvalid.
  [[nodiscard]] static Result<std::unique_ptr<RemoteWorker>> open(MonotonicClock& clock, const RemoteOptions& options);
  ~RemoteWorker() override;
  RemoteWorker(const RemoteWorker&) = delete;
  RemoteWorker& operator=(const RemoteWorker&) = delete;

  // Who is there.
  [[nodiscard]] Result<control::WorkerInfo> info();
  // From here on calls are about this one, which was prepared before.
  void attach(core::RunId run, core::SourceId source);

  Result<control::WorkerHello> prepare(const control::WorkerPlan& plan) override;
  Result<std::uint32_t> create_topic() override;
  Result<void> delete_topic() override;
  Result<void> start_consumers() override;
  Result<void> start_producers() override;
  void ask(const control::WorkerPoll& request) override;
  Result<control::WorkerReport> poll(const control::WorkerPoll& request) override;
  Result<void> stop_producers() override;
  Result<void> stop_consumers() override;
  Result<std::vector<control::LogBounds>> log_bounds() override;
  Result<void> start_raw_read(const control::RawReadRequest& request) override;
  Result<void> remove() override;

 private:
  class Line;
  explicit RemoteWorker(std::unique_ptr<Line> line);
  std::unique_ptr<Line> line_;
};

}  // namespace sp::rpc

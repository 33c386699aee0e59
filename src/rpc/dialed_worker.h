// A worker whose address is asked for: a RemoteWorker that looks again where its process is served whenever that does not answer.
//
//     call ─► no address yet, or the last call was kUnavailable ─► find() ─► RemoteWorker there ─► the call
//
// A worker process that was started anew may listen elsewhere; what was prepared is said to the new one as attach().
//
// Limits:   the address is asked for once in kFindPeriod.
// Errors:   those of find() and of RemoteWorker.   Threads: one owner.   Waiting: find() and the call.
// Source:   rpc/remote_worker.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "control/worker_port.h"
#include "rpc/remote_worker.h"

namespace sp::rpc {

constexpr Nanoseconds kFindPeriod = std::chrono::seconds(1);

// "host:port" of the process's gRPC, by what it says of itself.
using AddressFinder = std::function<Result<std::string>()>;

class DialedWorker final : public control::WorkerPort {
 public:
  // `options.address` is not used. The clock outlives the worker.
  DialedWorker(AddressFinder find, MonotonicClock& clock, RemoteOptions options)
      : find_(std::move(find)), clock_(clock), options_(std::move(options)) {}

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
  [[nodiscard]] Result<void> reach();
  template <typename Call>
  auto call(Call call) -> decltype(call(std::declval<RemoteWorker&>()));

  AddressFinder find_;
  MonotonicClock& clock_;
  RemoteOptions options_;
  std::unique_ptr<RemoteWorker> remote_;
  std::optional<std::pair<core::RunId, core::SourceId>> about_;
  bool lost_ = true;  // the last call did not reach it
  std::optional<MonotonicTime> found_at_;
  std::string problem_;  // of the last find()
};

}  // namespace sp::rpc

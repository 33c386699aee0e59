// A worker in another process whose answers stand in the log of a run: control/logged_port.h over DialedWorker.
//
//     run again:   prepare ─► the answer of then, and attach() · poll ─► the report of then · …
//     live:        commit ─► the call ─► append(answer)
//
// What the log does not hold yet is committed only before a call that could tell the worker of it: its own last answers before a poll, all
// before any other call.
//
// Errors:   control/logged_port.h; those of DialedWorker.
// Threads:  that of the run.   Source: docs/decisions/0015.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/logged_port.h"
#include "rpc/dialed_worker.h"

namespace sp::rpc {

class LoggedWorker final : public control::LoggedPort {
 public:
  // `log` outlives the port.
  LoggedWorker(std::uint32_t worker, std::unique_ptr<DialedWorker> remote, control::LoggedRun& log);

  [[nodiscard]] bool take_gone() override;
  void give_up() override { static_cast<void>(remote_->remove()); }

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
  // The answer to `call`: from the log, or by `ask` once the log holds all that was appended up to `committed_to`.
  template <typename Answer, typename Read, typename Ask>
  Answer answer(control::PortCall call, std::uint64_t committed_to, Read read, Ask ask);
  [[nodiscard]] Result<void> make_durable(std::uint64_t up_to);

  const std::uint32_t worker_;
  const std::unique_ptr<DialedWorker> remote_;
  control::LoggedRun& run_;
  std::uint64_t appended_ = 0;  // the number of its last answer in the log
  bool gone_ = false;
};

}  // namespace sp::rpc

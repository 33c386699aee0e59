// The values of control's ports as messages of proto/worker.proto, and back. What is read was checked: nothing that a message can say
// makes a value that the port's users do not expect.
//
//     put(value, message)          write      outcome_of(answer)   an answer: its value, or the error that it tells
//
// Cost:     a copy.
// Limits:   those of protobuf, 2 GB a message.
// Errors:   kParse: a message that no program of this release makes. Codes of errors that are unknown here are kInternal.
// Threads:  pure functions.   Source: proto/worker.proto.
#pragma once

#include <cstddef>
#include <vector>

#include <proto/worker.pb.h>

#include "base/result.h"
#include "control/worker_host.h"
#include "control/worker_port.h"

namespace sp::rpc::detail {

namespace v1 = ::streaming_proof::v1;

// What an answer says: the outer error is that of a message which is none, the inner one is the worker's.
template <typename T>
using Outcome = Result<Result<T>>;

void put(core::RunId run, core::SourceId source, v1::Source& message);
[[nodiscard]] core::RunId run_of(const v1::Source& message);
[[nodiscard]] core::SourceId source_of(const v1::Source& message);

// Errors: kInvalid: a proof that its JSON does not tell exactly.
[[nodiscard]] Result<void> put(const control::WorkerPlan& plan, v1::PrepareRequest& message);
[[nodiscard]] Result<control::WorkerPlan> plan_of(const v1::PrepareRequest& message);
void put(const control::WorkerPoll& poll, v1::PollRequest& message);
[[nodiscard]] control::WorkerPoll poll_of(const v1::PollRequest& message);
void put(const control::RawReadRequest& request, v1::RawReadRequest& message);
[[nodiscard]] Result<control::RawReadRequest> raw_read_of(const v1::RawReadRequest& message);

void put(const Result<control::WorkerInfo>& answer, v1::InfoAnswer& message);
void put(const Result<control::WorkerHello>& answer, v1::HelloAnswer& message);
void put(const Result<std::uint32_t>& answer, v1::PartitionsAnswer& message);
void put(const Result<std::vector<control::LogBounds>>& answer, v1::LogBoundsAnswer& message);
void put(const Result<void>& answer, v1::VoidAnswer& message);
// Deltas past `bytes_max`, but for the first, are left out, and `more` says so: they are handed out again.
void put(const Result<control::WorkerReport>& answer, v1::ReportAnswer& message, std::size_t bytes_max);

[[nodiscard]] Outcome<control::WorkerInfo> outcome_of(const v1::InfoAnswer& message);
[[nodiscard]] Outcome<control::WorkerHello> outcome_of(const v1::HelloAnswer& message);
[[nodiscard]] Outcome<std::uint32_t> outcome_of(const v1::PartitionsAnswer& message);
[[nodiscard]] Outcome<std::vector<control::LogBounds>> outcome_of(const v1::LogBoundsAnswer& message);
[[nodiscard]] Outcome<void> outcome_of(const v1::VoidAnswer& message);
[[nodiscard]] Outcome<control::WorkerReport> outcome_of(const v1::ReportAnswer& message);

}  // namespace sp::rpc::detail

// The answers of a worker's port as bytes, and back, exactly: for a log of what a coordinator was told. The bytes are the messages that
// cross the wire, so their rule holds: a later release reads what an earlier one wrote.
//
//     std::string bytes = to_bytes(answer);       report_from_bytes(bytes)  ─►  the answer: a value, or the worker's error
//
// Cost:     a copy, and that of track/delta_bytes.h for each row.
// Limits:   2 GB.
// Errors:   the outer result: kParse, bytes that no answer of that kind has.
// Threads:  pure functions.   Source: proto/worker.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/worker_port.h"

namespace sp::rpc {

[[nodiscard]] std::string to_bytes(const Result<control::WorkerHello>& answer);
[[nodiscard]] std::string to_bytes(const Result<std::uint32_t>& partitions);
[[nodiscard]] std::string to_bytes(const Result<control::WorkerReport>& answer);
[[nodiscard]] std::string to_bytes(const Result<std::vector<control::LogBounds>>& answer);
[[nodiscard]] std::string to_bytes(const Result<void>& answer);

[[nodiscard]] Result<Result<control::WorkerHello>> hello_from_bytes(std::string_view bytes);
[[nodiscard]] Result<Result<std::uint32_t>> partitions_from_bytes(std::string_view bytes);
[[nodiscard]] Result<Result<control::WorkerReport>> report_from_bytes(std::string_view bytes);
[[nodiscard]] Result<Result<std::vector<control::LogBounds>>> log_bounds_from_bytes(std::string_view bytes);
[[nodiscard]] Result<Result<void>> void_from_bytes(std::string_view bytes);

}  // namespace sp::rpc

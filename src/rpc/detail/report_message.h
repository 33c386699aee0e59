// The report of a poll as a message, and back: deltas as their bytes, histograms as their images.
//
// Cost:     that of track/delta_bytes.h for each row.
// Errors:   kParse: a delta, histogram or phase that is none.
// Threads:  pure functions.   Source: proto/worker.proto, Report.
#pragma once

#include <cstddef>

#include <proto/worker.pb.h>

#include "base/result.h"
#include "control/worker_port.h"

namespace sp::rpc::detail {

// Deltas past `bytes_max`, but for the first, are left out, and `more` says so.
void put_report(const control::WorkerReport& report, ::streaming_proof::v1::Report& message, std::size_t bytes_max);
[[nodiscard]] Result<control::WorkerReport> report_of(const ::streaming_proof::v1::Report& message);

}  // namespace sp::rpc::detail

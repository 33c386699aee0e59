// Reads the log by position, without a group and without the consumers under test.
//
//     first step   kRawBegin for all targets, the readers start
//     then         kRaw …, until a record or the log's end is at or past `end`: kRawEnd, reached
//     all done     true
//
// Positions that hold no record (aborted, compacted, markers) are passed over: what counts is that
// reading got past them.
//
// Limits:  gives up after kRawIdleMax without progress; kRawBatchMax records a step.
// Errors:  kTimeout names each partition and where it stands; kDenied the missing right.
// Threads: one owner.
// Source:  driver.h.
#pragma once

#include <chrono>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"

namespace sp::driver::kafka {

constexpr std::chrono::seconds kRawIdleMax{30};
constexpr std::size_t kRawBatchMax = 1000;

// `settings` are a plan's consumer settings. `clock` outlives the reader.
[[nodiscard]] Result<std::unique_ptr<RawReader>> open_raw_reader(const RawSpec& spec,
                                                                 Settings settings,
                                                                 MonotonicClock& clock);

}  // namespace sp::driver::kafka

// What a service answers, as JSON: the members of the reference, and those that were added.
//
//     ProofReport ─► {"proof":{…},"status":"running","resultReason":…,"summary":{…},…}
//
// Shape:    valid JSON on one line; the members are those of contract.h, which a test compares.
// Units:    as their names say: seconds, milliseconds (latencies), a second (rates).
// Cost:     O(keys) for details, O(points) for reports, else small.
// Limits:   kKeysShownMax keys of a proof; how many were left out is said.
// Errors:   none.   Threads: pure functions.   Source: docs/reference/rest.md; sections 1 to 3 of the reference.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coordinator/service.h"
#include "proof/fields.h"

namespace sp::api {

constexpr std::size_t kKeysShownMax = 100'000;

// ---- the reference's ----
[[nodiscard]] std::string proof_json(const coordinator::ProofHead& head);
[[nodiscard]] std::string proofs_json(const std::vector<coordinator::ProofHead>& heads);  // each with its status
enum class DetailsView : std::uint8_t { kSummary, kAll };
[[nodiscard]] std::string details_json(const coordinator::ProofDetails& details, DetailsView view);
[[nodiscard]] std::string report_json(const coordinator::ProofReport& report);

// ---- added ----
[[nodiscard]] std::string violations_json(const coordinator::ViolationPage& page);
[[nodiscard]] std::string key_json(const coordinator::KeyView& key);
[[nodiscard]] std::string coverage_json(const coordinator::CoverageView& view);
[[nodiscard]] std::string fault_json(const core::FaultRecord& fault);
[[nodiscard]] std::string faults_json(const std::vector<core::FaultRecord>& faults);
[[nodiscard]] std::string diagnostics_json(const coordinator::Diagnostics& diagnostics);
[[nodiscard]] std::string version_json(std::string_view name, std::string_view version);
[[nodiscard]] std::string ready_json(std::string_view not_ready);
// {"error":{"code":"invalid","message":…,"faults":[{"place":…,"message":…,"remedy":…}]}}
[[nodiscard]] std::string error_json(ErrorCode code, std::string_view message, std::span<const proof::Fault> faults = {});

// The members that a mark of a fault may have.
namespace fault_members {
inline constexpr std::string_view kNumber = "number";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kTarget = "target";
inline constexpr std::string_view kEffect = "effect";
inline constexpr std::string_view kEnd = "end";
}  // namespace fault_members

}  // namespace sp::api

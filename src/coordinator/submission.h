// A request for a proof, read: names of configured drivers become systems and settings, everything else is a field of the proof.
//
//     {"driver":"k1","features":["ordering"],"msgRate":500}  +  Configs{k1: kafka, bootstrap.servers=…}
//          ─►  Submission{driver "k1", proof{driver "kafka", settings{bootstrap.servers=…}, ordering, rate 500}}
//
// Shape:    `proof` is complete and without contradiction when there are no faults.
// Cost:     that of reading the proof.   Limits: –.
// Errors:   faults, all of them at once, each with place and remedy.
// Threads:  pure functions.   Source: docs/reference/rest.md; section 2 of the reference.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/document.h"
#include "coordinator/configs.h"
#include "coordinator/service.h"
#include "proof/fields.h"

namespace sp::coordinator {

struct SubmissionReading {
  Submission submission;
  std::vector<proof::Fault> faults;
};
// `drivers`: what the drivers of this program can do.
[[nodiscard]] SubmissionReading read_submission(const codec::Node& body, const Configs& configs,
                                                std::span<const proof::DriverFacts> drivers = proof::kKnownDrivers);

// The state's form of a submission, and back; secrets included.
[[nodiscard]] std::string submission_json(const Submission& submission);
[[nodiscard]] Result<Submission> submission_of_json(std::string_view json);

// Where the systems of a proof are, as the configuration says it now.
[[nodiscard]] std::vector<ClusterTarget> cluster_targets(const Submission& submission, const Configs& configs);

// 2.4 of the reference: the proof's own, else the report's finalWaitSeconds, else its finalVerificationTimeoutSeconds, else 30 s.
[[nodiscard]] std::chrono::seconds final_wait(const proof::Proof& proof, const Configs& configs);
// maxTimeSeriesPoints of the report's settings, else 481.
[[nodiscard]] std::uint64_t series_points_max(const Configs& configs);

}  // namespace sp::coordinator

// What is posted when a proof has come to its verdict, or to its first anomaly.
//
//     slack     {"blocks":[{"type":"section","text":{"type":"mrkdwn","text":…}}]}
//     discord   {"content":…}
//     generic   {"message":…,"timestamp":…}, and what a program wants: id, status, reason, counts
//
// Cost:     –.   Limits: –.   Errors: none.   Threads: pure functions.   Source: section 7.1 of the reference.
#pragma once

#include <string>

#include "base/clock.h"
#include "coordinator/archive.h"

namespace sp::coordinator {

// At the end.
[[nodiscard]] std::string verdict_body(const Webhook& webhook, const Archive& archive, WallTime now);
// At the first anomaly of a proof that is going on.
[[nodiscard]] std::string violation_body(const Webhook& webhook, const ProofHead& head, const Violation& violation, WallTime now);

}  // namespace sp::coordinator

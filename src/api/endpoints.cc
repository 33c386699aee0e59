#include "api/endpoints.h"

#include <array>

#include "api/handlers.h"

namespace sp::api {
namespace {

using enum Role;
using enum Standing;
constexpr auto kWaits = http::Lane::kWaiting;
constexpr std::string_view kFaultsNote = "what is wrong with a request is a 4xx that names all of it, not a bare 500";

constexpr std::array kWait = {QueryRow{"wait", "boolean", "false: answer at once, and let it go on"}};
constexpr std::array kViolations = {
    QueryRow{"code", "code", "only of this code of docs/reference/findings.md"},
    QueryRow{"key", "string", "only of this key"},
    QueryRow{"since", "duration", "noticed from then on, counted from the start of the proof"},
    QueryRow{"until", "duration", "noticed before then"},
    QueryRow{"after", "integer", "numbers above it: `next` of the page before"},
    QueryRow{"limit", "integer", "violations of a page, 1 to 1000; else 100", 1, kViolationsMax},
};
constexpr std::array kEvents = {
    QueryRow{"after", "integer", "events above this number; the header Last-Event-ID comes first"}};

using H = Handlers;

constexpr std::array kEndpoints = {
    Endpoint{"POST", "/proofs", kWrite, &H::create, "Creates and starts a proof", "Proof", "Proof", kWait, kWaits, kCorrected, kFaultsNote},
    Endpoint{"GET", "/proofs", kRead, &H::list, "All proofs with their status, the latest first", "[ListedProof]", "", {}, {}, kSame},
    Endpoint{"GET", "/proofs/{id}", kRead, &H::show, "A proof, its summary and checkpoints", "ProofSummaryView", "", {}, kWaits, kSame},
    Endpoint{"GET", "/proofs/{id}/details", kRead, &H::details, "... and what is wrong, key by key", "ProofDetails", "", {}, kWaits, kSame},
    Endpoint{"GET", "/proofs/{id}/report", kRead, &H::report, "The report, of a running proof as of now", "ProofReport", "", {}, {}, kSame},
    Endpoint{"PUT", "/proofs/{id}/stop", kWrite, &H::stop, "Stops a proof; answers when it is judged", "", "", kWait, kWaits, kCorrected,
             "after the end it changes nothing"},
    Endpoint{"DELETE", "/proofs/{id}", kWrite, &H::remove, "Stops a proof, deletes its topic and forgets it", "", "", {}, kWaits, kSame},
    Endpoint{"PUT", "/configs", kWrite, &H::put_configs, "Adds workers, drivers and report settings", "", "Configs", {}, {}, kCorrected,
             kFaultsNote},
    Endpoint{"GET", "/configs", kRead, &H::configs, "Workers, drivers and report settings", "Configs", "", {}, {}, kCorrected,
             "secrets are hidden"},
    Endpoint{"DELETE", "/configs", kWrite, &H::delete_configs, "Takes the named workers, drivers and report settings away", "",
             "ConfigNames",
             {}, {}, kCorrected, kFaultsNote},
    Endpoint{"GET", "/", kOpen, &H::to_ui, "To the user interface", "redirect", "", {}, {}, kSame},
    Endpoint{"GET", "/ui", kOpen, &H::to_ui, "To the user interface", "redirect", "", {}, {}, kSame},
    Endpoint{"GET", "/ui/{path*}", kOpen, &H::ui, "The user interface", "file", "", {}, {}, kSame},

    Endpoint{"GET", "/proofs/{id}/result", kRead, &H::result, "The full result once there is a verdict", "any"},
    Endpoint{"GET", "/proofs/{id}/violations", kRead, &H::violations, "What is wrong, page by page", "ViolationPage", "", kViolations},
    Endpoint{"GET", "/proofs/{id}/keys/{key}", kRead, &H::key, "What one key has come to", "Key", "", {}, kWaits},
    Endpoint{"GET", "/proofs/{id}/coverage", kRead, &H::coverage, "What could be checked and what not", "Coverage"},
    Endpoint{"GET", "/proofs/{id}/faults", kRead, &H::faults, "Faults that were made or marked", "Faults"},
    Endpoint{"POST", "/proofs/{id}/faults", kWrite, &H::mark_fault, "Marks a fault that somebody outside makes", "Fault", "FaultMark", {},
             kWaits},
    Endpoint{"GET", "/proofs/{id}/events", kRead, &H::events, "What happens, as Server-Sent Events", "events", "", kEvents},
    Endpoint{"GET", "/proofs/{id}/diagnostics", kRead, &H::diagnostics, "The state of the run and of each worker", "Diagnostics"},
    Endpoint{"GET", "/healthz", kOpen, &H::healthz, "It is there", "text"},
    Endpoint{"GET", "/readyz", kOpen, &H::readyz, "It can take proofs; 503 and the reason if not", "Ready"},
    Endpoint{"GET", "/version", kOpen, &H::version, "Name and version of the program", "Version"},
    Endpoint{"GET", "/metrics", kRead, &H::metrics, "Metrics for Prometheus", "text"},
    Endpoint{"GET", "/openapi.json", kOpen, &H::openapi, "This table, as OpenAPI 3.1", "any"},
};

}  // namespace

std::span<const Endpoint> endpoints() { return kEndpoints; }

}  // namespace sp::api

// Single keys of a ledger, as a service shows them.
//
// Cost:     one key: O(blocks + its ranges); all: O(keys).   Limits: –.
// Errors:   kNotFound: nobody owns a key of that name.   Threads: that of the ledger.   Source: docs/reference/rest.md.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "coordinator/service.h"
#include "track/ledger.h"

namespace sp::coordinator {

[[nodiscard]] Result<KeyView> view_key(const track::Ledger& ledger, std::string_view name);
// In the order of producers and keys; the first `most`.
[[nodiscard]] std::vector<KeyView> view_keys(const track::Ledger& ledger, std::size_t most);
[[nodiscard]] CheckpointSummary count_keys(const track::Ledger& ledger);
// Hand-overs of all groups, repeats included.
[[nodiscard]] std::uint64_t deliveries(const track::Ledger& ledger);

}  // namespace sp::coordinator

// "node 2", "nodes 1 and 3", "nodes 1, 2 and 3": how reports name nodes.
//
// Errors: none.   Threads: a value.   Source: docs/reference/faults.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sp::scenario::fault {

[[nodiscard]] std::string node_text(const std::vector<std::int32_t>& nodes);

}  // namespace sp::scenario::fault

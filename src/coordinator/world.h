// What a proof of a service began with besides what was asked for: kept, so that later changes of the configuration do not reach it.
//
// Shape:    JSON in the state file.   Cost: O(workers).   Limits: –.
// Errors:   none: what cannot be read is absent.   Threads: a value.   Source: docs/formats/state.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/service.h"

namespace sp::coordinator {

struct World {
  std::vector<NamedWorker> workers;
  std::vector<ClusterTarget> targets;
  std::uint64_t series_points_max = 481;
};

[[nodiscard]] std::string world_json(const World& world);
[[nodiscard]] World world_of_json(std::string_view json);

}  // namespace sp::coordinator

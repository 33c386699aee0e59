#include "scenario/fault/target.h"

namespace sp::scenario::fault {

std::vector<std::int32_t> ClusterTarget::nodes() const {
  std::vector<std::int32_t> all;
  for (std::uint32_t node = 1; node <= cluster_.nodes(); ++node)
    all.push_back(static_cast<std::int32_t>(node));
  return all;
}

Result<void> ClusterTarget::kill(std::int32_t node) {
  return cluster_.kill(static_cast<std::uint32_t>(node));
}
Result<void> ClusterTarget::stop(std::int32_t node) {
  return cluster_.stop(static_cast<std::uint32_t>(node));
}
Result<void> ClusterTarget::freeze(std::int32_t node) {
  return cluster_.freeze(static_cast<std::uint32_t>(node));
}
Result<void> ClusterTarget::thaw(std::int32_t node) {
  return cluster_.thaw(static_cast<std::uint32_t>(node));
}
Result<void> ClusterTarget::restart(std::int32_t node) {
  return cluster_.restart(static_cast<std::uint32_t>(node));
}

bool ClusterTarget::running(std::int32_t node) {
  const auto status = cluster_.status();
  if (!status) return false;
  for (const auto& each : *status) {
    if (each.node == static_cast<std::uint32_t>(node)) return each.running;
  }
  return false;
}

}  // namespace sp::scenario::fault

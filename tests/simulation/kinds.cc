#include "simulation/kinds.h"

#include <algorithm>
#include <cstdlib>

namespace sp::simulation {

using driver::embedded::DefectKind;

std::uint64_t seeds(std::uint64_t unless) {
  const char* text = std::getenv("SP_SEEDS");  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? unless : std::strtoull(text, nullptr, 10);
}

std::vector<DefectKind> all_kinds() {
  std::vector<DefectKind> kinds;
  for (const auto& row : driver::embedded::defect_rows()) kinds.push_back(row.kind);
  return kinds;
}

std::string kind_name(const testing::TestParamInfo<DefectKind>& info) {
  std::string name(driver::embedded::defect_row(info.param).name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace sp::simulation

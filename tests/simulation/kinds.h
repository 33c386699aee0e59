// What tests over kinds of defects share.
//
// Cost: –.   Errors: none.   Threads: before any.   Source: docs/reference/defects.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver/embedded/defects.h"

namespace sp::simulation {

// How many seeds: SP_SEEDS, or `unless`.
[[nodiscard]] std::uint64_t seeds(std::uint64_t unless);
[[nodiscard]] std::vector<driver::embedded::DefectKind> all_kinds();
// The kind as the name of a test.
[[nodiscard]] std::string kind_name(const testing::TestParamInfo<driver::embedded::DefectKind>& info);

}  // namespace sp::simulation

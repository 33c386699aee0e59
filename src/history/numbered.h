// Names that end in a number: "consumer-2", "worker-0".
//
// Cost:     a few instructions.   Limits: numbers of 32 bits.
// Errors:   none: nullopt.
// Threads:  pure functions.   Source: docs/formats/history.md, "Operations".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sp::history {

// The number of a name that is `kind`, a dash and decimal digits without a leading zero; so each number has one name.
[[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view name, std::string_view kind);

}  // namespace sp::history

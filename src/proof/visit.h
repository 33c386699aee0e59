// What the readers and printers of the field table share: several lambdas as one visitor, and
// choices by number.
//
// Cost: none.   Errors: none.   Threads: pure.   Source: fields.h.
#pragma once

#include <cstdint>
#include <variant>

#include "proof/fields.h"

namespace sp::proof {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

[[nodiscard]] inline std::uint8_t choice_value(const Choice& choice, const Proof& proof) {
  return std::visit([&](auto member) { return static_cast<std::uint8_t>(proof.*member); },
                    choice.member);
}

template <typename Enum>
void set_enum(Proof& proof, Enum Proof::*member, std::uint8_t value) {
  proof.*member = static_cast<Enum>(value);
}

inline void set_choice(const Choice& choice, Proof& proof, std::uint8_t value) {
  std::visit([&](auto member) { set_enum(proof, member, value); }, choice.member);
}

}  // namespace sp::proof

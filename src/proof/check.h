// Contradictions within a proof: fields that are possible each and impossible together. One row a
// rule, in check.cc.
//
// A rule is passed over when one of its fields could not be read: that fault is told already.
//
// Cost: some 20 rules.   Errors: Fault.   Threads: a pure function.   Source: docs/reference/proof.md.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proof/fields.h"

namespace sp::proof {

struct CheckInput {
  const Proof& proof;
  std::span<const DriverFacts> drivers;
  std::function<std::optional<std::string>(std::string_view)>
      given;                                    // where the field of that name was said, if it was
  std::function<bool(std::string_view)> wrong;  // it could not be read
  std::string elsewhere;                        // the place of what nobody said
};
[[nodiscard]] std::vector<Fault> find_contradictions(const CheckInput& input);

}  // namespace sp::proof

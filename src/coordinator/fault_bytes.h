// A fault that somebody outside marked, as an input of a proof's log.
//
// Shape:    JSON.   Cost:     –.   Limits: –.   Errors: kParse.   Threads: pure functions.   Source: docs/formats/state.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/fault.h"

namespace sp::coordinator {

struct FaultMark {
  core::FaultRecord fault;  // number, name, target and effect count
  bool effect = false;      // its effect was seen now
  bool end = false;         // it ended now
  bool begins = false;      // it is a new one
};
[[nodiscard]] std::string fault_bytes(const FaultMark& mark);
[[nodiscard]] Result<FaultMark> fault_of_bytes(std::string_view bytes);

}  // namespace sp::coordinator

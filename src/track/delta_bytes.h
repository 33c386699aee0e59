// A delta as bytes and back, exactly: for wires and for logs of what was received. Rows are told by what they differ in from the
// rows before them, so that an acknowledged or delivered row of a healthy run takes some 5 bytes instead of 32.
//
//     bytes   =  version source number history_lines  tables  rows
//     tables  =  first_block blocks  first_literal literals  opens  commits        each: how many, and then they
//     row     =  tag [flags] [which] [block] index sequence [offset]               the tag: the kind, and which of [] follow
//
// All numbers are varints (seven bits a byte, lowest first), differences are zigzag varints. `which`, `block` and `flags` differ
// from those of the row of that kind before; `index` and `sequence` from those of that kind and block; `offset` from what follows
// on the last one of that kind and `which`.
//
// Shape:    version 1. A reader refuses a version that it does not know.
// Cost:     10 ns a row either way.
// Limits:   what is read takes at most some 32 times the memory of its bytes, however they were made.
// Errors:   kParse: bytes that no delta has, rows that point to no open or commit or block, bytes left over.
// Threads:  pure functions.   Source: docs/decisions/0005-deltas-behind-the-worker-port.md; track/delta.h.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "track/delta.h"

namespace sp::track {

[[nodiscard]] std::string to_bytes(const Delta& delta);
[[nodiscard]] Result<Delta> delta_from_bytes(std::string_view bytes);

}  // namespace sp::track

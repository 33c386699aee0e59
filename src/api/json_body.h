// A JSON text as the tree that files are read as, where the reader of YAML does not take it: it knows JSON but for a line end
// before a colon and names longer than 1024 characters.
//
// Shape:    as codec::Node, but without places.
// Cost:     some 100 ns a value.
// Limits:   those of codec::DocumentOptions.
// Errors:   nothing: no JSON, a name twice in one object, or past a limit.
// Threads:  a pure function.   Source: RFC 8259; YAML 1.2, 7.4.
#pragma once

#include <optional>
#include <string_view>

#include "codec/document.h"

namespace sp::api {

[[nodiscard]] std::optional<codec::Node> node_of_json(std::string_view text, const codec::DocumentOptions& options = {});

}  // namespace sp::api

// Every member of every answer: its name, its type, and how it stands to the reference. From it are made the schemas of the
// OpenAPI document and the page docs/reference/rest.md; a test compares it with what is answered.
//
//     type  =  "string" | "integer" | "number" | "boolean" | "any"
//           |  Object                the rows of that name
//           |  "[" type "]"          an array
//           |  "{" type "}"          a map of names that are data
//           |  type "?"              or null
//     an optional member may be absent
//
// Shape:    rows of one object stand together, in the order in which they are written.
// Cost:     a table.   Errors: none.   Threads: constants.   Source: sections 1 to 3 and 10.7 of the reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sp::api {

enum class Standing : std::uint8_t { kSame, kCorrected, kAdded };
[[nodiscard]] std::string_view standing_name(Standing standing);

struct FieldRow {
  std::string_view object;
  std::string_view name;
  std::string_view type;
  Standing standing = Standing::kSame;
  std::string_view note = "";  // corrected: what and why
  bool optional = false;
};
[[nodiscard]] std::span<const FieldRow> field_rows();
[[nodiscard]] std::span<const FieldRow> fields_of(std::string_view object);

// The schema of a type as JSON Schema, objects by reference: {"$ref":"#/components/schemas/Proof"}.
[[nodiscard]] std::string schema_json(std::string_view type);

}  // namespace sp::api

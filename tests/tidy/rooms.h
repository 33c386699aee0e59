// Who may include whom. The build refuses an include of a room that is not reachable; these checks see what it cannot:
// a direct include of a room that is reached only through another, outside headers in a room that is not theirs, and
// relative paths.
//
//     CMakeLists.txt:  sp_room(track USES core)     ─►  Room{"track", {"core"}}
//
// Cost:     O(files).   Errors: none; what is wrong is a Violation.   Threads: pure functions.   Source:
// ARCHITECTURE.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidy/source.h"

namespace sp::tidy {

struct Room {
  std::string name;
  std::vector<std::string> uses;
};

// The sp_room() lines of the root CMakeLists.txt, in their order.
[[nodiscard]] std::vector<Room> parse_rooms(std::string_view cmake);
// The room of "src/driver/kafka/producer.cc" is "driver/kafka"; empty if none.
[[nodiscard]] std::string room_of(const std::vector<Room>& rooms, std::string_view path);

// Quoted includes: by a path below src/ (or tests/, bench/ from there) that exists, of the own room, `base` or a used
// one, not another room's detail/. No "../".
[[nodiscard]] Violations check_room_includes(const Tree& tree, const std::vector<Room>& rooms);
// Outside headers stand in the one room that the table gives them; an unknown one needs a row.
[[nodiscard]] Violations check_outside_headers(const Tree& tree, const std::vector<Room>& rooms);
// Every room that has files has a README.md.
[[nodiscard]] Violations check_room_readmes(const Tree& tree, const std::vector<Room>& rooms);

}  // namespace sp::tidy

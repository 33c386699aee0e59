#include "tidy/rooms.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

namespace sp::tidy {
namespace {

// An outside header by its prefix, and the places that may include it: a room, a file (with suffix), or "*" for
// everywhere.
struct OutsideRow {
  std::string_view prefix;
  std::string_view places;
};
constexpr std::array kOutside = {
    OutsideRow{"tl/expected.hpp", "*"},
    OutsideRow{"fmt/core.h", "*"},
    OutsideRow{"fmt/", "*.cc"},  // a second of compile time each: not in headers
    OutsideRow{"spdlog/", "base/log.cc"},
    OutsideRow{"prometheus/", "base/metrics.cc"},
    OutsideRow{"simdjson.h", "codec"},
    OutsideRow{"yaml-cpp/", "codec"},
    OutsideRow{"zstd.h", "codec"},
    OutsideRow{"xxhash.h", "codec"},
    OutsideRow{"librdkafka/", "driver/kafka"},
    OutsideRow{"CLI/", "cli"},
    OutsideRow{"http_parser.h", "http"},
    OutsideRow{"openssl/", "http"},
    OutsideRow{"sqlite3.h", "store"},
    OutsideRow{"grpc", "rpc rpc/broker"},
    OutsideRow{"google/protobuf/", "rpc rpc/broker"},
    OutsideRow{"proto/", "rpc rpc/broker"},  // generated: cmake/proto.cmake
    OutsideRow{"benchmark/", "bench"},
    // Instructions of the processor: checksums, prefetches.
    OutsideRow{"nmmintrin.h", "codec track"},
    OutsideRow{"immintrin.h", "codec track"},
    OutsideRow{"cpuid.h", "codec"},
    // The operating system lives in sys; a clock, a terminal and a dynamic library are looked at where they belong.
    OutsideRow{"sys/mman.h", "sys base"},
    OutsideRow{"sys/ioctl.h", "sys cli"},
    OutsideRow{"sys/", "sys"},
    OutsideRow{"net/", "sys"},
    OutsideRow{"netinet/", "sys"},
    OutsideRow{"arpa/", "sys"},
    OutsideRow{"linux/", "sys"},
    OutsideRow{"netdb.h", "sys"},
    OutsideRow{"unistd.h", "sys cli"},
    OutsideRow{"fcntl.h", "sys"},
    OutsideRow{"poll.h", "sys"},
    OutsideRow{"signal.h", "sys cli"},
    OutsideRow{"spawn.h", "sys"},
    OutsideRow{"dirent.h", "sys"},
    OutsideRow{"pthread.h", "base sys"},
    OutsideRow{"sched.h", "base sys"},
    OutsideRow{"time.h", "base"},
    OutsideRow{"dlfcn.h", "driver/kafka"},
};

// The headers of C++20.
constexpr std::string_view kStandard =
    " algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes "
    "climits clocale "
    "cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint "
    "cstdio cstdlib "
    "cstring ctime cuchar cwchar cwctype deque exception execution filesystem forward_list fstream functional future "
    "initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource "
    "mutex new "
    "numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex "
    "source_location "
    "span sstream stack stdexcept stop_token streambuf string string_view strstream system_error thread tuple "
    "type_traits "
    "typeindex typeinfo unordered_map unordered_set utility valarray variant vector version ";

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool has_word(std::string_view list, std::string_view word) {
  return list.find(" " + std::string(word) + " ") != std::string_view::npos;
}

// "src/" of "src/core/ids.h": the folder whose code it is.
std::string_view side_of(std::string_view path) { return path.substr(0, path.find('/') + 1); }

bool is_allowed(const OutsideRow& row, std::string_view path, std::string_view room) {
  for (const std::string& place : words_of(row.places)) {
    if (place == "*" || place == room) return true;
    if (place == "*.cc" && path.ends_with(".cc")) return true;
    if (place.ends_with(".cc") && path == "src/" + place) return true;
  }
  return false;
}

std::string check_quoted(const Tree& tree, const std::vector<Room>& rooms, const File& file, const std::string& path) {
  if (path.starts_with("../") || path.find("/../") != std::string::npos || path.starts_with("./")) {
    return "relative include \"" + path + "\": say \"room/file.h\"";
  }
  const std::string_view side = side_of(file.path);
  const bool in_src = find(tree, "src/" + path) != nullptr;
  const bool in_side = side != "src/" && (find(tree, "tests/" + path) != nullptr || find(tree, "bench/" + path) != nullptr);
  if (!in_src && !in_side) return "\"" + path + "\" is no file below " + std::string(side) + ": say \"room/file.h\"";
  if (!in_src || side != "src/") return "";
  const std::string own = room_of(rooms, file.path);
  const std::string other = room_of(rooms, "src/" + path);
  if (own == other || own.empty()) return "";
  if (path.find("/detail/") != std::string::npos) return "\"" + path + "\" is a detail of room " + other;
  if (other == "base") return "";
  const auto room = std::ranges::find(rooms, own, &Room::name);
  if (std::ranges::find(room->uses, other) != room->uses.end()) return "";
  return "room " + own + " may not include room " + other + ": it may use base " + [&] {
    std::string all;
    for (const auto& use : room->uses) all += use + " ";
    return all;
  }() + "(CMakeLists.txt)";
}

}  // namespace

std::vector<Room> parse_rooms(std::string_view cmake) {
  std::vector<Room> rooms;
  std::string code;
  for (const std::string_view line : lines_of(cmake)) code += std::string(line.substr(0, line.find('#'))) + "\n";
  for (std::size_t at = code.find("sp_room("); at != std::string::npos; at = code.find("sp_room(", at + 1)) {
    const std::size_t open = at + std::string_view("sp_room(").size();
    const auto words = words_of(std::string_view(code).substr(open, code.find(')', open) - open));
    if (words.empty()) continue;
    Room room{words.front(), {}};
    bool uses = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "USES" || words[i] == "LINKS" || words[i] == "LEVEL_ONLY") {
        uses = words[i] == "USES";
      } else if (uses) {
        room.uses.push_back(words[i]);
      }
    }
    rooms.push_back(std::move(room));
  }
  return rooms;
}

std::string room_of(const std::vector<Room>& rooms, std::string_view path) {
  std::string best;
  for (const Room& room : rooms) {
    if (path.starts_with("src/" + room.name + "/") && room.name.size() > best.size()) best = room.name;
  }
  return best;
}

Violations check_room_includes(const Tree& tree, const std::vector<Room>& rooms) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_cpp(file.path)) continue;
    if (file.path.starts_with("src/") && room_of(rooms, file.path).empty()) {
      violations.push_back(
          {file.path, 0, "stands in no room: move it, or declare the room with sp_room() in CMakeLists.txt"});
    }
    for (const Include& include : includes_of(file.text)) {
      if (!include.quoted) continue;
      std::string says = check_quoted(tree, rooms, file, include.path);
      if (!says.empty()) violations.push_back({file.path, include.line, std::move(says)});
    }
  }
  return violations;
}

Violations check_outside_headers(const Tree& tree, const std::vector<Room>& rooms) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_cpp(file.path) || !file.path.starts_with("src/")) continue;
    for (const Include& include : includes_of(file.text)) {
      if (include.quoted || has_word(kStandard, include.path)) continue;
      const auto row =
          std::ranges::find_if(kOutside, [&](const OutsideRow& r) { return include.path.starts_with(r.prefix); });
      if (row == kOutside.end()) {
        violations.push_back(
            {file.path, include.line,
             "unknown outside header <" + include.path + ">: give it a row in tests/tidy/rooms.cc, or do without"});
      } else if (!is_allowed(*row, file.path, room_of(rooms, file.path))) {
        violations.push_back(
            {file.path, include.line,
             "outside header <" + include.path + "> may stand in " + std::string(row->places) + " only"});
      }
    }
  }
  return violations;
}

Violations check_room_readmes(const Tree& tree, const std::vector<Room>& rooms) {
  Violations violations;
  std::set<std::string> used;
  for (const File& file : tree) {
    if (is_cpp(file.path)) used.insert(room_of(rooms, file.path));
  }
  for (const Room& room : rooms) {
    const std::string path = "src/" + room.name + "/README.md";
    if (used.contains(room.name) && find(tree, path) == nullptr) {
      violations.push_back(
          {path, 0, "is missing: ten lines on what may live here, what may not, whom it may use, where to begin"});
    }
  }
  return violations;
}

}  // namespace sp::tidy

// Prints a key for each product file, from its text and that of all its own headers: tidy_keys <root>
//
//     4f0c… src/core/ids.cc
//
// quickstart leaves out of clang-tidy's work what has the key of a clean run. The key has no memory of the compiler or
// of .clang-tidy: quickstart adds those.
#include <cinttypes>
#include <cstdio>
#include <set>

#include "tidy/source.h"

namespace {

// FNV-1a from two starting points: 128 bits against accidents, not against enemies.
struct Key {
  std::uint64_t one = 0xcbf29ce484222325U;
  std::uint64_t other = 0x84222325cbf29ce4U;
  void add(std::string_view text) {
    for (const char c : text) {
      one = (one ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
      other = (other ^ static_cast<unsigned char>(c)) * 0x100000001b3U + 1;
    }
  }
};

void add_with_headers(const sp::tidy::Tree& tree, const sp::tidy::File& file, std::set<std::string>& seen, Key& key) {
  if (!seen.insert(file.path).second) return;
  key.add(file.path);
  key.add(file.text);
  for (const auto& include : sp::tidy::includes_of(file.text)) {
    if (!include.quoted) continue;
    const auto* header = sp::tidy::find(tree, "src/" + include.path);
    if (header != nullptr) add_with_headers(tree, *header, seen, key);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: tidy_keys <root of the source>\n", stderr);
    return 2;
  }
  const auto tree = sp::tidy::load_tree(argv[1]);
  for (const auto& file : tree) {
    if (!file.path.starts_with("src/") || !file.path.ends_with(".cc")) continue;
    Key key;
    std::set<std::string> seen;
    add_with_headers(tree, file, seen, key);
    std::printf("%016" PRIx64 "%016" PRIx64 " %s\n", key.one, key.other, file.path.c_str());
  }
  return 0;
}

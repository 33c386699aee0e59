// The files that the checks of this folder look at, and the two views of C++ text they need.
//
//     text                       code_only(text)             what a check sees
//     f("a{b");  // note {       f("   ");                   braces and words that are really code
//
// Shape:    code_only keeps every line break and column, so that line numbers agree.
// Cost:     O(bytes).   Errors: load_tree leaves out what it cannot read.   Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sp::tidy {

struct File {
  std::string path;  // below the root, with '/'
  std::string text;  // empty for files above kTextBytesMax
  std::uintmax_t bytes = 0;
};
constexpr std::uintmax_t kTextBytesMax = 2'000'000;

using Tree = std::vector<File>;  // sorted by path

struct Violation {
  std::string path;
  std::size_t line = 0;  // 0: the whole file
  std::string says;      // what is wrong and what to do instead
  bool operator==(const Violation&) const = default;
};
using Violations = std::vector<Violation>;

// "src/a.h:3: says", one a line.
[[nodiscard]] std::string text(const Violations& violations);

// What git would see below `root`: without build folders, run folders and .git.
[[nodiscard]] Tree load_tree(const std::string& root);
[[nodiscard]] const File* find(const Tree& tree, std::string_view path);

[[nodiscard]] bool is_cpp(std::string_view path);
[[nodiscard]] bool is_header(std::string_view path);
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
// Comments and the insides of literals are blanks.
[[nodiscard]] std::string code_only(std::string_view text);

// One #include line.
struct Include {
  std::size_t line = 0;
  bool quoted = false;  // "…", else <…>
  std::string path;
};
[[nodiscard]] std::vector<Include> includes_of(std::string_view text);

}  // namespace sp::tidy

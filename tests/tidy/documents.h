// Documents and data of the repository: titles, links, the shape of CHANGELOG, sizes, results of benches.
//
// Cost:     O(bytes).   Errors: none; what is wrong is a Violation.   Threads: pure functions.   Source: STYLE.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tidy/source.h"

namespace sp::tidy {

constexpr std::uintmax_t kFileBytesMax = 400'000;

// A Markdown file opens with its title, and has one.
[[nodiscard]] Violations check_titles(const Tree& tree);
// Relative links name a file or folder that is there, and a heading that it has.
[[nodiscard]] Violations check_links(const Tree& tree);
// "# Changelog", then "## Unreleased" or "## 1.2.3 – date", each with some of "### Judging", "### Features", "###
// Internals" in this order, each with entries "* …". `version` is the project's: it has a section, or there is an
// Unreleased one.
[[nodiscard]] Violations check_changelog(const Tree& tree, std::string_view version);
// The version in project(… VERSION 1.2.3 …).
[[nodiscard]] std::string version_of(std::string_view cmake);
// No file above kFileBytesMax.
[[nodiscard]] Violations check_sizes(const Tree& tree);
// docs/results/*.json: "commit" is there and `is_ancestor` of it, and "dirty" is not true.
[[nodiscard]] Violations check_results(const Tree& tree, const std::function<bool(const std::string&)>& is_ancestor);

}  // namespace sp::tidy

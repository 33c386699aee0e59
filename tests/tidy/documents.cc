#include "tidy/documents.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace sp::tidy {
namespace {

bool is_markdown(const File& file) { return file.path.ends_with(".md"); }

// The lines of a Markdown text; those inside code fences are empty.
std::vector<std::string> prose_of(std::string_view text) {
  std::vector<std::string> prose;
  bool fenced = false;
  for (const std::string_view line : lines_of(text)) {
    const bool fence = line.find("```") != std::string_view::npos && line.find_first_not_of(" >*-") == line.find("```");
    prose.emplace_back(fenced || fence ? "" : line);
    if (fence) fenced = !fenced;
  }
  return prose;
}

// As GitHub makes it: lower case, punctuation dropped, blanks to '-'.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c >= 'A' && c <= 'Z') {
      anchor += static_cast<char>(c - 'A' + 'a');
    } else if (c == ' ' || c == '-') {
      anchor += '-';
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
               (static_cast<unsigned char>(c) & 0x80U) != 0) {
      anchor += c;
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(std::string_view text) {
  std::set<std::string> anchors;
  for (const std::string& line : prose_of(text)) {
    const std::size_t level = line.find_first_not_of('#');
    if (level == 0 || level == std::string::npos || level > 6 || line[level] != ' ') continue;
    const std::string anchor = anchor_of(std::string_view(line).substr(level + 1));
    std::string free = anchor;
    for (int i = 1; anchors.contains(free); ++i) free = anchor + "-" + std::to_string(i);
    anchors.insert(free);
  }
  return anchors;
}

// The line without `code` in backquotes.
std::string without_code(const std::string& line) {
  std::string bare;
  bool code = false;
  for (const char c : line) {
    if (c == '`') code = !code;
    bare += code ? ' ' : c;
  }
  return bare;
}

bool is_there(const Tree& tree, const std::string& path) {
  if (path.empty() || path == ".") return true;
  return find(tree, path) != nullptr ||
         std::ranges::any_of(tree, [&](const File& file) { return file.path.starts_with(path + "/"); });
}

std::string check_link(const Tree& tree, const File& file, std::string target) {
  if (target.find("://") != std::string::npos || target.starts_with("mailto:")) return "";
  target = target.substr(0, target.find(' '));
  const std::size_t hash = target.find('#');
  const std::string path = target.substr(0, hash);
  const File* other = &file;
  if (!path.empty()) {
    namespace fs = std::filesystem;
    std::string full = (fs::path(file.path).parent_path() / path).lexically_normal().generic_string();
    if (full.ends_with('/')) full.pop_back();
    if (full.starts_with("..")) return "link to " + target + " leads out of the repository";
    if (!is_there(tree, full)) return "link to " + target + ": there is no " + full;
    other = find(tree, full);
  }
  if (hash == std::string::npos || other == nullptr || !is_markdown(*other)) return "";
  const std::string anchor = target.substr(hash + 1);
  return anchors_of(other->text).contains(anchor) ? ""
                                                  : "link to " + target + ": " + other->path + " has no such heading";
}

void changelog_line(const std::string& line, std::size_t number, const std::string& path, std::size_t& bucket,
                    Violations& violations) {
  constexpr std::array<std::string_view, 3> kBuckets = {"### Judging", "### Features", "### Internals"};
  if (line.starts_with("## ")) {
    const std::string name = line.substr(3);
    const bool version = !name.empty() && name[0] >= '0' && name[0] <= '9' && std::ranges::count(name, '.') >= 2;
    if (name != "Unreleased" && !version) {
      violations.push_back({path, number, "section '" + name + "': say \"Unreleased\" or a version and its date"});
    }
    bucket = 0;
  } else if (line.starts_with("### ")) {
    const auto found = std::ranges::find(kBuckets, line);
    const auto place = static_cast<std::size_t>(found - kBuckets.begin()) + 1;
    if (found == kBuckets.end()) {
      violations.push_back({path, number, "'" + line + "': the buckets are Judging, Features, Internals"});
    } else if (place <= bucket) {
      violations.push_back({path, number, "'" + line + "' is out of order: Judging, Features, Internals, each once"});
    }
    bucket = std::max(bucket, place);
  } else if (!line.empty() && number > 1 && bucket == 0 && line[0] == '*') {
    violations.push_back({path, number, "an entry outside of a bucket"});
  } else if (bucket > 0 && !line.empty() && !line.starts_with("* ") && !line.starts_with("  ")) {
    violations.push_back({path, number, "an entry begins with \"* \", its other lines with two blanks"});
  }
}

// The text after "name": up to the next ',' or '}', without quotes and blanks; empty if absent.
std::string member_of(std::string_view json, const std::string& name) {
  std::size_t at = json.find("\"" + name + "\"");
  if (at == std::string_view::npos) return "";
  at = json.find(':', at);
  if (at == std::string_view::npos) return "";
  std::string value;
  for (const char c : json.substr(at + 1, json.find_first_of(",}\n", at) - at - 1)) {
    if (c != '"' && c != ' ') value += c;
  }
  return value;
}

}  // namespace

Violations check_titles(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_markdown(file)) continue;
    const auto prose = prose_of(file.text);
    const auto titles = std::ranges::count_if(prose, [](const std::string& line) { return line.starts_with("# "); });
    if (titles != 1) violations.push_back({file.path, 0, std::to_string(titles) + " titles; one is wanted"});
    if (prose.empty() || !prose.front().starts_with("# "))
      violations.push_back({file.path, 1, "does not open with its title"});
  }
  return violations;
}

Violations check_links(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_markdown(file)) continue;
    const auto prose = prose_of(file.text);
    for (std::size_t i = 0; i < prose.size(); ++i) {
      const std::string line = without_code(prose[i]);
      for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
        const std::size_t close = line.find(')', at);
        if (close == std::string::npos) break;
        std::string says = check_link(tree, file, line.substr(at + 2, close - at - 2));
        if (!says.empty()) violations.push_back({file.path, i + 1, std::move(says)});
      }
    }
  }
  return violations;
}

Violations check_changelog(const Tree& tree, std::string_view version) {
  const File* file = find(tree, "CHANGELOG.md");
  if (file == nullptr) return {{"CHANGELOG.md", 0, "is missing"}};
  Violations violations;
  const auto prose = prose_of(file->text);
  if (prose.empty() || prose.front() != "# Changelog")
    violations.push_back({file->path, 1, "does not open with \"# Changelog\""});
  std::size_t bucket = 0;
  bool has_version = false;
  for (std::size_t i = 0; i < prose.size(); ++i) {
    changelog_line(prose[i], i + 1, file->path, bucket, violations);
    has_version = has_version || prose[i] == "## Unreleased" || prose[i].starts_with("## " + std::string(version));
  }
  if (!has_version)
    violations.push_back(
        {file->path, 0, "has neither a section for " + std::string(version) + " nor \"## Unreleased\""});
  return violations;
}

std::string version_of(std::string_view cmake) {
  std::size_t at = cmake.find("project(");
  if (at == std::string_view::npos) return "";
  at = cmake.find("VERSION ", at);
  if (at == std::string_view::npos) return "";
  at += std::string_view("VERSION ").size();
  return std::string(cmake.substr(at, cmake.find_first_of(" )\n", at) - at));
}

Violations check_sizes(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (file.bytes <= kFileBytesMax) continue;
    violations.push_back(
        {file.path, 0, std::to_string(file.bytes) + " bytes, " + std::to_string(kFileBytesMax) + " are allowed"});
  }
  return violations;
}

Violations check_results(const Tree& tree, const std::function<bool(const std::string&)>& is_ancestor) {
  Violations violations;
  for (const File& file : tree) {
    if (!file.path.starts_with("docs/results/") || !file.path.ends_with(".json")) continue;
    const std::string commit = member_of(file.text, "commit");
    if (commit.empty()) {
      violations.push_back({file.path, 0, "names no commit: record it with --record"});
    } else if (commit.find("dirty") != std::string::npos || member_of(file.text, "dirty") == "true") {
      violations.push_back({file.path, 0, "was recorded with uncommitted changes: commit, then record again"});
    } else if (!is_ancestor(commit)) {
      violations.push_back({file.path, 0, "commit " + commit + " is no ancestor of this one: record again"});
    }
  }
  return violations;
}

}  // namespace sp::tidy

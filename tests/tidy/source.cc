#include "tidy/source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace sp::tidy {
namespace {

constexpr std::array<std::string_view, 5> kFoldersLeftOut = {".git", "build", "bin", "runs", "node_modules"};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Walks over C++ text and blanks what is not code.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), code_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (c == '/' && next == '/') {
        blank_until("\n");
      } else if (c == '/' && next == '*') {
        at_ += 2;
        blank_from(at_ - 2);
        blank_until("*/");
        blank_next(2);
      } else if (c == '"') {
        literal();
      } else if (c == '\'' && !(at_ > 0 && is_word(text_[at_ - 1]))) {  // 1'000 is no literal
        quoted('\'');
      } else {
        ++at_;
      }
    }
    return std::move(code_);
  }

 private:
  void blank_from(std::size_t begin) {
    for (std::size_t i = begin; i < at_; ++i) {
      if (code_[i] != '\n') code_[i] = ' ';
    }
  }
  void blank_next(std::size_t count) {
    const std::size_t begin = at_;
    at_ = std::min(text_.size(), at_ + count);
    blank_from(begin);
  }
  void blank_until(std::string_view end) {
    const std::size_t begin = at_;
    at_ = std::min(text_.find(end, at_), text_.size());
    blank_from(begin);
  }
  void quoted(char quote) {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2U : 1U;
    at_ = std::min(at_, text_.size());
    blank_from(begin);
    ++at_;
  }
  void literal() {
    if (at_ == 0 || text_[at_ - 1] != 'R') return quoted('"');
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return quoted('"');
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    ++at_;
    blank_until(end);
    blank_next(end.size() - 1);
    ++at_;
  }

  std::string_view text_;
  std::string code_;
  std::size_t at_ = 0;
};

}  // namespace

std::string text(const Violations& violations) {
  std::string said;
  for (const auto& violation : violations) {
    said += violation.path;
    if (violation.line != 0) said += ":" + std::to_string(violation.line);
    said += ": " + violation.says + "\n";
  }
  return said;
}

Tree load_tree(const std::string& root) {
  namespace fs = std::filesystem;
  Tree tree;
  std::error_code ignored;
  for (auto entry = fs::recursive_directory_iterator(root, ignored); entry != fs::recursive_directory_iterator();
       ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory(ignored)) {
      if (std::ranges::find(kFoldersLeftOut, name) != kFoldersLeftOut.end()) entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file(ignored) || entry->is_symlink(ignored)) continue;
    File file{.path = fs::relative(entry->path(), root, ignored).generic_string(),
              .text = {},
              .bytes = entry->file_size(ignored)};
    if (file.bytes <= kTextBytesMax) {
      std::ostringstream content;
      content << std::ifstream(entry->path(), std::ios::binary).rdbuf();
      file.text = std::move(content).str();
    }
    tree.push_back(std::move(file));
  }
  std::ranges::sort(tree, {}, &File::path);
  return tree;
}

const File* find(const Tree& tree, std::string_view path) {
  const auto found = std::ranges::find(tree, path, &File::path);
  return found == tree.end() ? nullptr : &*found;
}

bool is_header(std::string_view path) { return path.ends_with(".h"); }
bool is_cpp(std::string_view path) { return path.ends_with(".cc") || is_header(path); }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

std::string code_only(std::string_view text) { return Blanker(text).run(); }

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> includes;
  const std::string code = code_only(text);  // so that a raw literal or a comment is not taken for an include
  const auto lines = lines_of(text);
  const auto code_lines = lines_of(code);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = code_lines[i];
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string_view::npos || line[hash] != '#') continue;
    if (line.find("include", hash) == std::string_view::npos) continue;
    line = lines[i];
    const std::size_t open = line.find_first_of("\"<", hash);
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    if (close == std::string_view::npos) continue;
    includes.push_back({i + 1, line[open] == '"', std::string(line.substr(open + 1, close - open - 1))});
  }
  return includes;
}

}  // namespace sp::tidy

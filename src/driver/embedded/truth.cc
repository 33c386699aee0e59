#include "driver/embedded/truth.h"

#include <algorithm>
#include <fstream>

#include <fmt/core.h>

namespace sp::driver::embedded {
namespace {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

TruthLine line_of(const Planted& planted, std::uint64_t count) {
  const DefectRow& row = defect_row(planted.kind);
  TruthLine line;
  line.kind = planted.kind;
  line.code = row.code;
  line.blame = row.blame;
  line.group = planted.group;
  line.key = planted.key;
  line.first = planted.first;
  line.last = planted.last;
  line.partition = planted.partition;
  line.offset = planted.offset;
  line.generation = planted.generation;
  line.count = count;
  return line;
}

}  // namespace

TruthBook::Item TruthBook::plant(Planted planted) {
  plants_.push_back(std::move(planted));
  return static_cast<Item>(plants_.size());
}

void TruthBook::stand(core::Position position, Item item, bool second) {
  standing_[position] = Standing{item, second};
}

void TruthBook::acked(Item item, std::uint64_t sequence) {
  Planted& planted = plants_[item - 1];
  const auto code = defect_row(planted.kind).code;
  if (code == core::Code::kLost) {
    planted.first = planted.count == 0 ? sequence : std::min(planted.first, sequence);
    planted.last = std::max(planted.last, sequence);
    ++planted.count;
    planted.complete = true;
    return;
  }
  // Of the two records of a reorder-write the lower stands second; a duplicate-write's ack names its first position.
  const bool second = planted.kind == DefectKind::kReorderWrite && sequence == planted.first;
  (second ? planted.second_seen : planted.first_seen) = true;
}

void TruthBook::handed(core::Position position, const std::string& group) {
  const auto found = standing_.find(position);
  if (found == standing_.end()) return;
  Planted& planted = plants_[found->second.item - 1];
  (found->second.second ? planted.second_seen : planted.first_seen) = true;
  planted.groups.insert(group);
}

void TruthBook::read(core::Position position) {
  const auto found = standing_.find(position);
  if (found == standing_.end()) return;
  Planted& planted = plants_[found->second.item - 1];
  (found->second.second ? planted.second_seen : planted.first_seen) = true;
  planted.raw_seen = true;
}

void TruthBook::add_lines(const Planted& planted, std::vector<TruthLine>& lines) const {
  const DefectRow& row = defect_row(planted.kind);
  if (!planted.complete) return;
  if (!row.code) {
    lines.push_back(line_of(planted, 0));
    return;
  }
  if (*row.code == core::Code::kLost) {
    for (const auto& group : groups_) {
      lines.push_back(line_of(planted, planted.count));
      lines.back().group = group;
    }
    return;
  }
  if (*row.code == core::Code::kPhantom) {
    for (const auto& group : planted.groups) {
      lines.push_back(line_of(planted, 1));
      lines.back().group = group;
    }
    if (planted.groups.empty() && planted.raw_seen) lines.push_back(line_of(planted, 1));
    return;
  }
  const bool two = planted.kind == DefectKind::kDuplicateWrite || planted.kind == DefectKind::kReorderWrite;
  if (two || planted.kind == DefectKind::kMisplace) {
    if (planted.first_seen && (planted.second_seen || !two)) lines.push_back(line_of(planted, 1));
    return;
  }
  if (planted.count == 0) return;
  lines.push_back(line_of(planted, planted.count));
  if (row.also) {
    lines.push_back(line_of(planted, planted.count));
    lines.back().code = row.also;
  }
}

std::vector<TruthLine> TruthBook::lines() const {
  std::vector<TruthLine> lines;
  for (const auto& planted : plants_) add_lines(planted, lines);
  return lines;
}

std::string truth_text(const std::vector<TruthLine>& lines) {
  std::string out;
  for (const auto& line : lines) {
    out += fmt::format(R"({{"kind":"{}","code":{})", defect_row(line.kind).name,
                       line.code ? json_string(core::code_row(*line.code).name) : "null");
    if (line.blame != core::Blame::kNone) out += fmt::format(R"(,"blame":"{}")", core::blame_name(line.blame));
    if (!line.group.empty()) out += fmt::format(R"(,"group":{})", json_string(line.group));
    if (!line.key.empty()) {
      out += fmt::format(R"(,"key":{},"first":{},"last":{})", json_string(line.key), line.first, line.last);
    }
    if (line.partition) out += fmt::format(R"(,"partition":{})", line.partition->value());
    if (line.offset) out += fmt::format(R"(,"offset":{})", line.offset->value());
    if (line.generation) out += fmt::format(R"(,"generation":{})", line.generation->value());
    out += fmt::format(",\"count\":{}}}\n", line.count);
  }
  return out;
}

Result<void> write_truth(const std::vector<TruthLine>& lines, const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << truth_text(lines);
  file.flush();
  if (!file) {
    return fail(ErrorCode::kIo, fmt::format("cannot write the truth log {}: is its folder there, and is "
                                            "there room on the disk?", path));
  }
  return {};
}

}  // namespace sp::driver::embedded

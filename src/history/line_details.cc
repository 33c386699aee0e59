// The rest of LineParser: members that live in Details, and the meta record.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "base/text.h"
#include "history/detail/places.h"
#include "history/line.h"

namespace sp::history {

namespace {

using JsonNode = codec::JsonNode;

constexpr std::uint64_t kPartitionMax = std::numeric_limits<std::uint32_t>::max();

bool names_a_node(const JsonNode& node) {
  return node.kind == JsonNode::Kind::kUnsigned || node.kind == JsonNode::Kind::kNegative ||
         node.kind == JsonNode::Kind::kString;
}

// Members of driftlab's meta record; it ignores all others.
bool is_of_driftlab(std::string_view member) {
  constexpr std::array<std::string_view, 8> kKnown = {"driver", "client", "api", "server", "scenario", "faults", "params", "driftlab"};
  return std::ranges::find(kKnown, member) != kKnown.end();
}

}  // namespace

bool LineParser::read_text(std::size_t at, const MemberRow& row, Operation& operation, Details& details) {
  const JsonNode& value = node(at);
  if (value.kind != JsonNode::Kind::kString) return refuse_kind(at, row.expects);
  if (row.member == Member::kScope && value.text != "full" && value.text != "holes") return refuse_kind(at, row.expects);
  details.*detail::place_of(detail::kTextPlaces, row.member) = value.text;
  if (dialect_ == Dialect::kDriftlab && value.text.empty()) operation.members &= ~bit(row.member);
  return true;
}

bool LineParser::read_json(std::size_t at, const MemberRow& row, Details& details) {
  const JsonNode& value = node(at);
  const bool named = row.member == Member::kLeader || row.member == Member::kController;
  if (named && !names_a_node(value)) return refuse_kind(at, row.expects);
  if (row.member == Member::kInSync) {
    if (value.kind != JsonNode::Kind::kArray) return refuse_kind(at, row.expects);
    for (std::size_t child = at + 1; child < value.end; child = node(child).end) {
      if (!names_a_node(node(child))) return stop(child, "'in_sync' must be a list of numbers or texts");
    }
  }
  tree_.append(details.*detail::place_of(detail::kTextPlaces, row.member), at);
  return true;
}

bool LineParser::read_list(std::size_t at, const MemberRow& row, Details& details) {
  const bool object = row.kind == Kind::kSeen;
  const auto wanted = object ? JsonNode::Kind::kObject : JsonNode::Kind::kArray;
  if (node(at).kind != wanted) return refuse_kind(at, row.expects);
  const auto refuse = [&](std::size_t child) { return stop(child, fmt::format("'{}' must be {}", row.name, row.expects)); };
  for (std::size_t child = at + 1; child < node(at).end; child = node(child).end) {
    const JsonNode& value = node(child);
    const bool number = value.kind == JsonNode::Kind::kUnsigned;
    if (row.kind == Kind::kNumbers) {
      if (!number || value.number > kPartitionMax) return refuse(child);
      details.partitions.push_back(static_cast<std::uint32_t>(value.number));
    } else if (row.kind == Kind::kTexts) {
      if (value.kind != JsonNode::Kind::kString) return refuse(child);
      details.lost_incarnations.emplace_back(value.text);
    } else if (row.kind == Kind::kSeen) {
      if (!number) return refuse(child);
      details.seen.emplace_back(value.name, value.number);
    } else if (row.kind == Kind::kTargets) {
      if (!read_target(child, row, details.target.emplace_back())) return false;
    } else {
      std::optional<std::size_t> topic;  // the operation's own is meant
      if (value.kind != JsonNode::Kind::kObject) return refuse(child);
      if (!read_position(child, "a position", details.starts.emplace_back(), topic)) return false;
    }
  }
  return true;
}

bool LineParser::read_target(std::size_t at, const MemberRow& row, Target& target) {
  const auto refuse = [&](std::size_t child) { return stop(child, fmt::format("'{}' must be {}", row.name, row.expects)); };
  if (node(at).kind != JsonNode::Kind::kObject) return refuse(at);
  bool partition = false, end = false;
  for (std::size_t child = at + 1; child < node(at).end; child = node(child).end) {
    const JsonNode& value = node(child);
    if (value.name == "reached") {
      if (value.kind != JsonNode::Kind::kBool) return refuse(child);
      target.reached = value.yes;
      continue;
    }
    if (value.name != "partition" && value.name != "start" && value.name != "end") continue;
    if (value.kind != JsonNode::Kind::kUnsigned) return refuse(child);
    if (value.name == "start") target.start = value.number;
    if (value.name == "end") {
      end = true;
      target.end = value.number;
    }
    if (value.name != "partition") continue;
    if (value.number > kPartitionMax) return refuse(child);
    partition = true;
    target.partition = static_cast<std::uint32_t>(value.number);
  }
  if (!partition || !end || target.start > target.end) return refuse(at);
  return true;
}

std::optional<LineFault> LineParser::meta(std::string_view line, Meta& meta) {
  meta = {};
  meta.dialect = Dialect::kDriftlab;
  if (read_root(line)) read_meta(meta);
  if (fault_ && !fault_->no_json) fault_->at = codec::find_in_json(line, fault_node_).at;
  return std::move(fault_);
}

bool LineParser::read_meta(Meta& meta) {
  std::size_t type = 0;
  bool driftlab = true;
  for (std::size_t at = 1; at < tree_.nodes().size(); at = node(at).end) {
    if (node(at).name == "type") type = at;
    if (node(at).name == "version") driftlab = false;
  }
  if (type == 0) return stop(0, "the first record has no 'type'; it must be the meta record, {\"type\":\"meta\",…}");
  if (node(type).text != "meta") {
    return stop(type, fmt::format("the first record has type '{}'; it must be the meta record, {{\"type\":\"meta\",…}}",
                                  printable(node(type).text)));
  }
  for (std::size_t at = 1; at < tree_.nodes().size(); at = node(at).end) {
    if (node(at).kind == JsonNode::Kind::kNull && node(at).name != "version") continue;  // as absent as if it were not there
    if (driftlab && !is_of_driftlab(node(at).name)) continue;
    if (!read_meta_member(at, meta)) return false;
  }
  if (meta.client.empty()) return stop(0, "the meta record has no 'client': say which library was tested");
  if (meta.scenario.empty()) return stop(0, "the meta record has no 'scenario': say what was run");
  if (meta.incarnation && meta.process.empty()) return stop(0, "the meta record has an 'incarnation' but no 'process'");
  return true;
}

bool LineParser::read_meta_text(std::size_t at, std::string& into) {
  if (node(at).kind != JsonNode::Kind::kString) return refuse_kind(at, "a text");
  into = node(at).text;
  return true;
}

bool LineParser::read_meta_choice(std::size_t at, std::string_view first, std::string_view second, bool& is_second) {
  const JsonNode& value = node(at);
  if (value.kind != JsonNode::Kind::kString || (value.text != first && value.text != second)) {
    return stop(at, fmt::format("'{}' must be \"{}\" or \"{}\"", value.name, first, second));
  }
  is_second = value.text == second;
  return true;
}

bool LineParser::read_meta_member(std::size_t at, Meta& meta) {
  const JsonNode& value = node(at);
  const std::string_view name = value.name;
  const std::array<std::pair<std::string_view, std::string*>, 8> texts = {{{"run", &meta.run},
                                                                           {"driver", &meta.driver},
                                                                           {"client", &meta.client},
                                                                           {"api", &meta.api},
                                                                           {"server", &meta.server},
                                                                           {"scenario", &meta.scenario},
                                                                           {"process", &meta.process},
                                                                           {"driftlab", &meta.revision}}};
  for (const auto& [known, into] : texts) {
    if (name == known) return read_meta_text(at, *into);
  }
  if (name == "version") {
    meta.dialect = Dialect::kVersion1;
    if (value.kind == JsonNode::Kind::kUnsigned && value.number == 1) return true;
    return stop(at, "'version' must be 1, the only one that this program knows");
  }
  bool second = false;
  if (name == "kind") {
    if (!read_meta_choice(at, "lab", "proof", second)) return false;
    meta.kind = second ? Meta::Kind::kProof : Meta::Kind::kLab;
  } else if (name == "topics") {
    if (!read_meta_choice(at, "created", "reused", second)) return false;
    meta.topics = second ? Meta::Topics::kReused : Meta::Topics::kCreated;
  } else if (name == "raw_read") {
    if (value.kind != JsonNode::Kind::kBool) return refuse_kind(at, "true or false");
    meta.raw_read = value.yes;
  } else if (name == "incarnation" || name == "started_wall_ns") {
    if (value.kind != JsonNode::Kind::kUnsigned) return refuse_kind(at, "a whole number");
    (name == "incarnation" ? meta.incarnation : meta.started_wall_ns) = value.number;
  } else if (name == "contract" || name == "proof") {
    if (value.kind != JsonNode::Kind::kObject) return refuse_kind(at, "an object");
    std::string& into = name == "proof" ? meta.proof : meta.contract;
    into.clear();
    tree_.append(into, at);
  } else if (name == "params") {
    meta.params.clear();
    tree_.append(meta.params, at);
  } else if (name == "faults") {
    if (value.kind != JsonNode::Kind::kArray) return refuse_kind(at, "a list of texts");
    meta.faults.clear();
    for (std::size_t child = at + 1; child < value.end; child = node(child).end) {
      if (node(child).kind != JsonNode::Kind::kString) return stop(child, "'faults' must be a list of texts");
      meta.faults.emplace_back(node(child).text);
    }
  }
  return true;
}

}  // namespace sp::history

#include <limits>

#include <fmt/core.h>

#include "base/text.h"
#include "history/detail/places.h"
#include "history/line.h"

namespace sp::history {

using JsonKind = codec::JsonNode::Kind;

namespace {

constexpr std::uint64_t kSmallMax = std::numeric_limits<std::uint32_t>::max();

std::string_view kind_words(const codec::JsonNode& node) {
  switch (node.kind) {
    case JsonKind::kNull: return "null";
    case JsonKind::kBool: return "true or false";
    case JsonKind::kUnsigned: return "a number";
    case JsonKind::kNegative: return "a number below 0";
    case JsonKind::kReal: return "a number that is not whole";
    case JsonKind::kString: return "a text";
    case JsonKind::kArray: return "a list";
    case JsonKind::kObject: return "an object";
  }
  return "";
}

bool is_number(const codec::JsonNode& node, std::uint64_t max = std::numeric_limits<std::uint64_t>::max()) {
  return node.kind == JsonKind::kUnsigned && node.number <= max;
}

// Numbers that belong to one operation only; elsewhere the name is an unknown one.
bool is_elsewhere(Member member, Function function) {
  if (member == Member::kN) return function != Function::kTick;
  if (member == Member::kWallNs) return function != Function::kClock;
  return member == Member::kDropped && function != Function::kIncomplete;
}

}  // namespace

bool LineParser::stop(std::size_t node, std::string says) {
  fault_ = LineFault{0, std::move(says)};
  fault_node_ = node;
  return false;
}

bool LineParser::refuse_kind(std::size_t at, std::string_view expects) {
  const codec::JsonNode& value = node(at);
  if (value.kind == JsonKind::kNull) {
    return stop(at, fmt::format("'{}' is null: leave out what is absent", printable(value.name)));
  }
  return stop(at, fmt::format("'{}' is {}; it must be {}", printable(value.name), kind_words(value), expects));
}

bool LineParser::read_root(std::string_view line) {
  fault_.reset();
  fault_node_ = 0;
  if (auto fault = tree_.parse(line)) {
    fault_ = LineFault{fault->at, "not JSON: " + fault->reason, true};
    return false;
  }
  if (node(0).kind == JsonKind::kObject) return true;
  return stop(0, fmt::format("the line is {}; a record is one object, in braces", kind_words(node(0))));
}

// The members that every operation has: nodes, 0 where there is none.
struct LineParser::Frame {
  std::size_t index = 0, process = 0, type = 0, f = 0;
};

std::optional<LineFault> LineParser::operation(std::string_view line, Dialect dialect, std::uint64_t index,
                                               Operation& operation, Details& details) {
  dialect_ = dialect;
  operation.members = operation.truths = 0;
  operation.index = index;
  operation.details = nullptr;
  Frame frame;
  if (read_root(line) && read_frame(frame, operation) && read_function(frame, operation) &&
      read_members(frame, operation, details)) {
    std::string missing = what_is_missing(operation, dialect);
    if (!missing.empty()) stop(0, std::move(missing));
  }
  if (fault_ && !fault_->no_json) fault_->at = codec::find_in_json(line, fault_node_).at;
  return std::move(fault_);
}

bool LineParser::read_frame(Frame& frame, Operation& operation) {
  for (std::size_t at = 1; at < tree_.nodes().size(); at = node(at).end) {
    const std::string_view name = node(at).name;
    std::size_t* place = nullptr;
    if (name == "index") place = &frame.index;
    if (name == "process") place = &frame.process;
    if (name == "type") place = &frame.type;
    if (name == "f") place = &frame.f;
    if (place == nullptr || (dialect_ == Dialect::kDriftlab && node(at).kind == JsonKind::kNull)) continue;
    if (*place != 0) return stop(at, fmt::format("'{}' stands twice", name));
    *place = at;
  }
  if (frame.index != 0 && !is_number(node(frame.index))) return refuse_kind(frame.index, "a whole number");
  const std::uint64_t found = frame.index != 0 ? node(frame.index).number : 0;
  if (frame.index == 0 && (dialect_ == Dialect::kVersion1 || operation.index != 0)) {
    return stop(0, fmt::format("'index' is missing; it must be {}", operation.index));
  }
  if (found != operation.index) {
    return stop(frame.index, fmt::format("'index' is {} where {} comes next: lines are missing, double or out of order", found,
                                         operation.index));
  }
  for (const auto& [at, name] : {std::pair{frame.process, "process"}, {frame.type, "type"}, {frame.f, "f"}}) {
    if (at == 0) return stop(0, fmt::format("'{}' is missing", name));
    if (node(at).kind != JsonKind::kString) return refuse_kind(at, "a text");
    if (node(at).text.empty()) return stop(at, fmt::format("'{}' is empty", name));
  }
  return true;
}

bool LineParser::read_function(const Frame& frame, Operation& operation) {
  const auto type = find_type(node(frame.type).text);
  if (!type) {
    const std::string_view text = node(frame.type).text;
    if (text == "meta") return stop(frame.type, "a second meta record: one file is one run; split it");
    return stop(frame.type, fmt::format("unknown type '{}'; there are invoke, ok, fail and info", printable(text)));
  }
  operation.type = *type;
  const auto process = vocabulary_.processes.add(node(frame.process).text);
  if (!process) {
    stop(frame.process, fmt::format("more than {} processes", vocabulary_.processes.names_max()));
    fault_->full = true;
    return false;
  }
  operation.process = *process;
  const std::string_view name = node(frame.f).text;
  const auto function = find_function(name);
  if (function && operation.process != vocabulary_.nemesis) {
    operation.function = *function;
    return true;
  }
  operation.function = operation.process == vocabulary_.nemesis ? Function::kFault : Function::kOther;
  if (operation.function == Function::kOther && dialect_ == Dialect::kVersion1) {
    return stop(frame.f, fmt::format("unknown f '{}'; faults belong to the process nemesis", printable(name)));
  }
  const auto word = vocabulary_.words.add(name);
  if (!word) {
    stop(frame.f, fmt::format("more than {} different names", vocabulary_.words.names_max()));
    fault_->full = true;
    return false;
  }
  operation.name = *word;
  return true;
}

bool LineParser::read_members(const Frame& frame, Operation& operation, Details& details) {
  details.clear();
  MemberSet stood = 0;
  std::size_t stream_seq = 0;
  for (std::size_t at = 1; at < tree_.nodes().size(); at = node(at).end) {
    if (at == frame.index || at == frame.process || at == frame.type || at == frame.f) continue;
    const codec::JsonNode& value = node(at);
    if (dialect_ == Dialect::kDriftlab) {
      constexpr std::string_view kKnown = " time_ns value stream_seq error detail ";
      const bool known = kKnown.find(fmt::format(" {} ", value.name)) != std::string_view::npos;
      if (!known || value.kind == JsonKind::kNull) continue;
      if (value.name == "stream_seq") {
        if (stream_seq != 0) return stop(at, "'stream_seq' stands twice");
        stream_seq = at;
        if (!read_stream_seq(at, operation)) return false;
        continue;
      }
    }
    const MemberRow* row = find_member(value.name);
    if (row == nullptr || is_elsewhere(row->member, operation.function)) continue;
    if ((stood & bit(row->member)) != 0) return stop(at, fmt::format("'{}' stands twice", row->name));
    stood |= bit(row->member);
    operation.members |= row->member == Member::kTopic ? 0 : bit(row->member);  // a position may have told the topic before
    if (!read_member(at, *row, operation, details)) return false;
  }
  if ((operation.members & detail_members()) != 0) operation.details = &details;
  return true;
}

// Of driftlab: 0 is absent.
bool LineParser::read_stream_seq(std::size_t at, Operation& operation) {
  if (!is_number(node(at))) return refuse_kind(at, "a whole number");
  if (node(at).number == 0) return true;
  operation.position = {};
  operation.position.kind = Position::Kind::kSequence;
  operation.position.offset = node(at).number;
  operation.members |= bit(Member::kPosition);
  return true;
}

bool LineParser::read_member(std::size_t at, const MemberRow& row, Operation& operation, Details& details) {
  const codec::JsonNode& value = node(at);
  switch (row.kind) {
    case Kind::kId: return row.member == Member::kTopic ? read_topic(at, operation) : read_id(at, row, operation);
    case Kind::kUnsigned: return read_unsigned(at, row, operation);
    case Kind::kSigned:
      if (value.kind != JsonKind::kNegative && !is_number(value, std::numeric_limits<std::int64_t>::max())) {
        return refuse_kind(at, row.expects);
      }
      operation.time_ns = static_cast<std::int64_t>(value.number);
      return true;
    case Kind::kSmall: return read_small(at, row, operation);
    case Kind::kBool:
      if (value.kind != JsonKind::kBool) return refuse_kind(at, row.expects);
      if (value.yes) operation.truths |= bit(row.member);
      return true;
    case Kind::kChecksum:
      if (value.kind != JsonKind::kString || (value.text != "ok" && value.text != "bad")) return refuse_kind(at, row.expects);
      operation.checksum = value.text == "ok" ? Checksum::kOk : Checksum::kBad;
      return true;
    case Kind::kPosition: {
      std::optional<std::size_t> topic;
      Position& position = row.member == Member::kFrom ? details.from : operation.position;
      if (!read_position(at, row.expects, position, topic)) return false;
      return !topic || row.member == Member::kFrom || read_topic(*topic, operation);
    }
    case Kind::kStart: return read_start(at, row, operation, details);
    case Kind::kText: return read_text(at, row, operation, details);
    case Kind::kJson: return read_json(at, row, details);
    case Kind::kNumbers:
    case Kind::kPositions:
    case Kind::kTargets:
    case Kind::kTexts:
    case Kind::kSeen: return read_list(at, row, details);
  }
  return false;
}

bool LineParser::read_unsigned(std::size_t at, const MemberRow& row, Operation& operation) {
  if (!is_number(node(at))) return refuse_kind(at, row.expects);
  const std::uint64_t number = node(at).number;
  operation.*detail::place_of(detail::kNumberPlaces, row.member) = number;
  if (dialect_ == Dialect::kDriftlab && number == 0) operation.members &= ~bit(row.member);
  return true;
}

bool LineParser::read_small(std::size_t at, const MemberRow& row, Operation& operation) {
  if (!is_number(node(at), row.member == Member::kQos ? 2 : kSmallMax)) return refuse_kind(at, row.expects);
  const auto number = static_cast<std::uint32_t>(node(at).number);
  if (row.member == Member::kQos) {
    operation.qos = static_cast<std::uint8_t>(number);
  } else {
    operation.*detail::place_of(detail::kSmallPlaces, row.member) = number;
  }
  return true;
}

bool LineParser::read_id(std::size_t at, const MemberRow& row, Operation& operation) {
  if (node(at).kind != JsonKind::kString) return refuse_kind(at, row.expects);
  Names& names = row.member == Member::kKey ? vocabulary_.keys : vocabulary_.words;
  const auto id = names.add(node(at).text);
  if (!id) {
    stop(at, fmt::format("more than {} different names, or {} bytes of them", names.names_max(), kNameBytesMax));
    fault_->full = true;
    return false;
  }
  operation.*detail::place_of(detail::kIdPlaces, row.member) = *id;
  return true;
}

// A topic may stand beside the position and within it; both must be the same.
bool LineParser::read_topic(std::size_t at, Operation& operation) {
  const bool was_there = operation.has(Member::kTopic);
  const std::uint32_t before = operation.topic;
  if (!read_id(at, member_rows()[static_cast<std::size_t>(Member::kTopic)], operation)) return false;
  if (was_there && before != operation.topic) return stop(at, "'topic' within the position is another than beside it");
  operation.members |= bit(Member::kTopic);
  return true;
}

bool LineParser::read_position(std::size_t at, std::string_view expects, Position& position,
                               std::optional<std::size_t>& topic) {
  if (node(at).kind != JsonKind::kObject) return refuse_kind(at, expects);
  position = {};
  bool offset = false, seq = false, ledger = false, entry = false;
  for (std::size_t child = at + 1; child < node(at).end; child = node(child).end) {
    const codec::JsonNode& value = node(child);
    if (value.name == "topic") {
      topic = child;
      continue;
    }
    bool* twice = nullptr;
    std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
    if (value.name == "partition") twice = &position.has_partition, max = kSmallMax;
    if (value.name == "offset") twice = &offset;
    if (value.name == "seq") twice = &seq;
    if (value.name == "ledger") twice = &ledger;
    if (value.name == "entry") twice = &entry;
    if (value.name == "batch") twice = &position.has_batch;
    if (twice == nullptr) continue;
    if (!is_number(value, max)) return refuse_kind(child, "a whole number that is in range; a position of -1 is absent");
    if (*twice) return stop(child, fmt::format("'{}' stands twice", value.name));
    *twice = true;
    if (value.name == "partition") position.partition = static_cast<std::uint32_t>(value.number);
    if (value.name == "entry") position.entry = value.number;
    if (value.name == "batch") position.batch = value.number;
    if (offset + seq + ledger == 1 && (twice == &offset || twice == &seq || twice == &ledger)) position.offset = value.number;
  }
  const bool sequence = seq && !position.has_partition;
  if (offset + seq + ledger != 1 || entry != ledger || (position.has_batch && !ledger) || sequence != seq) {
    return stop(at, fmt::format("'{}' must be {}", node(at).name, expects));
  }
  position.kind = offset ? Position::Kind::kOffset : seq ? Position::Kind::kSequence : Position::Kind::kEntry;
  return true;
}

bool LineParser::read_start(std::size_t at, const MemberRow& row, Operation& operation, Details& details) {
  const codec::JsonNode& value = node(at);
  std::optional<std::size_t> topic;
  if (value.kind == JsonKind::kObject) {
    return read_position(at, "a position", details.start_position, topic) && (!topic || read_topic(*topic, operation));
  }
  const bool word = value.text == "earliest" || value.text == "latest" || value.text == "committed";
  if (value.kind != JsonKind::kString || !word) return refuse_kind(at, row.expects);
  details.start = value.text;
  return true;
}

}  // namespace sp::history

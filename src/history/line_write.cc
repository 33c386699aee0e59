#include <bit>
#include <charconv>

#include "base/check.h"
#include "codec/json_writer.h"
#include "history/detail/places.h"
#include "history/line.h"

namespace sp::history {
namespace {

template <typename Number>
void append_number(std::string& out, Number number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

void append_position(std::string& out, const Position& position) {
  out += '{';
  if (position.kind == Position::Kind::kSequence) {
    out += "\"seq\":";
    append_number(out, position.offset);
    out += '}';
    return;
  }
  if (position.has_partition) {
    out += "\"partition\":";
    append_number(out, position.partition);
    out += ',';
  }
  out += position.kind == Position::Kind::kOffset ? "\"offset\":" : "\"ledger\":";
  append_number(out, position.offset);
  if (position.kind == Position::Kind::kEntry) {
    out += ",\"entry\":";
    append_number(out, position.entry);
    if (position.has_batch) {
      out += ",\"batch\":";
      append_number(out, position.batch);
    }
  }
  out += '}';
}

template <typename List, typename Append>
void append_list(std::string& out, const List& list, Append append) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ',';
    first = false;
    append(item);
  }
  out += ']';
}

void append_target(std::string& out, const Target& target) {
  out += "{\"partition\":";
  append_number(out, target.partition);
  if (target.start != 0) {
    out += ",\"start\":";
    append_number(out, target.start);
  }
  out += ",\"end\":";
  append_number(out, target.end);
  if (target.reached) out += *target.reached ? ",\"reached\":true" : ",\"reached\":false";
  out += '}';
}

void append_seen(std::string& out, const Details& details) {
  out += '{';
  bool first = true;
  for (const auto& [source, index] : details.seen) {
    if (!first) out += ',';
    first = false;
    codec::append_json_string(out, source);
    out += ':';
    append_number(out, index);
  }
  out += '}';
}

void append_detail(std::string& out, const Details& details, const MemberRow& row) {
  const auto text = [&]() -> const std::string& { return details.*detail::place_of(detail::kTextPlaces, row.member); };
  switch (row.kind) {
    case Kind::kText: return codec::append_json_string(out, text());
    case Kind::kJson: out += text(); return;
    case Kind::kStart:
      if (!details.start.empty()) return codec::append_json_string(out, details.start);
      return append_position(out, details.start_position);
    case Kind::kPosition: return append_position(out, details.from);
    case Kind::kNumbers: return append_list(out, details.partitions, [&](std::uint32_t p) { append_number(out, p); });
    case Kind::kPositions: return append_list(out, details.starts, [&](const Position& p) { append_position(out, p); });
    case Kind::kTargets: return append_list(out, details.target, [&](const Target& t) { append_target(out, t); });
    case Kind::kTexts:
      return append_list(out, details.lost_incarnations, [&](const std::string& t) { codec::append_json_string(out, t); });
    case Kind::kSeen: return append_seen(out, details);
    case Kind::kId:
    case Kind::kUnsigned:
    case Kind::kSigned:
    case Kind::kSmall:
    case Kind::kBool:
    case Kind::kChecksum: CHECK(false, "no detail is of that kind");
  }
}

void append_plain(std::string& out, const Operation& operation, const MemberRow& row, const Vocabulary& vocabulary) {
  switch (row.kind) {
    case Kind::kId: {
      const Names& names = row.member == Member::kKey ? vocabulary.keys : vocabulary.words;
      return codec::append_json_string(out, names.text(operation.*detail::place_of(detail::kIdPlaces, row.member)));
    }
    case Kind::kUnsigned: return append_number(out, operation.*detail::place_of(detail::kNumberPlaces, row.member));
    case Kind::kSmall:
      if (row.member == Member::kQos) return append_number(out, std::uint32_t{operation.qos});
      return append_number(out, operation.*detail::place_of(detail::kSmallPlaces, row.member));
    case Kind::kBool: out += operation.is(row.member) ? "true" : "false"; return;
    case Kind::kChecksum: out += operation.checksum == Checksum::kOk ? "\"ok\"" : "\"bad\""; return;
    case Kind::kPosition: return append_position(out, operation.position);
    case Kind::kSigned:
    case Kind::kStart:
    case Kind::kText:
    case Kind::kJson:
    case Kind::kNumbers:
    case Kind::kPositions:
    case Kind::kTargets:
    case Kind::kSeen:
    case Kind::kTexts: CHECK(false, "only details are of that kind");
  }
}

void append_member(std::string& out, const Operation& operation, const MemberRow& row, const Vocabulary& vocabulary) {
  out += ",\"";
  out += row.name;
  out += "\":";
  if ((detail_members() & bit(row.member)) != 0) {
    append_detail(out, *operation.details, row);
  } else {
    append_plain(out, operation, row, vocabulary);
  }
}

void append_name(std::string& out, const Operation& operation, const Vocabulary& vocabulary) {
  const std::string_view known = function_name(operation.function);
  if (known.empty()) return codec::append_json_string(out, vocabulary.words.text(operation.name));
  out += '"';
  out += known;
  out += '"';
}

void append_in_driftlab(std::string& out, const Operation& operation) {
  if (operation.has(Member::kValue)) {
    out += ",\"value\":";
    append_number(out, operation.value);
  }
  if (operation.has(Member::kPosition)) {
    out += ",\"stream_seq\":";
    append_number(out, operation.position.offset);
  }
  if (operation.has(Member::kError)) {
    out += ",\"error\":";
    codec::append_json_string(out, operation.details->error);
  }
  if (operation.has(Member::kDetail)) {
    out += ",\"detail\":";
    out += operation.details->detail;
  }
}

}  // namespace

void append_operation(std::string& out, const Operation& operation, const Vocabulary& vocabulary, Dialect dialect,
                      std::optional<std::string_view> key) {
  DCHECK((operation.members & detail_members()) == 0 || operation.details != nullptr, "rare members have their details");
  out += "{\"index\":";
  append_number(out, operation.index);
  if (operation.has(Member::kTime)) {
    out += ",\"time_ns\":";
    append_number(out, operation.time_ns);
  }
  out += ",\"process\":";
  codec::append_json_string(out, vocabulary.processes.text(operation.process));
  out += ",\"type\":\"";
  out += type_name(operation.type);
  out += "\",\"f\":";
  append_name(out, operation, vocabulary);
  if (dialect == Dialect::kDriftlab) {
    append_in_driftlab(out, operation);
  } else {
    const auto rows = member_rows();
    for (MemberSet left = operation.members & ~bit(Member::kTime); left != 0; left &= left - 1) {
      const MemberRow& row = rows[static_cast<std::size_t>(std::countr_zero(left))];
      if (key && row.member == Member::kKey) {
        out += ",\"key\":";
        codec::append_json_string(out, *key);
      } else {
        append_member(out, operation, row, vocabulary);
      }
    }
  }
  out += "}\n";
}

void append_meta(std::string& out, const Meta& meta) {
  codec::JsonWriter json;
  json.begin_object().member("type", "meta");
  if (meta.dialect == Dialect::kVersion1) json.member("version", 1);
  const auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) json.member(name, value);
  };
  const auto raw = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) json.key(name).raw(value);
  };
  text("run", meta.run);
  text("driver", meta.driver);
  text("client", meta.client);
  text("api", meta.api);
  text("server", meta.server);
  text("scenario", meta.scenario);
  if (!meta.faults.empty()) {
    json.key("faults").begin_array();
    for (const std::string& fault : meta.faults) json.value(fault);
    json.end_array();
  }
  raw("contract", meta.contract);
  raw("params", meta.params);
  if (meta.kind == Meta::Kind::kProof) json.member("kind", "proof");
  if (meta.topics == Meta::Topics::kReused) json.member("topics", "reused");
  if (!meta.raw_read) json.member("raw_read", false);
  text("process", meta.process);
  if (meta.incarnation) json.member("incarnation", *meta.incarnation);
  if (meta.started_wall_ns) json.member("started_wall_ns", *meta.started_wall_ns);
  raw("proof", meta.proof);
  text("driftlab", meta.revision);
  out += json.end_object().take();
  out += '\n';
}

}  // namespace sp::history

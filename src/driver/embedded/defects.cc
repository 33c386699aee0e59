#include "driver/embedded/defects.h"

#include <array>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "core/payload.h"

namespace sp::driver::embedded {
namespace {

using core::Blame;
using core::Code;
constexpr auto kNoCode = std::nullopt;

constexpr std::array<DefectRow, kDefectKindCount> kDefectRows{{
    {DefectKind::kLose, "lose", "an acked record is removed from the log; its position stays empty",
     DefectUnit::kRecord, Code::kLost, kNoCode, Blame::kLog},
    {DefectKind::kLosePrefix, "lose-prefix",
     "the first records of a key stay in the log but are never handed over", DefectUnit::kKey, Code::kLost,
     kNoCode, Blame::kClient},
    {DefectKind::kLoseTail, "lose-tail",
     "from some record on, all of a key are acked and not in the log; their positions stay empty",
     DefectUnit::kRecord, Code::kLost, kNoCode, Blame::kLog},
    {DefectKind::kLoseKey, "lose-key", "all records of a key are acked and not in the log", DefectUnit::kKey,
     Code::kLost, kNoCode, Blame::kLog},
    {DefectKind::kLosePartition, "lose-partition", "all records of a partition are acked and not in the log",
     DefectUnit::kPartition, Code::kLost, kNoCode, Blame::kLog},
    {DefectKind::kDuplicateWrite, "duplicate-write",
     "a record is stored twice; the copy stands a few positions behind it", DefectUnit::kRecord,
     Code::kDuplicateWrite, kNoCode, Blame::kNone},
    {DefectKind::kDuplicateDelivery, "duplicate-delivery",
     "one position is handed over twice within a lineage", DefectUnit::kDelivery, Code::kDuplicateDelivery,
     kNoCode, Blame::kNone},
    {DefectKind::kReorderWrite, "reorder-write",
     "two records of one key that follow each other are swapped in the log; the acks name where they stand",
     DefectUnit::kRecord, Code::kReorderedWrite, kNoCode, Blame::kNone},
    {DefectKind::kReorderDelivery, "reorder-delivery",
     "two records of one key that follow each other are handed over swapped; the log is in order",
     DefectUnit::kDelivery, Code::kReorderedDelivery, kNoCode, Blame::kNone},
    {DefectKind::kCorrupt, "corrupt", "a byte of the payload is flipped at one hand-over; the log is intact",
     DefectUnit::kDelivery, Code::kCorrupt, kNoCode, Blame::kNone},
    {DefectKind::kMisplace, "misplace",
     "a record is stored in another partition than its key's; the ack names where it stands",
     DefectUnit::kRecord, Code::kMisplaced, kNoCode, Blame::kNone},
    {DefectKind::kPhantom, "phantom", "a record that nobody issued is stored: a sequence far above its key's",
     DefectUnit::kRecord, Code::kPhantom, kNoCode, Blame::kNone},
    {DefectKind::kRewind, "rewind", "a new lineage starts below the committed offset", DefectUnit::kLineage,
     Code::kRewind, Code::kDuplicateDelivery, Blame::kNone},
    {DefectKind::kAckUnstored, "ack-unstored",
     "a record is acked at a position that was never written; that position stays empty", DefectUnit::kRecord,
     Code::kLost, kNoCode, Blame::kLog},
    {DefectKind::kStoreUnacked, "store-unacked", "an attempt is refused for good, yet stored and handed over",
     DefectUnit::kRecord, Code::kPhantom, kNoCode, Blame::kNone},
    {DefectKind::kDualOwner, "dual-owner", "two members own one partition in one generation",
     DefectUnit::kLineage, Code::kDualOwner, kNoCode, Blame::kNone},
    {DefectKind::kFreeze, "freeze", "the broker answers nothing for a time; an honest bad day, no anomaly",
     DefectUnit::kBroker, kNoCode, kNoCode, Blame::kNone},
}};

constexpr Nanoseconds kFreezeMax = std::chrono::hours{24 * 7};

tl::unexpected<Error> refuse_option(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalid,
              fmt::format("defect '{}': {}; write KIND:count=N or KIND:rate=p, as in lose:count=5", text, why));
}

Result<void> read_option(std::string_view text, std::string_view option, DefectSpec& spec) {
  const auto equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : option.substr(equals + 1);
  if (name == "count") {
    const auto count = parse_unsigned(value);
    if (!count || *count == 0) return refuse_option(text, "count is a whole number from 1");
    spec.count = *count;
  } else if (name == "rate") {
    const auto rate = parse_double(value);
    if (!rate || !(*rate > 0 && *rate <= 1)) return refuse_option(text, "rate is a number above 0, at most 1");
    spec.rate = *rate;
  } else if (name == "length" &&
             (spec.kind == DefectKind::kLosePrefix || spec.kind == DefectKind::kRewind)) {
    const auto length = parse_unsigned(value);
    if (!length || *length == 0) return refuse_option(text, "length is a whole number from 1");
    spec.length_max = *length;
  } else if (name == "for" && spec.kind == DefectKind::kFreeze) {
    const auto span = parse_duration(value);
    if (!span || span->count() == 0 || *span > kFreezeMax)
      return refuse_option(text, "for is a time like 500ms, 3s or 2m, above 0 and up to 7 days");
    spec.duration = *span;
  } else {
    return refuse_option(text, fmt::format("it has no option '{}'", name));
  }
  return {};
}

}  // namespace

std::span<const DefectRow> defect_rows() { return kDefectRows; }

const DefectRow& defect_row(DefectKind kind) {
  const auto& row = kDefectRows.at(static_cast<std::size_t>(kind));
  DCHECK(row.kind == kind, "the rows stand in the order of the enumeration");
  return row;
}

std::string defect_names() {
  std::string names;
  for (const auto& row : kDefectRows) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

Result<DefectSpec> parse_defect(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  DefectSpec spec;
  const DefectRow* found = nullptr;
  for (const auto& row : kDefectRows) {
    if (row.name == name) found = &row;
  }
  if (found == nullptr) {
    return fail(ErrorCode::kInvalid, fmt::format("defect '{}': there is no kind '{}'; the kinds are {}", text,
                                                 name, defect_names()));
  }
  spec.kind = found->kind;
  std::string_view options = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (colon != std::string_view::npos && options.empty()) return refuse_option(text, "nothing follows the colon");
  while (!options.empty()) {
    const auto comma = options.find(',');
    if (auto read = read_option(text, options.substr(0, comma), spec); !read) {
      return tl::unexpected(std::move(read).error());
    }
    options = comma == std::string_view::npos ? "" : options.substr(comma + 1);
  }
  if (spec.count > 0 && spec.rate > 0) return refuse_option(text, "count and rate exclude each other");
  if (spec.count == 0 && !(spec.rate > 0)) spec.count = 1;
  return spec;
}

Result<std::vector<DefectSpec>> parse_defects(const std::vector<std::string>& texts) {
  std::vector<DefectSpec> specs;
  for (const auto& text : texts) {
    auto spec = parse_defect(text);
    if (!spec) return tl::unexpected(std::move(spec).error());
    specs.push_back(*spec);
  }
  return specs;
}

Result<void> check_plantable(const DefectSpec& spec, const RunShape& shape) {
  std::string_view need;
  if (spec.kind == DefectKind::kMisplace && shape.partitions < 2) need = "partitions 2 or more";
  if (spec.kind == DefectKind::kDualOwner && shape.consumers < 2) need = "consumers 2 or more in a group";
  if (spec.kind == DefectKind::kCorrupt && shape.payload_bytes < core::kPayloadBytesIdentified) {
    need = "a message size of 48 or more, so that a payload carries a checksum";
  }
  if (need.empty()) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("defect {} can never be planted in this run: it needs {}", defect_row(spec.kind).name, need));
}

}  // namespace sp::driver::embedded

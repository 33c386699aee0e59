#include "history/foreign/verifiable_events.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "history/reader.h"

namespace sp::history {
namespace {

using JsonKind = codec::JsonNode::Kind;
using ToolKind = ToolEvent::Kind;

constexpr std::uint64_t kPartitionMost = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kOffsetMost = std::numeric_limits<std::int64_t>::max();
constexpr std::pair<std::string_view, ToolKind> kEventNames[] = {
    {"startup_complete", ToolKind::kStartup},      {"shutdown_complete", ToolKind::kShutdown},
    {"producer_send_success", ToolKind::kSuccess}, {"producer_send_error", ToolKind::kError},
    {"tool_data", ToolKind::kToolData},            {"partitions_assigned", ToolKind::kAssigned},
    {"partitions_revoked", ToolKind::kRevoked},    {"records_consumed", ToolKind::kConsumed},
    {"record_data", ToolKind::kRecord},            {"offsets_committed", ToolKind::kCommitted},
    {"shutdown_requested", ToolKind::kAsked}};

}  // namespace

ToolEvents::ToolEvents(std::unique_ptr<codec::ByteSource> source, std::string name, bool accept_torn)
    : lines_(std::move(source), {.line_bytes_max = kLineBytesMax}), name_(std::move(name)), accept_torn_(accept_torn) {}

tl::unexpected<Error> ToolEvents::refuse(std::string_view says) const { return refuse_node(0, says); }

tl::unexpected<Error> ToolEvents::refuse_node(std::size_t at, std::string_view says) const {
  const std::size_t column = at == 0 ? 0 : codec::find_in_json(line_, at).at;
  return fail(ErrorCode::kParse, fmt::format("{} line {} column {}: {}", name_, line_number_, column + 1, says));
}

Result<bool> ToolEvents::take_line() {
  if (block_.empty()) {
    auto block = lines_.next();
    if (!block) return fail(block.error().code, fmt::format("{} line {}: {}", name_, line_number_ + 1, block.error().message));
    if (block->empty()) return false;
    block_ = *block;
  }
  const std::size_t newline = block_.find('\n');
  cut_off_ = newline == std::string_view::npos;
  line_ = block_.substr(0, newline);
  block_.remove_prefix(cut_off_ ? block_.size() : newline + 1);
  ++line_number_;
  return true;
}

Result<const ToolEvent*> ToolEvents::next() {
  while (true) {
    const auto more = take_line();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return nullptr;
    const std::string_view trimmed = trim(line_);
    if (trimmed.empty()) continue;
    if (trimmed[0] != '{') {
      ++other_lines_;
      continue;
    }
    if (const auto fault = tree_.parse(line_)) {
      if (cut_off_ && accept_torn_) {
        torn_line_ = line_number_;
        return nullptr;
      }
      const std::string_view remedy = cut_off_ ? "the file was cut off; --salvage converts what is before this line"
                                               : "one event a line is expected, as the tools print them";
      return fail(ErrorCode::kParse,
                  fmt::format("{} line {} column {}: {}: {}", name_, line_number_, fault->at + 1, fault->reason, remedy));
    }
    if (auto read = read_event(); !read) return tl::unexpected(std::move(read).error());
    return &event_;
  }
}

std::optional<std::size_t> ToolEvents::find(std::size_t object, std::string_view name) const {
  for (std::size_t at = object + 1; at < node(object).end; at = node(at).end) {
    if (node(at).name == name) return node(at).kind == JsonKind::kNull ? std::nullopt : std::optional(at);
  }
  return std::nullopt;
}

Result<std::optional<std::string_view>> ToolEvents::text_or_null(std::size_t object, std::string_view name) const {
  const auto at = find(object, name);
  if (!at) return std::optional<std::string_view>();
  if (node(*at).kind != JsonKind::kString) return refuse_node(*at, fmt::format("member '{}' is a text", name));
  return std::optional(node(*at).text);
}

Result<std::string_view> ToolEvents::text(std::size_t object, std::string_view name) const {
  const auto found = text_or_null(object, name);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return refuse_node(object, fmt::format("member '{}' is missing: a text", name));
  return **found;
}

Result<std::uint64_t> ToolEvents::number(std::size_t object, std::string_view name, std::uint64_t most) const {
  const auto at = find(object, name);
  if (!at) return refuse_node(object, fmt::format("member '{}' is missing: a whole number", name));
  if (node(*at).kind != JsonKind::kUnsigned || node(*at).number > most) {
    return refuse_node(*at, fmt::format("member '{}' is a whole number from 0 to {}", name, most));
  }
  return node(*at).number;
}

Result<void> ToolEvents::read_event() {
  event_ = {};
  const auto name = text(0, "name");
  if (!name) return tl::unexpected(name.error());
  const auto* const row = std::ranges::find(kEventNames, *name, &std::pair<std::string_view, ToolKind>::first);
  if (row == std::end(kEventNames)) {
    return refuse(fmt::format("event '{}' is none of VerifiableProducer or VerifiableConsumer that is known here", printable(*name)));
  }
  event_.kind = row->second;
  const auto timestamp = number(0, "timestamp", kTimestampMax);
  if (!timestamp) return tl::unexpected(timestamp.error());
  event_.timestamp_ms = static_cast<std::int64_t>(*timestamp);
  return read_rest();
}

Result<void> ToolEvents::read_rest() {
  switch (event_.kind) {
    case ToolKind::kStartup:
    case ToolKind::kAsked:
    case ToolKind::kShutdown: return {};
    case ToolKind::kSuccess:
    case ToolKind::kError:
    case ToolKind::kRecord: return read_record();
    case ToolKind::kToolData: {
      const auto sent = number(0, "sent", kOffsetMost);
      if (!sent) return tl::unexpected(sent.error());
      event_.sent = *sent;
      return {};
    }
    case ToolKind::kAssigned:
    case ToolKind::kRevoked: return read_places("partitions", "", nullptr);
    case ToolKind::kConsumed: return read_places("partitions", "count", &ToolEvent::Place::count);
    case ToolKind::kCommitted: break;
  }
  const auto success = find(0, "success");
  if (!success || node(*success).kind != JsonKind::kBool) return refuse("member 'success' is missing: true or false");
  event_.success = node(*success).yes;
  const auto error = text_or_null(0, "error");
  if (!error) return tl::unexpected(error.error());
  event_.message = error->value_or("");
  return read_places("offsets", "offset", &ToolEvent::Place::offset);
}

Result<void> ToolEvents::read_record() {
  const auto key = text_or_null(0, "key");
  if (!key) return tl::unexpected(key.error());
  const auto value = text_or_null(0, "value");
  if (!value) return tl::unexpected(value.error());
  const auto topic = text(0, "topic");
  if (!topic) return tl::unexpected(topic.error());
  event_.key = *key;
  event_.value = *value;
  event_.topic = *topic;
  if (event_.kind == ToolKind::kError) {
    const auto exception = text(0, "exception");
    if (!exception) return tl::unexpected(exception.error());
    const auto message = text_or_null(0, "message");
    if (!message) return tl::unexpected(message.error());
    event_.exception = *exception;
    event_.message = message->value_or("");
    return {};
  }
  const auto partition = number(0, "partition", kPartitionMost);
  if (!partition) return tl::unexpected(partition.error());
  event_.partition = static_cast<std::uint32_t>(*partition);
  const auto at = find(0, "offset");
  const bool told = !at || node(*at).kind != JsonKind::kNegative || node(*at).number != ~std::uint64_t{0};
  if (!told && event_.kind == ToolKind::kSuccess) return {};  // −1: with acks=0, for example
  const auto offset = number(0, "offset", kOffsetMost);
  if (!offset) return tl::unexpected(offset.error());
  event_.offset = *offset;
  return {};
}

Result<void> ToolEvents::read_places(std::string_view name, std::string_view number_name, std::uint64_t ToolEvent::Place::*into) {
  const auto list = find(0, name);
  if (!list || node(*list).kind != JsonKind::kArray) return refuse(fmt::format("member '{}' is missing: a list of partitions", name));
  for (std::size_t at = *list + 1; at < node(*list).end; at = node(at).end) {
    if (node(at).kind != JsonKind::kObject) return refuse_node(at, "a partition is an object, {\"topic\":…,\"partition\":…}");
    const auto topic = text(at, "topic");
    if (!topic) return tl::unexpected(topic.error());
    const auto partition = number(at, "partition", kPartitionMost);
    if (!partition) return tl::unexpected(partition.error());
    ToolEvent::Place place{.topic = *topic, .partition = static_cast<std::uint32_t>(*partition)};
    if (into != nullptr) {
      const auto value = number(at, number_name, kOffsetMost);
      if (!value) return tl::unexpected(value.error());
      place.*into = *value;
    }
    event_.places.push_back(place);
  }
  return {};
}

}  // namespace sp::history

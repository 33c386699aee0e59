#include "history/foreign/verifiable.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"

namespace sp::history {
namespace {

constexpr std::string_view kVerifiableGroup = "verifiable-consumer";  // the tool does not print its --group-id
constexpr std::size_t kMessageBytesMax = 1000;

// Answers that speak of the record itself, and a client that was closed before the record was handed to it; see docs/formats/driver.md,
// "fail or info". Whether a retry came before is not said, so nothing else is certain.
constexpr std::array<std::string_view, 6> kCertainFailures = {
    "org.apache.kafka.common.errors.RecordTooLargeException",   "org.apache.kafka.common.errors.SerializationException",
    "org.apache.kafka.common.errors.InvalidTimestampException", "org.apache.kafka.common.errors.UnsupportedForMessageFormatException",
    "org.apache.kafka.common.InvalidRecordException",           "java.lang.IllegalStateException"};

bool is_certain(std::string_view exception) {
  if (exception.starts_with("class ")) exception.remove_prefix(6);
  return std::ranges::find(kCertainFailures, exception) != kCertainFailures.end();
}

std::string error_of(const ToolEvent& event) {
  std::string_view name = event.exception;
  name.remove_prefix(name.rfind('.') + 1);  // npos + 1 is 0
  std::string text = printable(name, kMessageBytesMax);
  if (!event.message.empty()) text += ": " + printable(event.message, kMessageBytesMax);
  return text;
}

}  // namespace

VerifiableOutput::Identity VerifiableOutput::identify(const ToolEvent& record) {
  const auto value = record.value ? parse_verifiable_value(*record.value) : std::nullopt;
  if (!value) return {};
  const auto at = producers_.find({std::string(record.topic), std::string(value->prefix)});
  if (at == producers_.end()) return {};
  const Numbering& numbering = at->second->numbering;
  Identity identity{.producer = at->second, .value = value->value};
  identity.fits = numbering.keyed ? record.key && *record.key == std::to_string(value->value % numbering.period) : !record.key;
  return identity;
}

std::string VerifiableOutput::key_name(const Numbering& numbering, std::uint64_t value) const {
  std::string name = topics_ > 1 ? numbering.topic + "/" : "";
  if (!numbering.prefix.empty()) name += numbering.prefix + ".";
  if (numbering.keyed) name += std::to_string(value % numbering.period);
  return name;
}

void VerifiableOutput::begin_attempt(const Tool& tool, std::uint64_t value, Type type, Told& told) {
  const Numbering& numbering = tool.numbering;
  told.begin(Function::kPublish, type, tool.process, (now_ms_ - first_ms_) * 1'000'000);
  if (topics_ > 1) told.topic(numbering.topic);
  if (const std::string key = key_name(numbering, value); !key.empty()) told.key(key);
  told.value(numbering.keyed ? value / numbering.period : value);
}

Result<void> VerifiableOutput::advance(Tool& tool) {
  const auto event = tool.events->next();
  if (!event) return tl::unexpected(event.error());
  tool.event = *event;
  if (tool.event == nullptr) return {};
  if (tool.event->timestamp_ms < tool.time_ms) {
    notes_.count("events were printed with a time before that of the line above them: they keep their order, and have its time");
  }
  tool.time_ms = std::max(tool.time_ms, tool.event->timestamp_ms);
  return {};
}

// Of what is said at the same millisecond, sends come before what follows from them.
VerifiableOutput::Tool* VerifiableOutput::earliest() {
  Tool* first = nullptr;
  for (Tool& tool : tools_) {
    if (tool.event == nullptr) continue;
    if (first == nullptr || std::pair(tool.time_ms, tool.role) < std::pair(first->time_ms, first->role)) first = &tool;
  }
  return first;
}

Result<void> VerifiableOutput::tell(Told& told) {
  notes_.clear();
  if (tools_.size() > 1) {
    notes_.say("the order between the files is that of their clocks, in milliseconds: true if one machine ran them all");
  }
  if (std::ranges::count(tools_, Role::kConsumer, &Tool::role) > 1) {
    notes_.say("all consumers are taken for members of one group: the tool does not print which they are of");
  }
  for (Tool& tool : tools_) {
    auto events = open_events(tool);
    if (!events) return tl::unexpected(std::move(events).error());
    tool.events = std::move(*events);
    tool.time_ms = *tool.first_ms;
    if (auto first = advance(tool); !first) return first;
  }
  while (Tool* tool = earliest()) {
    now_ms_ = tool->time_ms;
    if (auto one = tell_event(*tool, told); !one) return one;
    if (auto next = advance(*tool); !next) return next;
    if (tool->event != nullptr) continue;
    if (auto finished = finish_tool(*tool, told); !finished) return finished;
  }
  return {};
}

Result<void> VerifiableOutput::tell_event(Tool& tool, Told& told) {
  switch (tool.event->kind) {
    case ToolEvent::Kind::kStartup:
    case ToolEvent::Kind::kShutdown:
    case ToolEvent::Kind::kToolData:
    case ToolEvent::Kind::kAsked:
    case ToolEvent::Kind::kConsumed: return {};
    case ToolEvent::Kind::kSuccess:
    case ToolEvent::Kind::kError: return outcome(tool, told);
    case ToolEvent::Kind::kAssigned: return possession(tool, Function::kAssign, told);
    case ToolEvent::Kind::kRevoked: return possession(tool, Function::kRevoke, told);
    case ToolEvent::Kind::kRecord: return record(tool, told);
    case ToolEvent::Kind::kCommitted: return commits(tool, told);
  }
  return {};
}

Result<void> VerifiableOutput::invoke_through(Tool& tool, std::uint64_t last, Told& told) {
  for (; tool.invoked_end <= last; ++tool.invoked_end) {
    begin_attempt(tool, tool.invoked_end, Type::kInvoke, told);
    if (auto written = told.write(); !written) return written;
    tool.open.insert(tool.invoked_end);
  }
  return {};
}

Result<void> VerifiableOutput::outcome(Tool& tool, Told& told) {
  const ToolEvent& event = *tool.event;
  const auto value = event.value ? parse_verifiable_value(*event.value) : std::nullopt;
  if (!value || value->value >= tool.numbering.attempts_end) {
    return tool.events->refuse("the file has changed while it was read: convert it again");
  }
  if (auto invoked = invoke_through(tool, value->value, told); !invoked) return invoked;
  if (!tool.open.erase(value->value)) {
    return tool.events->refuse(fmt::format("value {} has had an outcome: it is the output of two processes, so give each its own file",
                                           value->value));
  }
  if (event.kind == ToolEvent::Kind::kSuccess) {
    begin_attempt(tool, value->value, Type::kOk, told);
    if (event.offset) told.position(event.partition, *event.offset);
  } else {
    begin_attempt(tool, value->value, is_certain(event.exception) ? Type::kFail : Type::kInfo, told);
    told.error(error_of(event));
  }
  return told.write();
}

Result<void> VerifiableOutput::finish_tool(Tool& tool, Told& told) {
  notes_.count("lines that are no events are left out", tool.events->other_lines());
  const std::uint64_t torn = tool.events->torn_line();
  if (torn != 0) notes_.say(fmt::format("{}: line {} is cut off and left out", tool.input.name, torn));
  if (tool.role == Role::kProducer && tool.numbering.known) {
    if (auto invoked = invoke_through(tool, tool.numbering.attempts_end - 1, told); !invoked) return invoked;
    if (!tool.open.empty()) notes_.count("attempts have no outcome in the files: it is unknown", tool.open.size());
    for (const core::Range& range : tool.open.ranges()) {
      for (std::uint64_t value = range.begin; value < range.end; ++value) {
        begin_attempt(tool, value, Type::kInfo, told);
        if (auto written = told.error("no outcome was printed").write(); !written) return written;
      }
    }
    if (!tool.numbering.sent) {
      notes_.say(fmt::format("{}: the producer did not end properly: it may have sent more than is known here", tool.input.name));
    }
  }
  if (!tool.numbering.known) {
    notes_.count("attempts are left out: their producer printed no outcome, so where they went is not said",
                 tool.numbering.sent.value_or(0));
  }
  if (!tool.shut_down || torn != 0) return {};
  return told.begin(Function::kEnd, Type::kOk, tool.process, time_ns(tool)).reason("done").write();
}

Result<void> VerifiableOutput::subscribe(Tool& tool, Told& told) {
  if (tool.subscribed) return {};
  tool.subscribed = true;
  return told.begin(Function::kSubscribe, Type::kOk, tool.process, time_ns(tool)).start("committed").group(kVerifiableGroup).write();
}

Result<void> VerifiableOutput::possession(Tool& tool, Function function, Told& told) {
  if (auto opened = subscribe(tool, told); !opened) return opened;
  std::map<std::string_view, std::vector<std::uint32_t>> by_topic;
  for (const ToolEvent::Place& place : tool.event->places) by_topic[place.topic].push_back(place.partition);
  for (auto& [topic, partitions] : by_topic) {
    std::ranges::sort(partitions);
    told.begin(function, Type::kOk, tool.process, time_ns(tool)).partitions(std::move(partitions));
    if (topics_ > 1) told.topic(topic);
    if (auto written = told.write(); !written) return written;
  }
  return {};
}

Result<void> VerifiableOutput::record(Tool& tool, Told& told) {
  const ToolEvent& event = *tool.event;
  if (auto opened = subscribe(tool, told); !opened) return opened;
  const Identity identity = identify(event);
  Tool* producer = identity.producer;
  if (producer != nullptr && identity.fits && identity.value < producer->numbering.attempts_end) {
    if (auto invoked = invoke_through(*producer, identity.value, told); !invoked) return invoked;
  }
  told.begin(Function::kDeliver, Type::kOk, tool.process, time_ns(tool)).position(event.partition, *event.offset);
  if (topics_ > 1) told.topic(event.topic);
  if (producer == nullptr) {
    notes_.count("records are of no producer whose output was named: they are told as records of another run");
    return told.run("other").write();
  }
  if (!identity.fits) {
    notes_.count("records have a key that does not belong to their value: they are told as damaged");
    return told.bad_checksum().write();
  }
  const Numbering& numbering = producer->numbering;
  if (const std::string key = key_name(numbering, identity.value); !key.empty()) told.key(key);
  return told.value(numbering.keyed ? identity.value / numbering.period : identity.value).write();
}

// The tool prints a commit when it is answered. Without success nobody knows whether it holds: the message says no code.
Result<void> VerifiableOutput::commits(Tool& tool, Told& told) {
  if (auto opened = subscribe(tool, told); !opened) return opened;
  for (const ToolEvent::Place& place : tool.event->places) {
    for (const Type type : {Type::kInvoke, tool.event->success ? Type::kOk : Type::kInfo}) {
      told.begin(Function::kCommit, type, tool.process, time_ns(tool)).position(place.partition, place.offset);
      if (topics_ > 1) told.topic(place.topic);
      if (type == Type::kInfo) told.error(printable(tool.event->message, kMessageBytesMax));
      if (auto written = told.write(); !written) return written;
    }
  }
  return {};
}

}  // namespace sp::history

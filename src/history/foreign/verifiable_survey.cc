// The first reading of what Kafka's verifiable tools printed: whose output it is, how its records are numbered, whether it is complete.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/core.h>

#include "base/text.h"
#include "history/foreign/verifiable.h"

namespace sp::history {
namespace {

using SurveyKind = ToolEvent::Kind;

}  // namespace

bool is_printed_number(std::string_view text, bool sign) {
  if (sign && text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text[0] == '0' && text.size() > 1)) return false;
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<VerifiableValue> parse_verifiable_value(std::string_view text) {
  VerifiableValue read;
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    read.prefix = text.substr(0, dot);
    if (!is_printed_number(read.prefix, true)) return std::nullopt;
    text.remove_prefix(dot + 1);
  }
  const auto value = is_printed_number(text, false) ? parse_unsigned(text) : fail(ErrorCode::kParse, "");
  if (!value || *value > VerifiableOutput::kValueMax) return std::nullopt;
  read.value = *value;
  return read;
}

VerifiableOutput::VerifiableOutput(std::vector<ForeignInput> inputs, const ForeignOptions& options) : options_(options) {
  for (ForeignInput& input : inputs) {
    Tool tool;
    tool.process = std::filesystem::path(input.name).stem().string();
    tool.input = std::move(input);
    tools_.push_back(std::move(tool));
  }
  std::ranges::sort(tools_, {}, &Tool::process);  // so that the order in which files are named changes nothing
}

Result<std::unique_ptr<ToolEvents>> VerifiableOutput::open_events(const Tool& tool) const {
  auto source = tool.input.open();
  if (!source) return tl::unexpected(std::move(source).error());
  return std::make_unique<ToolEvents>(std::move(*source), tool.input.name, options_.salvage);
}

Result<Meta> VerifiableOutput::survey() {
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    const std::string& process = tools_[i].process;
    if (i > 0 && tools_[i - 1].process == process) {
      return fail(ErrorCode::kInvalid, fmt::format("{} and {} would both be process {}: the name of a file is that of its process, so "
                                                   "rename one",
                                                   tools_[i - 1].input.name, tools_[i].input.name, process));
    }
    if (process == "nemesis") {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{}: a process called nemesis is what makes faults: rename the file", tools_[i].input.name));
    }
  }
  for (Tool& tool : tools_) {
    if (auto read = survey_tool(tool); !read) return tl::unexpected(std::move(read).error());
  }
  if (auto matched = match_tools(); !matched) return tl::unexpected(std::move(matched).error());
  Meta meta;
  meta.driver = "kafka";
  meta.client = "org.apache.kafka.tools";
  meta.scenario = "verifiable";
  const bool keyed = std::ranges::all_of(producers_, [](const auto& row) { return row.second->numbering.keyed; });
  meta.contract = keyed ? R"({"delivery":"at-least-once","order":"key"})" : R"({"delivery":"at-least-once","order":"partition"})";
  meta.topics = Meta::Topics::kReused;  // what else the topic holds is not said
  meta.raw_read = false;
  meta.started_wall_ns = static_cast<std::uint64_t>(first_ms_) * 1'000'000;
  return meta;
}

Result<void> VerifiableOutput::survey_tool(Tool& tool) {
  auto events = open_events(tool);
  if (!events) return tl::unexpected(std::move(events).error());
  Polled polled;
  while (true) {
    const auto event = (*events)->next();
    if (!event) return tl::unexpected(event.error());
    if (*event == nullptr) break;
    if (!tool.first_ms) tool.first_ms = (*event)->timestamp_ms;
    if (auto read = survey_event(tool, **events, **event, polled); !read) return read;
  }
  if (!tool.first_ms) {
    return fail(ErrorCode::kParse,
                fmt::format("{}: holds no event: is it what VerifiableProducer or VerifiableConsumer printed?", tool.input.name));
  }
  return {};
}

Result<void> VerifiableOutput::survey_event(Tool& tool, const ToolEvents& events, const ToolEvent& event, Polled& polled) {
  if (event.kind == SurveyKind::kStartup) {
    if (tool.started) return events.refuse("a second startup_complete: it is the output of two processes, so give each its own file");
    tool.started = true;
    return {};
  }
  if (event.kind == SurveyKind::kShutdown) {
    tool.shut_down = true;
    return {};
  }
  const bool produces = event.kind == SurveyKind::kSuccess || event.kind == SurveyKind::kError || event.kind == SurveyKind::kToolData;
  const Role role = produces ? Role::kProducer : Role::kConsumer;
  if (tool.role == Role::kUnseen) tool.role = role;
  if (tool.role != role) return events.refuse("events of a producer and of a consumer in one file: give each process its own");
  if (event.kind == SurveyKind::kToolData) {
    if (tool.numbering.sent) return events.refuse("a second tool_data: it is the output of two processes, so give each its own file");
    tool.numbering.sent = event.sent;
    return {};
  }
  if (produces) return survey_outcome(tool, events, event);
  if (event.kind == SurveyKind::kRecord) {
    ++polled[{std::string(event.topic), event.partition}];
    return {};
  }
  return event.kind == SurveyKind::kConsumed ? survey_poll(events, event, polled) : Result<void>();
}

Result<void> VerifiableOutput::survey_outcome(Tool& tool, const ToolEvents& events, const ToolEvent& event) {
  const auto value = event.value ? parse_verifiable_value(*event.value) : std::nullopt;
  if (!value) return events.refuse("the value is none that VerifiableProducer makes: a number, maybe with a prefix, \"17\" or \"3.17\"");
  std::uint64_t key = 0;
  if (event.key) {
    const auto read = is_printed_number(*event.key, false) ? parse_unsigned(*event.key) : fail(ErrorCode::kParse, "");
    if (!read || *read > value->value) {
      return events.refuse("the key is none that VerifiableProducer makes: value modulo --repeating-keys");
    }
    key = *read;
  }
  Numbering& numbering = tool.numbering;
  if (!numbering.known) {
    numbering.known = true;
    numbering.topic = event.topic;
    numbering.prefix = value->prefix;
    numbering.keyed = event.key.has_value();
  }
  if (numbering.topic != event.topic || numbering.prefix != value->prefix || numbering.keyed != event.key.has_value()) {
    return events.refuse("topic, prefix of the value or use of keys changes here: one process does not, so give each its own file");
  }
  numbering.period = std::gcd(numbering.period, value->value - key);
  numbering.key_max = std::max(numbering.key_max, key);
  numbering.values_end = std::max(numbering.values_end, value->value + 1);
  ++numbering.outcomes;
  return {};
}

// A poll is summed up behind its records: if they were not printed, what was delivered cannot be said.
Result<void> VerifiableOutput::survey_poll(const ToolEvents& events, const ToolEvent& event, Polled& polled) {
  for (const ToolEvent::Place& place : event.places) {
    const auto printed = polled.find({std::string(place.topic), place.partition});
    const std::uint64_t count = printed == polled.end() ? 0 : printed->second;
    if (count != place.count) {
      return events.refuse(fmt::format("{} records of {}-{} were consumed and {} printed: which ones is not said; run the consumer "
                                       "with --verbose",
                                       place.count, printable(place.topic), place.partition, count));
    }
  }
  polled.clear();
  return {};
}

Result<void> VerifiableOutput::match_tools() {
  std::set<std::string_view> topics;
  first_ms_ = std::numeric_limits<std::int64_t>::max();
  for (Tool& tool : tools_) {
    first_ms_ = std::min(first_ms_, *tool.first_ms);
    if (tool.role != Role::kProducer) continue;
    if (auto numbered = number_keys(tool); !numbered) return numbered;
    if (!tool.numbering.known) continue;  // nothing of it can be delivered: its topic is not known
    topics.insert(tool.numbering.topic);
    const auto [at, fresh] = producers_.try_emplace({tool.numbering.topic, tool.numbering.prefix}, &tool);
    if (!fresh) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{} and {} sent the same values to topic {}: their records cannot be told apart; run each producer "
                                                   "with a --value-prefix of its own",
                                                   at->second->input.name, tool.input.name, printable(tool.numbering.topic)));
    }
  }
  topics_ = topics.size();
  if (producers_.empty()) {
    return fail(ErrorCode::kInvalid,
                "no file is the output of a VerifiableProducer that sent something: without it no record can be judged, so name it too");
  }
  const bool killed = std::ranges::any_of(producers_, [](const auto& row) { return !row.second->numbering.sent; });
  for (Tool& tool : tools_) {
    if (!killed || tool.role != Role::kConsumer) continue;
    if (auto read = survey_records(tool); !read) return read;
  }
  for (const auto& [line, producer] : producers_) {
    const Numbering& numbering = producer->numbering;
    if (numbering.attempts_end > numbering.outcomes + kUnprintedMax) {
      return fail(ErrorCode::kFull, fmt::format("{}: {} values have no outcome, more than {}: is it the whole output of the producer?",
                                                producer->input.name, numbering.attempts_end - numbering.outcomes, kUnprintedMax));
    }
  }
  return {};
}

// With keys: how many there are. value = key + n * period for every line, so the period divides every value − key.
Result<void> VerifiableOutput::number_keys(Tool& tool) {
  Numbering& numbering = tool.numbering;
  numbering.attempts_end = std::max(numbering.sent.value_or(0), numbering.values_end);
  if (!numbering.known || !numbering.keyed) return {};
  if (numbering.period == 0) numbering.period = numbering.key_max + 1;  // it never came round
  if (numbering.key_max < numbering.period) return {};
  return fail(ErrorCode::kInvalid, fmt::format("{}: its keys do not come round as those of --repeating-keys do", tool.input.name));
}

// Of producers that were killed: what was delivered had been sent, though nothing of it was printed.
Result<void> VerifiableOutput::survey_records(Tool& tool) {
  const auto events = open_events(tool);
  if (!events) return tl::unexpected(events.error());
  while (true) {
    const auto event = (*events)->next();
    if (!event) return tl::unexpected(event.error());
    if (*event == nullptr) return {};
    if ((*event)->kind != SurveyKind::kRecord) continue;
    const Identity identity = identify(**event);
    if (identity.producer == nullptr || !identity.fits) continue;
    Numbering& numbering = identity.producer->numbering;
    if (numbering.sent || identity.value >= numbering.values_end + kUnprintedMax) continue;
    numbering.attempts_end = std::max(numbering.attempts_end, identity.value + 1);
  }
}

}  // namespace sp::history

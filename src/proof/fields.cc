#include "proof/fields.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "proof/visit.h"

namespace sp::proof {
namespace {

template <typename Enum>
constexpr std::uint8_t number_of(Enum value) {
  return static_cast<std::uint8_t>(value);
}

constexpr std::array kFeatureNames = {
    SetName{"at_least_once", &Proof::at_least_once},
    SetName{"ordering", &Proof::ordering},
    SetName{"exactly_once", &Proof::exactly_once},
};
constexpr std::array kGapNames = {SetName{"compaction", &Proof::compaction},
                                  SetName{"retention", &Proof::retention}};
constexpr std::array kCommitNames = {ChoiceName{"checkpoint", number_of(CommitMode::kCheckpoint)},
                                     ChoiceName{"each", number_of(CommitMode::kEach)},
                                     ChoiceName{"auto", number_of(CommitMode::kAuto)}};
constexpr std::array kTopicExistsNames = {
    ChoiceName{"fail", number_of(TopicExists::kFail)},
    ChoiceName{"reuse", number_of(TopicExists::kReuse)},
    ChoiceName{"recreate", number_of(TopicExists::kRecreate)}};
constexpr std::array kRawReadNames = {ChoiceName{"holes", number_of(core::RawReadScope::kHoles)},
                                      ChoiceName{"full", number_of(core::RawReadScope::kFull)},
                                      ChoiceName{"none", number_of(core::RawReadScope::kNone)}};
constexpr std::array kOrderNames = {ChoiceName{"key", number_of(core::Order::kKey)},
                                    ChoiceName{"partition", number_of(core::Order::kPartition)},
                                    ChoiceName{"none", number_of(core::Order::kNone)}};

constexpr std::uint64_t kSecondsMax = 10ULL * 365 * 86400;  // ten years
constexpr std::uint64_t kCountMax = 1'000'000'000'000'000;

// The table. Its order is that of every print and of the manual.
constexpr std::array kFields = {
    Field{.name = "name", .member = &Proof::name, .meaning = "what reports call the proof"},
    Field{.name = "description",
          .member = &Proof::description,
          .meaning = "for people; changes nothing"},
    Field{.name = "driver", .member = &Proof::driver, .meaning = "the kind of system under test"},
    Field{.name = "settings",
          .member = &Proof::settings,
          .meaning = "settings of the client library, passed through unchanged, security included"},
    Field{.name = "features",
          .member = std::span<const SetName>(kFeatureNames),
          .meaning = "the guarantees that the proof holds the system to"},
    Field{.name = "topic",
          .member = &Proof::topic,
          .meaning = "the topic",
          .absent = "a new one, sp-<run>"},
    Field{.name = "topicExists",
          .member = Choice{&Proof::topic_exists, kTopicExistsNames},
          .meaning = "what to do when the topic is there already"},
    Field{.name = "keepTopic",
          .member = &Proof::keep_topic,
          .meaning = "leave the topic there after a pass"},
    Field{.name = "partitions",
          .member = &Proof::partitions,
          .first = 1,
          .last = 100'000,
          .meaning = "partitions of the topic"},
    Field{.name = "replicationFactor",
          .member = &Proof::replication,
          .first = 1,
          .last = 32'767,
          .meaning = "copies of each partition"},
    Field{.name = "kafka.topicConfig",
          .member = &Proof::topic_config,
          .meaning = "settings of the topic, passed to its creation"},
    Field{.name = "workers",
          .member = &Proof::workers,
          .first = 1,
          .last = 1'000,
          .meaning = "workers that share the load"},
    Field{.name = "producers",
          .member = &Proof::producers,
          .first = 1,
          .last = 100'000,
          .meaning = "producers over all workers"},
    Field{.name = "consumers",
          .member = &Proof::consumers,
          .first = 1,
          .last = 100'000,
          .meaning = "consumers over all workers and groups"},
    Field{.name = "groups",
          .member = &Proof::groups,
          .first = 1,
          .last = 1'000,
          .meaning = "consumer groups, each of which must receive everything"},
    Field{.name = "keys",
          .member = &Proof::keys,
          .first = 1,
          .last = 1'000'000'000,
          .meaning = "keys over all producers; each key has one producer"},
    Field{.name = "msgRate",
          .member = &Proof::rate,
          .unit = "attempts a second",
          .first = 1,
          .last = 1'000'000'000,
          .meaning = "load over all producers"},
    Field{
        .name = "messageSize",
        .member = &Proof::payload_bytes,
        .unit = "bytes",
        .first = 8,
        .last = 64ULL << 20U,
        .meaning =
            "size of each value; from 48 up a record identifies itself and its content is checked"},
    Field{.name = "duration",
          .member = &Proof::duration,
          .unit = "seconds",
          .first = 0,
          .last = kSecondsMax,
          .meaning = "how long producers run; 0 or less is until stopped",
          .below_first_is_first = true},
    Field{.name = "checkPointInterval",
          .member = &Proof::check_point_interval,
          .unit = "seconds",
          .first = 1,
          .last = 86'400,
          .meaning = "time between two ticks"},
    Field{.name = "timeout",
          .member = &Proof::timeout,
          .unit = "seconds",
          .first = 1,
          .last = kSecondsMax,
          .meaning =
              "how long after its acknowledgement a record may stay unreceived before it is late"},
    Field{.name = "consumeDelay",
          .member = &Proof::consume_delay,
          .unit = "seconds",
          .first = 0,
          .last = kSecondsMax,
          .meaning = "how far consumers stay behind on purpose; below timeout"},
    Field{.name = "finalWaitSeconds",
          .member = &Proof::final_wait,
          .unit = "seconds",
          .first = 0,
          .last = kSecondsMax,
          .meaning = "how long to wait for the last records after the producers stopped",
          .below_first_is_first = true,
          .absent = "30"},
    Field{.name = "timeSeriesInterval",
          .member = &Proof::time_series_interval,
          .unit = "seconds",
          .first = 0,
          .last = 86'400,
          .meaning = "time between two points of the report's time series; 0 chooses one"},
    Field{.name = "commit",
          .member = Choice{&Proof::commit, kCommitNames},
          .meaning = "when consumers commit: what acknowledged evidence covers, after each record, "
                     "or by the library itself"},
    Field{.name = "rawRead",
          .member = Choice{&Proof::raw_read, kRawReadNames},
          .meaning =
              "what an independent client reads of the log at the end to find who lost a record"},
    Field{.name = "order",
          .member = Choice{&Proof::order, kOrderNames},
          .meaning = "within what the order rules apply"},
    Field{.name = "gaps",
          .member = std::span<const SetName>(kGapNames),
          .meaning = "why records may be absent from the log without being lost"},
    Field{.name = "maxStallSeconds",
          .member = &core::Thresholds::stall_seconds_max,
          .unit = "seconds",
          .first = 0,
          .last = kSecondsMax,
          .meaning = "fail when verification stood still for longer; 0 is no limit",
          .zero_is_absent = true,
          .absent = "no limit"},
    Field{.name = "maxDuplicates",
          .member = &core::Thresholds::duplicates_max,
          .first = 0,
          .last = kCountMax,
          .meaning = "fail when there are more duplicates that are not allowed",
          .absent = "no limit"},
    Field{.name = "maxErrors",
          .member = &core::Thresholds::errors_max,
          .first = 0,
          .last = kCountMax,
          .meaning = "fail when more attempts failed or stayed unknown",
          .absent = "no limit"},
    Field{.name = "maxTimeouts",
          .member = &core::Thresholds::timeouts_max,
          .first = 0,
          .last = kCountMax,
          .meaning = "fail when records newly became late at more ticks",
          .absent = "no limit"},
    Field{.name = "minRate",
          .member = &core::Thresholds::rate_min,
          .unit = "attempts a second",
          .first = 0,
          .last = 1'000'000'000,
          .meaning = "inconclusive when the load was below this",
          .absent = "no limit"},
    Field{.name = "chaos",
          .member = &Proof::chaos,
          .meaning = "faults of the local cluster: FAULT:at=,every=,for=,down=,count="},
    Field{.name = "defect",
          .member = &Proof::defects,
          .meaning = "defects that the embedded broker plants: KIND:rate= or KIND:count="},
    Field{.name = "seed",
          .member = &Proof::seed,
          .first = 0,
          .last = UINT64_MAX,
          .meaning = "of everything that is drawn: faults, defects, simulated time"},
};

std::string limits_text(const Field& field) {
  if (field.last == 0) return "";
  if (field.last == UINT64_MAX) return fmt::format("{} or more", field.first);
  return fmt::format("{} to {}", field.first, grouped(field.last));
}

template <typename Names>
std::string names_text(const Names& names) {
  std::string text;
  for (const auto& row : names) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", row.name);
  return text;
}

std::string possible_text(const Field& field) {
  if (const auto* choice = std::get_if<Choice>(&field.member)) return names_text(choice->names);
  if (const auto* set = std::get_if<std::span<const SetName>>(&field.member))
    return names_text(*set);
  return limits_text(field);
}

std::string default_text(const Field& field, const Proof& proof) {
  const std::string text = value_text(field, proof);
  if (!text.empty()) return fmt::format("`{}`", text);
  return field.absent.empty() ? "–" : std::string(field.absent);
}

}  // namespace

std::span<const Field> fields() { return kFields; }

const Field* find_field(std::string_view name) {
  const auto* const found = std::find_if(kFields.begin(), kFields.end(),
                                         [&](const Field& field) { return field.name == name; });
  return found == kFields.end() ? nullptr : found;
}

const Field* find_flag(std::string_view flag) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  const auto* const found = std::find_if(
      kFields.begin(), kFields.end(), [&](const Field& field) { return flag_name(field) == flag; });
  return found == kFields.end() ? nullptr : found;
}

std::string flag_name(const Field& field) {
  std::string flag;
  for (const char c : field.name) {
    if (c >= 'A' && c <= 'Z') {
      flag += '-';
      flag += static_cast<char>(c - 'A' + 'a');
    } else {
      flag += c == '.' ? '-' : c;
    }
  }
  return flag;
}

std::string_view type_name(const Field& field) {
  return std::visit(
      Overloaded{
          [](std::string Proof::*) { return std::string_view("text"); },
          [](bool Proof::*) { return std::string_view("true or false"); },
          [](std::chrono::seconds Proof::*) { return std::string_view("time"); },
          [](std::optional<std::chrono::seconds> Proof::*) { return std::string_view("time"); },
          [](std::vector<std::string> Proof::*) { return std::string_view("list of text"); },
          [](std::map<std::string, std::string> Proof::*) { return std::string_view("map"); },
          [](std::optional<double> core::Thresholds::*) { return std::string_view("number"); },
          [](std::span<const SetName>) { return std::string_view("set of names"); },
          [](const Choice&) { return std::string_view("name"); },
          [](auto) { return std::string_view("whole number"); },
      },
      field.member);
}

bool repeatable(const Field& field) {
  return std::holds_alternative<std::vector<std::string> Proof::*>(field.member) ||
         std::holds_alternative<std::map<std::string, std::string> Proof::*>(field.member);
}

Proof run_defaults() {
  Proof proof;
  proof.at_least_once = true;
  proof.ordering = true;
  proof.duration = std::chrono::seconds{60};
  proof.check_point_interval = std::chrono::seconds{5};
  proof.timeout = std::chrono::seconds{30};
  proof.payload_bytes = 100;
  return proof;
}

std::string fields_markdown() {
  std::string text =
      "| field | flag | type | possible | default in files | default of `run` without a file | "
      "meaning |\n"
      "|---|---|---|---|---|---|---|\n";
  const Proof in_files;
  const Proof in_run = run_defaults();
  for (const Field& field : kFields) {
    text += fmt::format(
        "| `{}` | `--{}` | {}{} | {} | {} | {} | {} |\n", field.name, flag_name(field),
        type_name(field),
        field.unit.empty() || type_name(field) == "time" ? "" : fmt::format(", {}", field.unit),
        possible_text(field), default_text(field, in_files), default_text(field, in_run),
        field.meaning);
  }
  return text;
}

}  // namespace sp::proof

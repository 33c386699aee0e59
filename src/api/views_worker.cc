// The members of the reference's worker, read and written.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "api/worker_view.h"
#include "base/text.h"
#include "codec/json_writer.h"

namespace sp::api {
namespace {

using codec::Node;

constexpr std::uint64_t kCountMost = 1'000'000'000;
constexpr std::size_t kSamplesMax = 4'096;

std::int64_t millis_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// Members of a body by name; what is wrong with them, and those that nobody asked for, are faults.
class MemberReader {
 public:
  MemberReader(const Node& body, std::vector<proof::Fault>& faults) : body_(body), faults_(faults) {
    if (body.kind != Node::Kind::kMap) wrong(body.place, "the body is no JSON object", "send one");
  }

  const Node* take(std::string_view name) {
    asked_.push_back(name);
    const Node* const found = body_.find(name);
    return found == nullptr || found->kind == Node::Kind::kNothing ? nullptr : found;
  }
  std::string text(std::string_view name) {
    const Node* const found = take(name);
    if (found != nullptr && found->kind == Node::Kind::kScalar && !found->text.empty()) return found->text;
    wrong(found == nullptr ? body_.place : found->place, fmt::format("'{}' is no text", name), "name it");
    return {};
  }
  std::uint64_t number(std::string_view name, std::uint64_t first, std::uint64_t absent) {
    const Node* const found = take(name);
    if (found == nullptr && absent >= first) return absent;
    const auto value = found == nullptr ? fail(ErrorCode::kInvalid, "") : parse_unsigned(found->text);
    if (value && *value >= first && *value <= kCountMost) return *value;
    wrong(found == nullptr ? body_.place : found->place, fmt::format("'{}' is no number that is possible", name),
          fmt::format("write a whole number from {} to {}", first, kCountMost));
    return first;
  }
  bool yes(std::string_view name) {
    const Node* const found = take(name);
    if (found == nullptr) return false;
    const auto value = parse_bool(found->text);
    if (!value) wrong(found->place, fmt::format("'{}' is neither true nor false", name), "write true or false");
    return value.value_or(false);
  }
  void wrong(codec::Place at, std::string message, std::string remedy) {
    faults_.push_back({ErrorCode::kInvalid, codec::place_text("body", at), std::move(message), std::move(remedy)});
  }
  // What nobody asked for.
  void finish() {
    for (const codec::Member& member : body_.members) {
      if (std::find(asked_.begin(), asked_.end(), member.name) == asked_.end())
        wrong(member.place, fmt::format("unknown field '{}'", printable(member.name, 60)), "leave it out");
    }
  }

 private:
  const Node& body_;
  std::vector<proof::Fault>& faults_;
  std::vector<std::string_view> asked_;
};

// As among the configured ones: the same members, the same faults.
coordinator::NamedDriver driver_of(MemberReader& reader, std::vector<proof::Fault>& faults) {
  const std::string name = reader.text("driverName");
  const Node* const driver = reader.take("driver");
  if (driver == nullptr) {
    faults.push_back({ErrorCode::kInvalid, "body", "there is no 'driver'", R"(write {"driverType": …, "driverConfigs": {…}})"});
    return {};
  }
  const auto map_of = [](std::string member, const Node& value) {
    Node map;
    map.kind = Node::Kind::kMap;
    map.place = value.place;
    map.members.push_back({std::move(member), value.place, value});
    return map;
  };
  Node none;
  none.kind = Node::Kind::kMap;
  Node configs = map_of("drivers", map_of(name.empty() ? "driver" : name, *driver));
  configs.members.push_back({"workers", driver->place, std::move(none)});
  coordinator::ConfigsReading read = coordinator::read_configs(configs, "body");
  faults.insert(faults.end(), read.faults.begin(), read.faults.end());
  return read.configs.drivers.empty() ? coordinator::NamedDriver{} : std::move(read.configs.drivers.front());
}

void sequence_at(codec::JsonWriter& json, const SequenceAt& of) {
  json.begin_object().member("seq", of.sequence ? static_cast<std::int64_t>(of.sequence->value()) : -1).key("metadata").begin_object();
  if (of.position)
    json.member("offset", of.position->offset.value()).member("partition", of.position->partition.value());
  else
    json.member("offset", -1).member("ledgerId", -1).member("entryId", -1);
  json.member("originalOffset", -1).member("publishTimestampMillis", of.published ? millis_of(*of.published) : -1);
  json.end_object().end_object();
}

void ranges_map(codec::JsonWriter& json, std::string_view name, const ConsumerCheckpoint::Ranges& of) {
  json.key(name).begin_object();
  for (const auto& [key, ranges] : of) {
    json.key(key).begin_object();
    for (const ConsumerCheckpoint::Range& range : ranges) {
      std::string opened = to_iso8601(range.opened);
      if (opened.ends_with('Z')) opened.pop_back();
      sequence_at(json.key(opened).begin_object().key("start"), range.start);
      sequence_at(json.key("end"), range.end);
      json.member("duplicated", range.duplicated).end_object();
    }
    json.end_object();
  }
  json.end_object();
}

void consumer_object(codec::JsonWriter& json, const ConsumerCheckpoint& of) {
  json.begin_object();
  ranges_map(json, "consumed", of.consumed);
  ranges_map(json, "writeDupsOrOutOrder", of.disturbed);
  // A worker never fills these; whoever combines checkpoints does.
  for (const char* name : {"missedSeqs", "duplicatedCount", "outOfOrderSeqs", "writeDuplicatesSeqs"})
    json.key(name).begin_object().end_object();
  json.end_object();
}

// Samples that have the distribution's shape: each bucket by its share of at most kSamplesMax.
void latency_object(codec::JsonWriter& json, std::string_view name, const Histogram& of) {
  using Millis = std::chrono::duration<double, std::milli>;
  const auto whole = [](Nanoseconds span) { return std::chrono::duration_cast<std::chrono::milliseconds>(span).count(); };
  // The mean is of whole nanoseconds; what that takes from the sum is no part of it.
  const double sum = std::round(Millis(of.mean()).count() * static_cast<double>(of.count()) * 1000) / 1000;
  json.key(name).begin_object().member("count", of.count()).member("sumMillis", sum).member("maxMillis", whole(of.max()));
  json.key("samplesMillis").begin_array();
  const std::uint64_t samples = std::min<std::uint64_t>(of.count(), kSamplesMax);
  for (std::uint64_t i = 0; i < samples; ++i)
    json.value(whole(of.percentile((static_cast<double>(i) + 0.5) / static_cast<double>(samples))));
  json.end_array().end_object();
}

}  // namespace

Reading<NewProducers> read_new_producers(const Node& body) {
  Reading<NewProducers> read;
  MemberReader reader(body, read.faults);
  read.value.id = reader.text("id");
  read.value.topic = reader.text("topic");
  read.value.producers = reader.number("producers", 1, 0);
  read.value.keys = reader.number("keys", 1, 0);
  read.value.rate = reader.number("msgRate", 1, 0);
  read.value.payload_bytes = reader.number("messageSize", 8, 8);
  read.value.driver = driver_of(reader, read.faults);
  read.value.transactional = reader.yes("transactional");
  reader.finish();
  return read;
}

Reading<NewConsumers> read_new_consumers(const Node& body) {
  Reading<NewConsumers> read;
  MemberReader reader(body, read.faults);
  read.value.id = reader.text("id");
  read.value.topic = reader.text("topic");
  read.value.partitions = reader.number("partitions", 1, 0);
  read.value.consumers = reader.number("consumers", 0, 0);
  read.value.consume_delay = std::chrono::milliseconds(reader.number("consumeDelayMs", 0, 0));
  read.value.payload_bytes = reader.number("messageSize", 8, 8);
  read.value.driver = driver_of(reader, read.faults);
  const Node* const pulsar = reader.take("pulsarConsumerConfig");
  if (pulsar != nullptr && pulsar->kind != Node::Kind::kMap) {
    reader.wrong(pulsar->place, "'pulsarConsumerConfig' is no JSON object", "write one, or null");
  } else if (pulsar != nullptr) {
    read.value.pulsar_consumer = coordinator::json_of(*pulsar);
  }
  reader.finish();
  return read;
}

Reading<WorkerView::Watermarks> read_watermarks(const Node& body) {
  Reading<WorkerView::Watermarks> read;
  const auto wrong = [&](codec::Place at, std::string message, std::string remedy) {
    read.faults.push_back({ErrorCode::kInvalid, codec::place_text("body", at), std::move(message), std::move(remedy)});
  };
  if (body.kind == Node::Kind::kNothing) return read;
  if (body.kind != Node::Kind::kMap) wrong(body.place, "watermarks are a JSON object", R"(write {"key": 20})");
  for (const codec::Member& member : body.members) {
    const auto number = parse_signed(member.value.text);
    if (number && *number >= -1) {
      read.value[member.name] = *number;
    } else {
      wrong(member.place, fmt::format("the watermark of '{}' is no whole number from -1", printable(member.name, 60)), "write one");
    }
  }
  return read;
}

std::string checkpoint_json(const ProducerCheckpoint& checkpoint) {
  codec::JsonWriter json;
  json.begin_object().key("published").begin_object();
  for (const auto& [key, at] : checkpoint.published) sequence_at(json.key(key), at);
  json.end_object().key("errorDetails").begin_object();
  for (const ProducerCheckpoint::Error& error : checkpoint.errors) {
    json.key(error.text).begin_object().member("count", error.count).member("firstSeenAtMillis", millis_of(error.first));
    json.member("lastSeenAtMillis", millis_of(error.last)).end_object();
  }
  return json.end_object().end_object().take();
}

std::string checkpoint_json(const ConsumerCheckpoint& checkpoint) {
  codec::JsonWriter json;
  consumer_object(json, checkpoint);
  return json.take();
}

std::string consumer_details_json(const std::map<std::string, ConsumerCheckpoint>& details) {
  codec::JsonWriter json;
  json.begin_object();
  for (const auto& [name, checkpoint] : details) consumer_object(json.key(name), checkpoint);
  return json.end_object().take();
}

std::string group_metrics_json(const GroupMetrics& metrics) {
  const core::Counters& of = metrics.traffic;
  codec::JsonWriter json;
  json.begin_object().member("sendAttempts", of.attempts).member("acknowledgedMessages", of.acked);
  json.member("acknowledgedBytes", of.bytes_acked).member("publishErrors", of.failed + of.unknown);
  json.member("receivedMessages", of.received).member("receivedBytes", of.bytes_received);
  if (metrics.publish_latency) latency_object(json, "publishLatency", *metrics.publish_latency);
  if (metrics.end_to_end_latency) latency_object(json, "endToEndLatency", *metrics.end_to_end_latency);
  return json.end_object().take();
}

}  // namespace sp::api

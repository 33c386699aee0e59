#include "coordinator/archive.h"

#include <concepts>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "base/strong.h"
#include "base/text.h"
#include "codec/document.h"
#include "codec/json_writer.h"

namespace sp::coordinator {
namespace {

using codec::Node;

template <typename T>
struct IsDuration : std::false_type {};
template <typename Rep, typename Period>
struct IsDuration<std::chrono::duration<Rep, Period>> : std::true_type {};
template <typename T>
struct IsStrong : std::false_type {};
template <typename Tag, typename Rep>
struct IsStrong<Strong<Tag, Rep>> : std::true_type {};

// The members of each type, once for both ways: `put` is called with each member's name and the member.

template <typename Put>
void each(Put& put, auto& it, const Summary*) {
  put("verified", it.verified), put("errors", it.errors), put("outOfOrders", it.out_of_orders), put("missed", it.missed);
  put("duplicates", it.duplicates), put("writeDuplicates", it.write_duplicates), put("timeouts", it.timeouts);
  put("stall", it.stall), put("stallMax", it.stall_max), put("counts", it.counts);
}
template <typename Put>
void each(Put& put, auto& it, const CheckpointSummary*) {
  put("inCheck", it.in_check_keys), put("latestProducer", it.latest_producer_keys), put("latestConsumer", it.latest_consumer_keys);
  put("verifiedProducer", it.verified_producer_keys), put("verifiedConsumer", it.verified_consumer_keys);
  put("failedProducer", it.failed_producer_keys), put("failedConsumer", it.failed_consumer_keys);
}
template <typename Put>
void each(Put& put, auto& it, const LatencySummary*) {
  put("count", it.count), put("mean", it.mean), put("p50", it.p50), put("p95", it.p95), put("p99", it.p99), put("max", it.max);
}
template <typename Put>
void each(Put& put, auto& it, const core::Counters*) {
  put("attempts", it.attempts), put("acked", it.acked), put("failed", it.failed), put("unknown", it.unknown);
  put("received", it.received), put("bytesAcked", it.bytes_acked), put("bytesReceived", it.bytes_received);
  put("queueFull", it.queue_full), put("slotsDropped", it.slots_dropped), put("clientErrors", it.client_errors);
}
template <typename Put>
void each(Put& put, auto& it, const Performance*) {
  put("elapsed", it.elapsed), put("traffic", it.traffic), put("verified", it.verified);
  put("publishLatency", it.publish_latency), put("endToEndLatency", it.end_to_end_latency);
}
template <typename Put>
void each(Put& put, auto& it, const SeriesPoint*) {
  put("elapsed", it.elapsed), put("publishRate", it.publish_rate), put("consumeRate", it.consume_rate);
  put("publishErrorRate", it.publish_error_rate), put("publishBytesRate", it.publish_bytes_rate);
  put("consumeBytesRate", it.consume_bytes_rate), put("backlog", it.backlog), put("publishP95", it.publish_p95);
  put("publishP99", it.publish_p99), put("endToEndP95", it.end_to_end_p95), put("endToEndP99", it.end_to_end_p99);
  put("verified", it.verified), put("published", it.published), put("consumed", it.consumed), put("errors", it.errors);
  put("timeouts", it.timeouts), put("missed", it.missed), put("duplicates", it.duplicates), put("outOfOrders", it.out_of_orders);
}
template <typename Put>
void each(Put& put, auto& it, const JsonMember*) {
  put("name", it.name), put("json", it.json);
}
template <typename Put>
void each(Put& put, auto& it, const ClusterTarget*) {
  put("role", it.role), put("driver", it.driver), put("type", it.type), put("endpoints", it.endpoints), put("metadata", it.metadata);
}
template <typename Put>
void each(Put& put, auto& it, const core::Position*) {
  put("partition", it.partition), put("offset", it.offset);
}
template <typename Put>
void each(Put& put, auto& it, const Violation*) {
  put("number", it.number), put("established", it.established), put("code", it.code), put("group", it.group), put("key", it.key);
  put("first", it.first), put("last", it.last), put("records", it.records), put("positions", it.positions), put("at", it.at);
  put("says", it.says);
}
template <typename Put>
void each(Put& put, auto& it, const judge::Coverage*) {
  put("attempts", it.attempts), put("acked", it.acked), put("failed", it.failed), put("unknown", it.unknown);
  put("landed", it.landed), put("received", it.received), put("foreign", it.foreign), put("expired", it.expired);
  put("compacted", it.compacted), put("unverifiable", it.unverifiable), put("pairsNotJudged", it.pairs_not_judged);
  put("positionsAbsent", it.positions_absent), put("notChecked", it.not_checked), put("keysSilent", it.keys_silent);
  put("partitionsSilent", it.partitions_silent);
}
template <typename Put>
void each(Put& put, auto& it, const judge::Judgement*) {
  put("status", it.status), put("reasons", it.reasons), put("counts", it.counts), put("allowed", it.allowed);
  put("undecided", it.undecided), put("findingsLeftOut", it.findings_left_out), put("coverage", it.coverage);
}
template <typename Put>
void each(Put& put, auto& it, const core::FaultRecord*) {
  put("number", it.number), put("name", it.name), put("target", it.target), put("effect", it.effect), put("begin", it.begin);
  put("effectSeen", it.effect_seen), put("released", it.released), put("end", it.end), put("recovered", it.recovered);
  put("noRecovery", it.no_recovery);
}
template <typename Put>
void each(Put& put, auto& it, const ProofHead*) {
  put("id", it.id), put("topic", it.topic), put("started", it.started), put("status", it.status), put("reason", it.reason);
}
template <typename Put>
void each(Put& put, auto& it, const Archive*) {
  put("head", it.head), put("targets", it.targets), put("summary", it.summary), put("checkpoints", it.checkpoints);
  put("performance", it.performance), put("series", it.series), put("violations", it.violations);
  put("violationsLeftOut", it.violations_left_out), put("judgement", it.judgement), put("judged", it.judged);
  put("missing", it.missing), put("faults", it.faults), put("messages", it.messages), put("result", it.result);
}

class Writer {
 public:
  template <typename T>
  void operator()(std::string_view name, const T& what) {
    json_.key(name);
    value(what);
  }
  template <typename T>
  void value(const T& what) {
    if constexpr (std::is_enum_v<T>) {
      json_.value(static_cast<std::uint64_t>(what));
    } else if constexpr (IsDuration<T>::value) {
      json_.value(static_cast<std::int64_t>(what.count()));
    } else if constexpr (requires { what.time_since_epoch(); }) {
      json_.value(static_cast<std::int64_t>(what.time_since_epoch().count()));
    } else if constexpr (IsStrong<T>::value) {
      json_.value(what.value());
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      json_.value(what);
    } else {
      json_.begin_object();
      each(*this, what, static_cast<const T*>(nullptr));
      json_.end_object();
    }
  }
  template <typename T>
  void value(const std::optional<T>& what) {
    if (what) {
      value(*what);
    } else {
      json_.null();
    }
  }
  template <typename T>
  void value(const std::vector<T>& items) {
    json_.begin_array();
    for (const T& item : items) value(item);
    json_.end_array();
  }
  void value(const core::PerCode<std::uint64_t>& counts) {
    json_.begin_object();
    for (std::size_t i = 0; i < core::kCodeCount; ++i) {
      const auto code = static_cast<core::Code>(i);
      if (counts[code] > 0) json_.member(core::code_row(code).name, counts[code]);
    }
    json_.end_object();
  }
  void value(const std::map<std::string, std::uint64_t>& counts) {
    json_.begin_object();
    for (const auto& [name, count] : counts) json_.member(name, count);
    json_.end_object();
  }
  [[nodiscard]] std::string take() { return json_.take(); }

 private:
  codec::JsonWriter json_;
};

class Reader {
 public:
  explicit Reader(const Node& node) : node_(node) {}

  template <typename T>
  void operator()(std::string_view name, T& what) {
    const Node* const found = node_.find(name);
    if (found != nullptr && found->kind != Node::Kind::kNothing) read(*found, what);
  }
  template <typename T>
  static void read(const Node& from, T& what) {
    if constexpr (std::is_same_v<T, std::string>) {
      what = from.text;
    } else if constexpr (std::is_same_v<T, bool>) {
      what = from.text == "true";
    } else if constexpr (std::is_floating_point_v<T>) {
      what = parse_double(from.text).value_or(0);
    } else if constexpr (std::is_enum_v<T>) {
      what = static_cast<T>(parse_unsigned(from.text).value_or(0));
    } else if constexpr (std::is_integral_v<T>) {
      what = static_cast<T>(parse_unsigned(from.text).value_or(0));
    } else if constexpr (IsDuration<T>::value) {
      what = T(parse_signed(from.text).value_or(0));
    } else if constexpr (requires { what.time_since_epoch(); }) {
      what = T(Nanoseconds{parse_signed(from.text).value_or(0)});
    } else if constexpr (IsStrong<T>::value) {
      what = T{static_cast<decltype(what.value())>(parse_unsigned(from.text).value_or(0))};
    } else {
      Reader inner(from);
      each(inner, what, static_cast<const T*>(nullptr));
    }
  }
  template <typename T>
  static void read(const Node& from, std::optional<T>& what) {
    read(from, what.emplace());
  }
  template <typename T>
  static void read(const Node& from, std::vector<T>& items) {
    items.clear();
    items.reserve(from.items.size());
    for (const Node& item : from.items) read(item, items.emplace_back());
  }
  static void read(const Node& from, core::PerCode<std::uint64_t>& counts) {
    for (const codec::Member& member : from.members) {
      if (const auto code = core::find_code(member.name)) read(member.value, counts[*code]);
    }
  }
  static void read(const Node& from, std::map<std::string, std::uint64_t>& counts) {
    for (const codec::Member& member : from.members) read(member.value, counts[member.name]);
  }

 private:
  const Node& node_;
};

bool matches(const Violation& violation, const ViolationQuery& query) {
  if (query.code && violation.code != *query.code) return false;
  if (query.key && violation.key != *query.key) return false;
  if (query.since && violation.at < *query.since) return false;
  return !query.until || violation.at < *query.until;
}

}  // namespace

std::string archive_json(const Archive& archive) {
  Writer writer;
  writer.value(archive);
  return writer.take();
}

Result<Archive> read_archive(std::string_view json) {
  auto root = codec::parse_document(json, {.name = "archive", .bytes_max = std::size_t{1} << 30U, .nodes_max = 50'000'000});
  if (!root) return tl::unexpected(std::move(root).error());
  if (root->kind != Node::Kind::kMap || root->find("head") == nullptr) {
    return fail(ErrorCode::kParse, "archive: it is not an object with a head");
  }
  Archive archive;
  Reader::read(*root, archive);
  return archive;
}

ViolationPage find_violations(const Archive& archive, const ViolationQuery& query) {
  ViolationPage page;
  page.left_out = archive.violations_left_out;
  std::uint64_t last = 0;
  for (const Violation& violation : archive.violations) {
    if (!matches(violation, query)) continue;
    ++page.total;
    if (violation.number <= query.after) continue;
    if (page.violations.size() < query.most) {
      page.violations.push_back(violation);
      last = violation.number;
    } else {
      page.next = last;
    }
  }
  return page;
}

}  // namespace sp::coordinator

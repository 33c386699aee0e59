#include "report/facts.h"

#include <cstdint>
#include <functional>
#include <optional>

#include <fmt/core.h>

#include "codec/json_tree.h"
#include "codec/json_writer.h"

namespace sp::report {
namespace {

using codec::JsonNode;
using codec::JsonWriter;
using Kind = codec::JsonNode::Kind;

// One description of the object for both directions: a Putter writes what it is shown, a Getter fills it.
class Putter {
 public:
  explicit Putter(JsonWriter& json) : json_(json) {}
  void text(std::string_view name, const std::string& value) {
    if (!value.empty()) json_.member(name, value);
  }
  void yes(std::string_view name, const bool& value) { json_.member(name, value); }
  void number(std::string_view name, const std::uint64_t& value) { json_.member(name, value); }
  void real(std::string_view name, const std::optional<double>& value) {
    if (value) json_.member(name, *value);
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    json_.key(name).begin_array();
    for (const auto& value : values) json_.value(value);
    json_.end_array();
  }
  void map(std::string_view name, const std::map<std::string, std::string>& values) {
    if (values.empty()) return;
    json_.key(name).begin_object();
    for (const auto& [key, value] : values) json_.member(key, value);
    json_.end_object();
  }
  void time(std::string_view name, const MonotonicTime& value) { json_.member(name, value.time_since_epoch().count()); }
  void time(std::string_view name, const std::optional<MonotonicTime>& value) {
    if (value) time(name, *value);
  }
  void span(std::string_view name, const Nanoseconds& value) { json_.member(name, value.count()); }
  void span(std::string_view name, const std::optional<Nanoseconds>& value) {
    if (value) span(name, *value);
  }
  void wall(std::string_view name, const std::optional<WallTime>& value) {
    if (value) json_.member(name, value->time_since_epoch().count());
  }
  template <typename T, typename Describe>
  void objects(std::string_view name, const std::vector<T>& values, Describe describe) {
    if (values.empty()) return;
    json_.key(name).begin_array();
    for (const auto& value : values) {
      json_.begin_object();
      describe(*this, value);
      json_.end_object();
    }
    json_.end_array();
  }
  template <typename T, typename Describe>
  void object(std::string_view name, const std::optional<T>& value, Describe describe) {
    if (!value) return;
    json_.key(name).begin_object();
    describe(*this, *value);
    json_.end_object();
  }

 private:
  JsonWriter& json_;
};

class Getter {
 public:
  Getter(std::span<const JsonNode> nodes, std::size_t at, std::string& problem) : nodes_(nodes), at_(at), problem_(problem) {}

  void text(std::string_view name, std::string& value) {
    if (const JsonNode* node = of_kind(name, Kind::kString, "a text")) value = node->text;
  }
  void yes(std::string_view name, bool& value) {
    if (const JsonNode* node = of_kind(name, Kind::kBool, "true or false")) value = node->yes;
  }
  void number(std::string_view name, std::uint64_t& value) {
    if (const JsonNode* node = of_kind(name, Kind::kUnsigned, "a whole number")) value = node->number;
  }
  void real(std::string_view name, std::optional<double>& value) {
    const JsonNode* node = find(name);
    if (node == nullptr) return;
    if (node->kind == Kind::kUnsigned) {
      value = static_cast<double>(node->number);
    } else if (node->kind == Kind::kReal) {
      value = node->real;
    } else {
      refuse(name, "a number");
    }
  }
  void texts(std::string_view name, std::vector<std::string>& values) {
    values.clear();
    each(name, Kind::kArray, "a list of texts", [&](std::size_t child) {
      if (nodes_[child].kind != Kind::kString) return refuse(name, "a list of texts");
      values.emplace_back(nodes_[child].text);
    });
  }
  void map(std::string_view name, std::map<std::string, std::string>& values) {
    values.clear();
    each(name, Kind::kObject, "an object of texts", [&](std::size_t child) {
      if (nodes_[child].kind != Kind::kString) return refuse(name, "an object of texts");
      values.emplace(nodes_[child].name, nodes_[child].text);
    });
  }
  void time(std::string_view name, MonotonicTime& value) {
    if (const auto whole = signed_number(name)) value = MonotonicTime(Nanoseconds(*whole));
  }
  void time(std::string_view name, std::optional<MonotonicTime>& value) {
    if (const auto whole = signed_number(name)) value = MonotonicTime(Nanoseconds(*whole));
  }
  void span(std::string_view name, Nanoseconds& value) {
    if (const auto whole = signed_number(name)) value = Nanoseconds(*whole);
  }
  void span(std::string_view name, std::optional<Nanoseconds>& value) {
    if (const auto whole = signed_number(name)) value = Nanoseconds(*whole);
  }
  void wall(std::string_view name, std::optional<WallTime>& value) {
    if (const auto whole = signed_number(name)) value = WallTime(Nanoseconds(*whole));
  }
  template <typename T, typename Describe>
  void objects(std::string_view name, std::vector<T>& values, Describe describe) {
    values.clear();
    each(name, Kind::kArray, "a list of objects", [&](std::size_t child) {
      if (nodes_[child].kind != Kind::kObject) return refuse(name, "a list of objects");
      Getter inner(nodes_, child, problem_);
      describe(inner, values.emplace_back());
    });
  }
  template <typename T, typename Describe>
  void object(std::string_view name, std::optional<T>& value, Describe describe) {
    const JsonNode* node = of_kind(name, Kind::kObject, "an object");
    if (node == nullptr) return;
    Getter inner(nodes_, static_cast<std::size_t>(node - nodes_.data()), problem_);
    describe(inner, value.emplace());
  }

 private:
  const JsonNode* find(std::string_view name) const {
    for (std::size_t child = at_ + 1; child < nodes_[at_].end; child = nodes_[child].end) {
      if (nodes_[child].name == name && nodes_[child].kind != Kind::kNull) return &nodes_[child];
    }
    return nullptr;
  }
  const JsonNode* of_kind(std::string_view name, Kind kind, std::string_view expects) {
    const JsonNode* node = find(name);
    if (node == nullptr || node->kind == kind) return node;
    refuse(name, expects);
    return nullptr;
  }
  std::optional<std::int64_t> signed_number(std::string_view name) {
    const JsonNode* node = find(name);
    if (node == nullptr) return std::nullopt;
    const bool fits = node->kind == Kind::kNegative || (node->kind == Kind::kUnsigned && node->number <= ~std::uint64_t{0} >> 1U);
    if (fits) return static_cast<std::int64_t>(node->number);
    refuse(name, "a whole number of 64 bits");
    return std::nullopt;
  }
  template <typename Do>
  void each(std::string_view name, Kind kind, std::string_view expects, Do act) {
    const JsonNode* node = of_kind(name, kind, expects);
    if (node == nullptr) return;
    for (std::size_t child = static_cast<std::size_t>(node - nodes_.data()) + 1; child < node->end; child = nodes_[child].end) act(child);
  }
  void refuse(std::string_view name, std::string_view expects) {
    if (problem_.empty()) problem_ = fmt::format("'{}' must be {}", name, expects);
  }

  std::span<const JsonNode> nodes_;
  std::size_t at_;
  std::string& problem_;
};

// The effective client settings hold no secrets: drivers leave those out.
template <typename Walker, typename Facts>
void describe_facts(Walker& walk, Facts& facts) {
  walk.yes("stopped", facts.stopped);
  walk.yes("interrupted", facts.interrupted);
  walk.yes("raw_read_available", facts.raw_read_available);
  walk.yes("raw_read_complete", facts.raw_read_complete);
  walk.text("raw_read_problem", facts.raw_read_problem);
  walk.yes("raw_read_refused", facts.raw_read_refused);
  walk.map("refused", facts.refused);
  walk.texts("workers_lost", facts.workers_lost);
  walk.texts("missing", facts.missing);
  walk.real("rate", facts.rate);
  walk.texts("faults_without_effect", facts.faults_without_effect);
  walk.map("settings", facts.settings);
  walk.texts("warnings", facts.warnings);
  walk.objects("faults", facts.faults, [](auto& inner, auto& fault) {
    inner.number("number", fault.number);
    inner.text("name", fault.name);
    inner.text("target", fault.target);
    inner.text("effect", fault.effect);
    inner.time("begin_ns", fault.begin);
    inner.time("effect_ns", fault.effect_seen);
    inner.time("released_ns", fault.released);
    inner.time("end_ns", fault.end);
    inner.time("recovered_ns", fault.recovered);
    inner.text("no_recovery", fault.no_recovery);
  });
  walk.object("times", facts.times, [](auto& inner, auto& times) {
    inner.time("begin_ns", times.begin);
    inner.wall("begin_wall_ns", times.begin_wall);
    inner.time("load_begin_ns", times.load_begin);
    inner.time("judged_ns", times.judged);
  });
}

template <typename Walker, typename Whole>
void describe(Walker& walk, Whole& report) {
  walk.text("failure", report.failure);
  walk.text("program", report.program);
  walk.text("topic", report.topic);
  walk.yes("topic_deleted", report.topic_deleted);
  walk.text("driver", report.driver);
  walk.text("client", report.client);
  walk.yes("idempotent", report.idempotent);
  walk.wall("started_wall_ns", report.started);
  walk.texts("notes", report.notes);
  walk.texts("messages", report.messages);
  walk.number("messages_left_out", report.messages_left_out);
  walk.time("load_begin_ns", report.load_begin);
  walk.span("load_ns", report.load);
  walk.span("staleness_ns", report.staleness);
  walk.text("no_staleness", report.no_staleness);
  describe_facts(walk, report.facts);
}

}  // namespace

std::string facts_json(const Report& report) {
  JsonWriter json;
  json.begin_object();
  Putter putter(json);
  describe(putter, report);
  return json.end_object().take();
}

Result<void> read_facts(std::string_view json, Report& report) {
  codec::JsonTree tree;
  if (auto fault = tree.parse(json)) return fail(ErrorCode::kParse, fault->reason);
  if (tree.nodes().front().kind != Kind::kObject) return fail(ErrorCode::kParse, "it is no object");
  std::string problem;
  Getter getter(tree.nodes(), 0, problem);
  describe(getter, report);
  if (!problem.empty()) return fail(ErrorCode::kParse, problem);
  return {};
}

}  // namespace sp::report

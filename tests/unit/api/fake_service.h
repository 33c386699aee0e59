// A fake: a coordinator that runs nothing and answers the same values, so that what is tested is how they are shown.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "coordinator/service.h"

namespace sp::api {

using namespace coordinator;  // NOLINT(google-build-using-namespace): of tests only, whose every word is of that room

inline constexpr const char* kFull = "aB3dE";   // a proof of which everything is known
inline constexpr const char* kPlain = "Xy12z";  // one of which nothing is

class FakeService final : public Service {
 public:
  FakeService() {
    heads_[kFull] = full_head();
    heads_[kPlain].id = kPlain;
    heads_[kPlain].topic = "Qw7xZ";
    configs_ = Configs{{{"worker.1", "http://worker:8088"}},
                       {{"k1", "kafka", {{"bootstrap.servers", "\"k:9092\""}, {"sasl.password", "\"geheim\""}}, R"({"a":1})"},
                        {"e1", "embedded", {}, std::nullopt}},
                       std::vector<JsonMember>{{"maxTimeSeriesPoints", "100"}}};
  }

  static ProofHead full_head() {
    ProofHead head;
    head.id = kFull;
    head.topic = "Ab1";
    head.started = WallTime(std::chrono::seconds(1'767'225'600));  // 2026-01-01
    head.status = ProofStatus::kRunning;
    head.reason = "Verification is still in progress.";
    Submission& of = head.submission;
    of.driver = "k1";
    of.drivers = DriverNames{"k1", "k1", "k1"};
    of.features = {"at_least_once", "ordering"};
    of.webhook = Webhook{"https://hooks.slack.com/services/T0/B0/geheim", "slack", true, false, "geheim"};
    of.pulsar_consumer = R"({"subscriptionType":"Shared"})";
    of.proof.name = "demo";
    of.proof.description = "a \"quoted\" text";
    of.proof.driver = "kafka";
    of.proof.settings = {{"bootstrap.servers", "k:9092"}, {"sasl.password", "geheim"}};
    of.proof.topic_config = {{"retention.ms", "3600000"}};
    of.proof.final_wait = std::chrono::seconds(20);
    of.proof.rate = 1001;
    of.proof.duration = std::chrono::seconds(600);
    of.proof.thresholds.stall_seconds_max = 120;
    return head;
  }

  Answer<ProofHead> create(const codec::Node& body, bool wait) override {
    waited_ = wait;
    created_ = body;
    if (const auto* name = body.find("name"); name != nullptr && name->text == "bad") {
      std::vector<proof::Fault> faults = {{ErrorCode::kInvalid, "proof line 1 column 2", "unknown field 'x'", "leave it out"},
                                          {ErrorCode::kNotFound, "proof", "there is no driver 'k9'", "configure it first"}};
      return tl::unexpected(Refusal{proof::to_error(faults), faults});
    }
    if (const auto* name = body.find("name"); name != nullptr && name->text == "cannot start")
      return tl::unexpected(Refusal{{ErrorCode::kUnavailable, "proof aB3dE: The run failed to start: nobody answers"}, {}});
    return full_head();
  }
  std::vector<ProofHead> list() const override {
    std::vector<ProofHead> all;
    for (const auto& [id, head] : heads_) all.push_back(head);
    std::reverse(all.begin(), all.end());
    return all;
  }
  Result<ProofHead> find(std::string_view id) const override {
    const std::lock_guard lock(mutex_);
    const auto found = heads_.find(std::string(id));
    if (found == heads_.end()) return fail(ErrorCode::kNotFound, "no such proof");
    return found->second;
  }
  Result<ProofDetails> details(std::string_view id, bool keys) const override {
    auto head = find(id);
    if (!head) return tl::unexpected(head.error());
    ProofDetails of;
    of.head = *head;
    if (id == kPlain) return of;
    of.summary = summary();
    if (keys) of.keys = {key_view("Hk2Lp"), silent_key()};
    of.missed = {finding(20, 22)};
    of.out_of_order = {finding(5, 7)};
    of.write_duplicates = {finding(3, 3)};
    return of;
  }
  Result<ProofReport> report(std::string_view id) const override {
    auto head = find(id);
    if (!head) return tl::unexpected(head.error());
    ProofReport of;
    of.head = *head;
    if (id == kPlain) return of;
    of.targets = {{"default", "k1", "kafka", {{"bootstrap.servers", "\"k:9092\""}}, R"({"zone":"a"})"},
                  {"admin", "gone", "", {}, std::nullopt}};
    of.summary = summary();
    of.checkpoints = {7, 7, 6, 5, 4, 2, 1};
    of.performance.elapsed = std::chrono::seconds(10);
    of.performance.traffic.attempts = 9995;
    of.performance.traffic.acked = 9990;
    of.performance.traffic.failed = 1;
    of.performance.traffic.unknown = 1;
    of.performance.traffic.received = 9980;
    of.performance.traffic.bytes_acked = 2'607'390;
    of.performance.publish_latency = {9990, std::chrono::microseconds(3500), std::chrono::milliseconds(3), {}, {}, {}};
    of.series.resize(2);
    of.series[0].elapsed = std::chrono::seconds(5);
    of.series[1].elapsed = std::chrono::seconds(8);
    of.series[1].publish_rate = 998.5;
    return of;
  }
  Result<std::string> result(std::string_view id) const override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    if (id == kPlain) return fail(ErrorCode::kUnavailable, "proof Xy12z has no verdict yet");
    return std::string(R"({"verdict":"passed"})");
  }
  Result<void> stop(std::string_view id, bool wait) override {
    waited_ = wait;
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    return {};
  }
  Result<void> remove(std::string_view id) override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    const std::lock_guard lock(mutex_);
    heads_.erase(std::string(id));
    return {};
  }
  Result<ViolationPage> violations(std::string_view id, const ViolationQuery& query) const override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    asked_ = query;
    if (id == kPlain) return ViolationPage{};
    Violation one;
    one.number = 4;
    one.group = "group";
    one.key = "Hk2Lp";
    one.positions = {{core::PartitionId{3}, core::Offset{41}}};
    one.says = "sequence 20 was never received";
    return ViolationPage{{one}, 4, 9, 2};
  }
  Result<KeyView> key(std::string_view id, std::string_view key) const override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    if (key != "Hk2Lp" && key != "Zz9Yy") return fail(ErrorCode::kNotFound, "no producer of this proof owns that key");
    if (key == "Zz9Yy") return silent_key();
    return key_view(std::string(key));
  }
  Result<CoverageView> coverage(std::string_view id) const override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    CoverageView of;
    of.coverage.attempts = 42;
    of.coverage.not_checked = {{"skip", 3}};
    of.missing = {"worker 1 was lost"};
    return of;
  }
  Result<std::vector<core::FaultRecord>> faults(std::string_view id) const override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    core::FaultRecord one;
    one.number = 1;
    one.name = "kill-leader";
    one.target = "node 2";
    one.begin = MonotonicTime(std::chrono::milliseconds(1500));
    core::FaultRecord whole = one;
    whole.number = 2;
    whole.effect_seen = whole.released = whole.end = whole.recovered = MonotonicTime(std::chrono::seconds(2));
    return std::vector{one, whole};
  }
  Result<core::FaultRecord> mark_fault(std::string_view id, const core::FaultRecord& fault, bool effect, bool end) override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    marked_ = fault;
    effect_ = effect;
    end_ = end;
    core::FaultRecord made = fault;
    if (made.number == 0) made.number = 7;
    return made;
  }
  Result<Diagnostics> diagnostics(std::string_view id) const override {
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    Diagnostics of;
    of.stage = "load";
    of.workers.resize(1);
    of.workers[0].name = "worker.1";
    of.messages = {"partition 3 has no leader"};
    return of;
  }
  Result<Events> events(std::string_view id, std::uint64_t after, std::size_t most, Nanoseconds wait) const override {
    EXPECT_EQ(wait.count(), 0) << "a stream must not hold the thread of all streams";
    if (auto head = find(id); !head) return tl::unexpected(head.error());
    Events of;
    for (std::uint64_t number = after + 1; number <= 3 && of.events.size() < most; ++number)
      of.events.push_back({number, "tick", "{\"n\":" + std::to_string(number) + "}"});
    of.over = of.events.empty();
    return of;
  }
  std::optional<Configs> configs() const override { return configs_; }
  Answer<void> put_configs(const codec::Node& body) override {
    ConfigsReading read = read_configs(body, "configs");
    if (!read.faults.empty()) return tl::unexpected(Refusal{proof::to_error(read.faults), read.faults});
    configs_ = read.configs;
    return {};
  }
  Answer<void> delete_configs(const codec::Node& body) override {
    ConfigsReading read = read_configs(body, "configs", true);
    if (!read.faults.empty()) return tl::unexpected(Refusal{proof::to_error(read.faults), read.faults});
    if (!configs_) return tl::unexpected(Refusal{{ErrorCode::kNotFound, "No configuration found"}, {}});
    configs_->erase(read.configs);
    return {};
  }
  std::string not_ready() const override { return not_ready_; }

  std::optional<Configs> configs_;
  std::string not_ready_;
  std::map<std::string, ProofHead> heads_;
  codec::Node created_;
  bool waited_ = false;
  core::FaultRecord marked_;
  bool effect_ = false, end_ = false;
  mutable ViolationQuery asked_;

 private:
  static Summary summary() {
    Summary of;
    of.verified = 4100;
    of.errors = 2;
    of.timeouts = 1;
    of.stall = std::chrono::milliseconds(3900);
    of.stall_max = std::chrono::seconds(10);
    return of;
  }
  static KeyView silent_key() {
    KeyView of;
    of.key = "Zz9Yy";
    return of;
  }
  static KeyView key_view(std::string key) {
    KeyView of;
    of.key = std::move(key);
    of.issued = 43;
    of.acked = core::Sequence{41};
    of.acked_at = core::Position{core::PartitionId{3}, core::Offset{977}};
    of.unknown = {{42, 43}};
    of.groups = {{"group", {{0, 20}, {23, 42}}, 20}};
    return of;
  }
  static judge::Finding finding(std::uint64_t first, std::uint64_t last) {
    judge::Finding of;
    of.key = "Hk2Lp";
    of.first = first;
    of.last = last;
    return of;
  }

  mutable std::mutex mutex_;  // guards heads_ against a stream's thread
};

}  // namespace sp::api

// What a proof's thread publishes, and the answers that are made of it.
#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

#include "codec/json_writer.h"
#include "coordinator/key_view.h"
#include "coordinator/served_proof.h"

namespace sp::coordinator {
namespace {

constexpr Nanoseconds kPublishPeriod = std::chrono::milliseconds(200);
constexpr std::size_t kMessagesMax = 500;
constexpr std::size_t kKeysMax = 100'000;          // of one answer
constexpr std::uint64_t kKeysCounted = 1'000'000;  // more are counted at the end only

using std::chrono::duration_cast;
using std::chrono::seconds;

LatencySummary latency_of(const Histogram& histogram) {
  return {histogram.count(),          histogram.mean(),           histogram.percentile(0.5),
          histogram.percentile(0.95), histogram.percentile(0.99), histogram.max()};
}

std::string_view phase_name(control::Phase phase) {
  switch (phase) {
    case control::Phase::kIdle:
      return "idle";
    case control::Phase::kStarting:
      return "starting";
    case control::Phase::kRunning:
      return "running";
    case control::Phase::kStopping:
      return "stopping";
    case control::Phase::kStopped:
      return "stopped";
    case control::Phase::kFailed:
      return "failed";
  }
  return "";
}

core::PerCode<std::uint64_t> not_allowed(const judge::Judgement& judgement) {
  core::PerCode<std::uint64_t> counts;
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    counts[code] = judgement.counts[code] - std::min(judgement.counts[code], judgement.allowed[code]);
  }
  return counts;
}

// The reference's sentence where it has one for what failed, else the verdict's own first reason.
std::string failed_reason(const Summary& summary, const judge::Judgement& judgement, const proof::Proof& proof) {
  if (summary.out_of_orders > 0) return "Out-of-order messages were detected.";
  if (summary.missed > 0) return "Some messages were not verified by consumers.";
  const auto stalled = static_cast<std::uint64_t>(duration_cast<seconds>(summary.stall_max).count());
  if (proof.thresholds.stall_seconds_max && stalled > *proof.thresholds.stall_seconds_max) {
    return fmt::format("Verification stalled for {}s, exceeding the configured limit of {}s.", stalled,
                       *proof.thresholds.stall_seconds_max);
  }
  return judgement.reasons.empty() ? "The run completed with unresolved verification issues." : judgement.reasons.front();
}

}  // namespace

std::string_view proof_status_name(ProofStatus status) {
  switch (status) {
    case ProofStatus::kCreated:
      return "created";
    case ProofStatus::kRunning:
      return "running";
    case ProofStatus::kStopping:
      return "stopping";
    case ProofStatus::kPassed:
      return "passed";
    case ProofStatus::kFailed:
      return "failed";
    case ProofStatus::kStopped:
      return "stopped";
    case ProofStatus::kInconclusive:
      return "inconclusive";
  }
  return "";
}

RunHooks ServedProof::hooks() {
  RunHooks hooks;
  hooks.message = [this](std::string_view text) {
    codec::JsonWriter json;
    add_event("message", json.begin_object().member("text", text).end_object().take());
    const std::lock_guard lock(mutex_);
    if (now_.messages.size() >= kMessagesMax) now_.messages.erase(now_.messages.begin());
    now_.messages.emplace_back(text);
  };
  hooks.alarm = [this](const track::Alarm& alarm, const std::string& key) { add_alarm(alarm, key); };
  hooks.ticked = [this](std::uint64_t tick, MonotonicTime at) {
    add_point(at);
    codec::JsonWriter json;
    json.begin_object().member("tick", tick).member("elapsedSeconds", duration_cast<seconds>(at.time_since_epoch()).count());
    add_event("tick", json.member("verified", summary_now(at).verified).end_object().take());
  };
  hooks.faults = [this] { return &faults_; };
  return hooks;
}

void ServedProof::add_event(std::string_view type, std::string json) {
  const std::lock_guard lock(mutex_);
  events_.push_back({++events_count_, std::string(type), std::move(json)});
  if (events_.size() > kEventsMax) events_.pop_front();
  changed_.notify_all();
}

void ServedProof::add_alarm(const track::Alarm& alarm, const std::string& key) {
  Violation violation;
  violation.code = alarm.code;
  violation.key = key;
  if (alarm.group && alarm.group->value() < group_names_.size()) violation.group = group_names_[alarm.group->value()];
  violation.first = violation.last = alarm.sequence.value();
  if (alarm.position) violation.positions.push_back(*alarm.position);
  violation.at = run_now_.time_since_epoch();
  violation.says = fmt::format("{}: {} sequence {}", core::code_row(alarm.code).name, key, alarm.sequence.value());
  {
    const std::lock_guard lock(mutex_);
    violation.number = now_.violations.size() + now_.violations_left_out + 1;
    if (now_.violations.size() < kViolationsMax) {
      now_.violations.push_back(violation);
    } else {
      ++now_.violations_left_out;
    }
  }
  codec::JsonWriter json;
  json.begin_object().member("number", violation.number).member("code", core::code_row(alarm.code).name).member("key", key);
  json.member("sequence", alarm.sequence.value());
  if (alarm.position) {
    json.member("partition", alarm.position->partition.value()).member("offset", alarm.position->offset.value());
  }
  add_event("violation", json.end_object().take());
  if (std::exchange(violated_, true) || !logged_.live) return;
  if (options_.first_violation) options_.first_violation(violation);
}

void ServedProof::add_fault_event(const core::FaultRecord& fault) {
  codec::JsonWriter json;
  json.begin_object().member("number", fault.number).member("name", fault.name).member("target", fault.target);
  add_event("fault", json.member("effectSeen", fault.took_effect()).member("ended", fault.end.has_value()).end_object().take());
}

Summary ServedProof::summary_now(MonotonicTime now) const {
  const bool judged = run_->done() && run_->report().failure.empty();
  const Live live = run_->live(now);
  const track::Progress& progress = judged ? run_->report().progress : live.progress;
  Summary summary;
  summary.counts = judged ? not_allowed(run_->report().judgement) : live.counts;
  const auto& counts = summary.counts;
  summary.verified = progress.verified;
  summary.errors = progress.failed + progress.unknown;
  summary.out_of_orders = counts[core::Code::kReorderedWrite] + counts[core::Code::kReorderedDelivery];
  // While it runs a record that passed its deadline counts as missed; the verdict tells late from lost.
  summary.missed = judged ? counts[core::Code::kLost] : counts[core::Code::kLate];
  const auto& all = judged ? run_->report().judgement.counts : live.counts;
  summary.duplicates = all[core::Code::kDuplicateDelivery] + all[core::Code::kDuplicateWrite];
  summary.write_duplicates = all[core::Code::kDuplicateWrite];
  summary.timeouts = progress.timeouts;
  summary.stall = progress.stall;
  summary.stall_max = progress.stall_max;
  return summary;
}

// What the evidence shows: a worker that died had done more than it last counted. Bytes and client errors nobody else knows.
core::Counters ServedProof::traffic_now(MonotonicTime now) const {
  core::Counters traffic = run_->fleet().counters();
  const track::Ledger* const ledger = run_->ledger();
  if (ledger == nullptr) return traffic;
  const track::Progress progress = run_->live(now).progress;
  traffic.attempts = progress.issued;
  traffic.acked = progress.acked;
  traffic.failed = progress.failed;
  traffic.unknown = progress.unknown;
  traffic.received = deliveries(*ledger);
  return traffic;
}

void ServedProof::add_point(MonotonicTime now) {
  const core::Counters traffic = traffic_now(now);
  const Histogram publish = run_->fleet().publish_latency();
  const Histogram end_to_end = run_->fleet().end_to_end_latency();
  series_.add({duration_cast<seconds>(now.time_since_epoch()), summary_now(now), traffic, publish, end_to_end});
  const track::Ledger* const ledger = run_->ledger();
  if (ledger == nullptr || options_.submission.proof.keys > kKeysCounted) return;
  const CheckpointSummary keys = coordinator::count_keys(*ledger);
  const std::lock_guard lock(mutex_);
  now_.checkpoints = keys;
}

void ServedProof::publish(MonotonicTime now, bool last) {
  publish_status();
  if (!last && run_->stage() == published_stage_ && now - published_at_ < kPublishPeriod) return;
  published_at_ = now;
  published_stage_ = run_->stage();
  const Summary summary = summary_now(now);
  Performance performance;
  performance.elapsed = duration_cast<seconds>(now.time_since_epoch());
  performance.traffic = traffic_now(now);
  performance.verified = summary.verified;
  performance.publish_latency = latency_of(run_->fleet().publish_latency());
  performance.end_to_end_latency = latency_of(run_->fleet().end_to_end_latency());
  Diagnostics diagnostics;
  diagnostics.stage = stage_name(run_->stage());
  diagnostics.ticks = run_->ticks();
  diagnostics.inputs = logged_.log->count();
  const auto& workers = run_->fleet().workers();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const Fleet::Worker& worker = workers[i];
    WorkerState state;
    state.name = options_.workers[i].name;
    state.url = options_.workers[i].url;
    state.incarnation = worker.source.incarnation;
    state.lost = worker.lost;
    if (worker.lost || worker.failing_since) state.problem = worker.problem;
    if (worker.failing_since) state.silent = now - *worker.failing_since;
    state.producers = phase_name(worker.last.producers);
    state.consumers = phase_name(worker.last.consumers);
    state.raw_read = phase_name(worker.last.raw_read);
    if (run_->ledger() != nullptr) state.deltas = run_->ledger()->applied(worker.source);
    state.traffic = worker.last.counters;
    diagnostics.workers.push_back(std::move(state));
  }
  const std::lock_guard lock(mutex_);
  now_.head.topic = run_->report().topic;
  now_.summary = summary;
  now_.performance = performance;
  now_.series = series_.points();
  now_.faults = faults_;
  diagnostics_ = std::move(diagnostics);
}

void ServedProof::set_head(ProofStatus status, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (now_.head.status == status && now_.head.reason == reason) return;
    now_.head.status = status;
    now_.head.reason = reason;
    started_ = started_ || status != ProofStatus::kCreated;
    changed_.notify_all();
  }
  codec::JsonWriter json;
  json.begin_object().member("status", proof_status_name(status)).member("reason", reason);
  add_event("status", json.end_object().take());
}

// The status after each step; what it is at the end, finish() says.
void ServedProof::publish_status() {
  const Stage stage = run_->stage();
  if (stage == Stage::kDone || stage < Stage::kLoad) return;
  const bool load = stage == Stage::kLoad;
  if (!run_->report().failure.empty()) return;
  set_head(load ? ProofStatus::kRunning : ProofStatus::kStopping,
           load ? "Verification is still in progress." : "Stop requested. Final verification is still in progress.");
}

void ServedProof::settle_violations() {
  const judge::Judgement& judgement = run_->report().judgement;
  std::uint64_t number = now_.violations.size() + now_.violations_left_out;
  now_.violations.clear();
  now_.violations_left_out = judgement.findings_left_out;
  for (const judge::Finding& finding : judgement.findings) {
    if (now_.violations.size() >= kViolationsMax) {
      ++now_.violations_left_out;
      continue;
    }
    Violation violation;
    violation.number = ++number;
    violation.established = true;
    violation.code = finding.code;
    violation.group = finding.group;
    violation.key = finding.key;
    violation.first = finding.first;
    violation.last = finding.last;
    violation.records = finding.records;
    violation.positions = finding.positions;
    violation.at = finding.time.value_or(Nanoseconds{0});
    violation.says = finding.says;
    now_.violations.push_back(std::move(violation));
  }
}

void ServedProof::finish() {
  const report::Report& report = run_->report();
  add_point(run_now_);
  publish(run_now_, true);
  const bool ran = report.failure.empty();
  ProofStatus status = ProofStatus::kInconclusive;
  std::string reason;
  if (!ran) {
    status = ProofStatus::kFailed;
    reason = "The run failed to start: " + report.failure;
  } else {
    switch (report.judgement.status) {
      case judge::Status::kPassed:
        status = ProofStatus::kPassed;
        reason = "The run completed without missed or out-of-order messages.";
        break;
      case judge::Status::kFailed:
      case judge::Status::kSlow:
        status = ProofStatus::kFailed;
        reason = failed_reason(summary_now(run_now_), report.judgement, options_.submission.proof);
        break;
      case judge::Status::kStopped:
        status = ProofStatus::kStopped;
        reason = "The run was stopped manually.";
        break;
      case judge::Status::kInconclusive:
      case judge::Status::kClean:
      case judge::Status::kInvalid:
        reason = fmt::format("{}", fmt::join(report.judgement.reasons, " "));
        break;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    if (ran) settle_violations();
    now_.judgement = report.judgement;
    now_.judgement.findings.clear();
    now_.judged = ran;
    now_.missing = report.facts.missing;
    now_.faults = report.facts.faults;
    now_.result = report::json_report(report);
  }
  set_head(status, reason);
  if (over_called_) over_called_(*this);
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

// ── answers ──

Archive ServedProof::published() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

ProofHead ServedProof::head() const {
  const std::lock_guard lock(mutex_);
  return now_.head;
}

Result<std::vector<KeyView>> ServedProof::keys() {
  std::vector<KeyView> keys;
  auto asked = ask([&](MonotonicTime /*now*/) {
    if (run_ != nullptr && run_->ledger() != nullptr) keys = view_keys(*run_->ledger(), kKeysMax);
  });
  if (!asked) return tl::unexpected(std::move(asked).error());
  return keys;
}

Result<KeyView> ServedProof::key(std::string_view name) {
  Result<KeyView> view = fail(ErrorCode::kNotFound, fmt::format("proof {} has no keys yet", id()));
  auto asked = ask([&](MonotonicTime /*now*/) {
    if (run_ != nullptr && run_->ledger() != nullptr) view = view_key(*run_->ledger(), name);
  });
  if (!asked) return tl::unexpected(std::move(asked).error());
  return view;
}

Diagnostics ServedProof::diagnostics() const {
  const std::lock_guard lock(mutex_);
  Diagnostics answer = diagnostics_;
  answer.messages = now_.messages;
  return answer;
}

Service::Events ServedProof::events(std::uint64_t after, std::size_t most, Nanoseconds wait) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [&] { return events_count_ > after || is_over_ || released_; });
  Service::Events answer;
  const std::uint64_t first = events_count_ - events_.size() + 1;
  for (std::size_t i = after >= first ? after - first + 1 : 0; i < events_.size(); ++i) {
    if (answer.events.size() >= most) break;
    answer.events.push_back(events_[i]);
  }
  answer.over = is_over_ && answer.events.empty();
  return answer;
}

}  // namespace sp::coordinator

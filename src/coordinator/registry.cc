#include "coordinator/registry.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/prng.h"
#include "coordinator/submission.h"
#include "coordinator/webhook.h"
#include "coordinator/world.h"

namespace sp::coordinator {
namespace {

constexpr std::size_t kIdLength = 5;
constexpr std::string_view kAlphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

Refusal refusal(Error error) { return {std::move(error), {}}; }

}  // namespace

struct Registry::Entry {
  std::string id;
  core::RunId run;
  Submission submission;
  World world;
  WallTime started{};
  std::unique_ptr<ServedProof> served;  // of this process
  std::optional<Archive> archive;       // of a process before
};

Registry::Registry(RegistryOptions options, store::State& state, MonotonicClock& clock, const WallClock& wall)
    : options_(std::move(options)), state_(state), clock_(clock), wall_(wall) {}

Registry::~Registry() = default;

Result<std::unique_ptr<Registry>> Registry::open(RegistryOptions options, store::State& state, MonotonicClock& clock,
                                                 const WallClock& wall) {
  std::unique_ptr<Registry> registry(new Registry(std::move(options), state, clock, wall));
  if (auto loaded = registry->load(); !loaded) return tl::unexpected(std::move(loaded).error());
  return registry;
}

void Registry::say(std::string_view sentence) const {
  if (options_.say) options_.say(sentence);
}

// ── the state file ──

Result<void> Registry::load() {
  auto told = state_.configs("told");
  if (!told) return tl::unexpected(std::move(told).error());
  if (*told) {
    if (auto read = layers_.read_told(**told); !read) return read;
  }
  auto rows = state_.proofs();
  if (!rows) return tl::unexpected(std::move(rows).error());
  for (const store::ProofRow& row : *rows) {
    auto loaded = load_one(row);
    if (!loaded) return fail_up(std::move(loaded), fmt::format("proof {} of the state file", row.id));
    entries_.push_back(*loaded);
  }
  for (const auto& each : entries_) {
    if (each->served) each->served->begin();
  }
  return {};
}

Result<Registry::EntryPtr> Registry::load_one(const store::ProofRow& row) {
  auto submission = submission_of_json(row.submission);
  if (!submission) return tl::unexpected(std::move(submission).error());
  auto made = make_entry(row.id, core::RunId{row.run}, std::move(*submission), row.world, WallTime{Nanoseconds{row.created}});
  if (row.archive) {
    auto archive = read_archive(*row.archive);
    if (!archive) return tl::unexpected(std::move(archive).error());
    archive->head.submission = made->submission;
    made->archive = std::move(*archive);
    return made;
  }
  serve(*made);
  say(fmt::format("proof {} is gone on with from its log", row.id));
  return made;
}

Registry::EntryPtr Registry::make_entry(std::string id, core::RunId run, Submission submission, const std::string& world,
                                        WallTime started) const {
  EntryPtr made(new Entry);
  made->id = std::move(id);
  made->run = run;
  made->submission = std::move(submission);
  made->started = started;
  made->world = world_of_json(world);
  return made;
}

void Registry::serve(Entry& entry) {
  ServedOptions options;
  options.id = entry.id;
  options.submission = entry.submission;
  options.workers = entry.world.workers;
  options.targets = entry.world.targets;
  options.series_points_max = entry.world.series_points_max;
  options.run.run = entry.run;
  options.run.proof = entry.submission.proof;
  options.run.proof.keep_topic = true;  // until DELETE
  options.run.program = options_.program;
  options.run.started = entry.started;
  options.run.limits = options_.limits;
  options.log = state_.inputs(entry.id);
  options.ports = options_.ports;
  const auto& hook = entry.submission.webhook;
  if (hook && hook->enabled && hook->on_first_violation && options_.notify) {
    options.first_violation = [this, &entry](const Violation& violation) {
      const ProofHead head = entry.served->head();
      options_.notify(*entry.submission.webhook, violation_body(*entry.submission.webhook, head, violation, wall_.now()));
    };
  }
  entry.served =
      std::make_unique<ServedProof>(std::move(options), clock_, [this, &entry](ServedProof& proof) { is_over(entry, proof); });
}

void Registry::is_over(Entry& entry, ServedProof& proof) {
  const Archive archive = proof.published();
  if (auto kept = state_.archive_proof(entry.id, archive_json(archive)); !kept) {
    say(fmt::format("proof {}: its end could not be kept, its log still is: {}", entry.id, kept.error().message));
  }
  const auto& hook = entry.submission.webhook;
  if (hook && hook->enabled && options_.notify) options_.notify(*hook, verdict_body(*hook, archive, wall_.now()));
}

// ── proofs ──

std::string Registry::new_id() const {
  for (;;) {
    const auto time = static_cast<std::uint64_t>(wall_.now().time_since_epoch().count());
    std::uint64_t drawn = mix64(time ^ mix64(options_.entropy + ++drawn_));
    std::string id;
    for (std::size_t i = 0; i < kIdLength; ++i) {
      id += kAlphanumerics[drawn % kAlphanumerics.size()];
      drawn /= kAlphanumerics.size();
    }
    const bool taken = std::any_of(entries_.begin(), entries_.end(), [&](const auto& each) { return each->id == id; });
    if (!taken) return id;
  }
}

Answer<ProofHead> Registry::create(const codec::Node& body, bool wait) {
  EntryPtr made;
  {
    const std::lock_guard lock(mutex_);
    const Configs configs = layers_.together().value_or(Configs{});
    SubmissionReading read = read_submission(body, configs, options_.drivers);
    if (!read.faults.empty()) return tl::unexpected(Refusal{proof::to_error(read.faults), std::move(read.faults)});
    const auto running =
        std::count_if(entries_.begin(), entries_.end(), [](const auto& each) { return each->served && !each->served->over(); });
    if (static_cast<std::size_t>(running) >= options_.running_max || entries_.size() >= options_.proofs_max) {
      return tl::unexpected(
          refusal({ErrorCode::kFull, fmt::format("{} proofs run and {} are kept, {} and {} are the most: stop or delete one first", running,
                                                 entries_.size(), options_.running_max, options_.proofs_max)}));
    }
    read.submission.proof.final_wait = final_wait(read.submission.proof, configs);
    const World world{configs.workers, cluster_targets(read.submission, configs), series_points_max(configs)};
    const WallTime started = wall_.now();
    const std::string id = new_id();
    const core::RunId run{mix64(static_cast<std::uint64_t>(started.time_since_epoch().count()) ^ mix64(options_.entropy + ++drawn_))};
    if (read.submission.proof.seed == 0) read.submission.proof.seed = run.value();
    if (read.submission.proof.topic.empty()) read.submission.proof.topic = "sp-" + core::run_text(run);
    const std::string around = world_json(world);
    auto kept = state_.add_proof(
        {id, run.value(), submission_json(read.submission), options_.program, around, started.time_since_epoch().count(), std::nullopt});
    if (!kept) return tl::unexpected(refusal(std::move(kept).error()));
    made = make_entry(id, run, std::move(read.submission), around, started);
    serve(*made);
    entries_.push_back(made);
  }
  made->served->begin();
  if (!wait) return made->served->head();
  static_cast<void>(made->served->wait_started(options_.limits.assign * 2));
  ProofHead head = made->served->head();
  if (head.status != ProofStatus::kFailed) return head;
  return tl::unexpected(refusal({ErrorCode::kUnavailable, fmt::format("proof {}: {}", head.id, head.reason)}));
}

Result<Registry::EntryPtr> Registry::entry(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& each) { return each->id == id; });
  if (found == entries_.end()) return fail(ErrorCode::kNotFound, fmt::format("Proof test not found: {}", id));
  return *found;
}

Archive Registry::archive_of(const Entry& entry) const { return entry.served ? entry.served->published() : *entry.archive; }

std::vector<ProofHead> Registry::list() const {
  std::vector<ProofHead> heads;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& each : entries_) heads.push_back(each->served ? each->served->head() : each->archive->head);
  }
  std::sort(heads.begin(), heads.end(), [](const ProofHead& a, const ProofHead& b) {
    if (a.started != b.started) return a.started > b.started;
    return a.id < b.id;
  });
  return heads;
}

Result<ProofHead> Registry::find(std::string_view id) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  return (*found)->served ? (*found)->served->head() : (*found)->archive->head;
}

Result<ProofDetails> Registry::details(std::string_view id, bool keys) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  const Archive archive = archive_of(**found);
  ProofDetails details{archive.head, archive.summary, {}, {}, {}, {}};
  if (keys && (*found)->served) {
    auto all = (*found)->served->keys();
    if (!all) return tl::unexpected(std::move(all).error());
    details.keys = std::move(*all);
  }
  for (const Violation& violation : archive.violations) {
    judge::Finding finding;
    finding.code = violation.code;
    finding.group = violation.group;
    finding.key = violation.key;
    finding.first = violation.first;
    finding.last = violation.last;
    finding.records = violation.records;
    finding.positions = violation.positions;
    finding.says = violation.says;
    const bool order = violation.code == core::Code::kReorderedWrite || violation.code == core::Code::kReorderedDelivery;
    if (violation.code == core::Code::kLost || violation.code == core::Code::kLate)
      details.missed.push_back(std::move(finding));
    else if (order)
      details.out_of_order.push_back(std::move(finding));
    else if (violation.code == core::Code::kDuplicateWrite)
      details.write_duplicates.push_back(std::move(finding));
  }
  return details;
}

Result<ProofReport> Registry::report(std::string_view id) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  Archive archive = archive_of(**found);
  return ProofReport{std::move(archive.head), std::move(archive.targets), archive.summary,
                     archive.checkpoints,     archive.performance,        std::move(archive.series)};
}

Result<std::string> Registry::result(std::string_view id) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  Archive archive = archive_of(**found);
  if (archive.result.empty()) return fail(ErrorCode::kUnavailable, fmt::format("proof {} has no verdict yet", id));
  return std::move(archive.result);
}

Result<void> Registry::stop(std::string_view id, bool wait) {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  if (!(*found)->served) return {};
  (*found)->served->stop();
  if (!wait || (*found)->served->wait_over(options_.stop_wait)) return {};
  if (const std::lock_guard lock(mutex_); released_) {
    return fail(ErrorCode::kUnavailable, fmt::format("the coordinator ends; proof {} is stopped when it is started again", id));
  }
  return fail(ErrorCode::kTimeout, fmt::format("proof {} did not come to its end in {} s", id,
                                               std::chrono::duration_cast<std::chrono::seconds>(options_.stop_wait).count()));
}

Result<void> Registry::delete_topic(const Entry& entry) {
  if (entry.submission.proof.topic_exists == proof::TopicExists::kReuse || !options_.bare_port || entry.world.workers.empty()) return {};
  auto port = options_.bare_port(entry.world.workers.front());
  control::WorkerPlan plan;
  plan.run = entry.run;
  plan.source = {0, ~std::uint32_t{0}};  // whatever incarnation is left there goes
  plan.proof = entry.submission.proof;
  plan.topic = entry.submission.proof.topic;
  plan.group_prefix = core::run_text(entry.run);
  if (auto prepared = port->prepare(plan); !prepared) return fail_up(std::move(prepared), "deleting the topic");
  auto deleted = port->delete_topic();
  static_cast<void>(port->remove());
  return deleted;
}

Result<void> Registry::remove(std::string_view id) {
  if (auto stopped = stop(id, true); !stopped) return stopped;
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  if (auto deleted = delete_topic(**found); !deleted) say(fmt::format("proof {}: its topic stays: {}", id, deleted.error().message));
  if (auto removed = state_.remove_proof(id); !removed) return removed;
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& each) { return each->id == id; });
  return {};
}

// ── parts of a proof ──

Result<ViolationPage> Registry::violations(std::string_view id, const ViolationQuery& query) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  return find_violations(archive_of(**found), query);
}

Result<KeyView> Registry::key(std::string_view id, std::string_view key) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  if (!(*found)->served) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("proof {} ended before this coordinator began: of its keys only the violations are kept", id));
  }
  return (*found)->served->key(key);
}

Result<CoverageView> Registry::coverage(std::string_view id) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  const Archive archive = archive_of(**found);
  CoverageView view{archive.judgement.coverage, archive.judged, archive.missing};
  if (archive.judged) return view;
  const core::Counters& traffic = archive.performance.traffic;
  view.coverage.attempts = traffic.attempts;
  view.coverage.acked = traffic.acked;
  view.coverage.failed = traffic.failed;
  view.coverage.unknown = traffic.unknown;
  view.coverage.received = traffic.received;
  return view;
}

Result<std::vector<core::FaultRecord>> Registry::faults(std::string_view id) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  return archive_of(**found).faults;
}

Result<core::FaultRecord> Registry::mark_fault(std::string_view id, const core::FaultRecord& fault, bool effect, bool end) {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  if (!(*found)->served) return fail(ErrorCode::kInvalid, fmt::format("proof {} is over: its faults are those of its report", id));
  return (*found)->served->mark_fault(fault, effect, end);
}

Result<Diagnostics> Registry::diagnostics(std::string_view id) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  if ((*found)->served) return (*found)->served->diagnostics();
  Diagnostics diagnostics;
  diagnostics.stage = stage_name(Stage::kDone);
  diagnostics.messages = (*found)->archive->messages;
  return diagnostics;
}

Result<Service::Events> Registry::events(std::string_view id, std::uint64_t after, std::size_t most, Nanoseconds wait) const {
  auto found = entry(id);
  if (!found) return tl::unexpected(std::move(found).error());
  if (!(*found)->served) return Events{{}, true};
  return (*found)->served->events(after, most, wait);
}

// ── configuration ──

std::optional<Configs> Registry::configs() const {
  const std::lock_guard lock(mutex_);
  return layers_.together();
}

Answer<void> Registry::put_configs(const codec::Node& body) {
  ConfigsReading read = read_configs(body, "configs");
  if (!read.faults.empty()) return tl::unexpected(Refusal{proof::to_error(read.faults), std::move(read.faults)});
  const std::lock_guard lock(mutex_);
  ConfigLayers next = layers_;
  next.put(read.configs);
  if (auto kept = state_.put_configs("told", next.told_json()); !kept) return tl::unexpected(refusal(std::move(kept).error()));
  layers_ = std::move(next);
  return {};
}

Answer<void> Registry::delete_configs(const codec::Node& body) {
  ConfigsReading read = read_configs(body, "configs", true);
  if (!read.faults.empty()) return tl::unexpected(Refusal{proof::to_error(read.faults), std::move(read.faults)});
  const std::lock_guard lock(mutex_);
  if (!layers_.together()) return tl::unexpected(refusal({ErrorCode::kNotFound, "No configuration found"}));
  ConfigLayers next = layers_;
  next.take_away(read.configs);
  if (auto kept = state_.put_configs("told", next.told_json()); !kept) return tl::unexpected(refusal(std::move(kept).error()));
  layers_ = std::move(next);
  return {};
}

void Registry::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  for (const auto& each : entries_) {
    if (each->served) each->served->release();
  }
}

void Registry::set_folder(std::optional<Configs> folder) {
  const std::lock_guard lock(mutex_);
  layers_.set_folder(std::move(folder));
}

std::string Registry::not_ready() const {
  const std::lock_guard lock(mutex_);
  const auto all = layers_.together();
  if (!all || all->workers.empty()) return "no worker is configured: PUT /configs";
  return {};
}

}  // namespace sp::coordinator

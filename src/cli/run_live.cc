#include "cli/run_live.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/drawn.h"
#include "cli/histories.h"
#include "cli/progress.h"
#include "cli/run_folder.h"
#include "cli/wiring.h"
#include "sys/signals.h"
#include "worker/worker.h"

namespace sp::cli {
namespace {

constexpr Nanoseconds kTurnMax = std::chrono::milliseconds{50};
constexpr std::uint64_t kAlarmsTold = 20;

// What becomes of the topic.
std::string topic_plan(const proof::Proof& proof, const std::string& topic) {
  const std::string after = proof.keep_topic ? "it stays there" : "deleted after a pass";
  switch (proof.topic_exists) {
    case proof::TopicExists::kFail:
      return fmt::format("creates topic {} ({} partitions, replication {}; {})", topic,
                         proof.partitions, proof.replication, after);
    case proof::TopicExists::kReuse:
      return fmt::format(
          "uses topic {} as it is, or creates it if it is not there ({} partitions, replication "
          "{}); it stays there",
          topic, proof.partitions, proof.replication);
    case proof::TopicExists::kRecreate:
      return fmt::format(
          "deletes topic {} with all its records if it is there, creates it anew ({} partitions, "
          "replication {}; {})",
          topic, proof.partitions, proof.replication, after);
  }
  return {};
}

class LiveRun {
 public:
  LiveRun(const RunFlags& flags, const RunRequest& request, const Terminal& terminal)
      : flags_(flags),
        request_(request),
        terminal_(terminal),
        id_(drawn_now(wall_)),
        folder_(id_, flags.out),
        view_({terminal.err, terminal.err_is_terminal, flags.quiet, terminal.columns}) {
    if (request_.proof.seed == 0) request_.proof.seed = id_.value();
  }

  int run();

 private:
  void open_folder();
  [[nodiscard]] std::string topic_name() const;
  void announce();
  report::Report carry_out();
  report::Report not_started(const Error& error) const;
  void loop(coordinator::ProofRun& run, System& system);
  coordinator::RunHooks hooks(System& system, const control::HistoryFactory& history);
  int finish(const report::Report& report);

  const RunFlags& flags_;
  RunRequest request_;
  const Terminal& terminal_;
  SystemMonotonicClock clock_;
  SystemWallClock wall_;
  core::RunId id_;
  RunFolder folder_;
  ProgressView view_;
  sys::StopSignals stops_;
  std::uint64_t alarms_told_ = 0;
  std::string folder_problem_;
};

int LiveRun::run() {
  open_folder();
  return finish(carry_out());
}

void LiveRun::open_folder() {
  auto opened = folder_.open(proof::to_yaml(request_.proof));
  if (opened) return;
  folder_problem_ = opened.error().message;
  view_.say(fmt::format("warning: {}; the report will be on stdout only", folder_problem_));
}

std::string LiveRun::topic_name() const {
  return request_.proof.topic.empty() ? "sp-" + core::run_text(id_) : request_.proof.topic;
}

// Whoever runs this against a cluster that is not his alone must know what it does there.
void LiveRun::announce() {
  const auto& proof = request_.proof;
  view_.say(fmt::format("run {}: results in {}", core::run_text(id_), folder_.path().string()));
  if (proof.driver != "kafka" || request_.local_cluster) return;
  view_.say(fmt::format("on {} this {} and creates consumer group {}-0{}",
                        proof.settings.count("bootstrap.servers") > 0
                            ? proof.settings.at("bootstrap.servers")
                            : "the cluster",
                        topic_plan(proof, topic_name()), core::run_text(id_),
                        proof.groups > 1 ? " and its siblings" : ""));
}

report::Report LiveRun::not_started(const Error& error) const {
  report::Report report;
  report.run = id_;
  report.proof = request_.proof;
  report.program = program_version();
  report.started = wall_.now();
  report.driver = request_.proof.driver;
  report.failure = error.message;
  return report;
}

report::Report LiveRun::carry_out() {
  announce();
  if (auto usable = check_clients(request_.proof); !usable) return not_started(usable.error());
  auto history = history_factory(flags_.history);  // before a cluster is started for nothing
  if (!history) return not_started(history.error());
  Surroundings around{clock_,
                      wall_,
                      folder_.path(),
                      request_.proof.seed,
                      [this](std::string_view text) { view_.say(text); },
                      [this] { return stops_.count() > 0; }};
  auto system = open_system(request_, around);
  if (!system) return not_started(system.error());
  std::vector<std::unique_ptr<worker::Worker>> workers;
  std::vector<control::WorkerPort*> ports;
  for (std::uint32_t i = 0; i < request_.proof.workers; ++i) {
    worker::WorkerOptions worker_options;
    worker_options.history = *history;
    workers.push_back(std::make_unique<worker::Worker>(clock_, wall_, (*system)->factory(), worker_options));
    ports.push_back(workers.back().get());
  }
  coordinator::RunOptions options;
  options.run = id_;
  options.proof = request_.proof;
  options.program = program_version();
  options.started = wall_.now();
  coordinator::ProofRun run(std::move(options), std::move(ports), hooks(**system, *history));
  loop(run, **system);
  report::Report report = run.report();
  workers.clear();  // before the system they talk to goes
  const bool passed = report.failure.empty() && report.judgement.status == judge::Status::kPassed;
  if (auto closed = (*system)->close(passed); !closed)
    view_.say("warning: " + closed.error().message);
  return report;
}

coordinator::RunHooks LiveRun::hooks(System& system, const control::HistoryFactory& history) {
  coordinator::RunHooks hooks;
  hooks.history = history;
  hooks.message = [this](std::string_view text) { view_.say(text); };
  hooks.alarm = [this](const track::Alarm& alarm, const std::string& key) {
    if (alarms_told_++ < kAlarmsTold) {
      view_.say(fmt::format("{}: {} sequence {}", core::code_row(alarm.code).name, key,
                            alarm.sequence.value()));
    } else if (alarms_told_ == kAlarmsTold + 1) {
      view_.say("more anomalies are counted and stand in the report");
    }
  };
  hooks.load_begins = [&system, topic = topic_name()](MonotonicTime begin, std::optional<MonotonicTime> end) {
    system.load_begins(topic, begin, end);
  };
  hooks.load_ends = [this, &system] { system.load_ends(clock_.now()); };
  hooks.faults = [&system] { return &system.faults(); };
  return hooks;
}

void LiveRun::loop(coordinator::ProofRun& run, System& system) {
  int seen = 0;
  while (!run.done()) {
    const MonotonicTime now = clock_.now();
    const int count = stops_.count();
    if (count > seen) {
      view_.say(count == 1 ? "stopping in order; Ctrl-C again ends at once" : "interrupted");
      seen = count;
    }
    if (count >= 1) run.stop();
    if (count >= 2) run.interrupt();
    MonotonicTime next = run.step(now);
    next = std::min(next, system.step(now));
    if (run.done()) break;
    view_.update(run.live(now), now);
    const Nanoseconds wait = std::min(kTurnMax, next - clock_.now());
    if (wait > Nanoseconds{0}) static_cast<void>(stops_.wait(seen, wait));
  }
}

int LiveRun::finish(const report::Report& report) {
  view_.clear();
  auto written = folder_.write(report);
  report::TextOptions text;
  text.colour = terminal_.colour;
  terminal_.print(flags_.json ? report::json_report(report) : report::text_report(report, text));
  if (written) {
    if (!flags_.quiet) {
      view_.say(fmt::format("\nresults in {}", folder_.path().string()));
      if (const auto why = why_hint(report, flags_.history); !why.empty()) view_.say(why);
    }
    return report::exit_code(report);
  }
  // The verdict is out, but what should be kept is not: that must not look like a plain pass to a
  // script.
  terminal_.complain(fmt::format(
      "the results could not be kept: {}\n{} (this verdict stands; exit code 3 says that its files "
      "are missing)",
      written.error().message, report::one_line(report)));
  return kExitCouldNotRun;
}

}  // namespace

int run_live(const RunFlags& flags, const RunRequest& request, const Terminal& terminal) {
  return LiveRun(flags, request, terminal).run();
}

}  // namespace sp::cli

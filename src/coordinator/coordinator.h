// One proof from its start to its verdict: a state machine that is stepped, over N workers behind
// WorkerPort. It has no thread, reads no clock and touches no system: all it does goes through the
// ports, all it knows comes back through them. Its history, if one is kept, is written by a Writer
// that has a thread of its own.
//
//     prepare ─► topic ─► consumers, until assigned ─► producers ─► load, `duration` long
//       ─► 1 producers stop ─► 2 final wait ─► 3 consumers stop
//       ─► 4 targets ─► 5 raw read ─► 6 finish, judge ─► clean up
//
//     meanwhile   every 100 ms: poll, acknowledge, ledger, alarms
//                 every checkPointInterval: tick, sample
//
// stop() runs the six steps at once and says `stopped`; interrupt() skips what is left of them and
// judges what is there.
//
// Cost:     a step polls each worker once or not at all; see track::Ledger for what a poll's
//           evidence costs.
// Limits:   RunLimits.
// Errors:   what cannot start has report().failure; what fails later is a reason of the verdict,
//           never an error.
// Threads:  step(), live() and report() belong to one thread; stop() and interrupt() may be called
//           from any.
// Waiting:  none of its own; a port whose create_topic() waits for its system makes step() wait.
// Source:   the checking model, "Time and order"; ARCHITECTURE.md.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/proof_history.h"
#include "control/worker_port.h"
#include "coordinator/chatter.h"
#include "coordinator/fleet.h"
#include "coordinator/journal.h"
#include "coordinator/lag_watch.h"
#include "coordinator/raw_read.h"
#include "judge/judge.h"
#include "proof/proof.h"
#include "report/report.h"
#include "track/ledger.h"

namespace sp::coordinator {

enum class Stage : std::uint8_t {
  kPrepare,  // workers, topic
  kAssign,   // consumers started, waiting for their partitions
  kLoad,
  kStopProducers,  // step 1
  kFinalWait,      // step 2
  kStopConsumers,  // step 3
  kRawRead,        // steps 4 and 5
  kJudge,          // step 6
  kCleanUp,
  kDone,
};
[[nodiscard]] std::string_view stage_name(Stage stage);

struct RunLimits {
  Nanoseconds poll_period{std::chrono::milliseconds{100}};
  Nanoseconds assign{std::chrono::seconds{60}};  // until every consumer is assigned
  Nanoseconds refused{std::chrono::seconds{
      2}};  // a refusal stands before anything went through: could not run
  Nanoseconds stop{std::chrono::seconds{60}};    // until producers or consumers have stopped
  Nanoseconds barrier{std::chrono::seconds{30}};  // until a stop's last tick is answered
  Nanoseconds bounds{std::chrono::seconds{30}};  // until the log's bounds can be had at all
  Nanoseconds bounds_rise{std::chrono::seconds{
      5}};  // until the log shows its end past the highest acknowledged position
  Nanoseconds raw_read_quiet{
      std::chrono::seconds{60}};  // the raw read brings nothing for longer: given up
  std::size_t samples_max = 2'000;
  std::size_t messages_max = 200;
  std::size_t noticed_max = 100'000;    // anomalies of one code whose time is remembered
  std::size_t lag_places_max = 10'000;  // more partitions × groups are looked at once a second
  Nanoseconds chatter_quiet{std::chrono::seconds{30}};  // between two alike sentences of clients
  FleetOptions fleet;
  track::LedgerLimits ledger;
};

// Who wants to hear of the run on its way. All are called from within step(); absent ones are
// skipped.
struct RunHooks {
  std::function<void(std::string_view)> message;  // a sentence for a person
  std::function<void(const track::Alarm&, const std::string& key)> alarm;  // at once
  std::function<void(std::uint64_t tick, MonotonicTime at)> ticked;        // it is complete; before its alarms
  std::function<void(MonotonicTime begin, std::optional<MonotonicTime> end)>
      load_begins;                                         // no end: until stopped
  std::function<void()> load_ends;                         // faults end now
  control::HistoryFactory history;                         // opens the coordinator's history
  // All faults of the run so far, in the order of their numbers; lives until the next step.
  std::function<const std::vector<core::FaultRecord>*()> faults;
};

struct RunOptions {
  core::RunId run;
  proof::Proof proof;
  std::string program;              // name and version, for the report
  std::optional<WallTime> started;  // for the report; absent in a simulation
  RunLimits limits;
  judge::JudgeOptions judging;
};

// What the run is at now.
struct Live {
  Stage stage = Stage::kPrepare;
  Nanoseconds in_stage{};
  Nanoseconds load{};  // since the load began
  std::optional<Nanoseconds> load_left;
  track::Progress progress;
  std::uint64_t on_the_way = 0;  // acknowledged and not yet received, about
  core::PerCode<std::uint64_t> counts;
  std::uint64_t alarms = 0;
  std::size_t workers_live = 0;
};

class ProofRun {
 public:
  // The ports outlive the run; there is at least one. Worker i of the proof's division is
  // workers[i].
  ProofRun(RunOptions options, std::vector<control::WorkerPort*> workers, RunHooks hooks);
  ~ProofRun();
  ProofRun(const ProofRun&) = delete;
  ProofRun& operator=(const ProofRun&) = delete;

  // Does what is due at `now`, which never falls; the time at which there is something to do next,
  // kDone: the end of time.
  MonotonicTime step(MonotonicTime now);
  [[nodiscard]] bool done() const { return stage_ == Stage::kDone; }

  // By hand: the whole end procedure begins now. Again, or at the end: nothing.
  void stop() { stop_asked_.store(true); }
  // By hand, for the second time: no end procedure, what is outstanding is not judged.
  void interrupt() { interrupt_asked_.store(true); }
  // A new incarnation of a worker that crashed: it gets the same shares and new keys. `port`
  // outlives the run.
  void restarted(std::uint32_t worker, control::WorkerPort& port, MonotonicTime now);

  [[nodiscard]] Stage stage() const { return stage_; }
  [[nodiscard]] Live live(MonotonicTime now) const;
  // Whole once done().
  [[nodiscard]] const report::Report& report() const { return report_; }
  // Absent until the workers are prepared.
  [[nodiscard]] const track::Ledger* ledger() const { return ledger_.get(); }
  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] std::uint64_t ticks() const { return ticked_; }

 private:
  void enter(Stage stage, MonotonicTime now);
  void say(std::string sentence);
  void give_up(std::string sentence, MonotonicTime now);
  void missing(std::string sentence);
  control::WorkerPlan plan(const Fleet::Worker& worker) const;

  void step_prepare(MonotonicTime now);
  bool prepare_workers();
  bool make_topic();
  bool start_consumers();
  void make_ledger(bool idempotent);
  void expect(const Fleet::Worker& worker);
  void step_assign(MonotonicTime now);
  bool consumers_failed(MonotonicTime now);
  [[nodiscard]] std::size_t consumers_needed() const;
  [[nodiscard]] std::string never_assigned(std::uint32_t assigned) const;
  [[nodiscard]] std::string group_name(std::uint32_t group) const;
  [[nodiscard]] std::string refused_before_anything() const;
  bool refused(MonotonicTime now);
  void collect_refusals();
  void begin_load(MonotonicTime now);
  void step_load(MonotonicTime now);
  void begin_end(MonotonicTime now);
  void step_stop_producers(MonotonicTime now);
  void step_final_wait(MonotonicTime now);
  void step_stop_consumers(MonotonicTime now);
  bool stopped(const char* who, control::Phase control::WorkerReport::* phase, MonotonicTime now);
  void step_raw_read(MonotonicTime now);
  void ask_bounds(MonotonicTime now);
  void start_raw_read(const std::vector<track::RawRange>& bounds, MonotonicTime now);
  void raw_read_over(std::string problem, MonotonicTime now);
  Fleet::Worker* raw_reader();
  void judge_now(MonotonicTime now);
  void collect_facts(MonotonicTime now);
  void cut_short(MonotonicTime now);
  void clean_up(MonotonicTime now);

  void poll(MonotonicTime now);
  void take_alarms(MonotonicTime now);
  void watch_lag(MonotonicTime now);
  [[nodiscard]] std::span<const core::FaultRecord> faults() const;
  void note_delta(const track::Delta& delta);
  bool open_history();
  void close_history(MonotonicTime now);
  void tick_if_due(MonotonicTime now);
  void complete_tick(MonotonicTime now);
  void want_barrier(MonotonicTime now);
  void barrier_missed(const char* who);
  [[nodiscard]] bool barrier_passed() const { return barrier_ != 0 && ticked_ >= barrier_; }
  void sample(MonotonicTime now);
  [[nodiscard]] MonotonicTime next_wake(MonotonicTime now) const;

  RunOptions options_;
  RunHooks hooks_;
  Fleet fleet_;
  proof::Division division_;
  std::unique_ptr<track::Ledger> ledger_;
  report::Report report_;
  Stage stage_ = Stage::kPrepare;
  std::atomic<bool> stop_asked_{false};
  std::atomic<bool> interrupt_asked_{false};
  bool idempotent_ = false;
  std::uint32_t partitions_ = 0;  // of the topic
  bool loaded_ = false;
  bool nothing_issued_ = true;
  std::optional<MonotonicTime> stage_began_;
  MonotonicTime next_poll_{};
  MonotonicTime next_counters_{};
  MonotonicTime next_tick_{};
  std::uint64_t ticked_ = 0;     // the last complete tick
  std::uint64_t announced_ = 0;  // the last announced one: ticked_ or one above
  MonotonicTime barrier_wanted_{};
  std::uint64_t barrier_ = 0;    // all evidence from before it is there once this tick is complete
  Nanoseconds sample_interval_{};
  bool more_ = false;  // somebody has more to say at once
  Journal journal_;
  RawReadState raw_;
  Chatter chatter_;
  std::optional<MonotonicTime> refused_since_;
  std::string last_said_;  // by a worker's clients, told or not
  MonotonicTime now_{};    // of the step under way
  std::optional<MonotonicTime> began_;           // the first step
  std::array<MonotonicTime, 3> tick_times_{};    // of the last complete ticks, the last first
  core::PerCode<std::uint64_t> noticed_;
  LagWatch lag_;
  std::vector<LagWatch::Place> places_;
  MonotonicTime lag_looked_{};
};

// Sentences about settings that promise less than the proof claims; the proof runs all the same,
// and they are what is tested.
[[nodiscard]] std::vector<std::string> weaker_settings(
    const proof::Proof& proof, const std::map<std::string, std::string>& settings);

}  // namespace sp::coordinator

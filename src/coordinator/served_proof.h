// One proof of a service: a ProofRun on a thread of its own, the log that it can be done again from, and what it last published.
//
//     begin ─► replay of the log (nothing the first time) ─► step … step ─► over ─► archive
//                      │                                      │
//                      └── the same hooks, so the same ───────┴─► events · violations · series · published answers
//
// The run's clock starts at 0 with the proof and counts the machine's time, at most kGapMax from one step to the next: while
// the coordinator is away no deadline passes, as workers hold their load back meanwhile (docs/decisions/0015).
//
// Cost:     a thread; its log: 8 bytes a row of evidence or so.
// Limits:   kEventsMax events and kViolationsMax violations are kept, the first ones; all are counted.
// Errors:   a log that cannot be written holds the proof where it is until it can; one that does not lead to the same
//           calls again ends the proof, inconclusive, with the reason.
// Threads:  any, but for begin(), once.   Source: coordinator/service.h; docs/decisions/0015.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "control/logged_port.h"
#include "coordinator/archive.h"
#include "coordinator/coordinator.h"
#include "coordinator/series.h"
#include "coordinator/service.h"

namespace sp::coordinator {

constexpr std::size_t kEventsMax = 100'000;
constexpr std::size_t kViolationsMax = 100'000;
constexpr std::size_t kFaultsMax = 10'000;
constexpr Nanoseconds kGapMax = std::chrono::seconds(5);

// Makes the port to worker number `worker` of the run.
using PortMaker =
    std::function<std::unique_ptr<control::LoggedPort>(std::uint32_t worker, const NamedWorker& named, control::LoggedRun& log)>;

struct ServedOptions {
  std::string id;
  Submission submission;
  std::vector<NamedWorker> workers;  // as they are when the proof begins
  std::vector<ClusterTarget> targets;
  std::uint64_t series_points_max = 481;
  RunOptions run;
  std::unique_ptr<control::InputLog> log;
  PortMaker ports;
  std::function<void(const Violation&)> first_violation;  // called once, from its thread, never of a replay; may be absent
};

class ServedProof {
 public:
  // The clock outlives it. `over` is called once by its thread, when its archive is whole.
  ServedProof(ServedOptions options, MonotonicClock& clock, std::function<void(ServedProof&)> over);
  // Ends the thread where it is: the proof can be gone on with from its log.
  ~ServedProof();
  ServedProof(const ServedProof&) = delete;
  ServedProof& operator=(const ServedProof&) = delete;

  void begin();
  // The end procedure begins now. After the end: nothing.
  void stop();
  // Until the load began or the proof is over; until it is over. False: not by then.
  [[nodiscard]] bool wait_started(Nanoseconds most) const;
  [[nodiscard]] bool wait_over(Nanoseconds most) const;
  [[nodiscard]] bool over() const;
  // Whoever waits for it waits no longer: the process is about to end, and the proof to be gone on with later.
  void release();

  [[nodiscard]] const std::string& id() const { return options_.id; }
  [[nodiscard]] Archive published() const;  // as it stands now; the same as its archive once it is over
  [[nodiscard]] ProofHead head() const;
  [[nodiscard]] Result<std::vector<KeyView>> keys();
  [[nodiscard]] Result<KeyView> key(std::string_view name);
  [[nodiscard]] Result<core::FaultRecord> mark_fault(const core::FaultRecord& fault, bool effect, bool end);
  [[nodiscard]] Diagnostics diagnostics() const;
  [[nodiscard]] Service::Events events(std::uint64_t after, std::size_t most, Nanoseconds wait) const;

 private:
  struct Command {
    bool stop = false;
    std::function<void(MonotonicTime)> then;  // a question, answered between two steps
  };

  RunHooks hooks();
  void work(const std::stop_token& quit);
  [[nodiscard]] bool replay();
  [[nodiscard]] bool replay_one(const control::Input& input);
  void replay_fault(const control::Input& input, MonotonicTime at);
  [[nodiscard]] MonotonicTime turn();
  [[nodiscard]] bool commit(const std::stop_token& quit);
  void carry_out(Command&& command, MonotonicTime now);
  core::FaultRecord note_fault(core::FaultRecord fault, bool effect, bool end, MonotonicTime now);
  void restart_gone();
  MonotonicTime run_time();
  void wait_for(MonotonicTime next);
  [[nodiscard]] std::deque<Command> take_commands();
  void finish();
  void abandon(std::string why);

  void add_event(std::string_view type, std::string json);
  void add_alarm(const track::Alarm& alarm, const std::string& key);
  void add_point(MonotonicTime now);
  void add_fault_event(const core::FaultRecord& fault);
  void publish(MonotonicTime now, bool last);
  [[nodiscard]] Summary summary_now(MonotonicTime now) const;
  [[nodiscard]] core::Counters traffic_now(MonotonicTime now) const;
  void publish_status();
  void set_head(ProofStatus status, const std::string& reason);
  void settle_violations();
  [[nodiscard]] Result<void> ask(std::function<void(MonotonicTime)> question);

  ServedOptions options_;
  const std::vector<std::string> group_names_;
  MonotonicClock& clock_;
  std::function<void(ServedProof&)> over_called_;

  // Of the thread alone.
  control::LoggedRun logged_;
  std::vector<std::unique_ptr<control::LoggedPort>> ports_;
  std::unique_ptr<ProofRun> run_;
  Series series_;
  std::vector<core::FaultRecord> faults_;
  MonotonicTime run_now_{};   // of the last step
  MonotonicTime seen_now_{};  // the machine's clock then
  MonotonicTime published_at_{};
  Stage published_stage_ = Stage::kPrepare;
  bool violated_ = false;

  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable changed_;
  std::deque<Command> commands_;
  Archive now_;  // what is published
  bool started_ = false;
  bool is_over_ = false;
  bool released_ = false;
  std::deque<Event> events_;
  std::uint64_t events_count_ = 0;
  Diagnostics diagnostics_;

  std::jthread thread_;  // last: it uses all of them
};

}  // namespace sp::coordinator

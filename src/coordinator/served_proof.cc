// A proof's thread: replay, steps, commands. What it publishes is in served_view.cc.
#include "coordinator/served_proof.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "control/proof_ledger.h"
#include "coordinator/fault_bytes.h"

namespace sp::coordinator {
namespace {

constexpr Nanoseconds kTurnMax = std::chrono::milliseconds(50);
constexpr Nanoseconds kCommitRetry = std::chrono::seconds(1);

}  // namespace

ServedProof::ServedProof(ServedOptions options, MonotonicClock& clock, std::function<void(ServedProof&)> over)
    : options_(std::move(options)),
      group_names_(control::group_names(options_.submission.proof, options_.run.run)),
      clock_(clock),
      over_called_(std::move(over)),
      series_(options_.submission.proof, options_.series_points_max) {
  logged_.log = options_.log.get();
  now_.head.id = options_.id;
  now_.head.submission = options_.submission;
  now_.head.started = options_.run.started;
  now_.head.topic = options_.submission.proof.topic;
  now_.head.reason = "The run is starting.";
  now_.targets = options_.targets;
}

ServedProof::~ServedProof() {
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ServedProof::begin() {
  thread_ = std::jthread([this](const std::stop_token& quit) { work(quit); });
}

void ServedProof::work(const std::stop_token& quit) {
  std::vector<control::WorkerPort*> ports;
  for (std::size_t i = 0; i < options_.workers.size(); ++i) {
    ports_.push_back(options_.ports(static_cast<std::uint32_t>(i), options_.workers[i], logged_));
    ports.push_back(ports_.back().get());
  }
  run_ = std::make_unique<ProofRun>(options_.run, std::move(ports), hooks());
  if (!replay()) return abandon(logged_.diverged);
  logged_.live = true;
  seen_now_ = clock_.now();
  MonotonicTime next = run_now_;
  while (!run_->done()) {
    if (!commit(quit)) return;
    wait_for(next);
    if (quit.stop_requested()) return;
    next = turn();
    if (!logged_.diverged.empty()) return abandon(logged_.diverged);
  }
  if (commit(quit)) finish();
}

// What was appended is made durable, however long that takes; false: it could not be before the end.
bool ServedProof::commit(const std::stop_token& quit) {
  for (;;) {
    auto done = logged_.log->commit();
    std::unique_lock lock(mutex_);
    if (done) {
      logged_.durable = logged_.log->count();
      if (!logged_.broken.empty()) now_.messages.emplace_back("its log can be written again");
      logged_.broken.clear();
      return true;
    }
    if (logged_.broken.empty()) now_.messages.push_back("nothing is done until its log can be written: " + done.error().message);
    logged_.broken = done.error().message;
    if (quit.stop_requested()) return false;
    clock_.wait_until(lock, changed_, clock_.now() + kCommitRetry);
    if (quit.stop_requested()) return false;
  }
}

void ServedProof::wait_for(MonotonicTime next) {
  const Nanoseconds wait = std::min(kTurnMax, next - run_now_);
  if (wait <= Nanoseconds{0}) return;
  std::unique_lock lock(mutex_);
  if (commands_.empty()) clock_.wait_until(lock, changed_, clock_.now() + wait);
}

MonotonicTime ServedProof::run_time() {
  const MonotonicTime seen = clock_.now();
  run_now_ += std::clamp(seen - seen_now_, Nanoseconds{0}, kGapMax);
  seen_now_ = seen;
  return run_now_;
}

std::deque<ServedProof::Command> ServedProof::take_commands() {
  const std::lock_guard lock(mutex_);
  return std::exchange(commands_, {});
}

MonotonicTime ServedProof::turn() {
  const MonotonicTime now = run_time();
  for (Command& command : take_commands()) carry_out(std::move(command), now);
  logged_.log->append({control::InputKind::kStep, control::PortCall::kNone, 0, now.time_since_epoch().count(), {}});
  const MonotonicTime next = run_->step(now);
  restart_gone();
  publish(now, false);
  return next;
}

void ServedProof::carry_out(Command&& command, MonotonicTime now) {
  if (command.stop) {
    logged_.log->append({control::InputKind::kStop, control::PortCall::kNone, 0, now.time_since_epoch().count(), {}});
    run_->stop();
  }
  if (command.then) command.then(now);
}

// A worker that answered that it knows nothing of the run was started anew: its predecessor's evidence ends where it was.
void ServedProof::restart_gone() {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (!ports_[i]->take_gone() || run_->done()) continue;
    const auto worker = static_cast<std::uint32_t>(i);
    const MonotonicTime now = run_now_;
    logged_.log->append({control::InputKind::kRestarted, control::PortCall::kNone, worker, now.time_since_epoch().count(), {}});
    run_->restarted(worker, *ports_[i], now);
  }
}

// ── doing it again ──

bool ServedProof::replay() {
  for (;;) {
    auto input = logged_.log->replay();
    if (!input) {
      logged_.diverged = input.error().message;
      return false;
    }
    if (!*input) break;
    if (!replay_one(**input)) return false;
  }
  if (run_now_ > MonotonicTime{}) publish(run_now_, false);
  return true;
}

bool ServedProof::replay_one(const control::Input& input) {
  const MonotonicTime at{Nanoseconds{input.value}};
  run_now_ = std::max(run_now_, at);
  switch (input.kind) {
    case control::InputKind::kStep:
      run_->step(at);
      break;
    case control::InputKind::kStop:
      run_->stop();
      break;
    case control::InputKind::kInterrupt:
      run_->interrupt();
      break;
    case control::InputKind::kRestarted:
      if (input.worker < ports_.size()) run_->restarted(input.worker, *ports_[input.worker], at);
      break;
    case control::InputKind::kFault:
      replay_fault(input, at);
      break;
    case control::InputKind::kAnswer:
      logged_.diverged = fmt::format("input {} is an answer that nobody waits for", logged_.log->count());
      break;
  }
  return logged_.diverged.empty();
}

void ServedProof::replay_fault(const control::Input& input, MonotonicTime at) {
  auto mark = fault_of_bytes(input.bytes);
  if (mark && mark->begins) mark->fault.number = 0;
  const bool good = mark && (mark->begins || (mark->fault.number > 0 && mark->fault.number <= faults_.size()));
  if (good) {
    static_cast<void>(note_fault(mark->fault, mark->effect, mark->end, at));
  } else {
    logged_.diverged = fmt::format("input {} marks a fault that there is not", logged_.log->count());
  }
}

void ServedProof::abandon(std::string why) {
  for (const auto& port : ports_) port->give_up();
  {
    const std::lock_guard lock(mutex_);
    now_.messages.push_back(why);
    now_.missing.push_back(why);
  }
  set_head(ProofStatus::kInconclusive, fmt::format("The run could not be gone on with after a restart of the coordinator: {}.", why));
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

// ── from outside ──

void ServedProof::stop() {
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  commands_.push_back({true, nullptr});
  changed_.notify_all();
}

bool ServedProof::over() const {
  const std::lock_guard lock(mutex_);
  return is_over_;
}

void ServedProof::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

bool ServedProof::wait_started(Nanoseconds most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return started_ || is_over_ || released_; });
  return started_ || is_over_;
}

bool ServedProof::wait_over(Nanoseconds most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return is_over_ || released_; });
  return is_over_;
}

// Between two steps of the thread, or once it is over by whoever asks.
Result<void> ServedProof::ask(std::function<void(MonotonicTime)> question) {
  struct Asked {
    std::mutex mutex;
    std::condition_variable answered;
    bool done = false;
    bool given_up = false;
  };
  const auto asked = std::make_shared<Asked>();  // shared: who asks may give up before the thread comes to it
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) {
      question(run_now_);
      return {};
    }
    commands_.push_back({false, [asked, question = std::move(question)](MonotonicTime now) {
                           const std::lock_guard answering(asked->mutex);
                           if (asked->given_up) return;
                           question(now);
                           asked->done = true;
                           asked->answered.notify_all();
                         }});
    changed_.notify_all();
  }
  std::unique_lock lock(asked->mutex);
  if (asked->answered.wait_for(lock, kAnswerWait, [&] { return asked->done; })) return {};
  asked->given_up = true;
  return fail(ErrorCode::kUnavailable, fmt::format("proof {} does not answer: its log cannot be written, or it waits for a worker", id()));
}

Result<core::FaultRecord> ServedProof::mark_fault(const core::FaultRecord& fault, bool effect, bool end) {
  if (over()) return fail(ErrorCode::kInvalid, fmt::format("proof {} is over: its faults are those of its report", id()));
  if (fault.number == 0 && fault.name.empty()) return fail(ErrorCode::kInvalid, "a fault has a name: say what was done");
  std::optional<core::FaultRecord> noted;
  auto asked = ask([&](MonotonicTime now) {
    const bool known = fault.number == 0 ? faults_.size() < kFaultsMax : fault.number <= faults_.size();
    if (!known || run_->done()) return;
    noted = note_fault(fault, effect, end, now);
    logged_.log->append({control::InputKind::kFault, control::PortCall::kNone, 0, now.time_since_epoch().count(),
                         fault_bytes({*noted, effect, end, fault.number == 0})});
  });
  if (!asked) return tl::unexpected(std::move(asked).error());
  if (!noted && fault.number == 0) return fail(ErrorCode::kFull, fmt::format("proof {} takes no more than {} faults", id(), kFaultsMax));
  if (!noted) return fail(ErrorCode::kNotFound, fmt::format("proof {} has no fault {}", id(), fault.number));
  return *noted;
}

core::FaultRecord ServedProof::note_fault(core::FaultRecord fault, bool effect, bool end, MonotonicTime now) {
  if (fault.number == 0) {
    fault.number = faults_.size() + 1;
    fault.begin = now;
    fault.effect_seen.reset();
    fault.released.reset();
    fault.end.reset();
    fault.recovered.reset();
    faults_.push_back(fault);
  }
  CHECK(fault.number <= faults_.size(), "a fault of this proof");
  core::FaultRecord& record = faults_[fault.number - 1];
  if (effect && !record.effect_seen) {
    record.effect_seen = now;
    if (!fault.effect.empty()) record.effect = fault.effect;
  }
  if (end && !record.end) record.end = now;
  add_fault_event(record);
  return record;
}

}  // namespace sp::coordinator

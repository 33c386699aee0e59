// The six steps of the end, and what follows the judgement.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "coordinator/coordinator.h"
#include "report/facts.h"
#include "track/state.h"

namespace sp::coordinator {
namespace {

bool at_rest(control::Phase phase) {
  return phase == control::Phase::kIdle || phase == control::Phase::kStopped ||
         phase == control::Phase::kFailed;
}

std::string fault_kind(const std::string& chaos) { return chaos.substr(0, chaos.find(':')); }

// The kinds of faults, declared or made, of which none took effect.
std::vector<std::string> without_effect(const std::vector<std::string>& chaos,
                                        const std::vector<core::FaultRecord>& faults) {
  std::set<std::string> kinds;
  std::set<std::string> effective;
  for (const auto& text : chaos) kinds.insert(fault_kind(text));
  for (const auto& fault : faults) {
    kinds.insert(fault.name);
    if (fault.took_effect()) effective.insert(fault.name);
  }
  std::vector<std::string> out;
  std::set_difference(kinds.begin(), kinds.end(), effective.begin(), effective.end(),
                      std::back_inserter(out));
  return out;
}

}  // namespace

// ── step 1: producers close, open attempts become unknown ──

void ProofRun::begin_end(MonotonicTime now) {
  if (loaded_) {
    report_.load = now - report_.load_begin;
    if (hooks_.load_ends) hooks_.load_ends();
  }
  for (auto& worker : fleet_.workers()) {
    if (auto asked = worker.port->stop_producers(); !asked) worker.problem = asked.error().message;
  }
  barrier_ = 0;
  enter(Stage::kStopProducers, now);
}

// True once `phase` is over in every live worker and all evidence from before is there, or was
// waited for long enough, which is told.
bool ProofRun::stopped(const char* who, control::Phase control::WorkerReport::* phase,
                       MonotonicTime now) {
  const bool over = fleet_.every(
      [&](const Fleet::Worker& worker) { return worker.polled && at_rest(worker.last.*phase); });
  const bool waited_enough = now - *stage_began_ >= options_.limits.stop;
  if (barrier_ == 0) {
    if (!over && !waited_enough) return false;
    if (!over) {
      for (const auto& worker : fleet_.workers()) {
        if (worker.lost || at_rest(worker.last.*phase)) continue;
        missing(fmt::format("worker {}: its {} did not stop in time", worker.source.worker, who));
      }
    }
    want_barrier(now);
    poll(now);
  }
  if (barrier_passed()) return true;
  if (fleet_.live() == 0)  // nobody is left to answer
    return now - *stage_began_ >= options_.limits.fleet.away;
  if (now - barrier_wanted_ < options_.limits.barrier) return false;
  barrier_missed(who);
  return true;
}

// A worker that is polled and stops, but does not answer a tick: its last evidence may still come,
// or never.
void ProofRun::barrier_missed(const char* who) {
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(options_.limits.barrier);
  for (const auto& [id, source] : ledger_->state().sources) {
    if (!source.expected || source.ended || source.lost || source.away) continue;
    if (source.answered >= barrier_) continue;
    missing(fmt::format("worker {} did not answer tick {} within {} s of the stop of the {}: its "
                        "last evidence may be missing",
                        id.worker, source.answered + 1, waited.count(), who));
  }
}

void ProofRun::step_stop_producers(MonotonicTime now) {
  poll(now);
  if (!stopped("producers", &control::WorkerReport::producers, now)) return;
  ledger_->close_load();
  enter(Stage::kFinalWait, now);
}

// ── step 2: final wait ──

void ProofRun::step_final_wait(MonotonicTime now) {
  poll(now);
  const bool waited = now - *stage_began_ >= options_.proof.final_wait_or_default();
  if (!waited && !ledger_->all_received() && fleet_.live() > 0) return;
  for (auto& worker : fleet_.workers()) {
    if (auto asked = worker.port->stop_consumers(); !asked) worker.problem = asked.error().message;
  }
  barrier_ = 0;
  enter(Stage::kStopConsumers, now);
}

// ── step 3: consumers close, their last reports are taken ──

void ProofRun::step_stop_consumers(MonotonicTime now) {
  poll(now);
  if (!stopped("consumers", &control::WorkerReport::consumers, now)) return;
  if (auto why = refused_before_anything(); !why.empty()) return give_up(std::move(why), now);
  ledger_->close_consumers(now);
  lag_looked_ = MonotonicTime{};
  watch_lag(now);
  lag_.close(now);
  sample(now);
  raw_.began = now;
  raw_.next_try = now;
  enter(Stage::kRawRead, now);
}

// ── steps 4 and 5: targets, raw read ──

Fleet::Worker* ProofRun::raw_reader() {
  auto& workers = fleet_.workers();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].lost) continue;
    raw_.reader = i;
    return &workers[i];
  }
  return nullptr;
}

void ProofRun::step_raw_read(MonotonicTime now) {
  if (options_.proof.raw_read == core::RawReadScope::kNone || !report_.facts.raw_read_available) {
    return enter(Stage::kJudge, now);
  }
  if (!raw_.started) return ask_bounds(now);
  poll(now);
  if (std::exchange(raw_.rows_came, false)) raw_.heard = now;
  const Fleet::Worker& worker = fleet_.workers()[raw_.reader];
  report_.facts.raw_read_refused = worker.last.raw_read_refused;
  if (worker.lost)
    return raw_read_over("the worker that read the log was lost: " + worker.problem, now);
  if (worker.last.raw_read == control::Phase::kFailed)
    return raw_read_over(worker.last.failure, now);
  if (worker.last.raw_read == control::Phase::kStopped) {
    ++raw_.quiet_polls;
    if (raw_.quiet_polls < 2 || more_) return;  // the last rows may come with the next poll
    return raw_read_over("", now);
  }
  if (now - raw_.heard >= options_.limits.raw_read_quiet)
    raw_read_over("it brought nothing for too long", now);
}

void ProofRun::ask_bounds(MonotonicTime now) {
  if (now < raw_.next_try) return;
  Fleet::Worker* worker = raw_reader();
  if (worker == nullptr) return raw_read_over("no worker is left to read the log", now);
  const Nanoseconds waited = now - *raw_.began;
  auto bounds = worker->port->log_bounds();
  if (!bounds) {
    raw_.problem = bounds.error().message;
    const ErrorCode code = bounds.error().code;
    report_.facts.raw_read_refused = code == ErrorCode::kDenied;
    if (code == ErrorCode::kDenied || code == ErrorCode::kUnsupported)
      return raw_read_over(raw_.problem, now);
    if (waited >= options_.limits.bounds) {
      // A system that is gone at the end may hold nothing any more, whatever was received before.
      missing(
          "the system did not show its log at the end of the run, so nothing says what it still "
          "holds");
      return raw_read_over(raw_.problem, now);
    }
    raw_.next_try = now + std::chrono::seconds{1};
    next_poll_ = raw_.next_try;
    return;
  }
  std::map<std::uint32_t, std::uint64_t> acked_end;
  const auto& partitions = ledger_->state().partitions;
  for (std::uint32_t i = 0; i < partitions.size(); ++i) acked_end[i] = partitions[i].acked_end;
  const std::string low = ends_too_low(*bounds, acked_end);
  if (!low.empty() && waited < options_.limits.bounds_rise) {
    raw_.next_try = now + std::chrono::milliseconds{500};
    next_poll_ = raw_.next_try;
    return;
  }
  if (!low.empty()) say("the log ends below what was acknowledged: " + low);
  std::vector<track::RawRange> ranges;
  for (const auto& bound : *bounds) ranges.push_back({bound.partition, bound.begin, bound.end});
  start_raw_read(ranges, now);
}

void ProofRun::start_raw_read(const std::vector<track::RawRange>& bounds, MonotonicTime now) {
  journal_.bounds(bounds, options_.proof.raw_read, now);
  raw_.set_targets(ledger_->raw_targets(bounds, options_.proof.raw_read));
  raw_.heard = now;
  if (raw_.unreached() == 0) return raw_read_over("", now);  // nothing to read
  auto started = fleet_.workers()[raw_.reader].port->start_raw_read(raw_.request());
  if (!started) {
    report_.facts.raw_read_refused = started.error().code == ErrorCode::kDenied;
    return raw_read_over(started.error().message, now);
  }
  raw_.started = true;
  next_poll_ = now;
}

void ProofRun::raw_read_over(std::string problem, MonotonicTime now) {
  auto& facts = report_.facts;
  facts.raw_read_complete = problem.empty() && raw_.unreached() == 0;
  facts.raw_read_problem = std::move(problem);
  if (facts.raw_read_problem.empty() && raw_.unreached() > 0) {
    facts.raw_read_problem = "not read to the end: " + raw_.unreached_text();
  }
  if (!facts.raw_read_problem.empty()) say("raw read: " + facts.raw_read_problem);
  enter(Stage::kJudge, now);
}

// ── step 6: judgement ──

void ProofRun::collect_facts(MonotonicTime now) {
  auto& facts = report_.facts;
  facts.times = judge::RunTimes{*began_, options_.started, report_.load_begin, now};
  for (const auto& worker : fleet_.workers()) {
    if (worker.lost) {
      std::uint64_t keys = 0;
      for (const auto& share : division_.producers)
        keys += share.worker == worker.source.worker ? share.keys : 0;
      facts.workers_lost.push_back(fmt::format("worker {} with its {} keys ({}): {}",
                                               worker.source.worker, keys,
                                               core::run_text(options_.run), worker.problem));
    } else if (worker.polled && (worker.last.producers == control::Phase::kFailed ||
                                 worker.last.consumers == control::Phase::kFailed)) {
      facts.missing.push_back(
          fmt::format("worker {}: {}", worker.source.worker, worker.last.failure));
    }
  }
  collect_refusals();
  const double seconds = std::chrono::duration<double>(report_.load).count();
  if (loaded_ && seconds > 0)
    facts.rate = static_cast<double>(ledger_->progress().issued) / seconds;
  facts.faults.assign(faults().begin(), faults().end());
  lag_.tell(facts.faults);
  facts.faults_without_effect = without_effect(options_.proof.chaos, facts.faults);
}

void ProofRun::judge_now(MonotonicTime now) {
  ledger_->finish();
  take_alarms(now);
  collect_facts(now);
  report_.progress = ledger_->progress();
  report_.ticks = ticked_;
  report_.staleness = lag_.staleness();
  report_.no_staleness = lag_.no_staleness();
  report_.messages_left_out += chatter_.untold();
  report_.traffic = fleet_.counters();
  report_.publish_latency = fleet_.publish_latency();
  report_.end_to_end_latency = fleet_.end_to_end_latency();
  report_.judgement =
      judge::judge(*ledger_, options_.proof.contract(idempotent_), report_.facts, options_.judging);
  report_.facts.noticed.clear();
  enter(Stage::kCleanUp, now);
}

// The second interrupt: what was gathered is judged, what is outstanding is not.
void ProofRun::cut_short(MonotonicTime now) {
  report_.facts.interrupted = true;
  report_.facts.stopped = true;
  report_.facts.raw_read_problem = "interrupted";
  if (!ledger_) make_ledger(false);
  if (loaded_ && stage_ == Stage::kLoad) {
    report_.load = now - report_.load_begin;
    if (hooks_.load_ends) hooks_.load_ends();
  }
  if (stage_ <= Stage::kStopProducers) ledger_->close_load();
  if (stage_ <= Stage::kStopConsumers) {
    ledger_->close_consumers(now);
    lag_.close(now);
  }
  enter(Stage::kJudge, now);
}

void ProofRun::clean_up(MonotonicTime now) {
  const bool passed = report_.failure.empty() && report_.judgement.status == judge::Status::kPassed;
  const bool ours = options_.proof.topic_exists != proof::TopicExists::kReuse;
  if (passed && ours && !options_.proof.keep_topic) {
    if (Fleet::Worker* worker = raw_reader(); worker != nullptr) {
      auto deleted = worker->port->delete_topic();
      report_.topic_deleted = deleted.has_value();
      if (!deleted)
        say(fmt::format("topic {} was not deleted: {}", report_.topic, deleted.error().message));
    }
  }
  for (auto& worker : fleet_.workers()) {
    if (auto removed = worker.port->remove(); !removed && !worker.lost) {
      say(fmt::format("worker {}: {}", worker.source.worker, removed.error().message));
    }
  }
  enter(Stage::kDone, now);
  close_history(now);
}

void ProofRun::close_history(MonotonicTime now) {
  journal_.faults(report_.facts.faults);
  const std::string_view reason = !report_.failure.empty() ? "failed" : report_.facts.interrupted ? "interrupted"
                                  : report_.facts.stopped  ? "stopped"
                                                           : "done";
  const auto kept = journal_.end(reason, report::facts_json(report_), now);
  if (!kept || kept->complete()) return;
  say("the coordinator's history " + kept->what_lacks());
}

}  // namespace sp::coordinator

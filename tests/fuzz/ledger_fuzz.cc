// A worker's recorder and the coordinator's ledger under evidence of any kind: two workers, a few keys, partitions and
// lineages; deltas that come late, twice and in any order; ticks; deaths. Nothing crashes, what is received was issued
// or is an anomaly, and the judge has an answer.
//
// links: judge
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "fuzz/bytes.h"
#include "judge/judge.h"
#include "track/ledger.h"
#include "track/recorder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

constexpr core::RunId kRun{0x1234567};
constexpr std::uint32_t kKeys = 3;
constexpr std::uint32_t kPartitions = 2;
constexpr std::array<core::Event, 15> kEvents = {
    core::Event::kInvoke,       core::Event::kInvoke,     core::Event::kOk,        core::Event::kOk,
    core::Event::kFail,         core::Event::kInfo,       core::Event::kAssign,    core::Event::kDeliver,
    core::Event::kDeliver,      core::Event::kDeliver,    core::Event::kRevoke,    core::Event::kCommitOk,
    core::Event::kCommitInvoke, core::Event::kCommitInfo, core::Event::kCommitFail};

// One worker as the driver's side sees it: keeps to the order that a driver promises, and to nothing else.
class Worker {
 public:
  explicit Worker(std::uint32_t number) : source_{.worker = number, .incarnation = 1}, recorder_(source_, kRun) {
    block_ = recorder_.keys().block({.source = source_, .producer = 0});
  }
  [[nodiscard]] core::SourceId source() const { return source_; }
  [[nodiscard]] track::Recorder& recorder() { return recorder_; }

  void step(fuzz::Bytes& bytes) {
    core::Observation seen;
    seen.event = kEvents[bytes.below(kEvents.size())];
    seen.key = {block_, bytes.below(kKeys)};
    seen.partition = core::PartitionId{bytes.below(kPartitions)};
    seen.offset = core::Offset{bytes.number() % 1000};
    seen.has_position = bytes.below(8) != 0;
    seen.process = bytes.below(2);
    attempt_or_reading(bytes, seen);
  }
  void answer(std::uint64_t tick) {
    core::Observation seen;
    seen.event = core::Event::kTick;
    seen.number = tick;
    recorder_.observe(seen);
    recorder_.cut(true);
  }

 private:
  using Holding = std::pair<std::uint32_t, std::uint32_t>;  // consumer, partition

  void attempt_or_reading(fuzz::Bytes& bytes, core::Observation& seen) {
    using core::Event;
    const Holding holding{seen.process, seen.partition.value()};
    if (seen.event == Event::kInvoke) {
      seen.sequence = core::Sequence{next_[seen.key.index]++};
      open_[seen.key.index].insert(seen.sequence.value());
      recorder_.observe(seen);
    } else if (seen.event == Event::kOk || seen.event == Event::kFail || seen.event == Event::kInfo) {
      outcome(bytes, seen);
    } else if (seen.event == Event::kAssign) {
      if (held_.insert(holding).second) assign(bytes, seen);
    } else if (!held_.contains(holding)) {
      return;  // nobody reads there
    } else if (seen.event == Event::kRevoke) {
      held_.erase(holding);
      seen.close = static_cast<core::LineageClose>(bytes.below(3));
      recorder_.observe(seen);
    } else if (seen.event == Event::kDeliver) {
      deliver(bytes, seen);
    } else {
      commit(holding, seen);
    }
  }
  void outcome(fuzz::Bytes& bytes, core::Observation& seen) {
    auto& open = open_[seen.key.index];
    if (open.empty()) return;
    const auto picked = std::next(open.begin(), static_cast<std::ptrdiff_t>(bytes.next() % open.size()));
    seen.sequence = core::Sequence{*picked};
    open.erase(picked);
    recorder_.observe(seen);
  }
  void assign(fuzz::Bytes& bytes, core::Observation& seen) {
    seen.has_start = bytes.below(2) != 0;
    seen.start = core::Offset{bytes.number() % 1000};
    seen.has_generation = bytes.below(2) != 0;
    seen.generation = core::Generation{bytes.below(4)};
    recorder_.observe(seen);
  }
  void deliver(fuzz::Bytes& bytes, core::Observation& seen) {
    const core::SourceId owner{.worker = bytes.below(2), .incarnation = 1};
    const std::uint32_t block = recorder_.keys().block({.source = owner, .producer = 0});
    const std::string name =
        bytes.below(16) == 0 ? std::string("foreign") : recorder_.keys().name({block, seen.key.index});
    seen.name = name;
    seen.sequence = core::Sequence{bytes.number()};
    seen.content = static_cast<core::Content>(bytes.below(8) < 5 ? 0 : bytes.below(4));
    recorder_.observe(seen);
  }
  void commit(const Holding& holding, core::Observation& seen) {
    const auto requested = committing_.find(holding);
    if (seen.event == core::Event::kCommitInvoke) {
      if (requested != committing_.end()) return;
      committing_.emplace(holding, seen.offset);
    } else {
      if (requested == committing_.end()) return;
      seen.offset = requested->second;
      committing_.erase(requested);
    }
    recorder_.observe(seen);
  }

  core::SourceId source_;
  track::Recorder recorder_;
  std::uint32_t block_ = 0;
  std::array<std::uint64_t, kKeys> next_{};
  std::array<std::set<std::uint64_t>, kKeys> open_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> held_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, core::Offset> committing_;
};

class World {
 public:
  World() : ledger_({.run = kRun, .contract = contract(), .groups = {"group"}, .limits = {}}) {
    for (auto& worker : workers_) {
      ledger_.declare({.source = worker.source(), .producer = 0}, kKeys);
      ledger_.expect(worker.source());
    }
  }

  void run(fuzz::Bytes& bytes) {
    while (!bytes.empty()) {
      const std::uint32_t what = bytes.below(12);
      Worker& worker = workers_[bytes.below(2)];
      if (what < 9) worker.step(bytes);
      if (what == 9) worker.recorder().cut(false);
      if (what == 10) hand_over(bytes, worker);
      if (what == 11) tick(bytes);
    }
    end(bytes);
  }

 private:
  static core::Contract contract() {
    core::Contract contract;
    contract.at_least_once = true;
    contract.ordering = true;
    return contract;
  }
  // Some of what is pending, in any order, some of it twice; acknowledged is only what the ledger has.
  void hand_over(fuzz::Bytes& bytes, Worker& worker) {
    const auto pending = worker.recorder().pending(ledger_.applied(worker.source()));
    if (pending.empty()) return;
    for (std::uint32_t i = bytes.below(4) + 1; i > 0; --i) ledger_.apply(*pending[bytes.next() % pending.size()]);
    worker.recorder().acknowledge(ledger_.applied(worker.source()));
  }
  void hand_over_all(Worker& worker) {
    for (const auto* delta : worker.recorder().pending(ledger_.applied(worker.source()))) ledger_.apply(*delta);
    worker.recorder().acknowledge(ledger_.applied(worker.source()));
  }
  void tick(fuzz::Bytes& bytes) {
    ++tick_;
    for (auto& worker : workers_) {
      worker.answer(tick_);
      hand_over_all(worker);
    }
    // A delivery that its owner has not issued holds its source back until the owner has answered a later round.
    for (int round = 0; round < 4 && !ledger_.answered(tick_); ++round) ledger_.round();
    now_ += std::chrono::milliseconds(bytes.number() % 100'000);
    fuzz::demand(ledger_.answered(tick_), "a tick is answered when every worker has answered it");
    ledger_.tick(tick_, now_);
  }
  void end(fuzz::Bytes& bytes) {
    tick(bytes);
    ledger_.close_load();
    tick(bytes);
    ledger_.close_consumers(now_);
    const std::vector<track::RawRange> bounds = {{core::PartitionId{0}, core::Offset{0}, core::Offset{1000}}};
    for (const auto& target : ledger_.raw_targets(bounds, core::RawReadScope::kHoles)) {
      fuzz::demand(target.begin.value() < target.end.value() && target.end.value() <= 1000,
                   "raw targets keep to the bounds");
    }
    ledger_.finish();
    const auto judgement = judge::judge(ledger_, contract(), {});
    fuzz::demand(judgement.status == judge::Status::kPassed || !judgement.reasons.empty(),
                 "whatever is no pass has a reason");
    const auto& seen = judgement.coverage;
    fuzz::demand(seen.acked + seen.failed + seen.unknown == seen.attempts, "every attempt has one outcome at the end");
  }

  std::array<Worker, 2> workers_ = {Worker(0), Worker(1)};
  track::Ledger ledger_;
  std::uint64_t tick_ = 0;
  MonotonicTime now_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, std::min<std::size_t>(size, 4096));
  World().run(bytes);
  return 0;
}

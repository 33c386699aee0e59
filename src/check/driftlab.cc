#include "check/driftlab.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "core/range_set.h"

namespace sp::check {
namespace {

using history::Function;
using history::Operation;
using history::Type;

constexpr std::uint64_t kBetweenTold = 10'000'000;

// Sequences and values begin at 1 and go up to 2^64 − 1, numbers of a RangeSet from 0 to 2^64 − 2: what is kept of n is n − 1, and so
// of the range [a, b] it is [a − 1, b).
bool holds(const core::RangeSet& set, std::uint64_t number) { return set.contains(number - 1); }

std::int64_t time_of(const Operation& operation) { return operation.has(history::Member::kTime) ? operation.time_ns : 0; }

// Not below 0; times may be anything.
Nanoseconds time_between(std::int64_t begin, std::int64_t end) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (end <= begin) return Nanoseconds{0};
  const std::uint64_t between = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
  return Nanoseconds{static_cast<std::int64_t>(std::min(between, kMax))};
}

struct Consumer {
  std::uint32_t process = 0;
  core::RangeSet seen;
  std::uint64_t last = 0;                    // the highest sequence, 0: none
  std::uint64_t last_operation = 0;          // that delivered it
  // Until the final read began:
  std::uint64_t reached = 0;                 // as `last`
  std::optional<std::uint64_t> known;        // the latest operation that says it is there
  // For the second pass:
  std::map<std::uint64_t, std::optional<std::uint64_t>> repeated;  // sequences listed as duplicates, with their first delivery
  core::RangeSet again;                      // of `seen`, what is up to the target and was read again
  std::uint64_t again_count = 0;
  std::optional<std::size_t> recovery;       // to be filled in: which of the result's
};

// What the reader refuses, with what to do about it.
tl::unexpected<Error> refused(Error error) {
  const bool told = error.message.find("--salvage") != std::string::npos;
  if (error.code == ErrorCode::kParse && !told) {
    error.message += "; nothing of a file with a wrong line is judged: correct what writes it and repeat the run";
  }
  return tl::unexpected(std::move(error));
}

// An operation as driftlab takes it: by its `f` alone. Our reader calls all that the nemesis does a fault.
struct Step {
  Function function = Function::kOther;
  bool completes_fault = false;
};

class Judge {
 public:
  Judge(const history::Vocabulary& vocabulary, const DriftlabOptions& options) : vocabulary_(vocabulary), options_(options) {}

  Result<DriftlabResult> judge(const OpenHistory& open) {
    if (auto read = pass(open, false); !read) return tl::unexpected(std::move(read).error());
    find_reasons();
    finish_skips();
    find_stalls();
    begin_recoveries();
    if (needs_second_pass()) {
      if (auto read = pass(open, true); !read) return tl::unexpected(std::move(read).error());
      if (!finish_duplicates()) return changed();
      std::ranges::move(lost_, std::back_inserter(result_.anomalies));
      std::ranges::move(phantoms_, std::back_inserter(result_.anomalies));
    }
    const bool anomalous = !result_.anomalies.empty() || std::ranges::any_of(result_.left_out, [](std::uint64_t n) { return n != 0; });
    result_.verdict = !result_.reasons.empty() ? DriftlabVerdict::kInvalid
                      : anomalous              ? DriftlabVerdict::kFailed
                                               : DriftlabVerdict::kClean;
    return std::move(result_);
  }

 private:
  enum class Group : std::uint8_t { kDeliveries, kStalls, kLostWrites, kPhantoms };

  Result<void> pass(const OpenHistory& open, bool second);
  Result<Step> step_of(const Operation& operation) const;
  void first(const Operation& operation, const Step& step);
  void again(const Operation& operation, const Step& step);

  // First pass.
  void published(const Operation& operation);
  void delivered(const Operation& operation);
  void read(const Operation& operation);
  void fault_completed(const Operation& operation);
  Consumer& consumer(std::uint32_t process);
  bool insert(core::RangeSet& set, std::uint64_t number);
  // Where an anomaly of that group is to be put; null if enough are listed.
  DriftlabAnomaly* list(Group group, std::vector<DriftlabAnomaly>& anomalies, Anomaly kind, const Operation& operation);
  bool list_delivery(Anomaly kind, const Consumer& consumer, const Operation& operation, std::optional<std::uint64_t> before);

  // Between them.
  void find_reasons();
  void finish_skips();
  void find_stalls();
  void begin_recoveries();
  [[nodiscard]] bool needs_second_pass() const;
  [[nodiscard]] bool is_phantom(std::uint64_t value) const { return !holds(invoked_, value) || holds(failed_, value); }
  [[nodiscard]] bool has_phantom(const core::RangeSet& values) const {
    return !values.minus(invoked_).empty() || !values.intersect(failed_).empty();
  }

  // Second pass.
  void sight(const Operation& operation);
  void recover(Consumer& consumer, const Operation& operation);
  bool finish_duplicates();
  [[nodiscard]] tl::unexpected<Error> changed() const {
    return fail(ErrorCode::kIo, fmt::format("{}: it was written to while it was read: check it again when it is whole", name_));
  }

  const history::Vocabulary& vocabulary_;
  const DriftlabOptions& options_;
  DriftlabResult result_;
  std::string name_;
  std::uint64_t operations_ = 0;
  std::uint64_t torn_line_ = 0;
  std::vector<std::string> faults_;                          // declared
  std::map<std::string_view, bool> completed_;               // of faults_
  std::size_t gaps_ = 0;
  std::array<std::size_t, kAnomalyGroups> listed_{};

  std::vector<Consumer> consumers_;                          // by first appearance
  std::vector<std::optional<std::uint32_t>> consumer_of_;    // by process
  std::vector<std::uint32_t> receivers_;                     // by first delivery

  core::RangeSet invoked_, failed_, acked_values_, acked_, delivered_values_, read_values_, read_;
  std::uint64_t acked_last_ = 0;                             // the highest acknowledged sequence so far, 0: none
  std::uint64_t read_last_ = 0;                              // 0: there is no final read
  std::uint64_t read_last_operation_ = 0;

  bool faults_ended_ = false;
  std::int64_t faults_end_ = 0;                              // time of the last fault that completed
  std::uint64_t target_ = 0;                                 // acked_last_ at that time

  std::vector<DriftlabAnomaly> lost_;
  std::vector<DriftlabAnomaly> phantoms_;
  std::map<std::uint64_t, std::size_t> phantom_of_;          // by value: those that are listed
  core::RangeSet phantom_values_;                            // all of them
  std::size_t sightings_ = 0;
};

Result<void> Judge::pass(const OpenHistory& open, bool second) {
  auto reader = open();
  if (!reader) return refused(std::move(reader).error());
  const history::Meta& meta = (*reader)->meta();
  name_ = (*reader)->name();
  if (meta.dialect != history::Dialect::kDriftlab) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: it is a history of version 1, not of driftlab; check it without --format", name_));
  }
  if (!second) {
    faults_ = meta.faults;
    for (const std::string& fault : faults_) completed_.emplace(fault, false);
  }
  std::uint64_t operations = 0;
  std::uint64_t told = 0;
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) return refused(batch.error());
    if (batch->empty()) break;
    for (const Operation& operation : *batch) {
      const auto step = step_of(operation);
      if (!step) return tl::unexpected(step.error());
      if (second) {
        again(operation, *step);
      } else {
        first(operation, *step);
      }
    }
    if (gaps_ > options_.gaps_max) {
      return fail(ErrorCode::kFull, fmt::format("{} line {}: its sequences and values have more than {} gaps together; check a shorter run",
                                                name_, batch->back().line, grouped(options_.gaps_max)));
    }
    operations += batch->size();
    if (!options_.progress || operations - told < kBetweenTold) continue;
    told = operations;
    options_.progress(operations);
  }
  if (second && operations != operations_) return changed();
  operations_ = operations;
  torn_line_ = (*reader)->torn_line();
  return {};
}

Result<Step> Judge::step_of(const Operation& operation) const {
  Step step{operation.function, false};
  if (operation.function != Function::kFault) return step;
  step.completes_fault = operation.type == Type::kOk;
  const auto known = history::find_function(vocabulary_.words.text(operation.name));
  if (!known) return step;
  step.function = *known;
  Operation as_told = operation;
  as_told.function = *known;
  if (std::string missing = history::what_is_missing(as_told, history::Dialect::kDriftlab); !missing.empty()) {
    return refused({ErrorCode::kParse, fmt::format("{} line {}: {}", name_, operation.line, missing)});
  }
  return step;
}

void Judge::first(const Operation& operation, const Step& step) {
  if (step.function == Function::kPublish) published(operation);
  if (step.function == Function::kDeliver) delivered(operation);
  if (step.function == Function::kRead) read(operation);
  if (step.function == Function::kSubscribe && operation.type == Type::kOk && read_last_ == 0) {
    consumer(operation.process).known = operation.index;
  }
  if (step.completes_fault) fault_completed(operation);
}

void Judge::again(const Operation& operation, const Step& step) {
  if (step.function == Function::kDeliver) {
    Consumer& receiver = consumer(operation.process);
    const auto repeated = receiver.repeated.find(operation.position.offset);
    if (repeated != receiver.repeated.end() && !repeated->second) repeated->second = operation.index;
    recover(receiver, operation);
  }
  if (step.function == Function::kDeliver || step.function == Function::kRead) sight(operation);
  const bool acked = step.function == Function::kPublish && operation.type == Type::kOk;
  if (acked && read_last_ != 0 && !holds(read_values_, operation.value)) {
    if (DriftlabAnomaly* lost = list(Group::kLostWrites, lost_, Anomaly::kLostWrite, operation)) lost->operations = {operation.index};
  }
}

void Judge::published(const Operation& operation) {
  switch (operation.type) {
    case Type::kInvoke:
      ++result_.publishes;
      insert(invoked_, operation.value);
      return;
    case Type::kOk:
      insert(acked_values_, operation.value);
      insert(acked_, operation.position.offset);
      acked_last_ = std::max(acked_last_, operation.position.offset);
      return;
    case Type::kFail: insert(failed_, operation.value); return;
    case Type::kInfo: ++result_.unknown; return;
  }
}

void Judge::delivered(const Operation& operation) {
  Consumer& receiver = consumer(operation.process);
  const std::uint64_t sequence = operation.position.offset;
  if (receiver.last == 0) receivers_.push_back(*consumer_of_[operation.process]);
  insert(delivered_values_, operation.value);
  const std::optional<std::uint64_t> before = receiver.last == 0 ? std::nullopt : std::optional(receiver.last_operation);
  if (!insert(receiver.seen, sequence)) {
    if (list_delivery(Anomaly::kDuplicate, receiver, operation, std::nullopt)) receiver.repeated.emplace(sequence, std::nullopt);
  } else if (sequence < receiver.last) {
    list_delivery(Anomaly::kNonmonotonicPoll, receiver, operation, before);
  } else {
    if (sequence - 1 != receiver.last) list_delivery(Anomaly::kPollSkip, receiver, operation, before);
    receiver.last = sequence;
    receiver.last_operation = operation.index;
  }
  if (read_last_ != 0) return;
  receiver.reached = receiver.last;
  receiver.known = operation.index;
}

void Judge::read(const Operation& operation) {
  insert(read_values_, operation.value);
  insert(read_, operation.position.offset);
  if (operation.position.offset <= read_last_) return;
  read_last_ = operation.position.offset;
  read_last_operation_ = operation.index;
}

void Judge::fault_completed(const Operation& operation) {
  const auto declared = completed_.find(vocabulary_.words.text(operation.name));
  if (declared != completed_.end()) declared->second = true;
  faults_ended_ = true;
  faults_end_ = time_of(operation);
  target_ = acked_last_;
}

Consumer& Judge::consumer(std::uint32_t process) {
  if (process >= consumer_of_.size()) consumer_of_.resize(vocabulary_.processes.size());
  auto& number = consumer_of_[process];
  if (!number) {
    number = static_cast<std::uint32_t>(consumers_.size());
    consumers_.emplace_back().process = process;
  }
  return consumers_[*number];
}

bool Judge::insert(core::RangeSet& set, std::uint64_t number) {
  gaps_ -= set.range_count();
  const bool is_new = set.insert(number - 1);
  gaps_ += set.range_count();
  return is_new;
}

DriftlabAnomaly* Judge::list(Group group, std::vector<DriftlabAnomaly>& anomalies, Anomaly kind, const Operation& operation) {
  const auto at = static_cast<std::size_t>(group);
  if (listed_[at] == options_.listed_max) {
    ++result_.left_out[at];
    return nullptr;
  }
  ++listed_[at];
  DriftlabAnomaly& anomaly = anomalies.emplace_back();
  anomaly.kind = kind;
  anomaly.process = operation.process;
  anomaly.sequence = operation.position.offset;
  anomaly.value = operation.value;
  return &anomaly;
}

// False if enough are listed. `before`: the delivery that it is compared with; of a duplicate the second pass finds it.
bool Judge::list_delivery(Anomaly kind, const Consumer& consumer, const Operation& operation, std::optional<std::uint64_t> before) {
  DriftlabAnomaly* anomaly = list(Group::kDeliveries, result_.anomalies, kind, operation);
  if (anomaly == nullptr) return false;
  anomaly->other = kind == Anomaly::kPollSkip ? consumer.last + 1 : consumer.last;
  if (before) anomaly->operations.push_back(*before);
  anomaly->operations.push_back(operation.index);
  return true;
}

void Judge::find_reasons() {
  if (read_last_ == 0) {
    result_.reasons.emplace_back("there is no final read");
  } else {
    const core::RangeSet holes = core::RangeSet{{0, read_last_}}.minus(read_).minus(acked_);
    if (!holes.empty()) {
      result_.reasons.push_back(
          fmt::format("the final read ends at sequence {} and lacks {} that no acknowledgement explains, the first at {}", read_last_,
                      holes.size(), holes.first() + 1));
    }
  }
  for (const std::string& fault : faults_) {
    if (!completed_[fault]) result_.reasons.push_back(fmt::format("the declared fault {} never completed", printable(fault)));
  }
  if (torn_line_ != 0) {
    result_.reasons.push_back(fmt::format("line {} is cut off: what is missing may have said anything", torn_line_));
  }
}

void Judge::finish_skips() {
  for (DriftlabAnomaly& anomaly : result_.anomalies) {
    if (anomaly.kind != Anomaly::kPollSkip) continue;
    anomaly.late = consumer(anomaly.process).seen.count_in(anomaly.other - 1, anomaly.sequence - 1);
  }
}

void Judge::find_stalls() {
  for (const Consumer& consumer : consumers_) {
    if (!consumer.known || consumer.reached >= read_last_) continue;
    Operation nothing;
    nothing.process = consumer.process;
    DriftlabAnomaly* stall = list(Group::kStalls, result_.anomalies, Anomaly::kStall, nothing);
    if (stall == nullptr) continue;
    stall->sequence = consumer.reached;
    stall->other = read_last_;
    stall->operations = {*consumer.known, read_last_operation_};
  }
}

void Judge::begin_recoveries() {
  if (!faults_ended_ || target_ == 0) return;
  for (const std::uint32_t number : receivers_) {
    Consumer& consumer = consumers_[number];
    if (consumer.seen.end_of_run(0) >= target_) consumer.recovery = result_.recoveries.size();
    result_.recoveries.push_back({consumer.process, std::nullopt});
  }
}

bool Judge::needs_second_pass() const {
  const auto waits = [](const Consumer& consumer) { return consumer.recovery || !consumer.repeated.empty(); };
  return std::ranges::any_of(consumers_, waits) || (read_last_ != 0 && !acked_values_.minus(read_values_).empty()) ||
         has_phantom(delivered_values_) || has_phantom(read_values_);
}

void Judge::sight(const Operation& operation) {
  if (!is_phantom(operation.value)) return;
  auto found = phantom_of_.find(operation.value);
  if (found == phantom_of_.end()) {
    if (!phantom_values_.insert(operation.value - 1)) return;  // one of those that are not listed
    DriftlabAnomaly* phantom = list(Group::kPhantoms, phantoms_, Anomaly::kPhantom, operation);
    if (phantom == nullptr) return;
    phantom->failed_publish = holds(invoked_, operation.value);
    found = phantom_of_.emplace(operation.value, phantoms_.size() - 1).first;
  }
  DriftlabAnomaly& phantom = phantoms_[found->second];
  if (sightings_ >= options_.listed_max && !phantom.operations.empty()) {
    ++phantom.operations_left_out;
    return;
  }
  phantom.operations.push_back(operation.index);
  ++sightings_;
}

void Judge::recover(Consumer& consumer, const Operation& operation) {
  if (!consumer.recovery || operation.position.offset > target_ || !consumer.again.insert(operation.position.offset - 1)) return;
  if (++consumer.again_count != target_) return;
  result_.recoveries[*consumer.recovery].took = time_between(faults_end_, time_of(operation));
}

bool Judge::finish_duplicates() {
  for (DriftlabAnomaly& anomaly : result_.anomalies) {
    if (anomaly.kind != Anomaly::kDuplicate) continue;
    const auto& repeated = consumer(anomaly.process).repeated;
    const auto found = repeated.find(anomaly.sequence);
    if (found == repeated.end() || !found->second) return false;
    anomaly.operations.insert(anomaly.operations.begin(), *found->second);
  }
  return true;
}

}  // namespace

Result<DriftlabResult> check_driftlab(const OpenHistory& open, const history::Vocabulary& vocabulary, const DriftlabOptions& options) {
  return Judge(vocabulary, options).judge(open);
}

}  // namespace sp::check

#include "history/retold.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "history/numbered.h"

namespace sp::history {
namespace {

using core::Event;
using core::Observation;

tl::unexpected<Error> foreign(const Operation& operation, std::string_view why) {
  return fail(ErrorCode::kParse, fmt::format("line {}: {}: {}", operation.line, function_name(operation.function), why));
}

constexpr core::KeyRef kNotLookedUp{~std::uint32_t{0}, ~std::uint32_t{0}};

std::string too_many_partitions(bool of_lab) {
  return fmt::format("at most {} partitions can be judged", of_lab ? Retold::kLabPartitionsMax : Retold::kPartitionsMax);
}

Event outcome_of(Type type) {
  switch (type) {
    case Type::kInvoke: return Event::kInvoke;
    case Type::kOk: return Event::kOk;
    case Type::kFail: return Event::kFail;
    case Type::kInfo: return Event::kInfo;
  }
  return Event::kInfo;
}

Event commit_outcome_of(Type type) {
  switch (type) {
    case Type::kInvoke: return Event::kCommitInvoke;
    case Type::kOk: return Event::kCommitOk;
    case Type::kFail: return Event::kCommitFail;
    case Type::kInfo: return Event::kCommitInfo;
  }
  return Event::kCommitInfo;
}

}  // namespace

Retold::Retold(const Vocabulary& vocabulary, std::vector<std::string> groups)
    : vocabulary_(vocabulary), groups_(std::move(groups)) {}

Retold::Retold(const Vocabulary& vocabulary, Lab lab) : vocabulary_(vocabulary), lab_(lab) {}

Result<void> Retold::tell(const Operation& operation, core::ObservationSink& sink) {
  if (of_lab() && tell_usual(operation, sink)) return {};
  switch (operation.function) {
    case Function::kPublish: return attempt(operation, sink);
    case Function::kSubscribe: return of_lab() ? subscribe_lab(operation, sink) : subscribe(operation);
    case Function::kAssign:
    case Function::kRevoke: return possession(operation, sink);
    case Function::kDeliver:
    case Function::kRead: return record(operation, sink);
    case Function::kCommit: return commit(operation, sink);
    case Function::kReadBegin:
    case Function::kReadEnd: return range(operation, sink);
    case Function::kClientError:
    case Function::kDisconnect:
    case Function::kReconnect:
    case Function::kTick:
    case Function::kEnd: return notice(operation, sink);
    case Function::kUnsubscribe:
      if (of_lab() && operation.type == Type::kOk) {
        Observation observation;
        if (auto begun = begin(operation, Role::kConsumer, observation); !begun) return begun;
        release(process_of(operation.process), observation, core::LineageClose::kClosed, sink);
      }
      return {};
    case Function::kClock:
    case Function::kIncomplete: return {};
    case Function::kAck:
    case Function::kNack:
    case Function::kBegin:
    case Function::kAbort:
    case Function::kCopy:
    case Function::kSkip:
    case Function::kClusterState:
    case Function::kProbe:
    case Function::kStage:
    case Function::kFault:
    case Function::kOther:
      if (of_lab()) return other(operation);
      return foreign(operation, "a worker of a proof does not write this");
  }
  return {};
}

// What attempt() and record() would tell, for lines that need no question but those asked here.
bool Retold::tell_usual(const Operation& operation, core::ObservationSink& sink) {
  constexpr MemberSet kMost = bit(Member::kTime) | bit(Member::kKey) | bit(Member::kValue) | bit(Member::kPosition);
  const Function function = operation.function;
  const bool publishes = function == Function::kPublish;
  const bool delivers = function == Function::kDeliver;
  if (!publishes && !delivers && function != Function::kRead) return false;
  if ((operation.members & ~kMost) != 0 || !operation.has(Member::kKey) || !operation.has(Member::kValue)) return false;
  if (operation.key >= keys_.size() || keys_[operation.key] == kNotLookedUp) return false;
  if (operation.time_ns > kTimeMax || operation.time_ns < -kTimeMax) return false;
  const Position& position = operation.position;
  const bool has_position = operation.has(Member::kPosition);
  const bool stream = position.kind == Position::Kind::kSequence;
  const bool placed = position.kind != Position::Kind::kEntry && position.partition < partitions_max() &&
                      (stream || position.has_partition);
  if (has_position && (kind_ != position.kind || !placed)) return false;
  if (delivers && (operation.process >= processes_.size() || !processes_[operation.process].is_consumer)) return false;
  usual_.has_position = has_position;
  usual_.partition = core::PartitionId{has_position && !stream ? position.partition : 0};
  usual_.offset = core::Offset{has_position ? position.offset : 0};
  usual_.time = MonotonicTime(Nanoseconds(operation.time_ns));
  usual_.key = keys_[operation.key];
  usual_.sequence = core::Sequence{operation.value - first_value()};
  usual_.event = publishes ? outcome_of(operation.type) : delivers ? Event::kDeliver : Event::kRaw;
  usual_.content = publishes ? core::Content::kIntact : core::Content::kUnchecked;
  if (delivers) {
    Process& process = processes_[operation.process];
    if (process.number >= kLabConsumersMax) return false;
    usual_.process = process.number;
    usual_.group = process.group;
    usual_.text = process.name;
    hold(process, usual_.partition);
  } else {
    usual_.process = 0;
    usual_.group = {};
    usual_.text = {};
  }
  sink.observe(usual_);
  return true;
}

Retold::Process& Retold::process_of(std::uint32_t id) {
  if (id >= processes_.size()) processes_.resize(id + std::size_t{1});
  Process& process = processes_[id];
  if (process.role != Role::kUnseen) return process;
  const std::string_view name = vocabulary_.processes.text(id);
  process.role = Role::kOther;
  if (of_lab()) return process;
  if (const auto producer = number_of(name, "producer")) {
    process.role = Role::kProducer;
    process.number = *producer;
  } else if (const auto consumer = number_of(name, "consumer")) {
    process.role = Role::kConsumer;
    process.number = *consumer;
  } else if (name == "final-read") {
    process.role = Role::kFinalRead;
  }
  return process;
}

Result<void> Retold::begin(const Operation& operation, Role role, Observation& observation) {
  if (of_lab()) return begin_lab(operation, role, observation);
  const Process& process = process_of(operation.process);
  if (process.number >= kClientsMax) return foreign(operation, fmt::format("a worker has at most {} of a kind", kClientsMax));
  if (operation.time_ns > kTimeMax || operation.time_ns < -kTimeMax) return foreign(operation, "its 'time_ns' is out of range");
  if (role != Role::kOther && process.role != role) {
    return foreign(operation, fmt::format("process '{}' does not do this in a worker of a proof",
                                          printable(vocabulary_.processes.text(operation.process))));
  }
  observation.process = process.number;
  observation.group = process.group;
  observation.time = MonotonicTime(Nanoseconds(operation.time_ns));
  if (operation.has(Member::kError)) observation.text = operation.details->error;
  if (operation.has(Member::kKey)) observation.name = vocabulary_.keys.text(operation.key);
  return {};
}

void Retold::make_consumer(std::uint32_t id, std::string_view group) {
  Process& process = process_of(id);
  if (!process.is_consumer) process.number = consumers_++;
  process.is_consumer = true;
  process.name = vocabulary_.processes.text(id);
  const auto found = std::ranges::find(groups_, group);
  process.group = core::GroupIndex{static_cast<std::uint32_t>(found - groups_.begin())};
  if (found == groups_.end()) groups_.emplace_back(group);
}

Result<void> Retold::begin_lab(const Operation& operation, Role role, Observation& observation) {
  if (operation.time_ns > kTimeMax || operation.time_ns < -kTimeMax) return foreign(operation, "its 'time_ns' is out of range");
  if (operation.has(Member::kTopic)) {
    if (has_topic_ && topic_ != operation.topic)
      return foreign(operation, "a second topic: histories of several topics cannot be judged yet");
    topic_ = operation.topic;
    has_topic_ = true;
  }
  observation.time = MonotonicTime(Nanoseconds(operation.time_ns));
  if (role == Role::kConsumer) {
    const std::uint32_t id = operation.process;
    if (id >= processes_.size() || !processes_[id].is_consumer) make_consumer(id, vocabulary_.processes.text(id));
    const Process& process = processes_[id];
    if (process.number >= kLabConsumersMax) {
      return foreign(operation, fmt::format("more than {} consumers cannot be judged", kLabConsumersMax));
    }
    observation.process = process.number;
    observation.group = process.group;
    observation.text = process.name;
  } else if (operation.has(Member::kError)) {
    observation.text = operation.details->error;
  }
  if (!operation.has(Member::kKey)) {
    if (!no_key_) no_key_ = lab_->keys->literal("");
    if (no_key_) observation.key = *no_key_;
    return {};
  }
  if (operation.key >= keys_.size()) keys_.resize(operation.key + std::size_t{1}, kNotLookedUp);
  core::KeyRef& key = keys_[operation.key];
  if (key == kNotLookedUp) {
    const std::string_view name = vocabulary_.keys.text(operation.key);
    if (core::is_name_of(lab_->keys->run(), name)) return foreign(operation, fmt::format("the key '{}' is reserved", printable(name)));
    const auto found = lab_->keys->literal(name);
    if (!found) return fail(ErrorCode::kFull, fmt::format("line {}: more keys than can be judged", operation.line));
    key = *found;
  }
  observation.key = key;
  return {};
}

Result<void> Retold::position(const Operation& operation, Observation& observation) {
  if (!operation.has(Member::kPosition)) return {};
  const Position& position = operation.position;
  if (of_lab() && position.kind == Position::Kind::kEntry) return foreign(operation, "positions of Pulsar cannot be judged yet");
  if (of_lab() && kind_.value_or(position.kind) != position.kind)
    return foreign(operation, "its position is of another kind than those before");
  kind_ = position.kind;
  const bool stream = of_lab() && position.kind == Position::Kind::kSequence;
  if (!stream && (position.kind != Position::Kind::kOffset || !position.has_partition)) {
    return foreign(operation, "its position is not {\"partition\":p,\"offset\":o}");
  }
  if (position.partition >= partitions_max()) return foreign(operation, too_many_partitions(of_lab()));
  observation.has_position = true;
  observation.partition = core::PartitionId{stream ? 0 : position.partition};
  observation.offset = core::Offset{position.offset};
  return {};
}

Result<void> Retold::attempt(const Operation& operation, core::ObservationSink& sink) {
  Observation observation;
  if (auto begun = begin(operation, Role::kProducer, observation); !begun) return begun;
  if (auto placed = position(operation, observation); !placed) return placed;
  if (!of_lab() && !operation.has(Member::kKey)) return foreign(operation, "a record of a proof has a 'key'");
  observation.event = outcome_of(operation.type);
  if (observation.event == Event::kFail && of_lab() && operation.has(Member::kTxn)) {
    observation.failure = operation.has(Member::kError) ? core::Failure::kFenced : core::Failure::kAborted;
  }
  observation.sequence = core::Sequence{operation.value - first_value()};
  sink.observe(observation);
  return {};
}

Result<void> Retold::subscribe(const Operation& operation) {
  Observation observation;
  if (auto begun = begin(operation, Role::kConsumer, observation); !begun) return begun;
  if (!operation.has(Member::kGroup)) return {};
  const std::string_view group = vocabulary_.words.text(operation.group);
  const auto found = std::ranges::find(groups_, group);
  if (found == groups_.end()) {
    return foreign(operation, fmt::format("group '{}' is none of the proof's", printable(group)));
  }
  process_of(operation.process).group = core::GroupIndex{static_cast<std::uint32_t>(found - groups_.begin())};
  return {};
}

std::optional<std::uint64_t> Retold::stream_start(const Operation& operation) const {
  if (lab_->dialect == Dialect::kDriftlab) return 1;
  if (operation.has(Member::kPosition) && operation.position.kind == Position::Kind::kSequence) return operation.position.offset;
  if (!operation.has(Member::kStart) || !operation.details->start.empty()) return std::nullopt;
  const Position& start = operation.details->start_position;
  return start.kind == Position::Kind::kSequence ? std::optional(start.offset) : std::nullopt;
}

void Retold::hold(Process& process, core::PartitionId partition) {
  if (partition.value() >= process.holds.size()) process.holds.resize(partition.value() + std::size_t{1});
  process.holds[partition.value()] = true;
}

void Retold::release(Process& process, Observation observation, core::LineageClose how, core::ObservationSink& sink) {
  observation.event = Event::kRevoke;
  observation.close = how;
  for (std::uint32_t partition = 0; partition < process.holds.size(); ++partition) {
    if (!process.holds[partition]) continue;
    observation.partition = core::PartitionId{partition};
    sink.observe(observation);
  }
  process.holds.clear();
}

Result<void> Retold::subscribe_lab(const Operation& operation, core::ObservationSink& sink) {
  shared_ = shared_ || (operation.has(Member::kMode) && operation.details->mode == "shared");
  if (operation.type != Type::kOk) return {};
  // With a position, or at the end of the log: its own choice of what it wants.
  const bool late = operation.has(Member::kStart) && (operation.details->start.empty() || operation.details->start == "latest");
  if (late && !process_of(operation.process).is_consumer) ++late_consumers_;
  if (operation.has(Member::kGroup)) {
    stated_group_ = true;
    make_consumer(operation.process, vocabulary_.words.text(operation.group));
  }
  Observation observation;
  if (auto begun = begin(operation, Role::kConsumer, observation); !begun) return begun;
  Process& process = process_of(operation.process);
  release(process, observation, core::LineageClose::kLost, sink);
  const auto start = stream_start(operation);
  if (!start) return {};
  kind_ = Position::Kind::kSequence;
  observation.event = Event::kAssign;
  observation.has_start = true;
  observation.start = core::Offset{*start};
  hold(process, observation.partition);
  sink.observe(observation);
  return {};
}

// What is no evidence of a record, or cannot be judged yet.
Result<void> Retold::other(const Operation& operation) const {
  const Function function = operation.function;
  if ((function == Function::kAck || function == Function::kNack) && !lab_->individual) {
    return foreign(operation, "the contract says that acknowledgements are cumulative: say \"acknowledgement\":\"individual\"");
  }
  if (function == Function::kCopy || function == Function::kSkip) return foreign(operation, "processors cannot be judged yet");
  return {};  // faults, probes, what the cluster said
}

Result<void> Retold::possession(const Operation& operation, core::ObservationSink& sink) {
  Observation observation;
  if (auto begun = begin(operation, Role::kConsumer, observation); !begun) return begun;
  if (operation.type != Type::kOk) return foreign(operation, "its type must be \"ok\"");
  const bool opens = operation.function == Function::kAssign;
  observation.event = opens ? Event::kAssign : Event::kRevoke;
  observation.has_generation = operation.has(Member::kGeneration);
  if (observation.has_generation) observation.generation = core::Generation{operation.generation};
  if (operation.is(Member::kLost)) observation.close = core::LineageClose::kLost;
  if (operation.is(Member::kClosed)) observation.close = core::LineageClose::kClosed;
  const Details& details = *operation.details;
  if (!of_lab()) observation.text = {};
  if (opens) {
    observation.classic = !operation.has(Member::kProtocol) || details.protocol == "classic";
    if (!of_lab() && operation.has(Member::kMember)) observation.text = details.member;
    if (operation.has(Member::kInstance)) observation.instance = details.instance;
  }
  for (const std::uint32_t partition : details.partitions) {
    if (partition >= partitions_max()) return foreign(operation, too_many_partitions(of_lab()));
    observation.partition = core::PartitionId{partition};
    observation.has_start = false;
    if (operation.has(Member::kStarts)) {
      const auto start = std::ranges::find_if(details.starts, [&](const Position& one) { return one.partition == partition; });
      observation.has_start = start != details.starts.end();
      if (observation.has_start) observation.start = core::Offset{start->offset};
    }
    if (of_lab()) hold(process_of(operation.process), observation.partition);
    sink.observe(observation);
  }
  return {};
}

Result<void> Retold::record(const Operation& operation, core::ObservationSink& sink) {
  const bool raw = operation.function == Function::kRead;
  Observation observation;
  if (auto begun = begin(operation, raw ? Role::kFinalRead : Role::kConsumer, observation); !begun) return begun;
  if (auto placed = position(operation, observation); !placed) return placed;
  observation.event = raw ? Event::kRaw : Event::kDeliver;
  observation.content = core::Content::kUnchecked;
  if (operation.has(Member::kChecksum)) {
    observation.content = operation.checksum == Checksum::kOk ? core::Content::kIntact : core::Content::kDamaged;
  }
  if (operation.has(Member::kRun)) observation.content = core::Content::kOtherRun;
  if (operation.has(Member::kValue)) observation.sequence = core::Sequence{operation.value - first_value()};
  if (operation.has(Member::kAsked)) observation.asked_partition = core::PartitionId{operation.asked};
  const bool readable = observation.content == core::Content::kIntact || observation.content == core::Content::kUnchecked;
  if (readable && !of_lab() && !operation.has(Member::kKey)) return foreign(operation, "a record of a proof has a 'key'");
  if (readable && !operation.has(Member::kValue))
    return foreign(operation, "a record without 'value' whose checksum is not \"bad\": nothing tells which it is");
  if (of_lab() && !raw) hold(process_of(operation.process), observation.partition);
  sink.observe(observation);
  return {};
}

Result<void> Retold::commit(const Operation& operation, core::ObservationSink& sink) {
  Observation observation;
  if (auto begun = begin(operation, Role::kConsumer, observation); !begun) return begun;
  if (auto placed = position(operation, observation); !placed) return placed;
  if (!observation.has_position) return foreign(operation, "a commit of a proof has a 'position'");
  observation.event = commit_outcome_of(operation.type);
  sink.observe(observation);
  return {};
}

Result<void> Retold::range(const Operation& operation, core::ObservationSink& sink) {
  Observation observation;
  if (auto begun = begin(operation, Role::kFinalRead, observation); !begun) return begun;
  observation.event = operation.function == Function::kReadEnd ? Event::kRawEnd : Event::kRawBegin;
  observation.has_position = true;
  for (const Target& target : operation.details->target) {
    if (target.partition >= partitions_max()) return foreign(operation, too_many_partitions(of_lab()));
    observation.partition = core::PartitionId{target.partition};
    observation.offset = core::Offset{target.start};
    observation.end = core::Offset{target.end};
    observation.reached = target.reached.value_or(false);
    sink.observe(observation);
  }
  return {};
}

Result<void> Retold::notice(const Operation& operation, core::ObservationSink& sink) {
  Observation observation;
  if (auto begun = begin(operation, Role::kOther, observation); !begun) return begun;
  if (of_lab()) return {};  // one file, one order; who ended is not for the engine
  const Function function = operation.function;
  observation.event = function == Function::kDisconnect  ? Event::kDisconnect
                       : function == Function::kReconnect ? Event::kReconnect
                       : function == Function::kTick      ? Event::kTick
                       : function == Function::kEnd       ? Event::kEnd
                                                          : Event::kClientError;
  if (function == Function::kTick) observation.number = operation.number;
  sink.observe(observation);
  return {};
}

}  // namespace sp::history

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

std::string too_many_partitions() {
  return fmt::format("a topic of a proof has at most {} partitions", Retold::kPartitionsMax);
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

Result<void> Retold::tell(const Operation& operation, core::ObservationSink& sink) {
  switch (operation.function) {
    case Function::kPublish: return attempt(operation, sink);
    case Function::kSubscribe: return subscribe(operation);
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
    case Function::kClock:
    case Function::kIncomplete:
    case Function::kUnsubscribe: return {};
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
    case Function::kOther: return foreign(operation, "a worker of a proof does not write this");
  }
  return {};
}

Retold::Process& Retold::process_of(std::uint32_t id) {
  if (id >= processes_.size()) processes_.resize(id + std::size_t{1});
  Process& process = processes_[id];
  if (process.role != Role::kUnseen) return process;
  const std::string_view name = vocabulary_.processes.text(id);
  process.role = Role::kOther;
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

Result<Observation> Retold::begin(const Operation& operation, Role role) {
  const Process& process = process_of(operation.process);
  if (process.number >= kClientsMax) return foreign(operation, fmt::format("a worker has at most {} of a kind", kClientsMax));
  if (operation.time_ns > kTimeMax || operation.time_ns < -kTimeMax) return foreign(operation, "its 'time_ns' is out of range");
  if (role != Role::kOther && process.role != role) {
    return foreign(operation, fmt::format("process '{}' does not do this in a worker of a proof",
                                          printable(vocabulary_.processes.text(operation.process))));
  }
  Observation observation;
  observation.process = process.number;
  observation.group = process.group;
  observation.time = MonotonicTime(Nanoseconds(operation.time_ns));
  if (operation.has(Member::kError)) observation.text = operation.details->error;
  if (operation.has(Member::kKey)) observation.name = vocabulary_.keys.text(operation.key);
  return observation;
}

Result<void> Retold::position(const Operation& operation, Observation& observation) const {
  if (!operation.has(Member::kPosition)) return {};
  if (operation.position.kind != Position::Kind::kOffset || !operation.position.has_partition) {
    return foreign(operation, "its position is not {\"partition\":p,\"offset\":o}");
  }
  if (operation.position.partition >= kPartitionsMax) return foreign(operation, too_many_partitions());
  observation.has_position = true;
  observation.partition = core::PartitionId{operation.position.partition};
  observation.offset = core::Offset{operation.position.offset};
  return {};
}

Result<void> Retold::attempt(const Operation& operation, core::ObservationSink& sink) {
  auto observation = begin(operation, Role::kProducer);
  if (!observation) return tl::unexpected(std::move(observation).error());
  if (auto placed = position(operation, *observation); !placed) return placed;
  if (!operation.has(Member::kKey)) return foreign(operation, "a record of a proof has a 'key'");
  observation->event = outcome_of(operation.type);
  observation->sequence = core::Sequence{operation.value};
  sink.observe(*observation);
  return {};
}

Result<void> Retold::subscribe(const Operation& operation) {
  if (auto observation = begin(operation, Role::kConsumer); !observation) return tl::unexpected(std::move(observation).error());
  if (!operation.has(Member::kGroup)) return {};
  const std::string_view group = vocabulary_.words.text(operation.group);
  const auto found = std::ranges::find(groups_, group);
  if (found == groups_.end()) {
    return foreign(operation, fmt::format("group '{}' is none of the proof's", printable(group)));
  }
  process_of(operation.process).group = core::GroupIndex{static_cast<std::uint32_t>(found - groups_.begin())};
  return {};
}

Result<void> Retold::possession(const Operation& operation, core::ObservationSink& sink) {
  auto observation = begin(operation, Role::kConsumer);
  if (!observation) return tl::unexpected(std::move(observation).error());
  if (operation.type != Type::kOk) return foreign(operation, "its type must be \"ok\"");
  const bool opens = operation.function == Function::kAssign;
  observation->event = opens ? Event::kAssign : Event::kRevoke;
  observation->has_generation = operation.has(Member::kGeneration);
  if (observation->has_generation) observation->generation = core::Generation{operation.generation};
  if (operation.is(Member::kLost)) observation->close = core::LineageClose::kLost;
  if (operation.is(Member::kClosed)) observation->close = core::LineageClose::kClosed;
  const Details& details = *operation.details;
  observation->text = {};
  if (opens) {
    observation->classic = !operation.has(Member::kProtocol) || details.protocol == "classic";
    if (operation.has(Member::kMember)) observation->text = details.member;
    if (operation.has(Member::kInstance)) observation->instance = details.instance;
  }
  for (const std::uint32_t partition : details.partitions) {
    if (partition >= kPartitionsMax) return foreign(operation, too_many_partitions());
    observation->partition = core::PartitionId{partition};
    observation->has_start = false;
    if (operation.has(Member::kStarts)) {
      const auto start = std::ranges::find_if(details.starts, [&](const Position& one) { return one.partition == partition; });
      observation->has_start = start != details.starts.end();
      if (observation->has_start) observation->start = core::Offset{start->offset};
    }
    sink.observe(*observation);
  }
  return {};
}

Result<void> Retold::record(const Operation& operation, core::ObservationSink& sink) {
  const bool raw = operation.function == Function::kRead;
  auto observation = begin(operation, raw ? Role::kFinalRead : Role::kConsumer);
  if (!observation) return tl::unexpected(std::move(observation).error());
  if (auto placed = position(operation, *observation); !placed) return placed;
  observation->event = raw ? Event::kRaw : Event::kDeliver;
  observation->content = core::Content::kUnchecked;
  if (operation.has(Member::kChecksum)) {
    observation->content = operation.checksum == Checksum::kOk ? core::Content::kIntact : core::Content::kDamaged;
  }
  if (operation.has(Member::kRun)) observation->content = core::Content::kOtherRun;
  if (operation.has(Member::kValue)) observation->sequence = core::Sequence{operation.value};
  if (operation.has(Member::kAsked)) observation->asked_partition = core::PartitionId{operation.asked};
  const bool readable = observation->content == core::Content::kIntact || observation->content == core::Content::kUnchecked;
  if (readable && !operation.has(Member::kKey)) return foreign(operation, "a record of a proof has a 'key'");
  sink.observe(*observation);
  return {};
}

Result<void> Retold::commit(const Operation& operation, core::ObservationSink& sink) {
  auto observation = begin(operation, Role::kConsumer);
  if (!observation) return tl::unexpected(std::move(observation).error());
  if (auto placed = position(operation, *observation); !placed) return placed;
  if (!observation->has_position) return foreign(operation, "a commit of a proof has a 'position'");
  observation->event = commit_outcome_of(operation.type);
  sink.observe(*observation);
  return {};
}

Result<void> Retold::range(const Operation& operation, core::ObservationSink& sink) {
  auto observation = begin(operation, Role::kFinalRead);
  if (!observation) return tl::unexpected(std::move(observation).error());
  observation->event = operation.function == Function::kReadEnd ? Event::kRawEnd : Event::kRawBegin;
  observation->has_position = true;
  for (const Target& target : operation.details->target) {
    if (target.partition >= kPartitionsMax) return foreign(operation, too_many_partitions());
    observation->partition = core::PartitionId{target.partition};
    observation->offset = core::Offset{target.start};
    observation->end = core::Offset{target.end};
    observation->reached = target.reached.value_or(false);
    sink.observe(*observation);
  }
  return {};
}

Result<void> Retold::notice(const Operation& operation, core::ObservationSink& sink) {
  auto observation = begin(operation, Role::kOther);
  if (!observation) return tl::unexpected(std::move(observation).error());
  const Function function = operation.function;
  observation->event = function == Function::kDisconnect  ? Event::kDisconnect
                       : function == Function::kReconnect ? Event::kReconnect
                       : function == Function::kTick      ? Event::kTick
                       : function == Function::kEnd       ? Event::kEnd
                                                          : Event::kClientError;
  if (function == Function::kTick) observation->number = operation.number;
  sink.observe(*observation);
  return {};
}

}  // namespace sp::history

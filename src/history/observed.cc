#include "history/observed.h"

#include <limits>
#include <utility>

#include <fmt/core.h>

namespace sp::history {

using core::Event;
using core::Observation;

namespace {

constexpr std::uint32_t kUnnamed = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Observed::Observed(Writer& writer, const core::KeySpace& keys, Options options)
    : writer_(writer), keys_(keys), options_(std::move(options)) {
  for (const std::string& group : options_.groups) groups_.push_back(writer_.vocabulary().words.add(group).value_or(0));
}

void Observed::observe(const Observation& observation) {
  switch (observation.event) {
    case Event::kInvoke: return attempt(observation, Type::kInvoke);
    case Event::kOk: return attempt(observation, Type::kOk);
    case Event::kFail: return attempt(observation, Type::kFail);
    case Event::kInfo: return attempt(observation, Type::kInfo);
    case Event::kAssign:
    case Event::kRevoke: return possession(observation);
    case Event::kDeliver:
    case Event::kRaw: return record(observation);
    case Event::kCommitInvoke: return commit(observation, Type::kInvoke);
    case Event::kCommitOk: return commit(observation, Type::kOk);
    case Event::kCommitFail: return commit(observation, Type::kFail);
    case Event::kCommitInfo: return commit(observation, Type::kInfo);
    case Event::kRawBegin:
    case Event::kRawEnd: return range(observation);
    case Event::kClientError:
    case Event::kDisconnect:
    case Event::kReconnect:
    case Event::kTick:
    case Event::kEnd: return notice(observation);
  }
}

std::uint32_t Observed::named(std::string_view what) { return writer_.vocabulary().processes.add(what).value_or(0); }

std::uint32_t Observed::named(std::vector<std::uint32_t>& ids, std::string_view what, std::uint32_t number) {
  if (number >= ids.size()) ids.resize(number + std::size_t{1}, kUnnamed);
  if (ids[number] == kUnnamed) ids[number] = named(fmt::format("{}-{}", what, number));
  return ids[number];
}

void Observed::begin_line(const Observation& observation, Function function, Type type, std::uint32_t process) {
  operation_.members = bit(Member::kTime);
  operation_.truths = 0;
  operation_.time_ns = observation.time.time_since_epoch().count();
  operation_.function = function;
  operation_.type = type;
  operation_.process = process;
  operation_.details = &details_;
}

void Observed::position(const Observation& observation) {
  operation_.position = {};
  operation_.position.has_partition = true;
  operation_.position.partition = observation.partition.value();
  operation_.position.offset = observation.offset.value();
  operation_.members |= bit(Member::kPosition);
}

void Observed::error(const Observation& observation) {
  if (observation.text.empty()) return;
  details_.error = observation.text;
  operation_.members |= bit(Member::kError);
}

void Observed::write(std::optional<std::string_view> key) { (void)writer_.write(operation_, key); }

void Observed::attempt(const Observation& observation, Type type) {
  begin_line(observation, Function::kPublish, type, named(producers_, "producer", observation.process));
  operation_.value = observation.sequence.value();
  operation_.members |= bit(Member::kValue) | bit(Member::kKey);
  if (observation.has_position) position(observation);
  error(observation);
  if (observation.name.empty()) keys_.name_to(observation.key, key_);
  write(observation.name.empty() ? std::string_view(key_) : observation.name);
}

void Observed::subscribe(const Observation& observation) {
  const std::size_t consumer = observation.process;
  if (consumer >= subscribed_.size()) subscribed_.resize(consumer + 1);
  if (subscribed_[consumer]) return;
  subscribed_[consumer] = true;
  begin_line(observation, Function::kSubscribe, Type::kOk, named(consumers_, "consumer", observation.process));
  details_.start = options_.start;
  operation_.members |= bit(Member::kStart);
  if (observation.group.value() < groups_.size()) {
    operation_.group = groups_[observation.group.value()];
    operation_.members |= bit(Member::kGroup);
  }
  write();
}

void Observed::possession(const Observation& observation) {
  subscribe(observation);
  const bool opens = observation.event == Event::kAssign;
  begin_line(observation, opens ? Function::kAssign : Function::kRevoke, Type::kOk, named(consumers_, "consumer", observation.process));
  details_.partitions.assign(1, observation.partition.value());
  operation_.members |= bit(Member::kPartitions);
  if (observation.has_generation) {
    operation_.generation = observation.generation.value();
    operation_.members |= bit(Member::kGeneration);
  }
  if (!opens) {
    if (observation.close == core::LineageClose::kLost) operation_.truths = bit(Member::kLost);
    if (observation.close == core::LineageClose::kClosed) operation_.truths = bit(Member::kClosed);
    operation_.members |= operation_.truths;
    return write();
  }
  details_.protocol = observation.classic ? "classic" : "consumer";
  details_.member = observation.text;
  details_.instance = observation.instance;
  operation_.members |= bit(Member::kProtocol);
  if (!observation.text.empty()) operation_.members |= bit(Member::kMember);
  if (!observation.instance.empty()) operation_.members |= bit(Member::kInstance);
  if (observation.has_start) {
    Position start;
    start.has_partition = true;
    start.partition = observation.partition.value();
    start.offset = observation.start.value();
    details_.starts.assign(1, start);
    operation_.members |= bit(Member::kStarts);
  }
  write();
}

void Observed::record(const Observation& observation) {
  const bool raw = observation.event == Event::kRaw;
  if (!raw) subscribe(observation);
  begin_line(observation, raw ? Function::kRead : Function::kDeliver, Type::kOk,
        raw ? named("final-read") : named(consumers_, "consumer", observation.process));
  if (observation.has_position) position(observation);
  const bool damaged = observation.content == core::Content::kDamaged;
  const bool other_run = observation.content == core::Content::kOtherRun;
  if (damaged || observation.content == core::Content::kIntact) {
    operation_.checksum = damaged ? Checksum::kBad : Checksum::kOk;
    operation_.members |= bit(Member::kChecksum);
  }
  if (other_run) {
    details_.run = "other";
    operation_.members |= bit(Member::kRun);
  }
  if (!damaged && !other_run) {
    operation_.value = observation.sequence.value();
    operation_.members |= bit(Member::kValue);
  }
  if (observation.asked_partition.value() != ~std::uint32_t{0}) {
    operation_.asked = observation.asked_partition.value();
    operation_.members |= bit(Member::kAsked);
  }
  operation_.members |= bit(Member::kKey);
  if (!observation.name.empty()) return write(observation.name);
  if (damaged || other_run) {  // its key means nothing
    operation_.members &= ~bit(Member::kKey);
    return write();
  }
  keys_.name_to(observation.key, key_);
  write(key_);
}

void Observed::commit(const Observation& observation, Type type) {
  subscribe(observation);
  begin_line(observation, Function::kCommit, type, named(consumers_, "consumer", observation.process));
  position(observation);
  error(observation);
  write();
}

void Observed::range(const Observation& observation) {
  const bool ends = observation.event == Event::kRawEnd;
  begin_line(observation, ends ? Function::kReadEnd : Function::kReadBegin, ends ? Type::kOk : Type::kInvoke, named("final-read"));
  Target target;
  target.partition = observation.partition.value();
  target.start = observation.offset.value();
  target.end = observation.end.value();
  if (ends) target.reached = observation.reached;
  details_.target.assign(1, target);
  operation_.members |= bit(Member::kTarget);
  write();
}

void Observed::notice(const Observation& observation) {
  Function function = Function::kClientError;
  if (observation.event == Event::kDisconnect) function = Function::kDisconnect;
  if (observation.event == Event::kReconnect) function = Function::kReconnect;
  if (observation.event == Event::kTick) function = Function::kTick;
  if (observation.event == Event::kEnd) function = Function::kEnd;
  const bool of_worker = function == Function::kTick || function == Function::kEnd;
  begin_line(observation, function, of_worker ? Type::kOk : Type::kInfo, of_worker ? named("worker") : named("client"));
  if (function == Function::kTick) {
    operation_.number = observation.number;
    operation_.members |= bit(Member::kN);
  } else if (function == Function::kEnd) {
    details_.reason = observation.text.empty() ? std::string_view("done") : observation.text;
    operation_.members |= bit(Member::kReason);
  } else {
    error(observation);
  }
  write();
}

}  // namespace sp::history

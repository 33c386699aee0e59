#include "check/single_acks.h"

namespace sp::check {
namespace {

using history::Function;
using history::Member;
using history::Operation;
using history::Type;

}  // namespace

void SingleAcks::see(const Operation& operation, const history::Retold& retold) {
  const Function function = operation.function;
  if (function == Function::kPublish) return publish(operation);
  if (function == Function::kReconnect) return reconnect(operation);
  const bool leaves = function == Function::kUnsubscribe || function == Function::kSubscribe || function == Function::kRevoke;
  if (function == Function::kDisconnect || (leaves && operation.type == Type::kOk)) {
    leave(operation);
    return;
  }
  const bool answers = function == Function::kAck || function == Function::kNack;
  if (function != Function::kDeliver && !answers) return;
  const auto number = retold.group_of(operation.process);
  if (!number) return;
  if (answers) return answer(operation, group(number->value()));
  deliver(operation, group(number->value()), number->value());
}

void SingleAcks::leave(const Operation& operation) {
  Client& own = client(operation.process);
  if (operation.function != Function::kRevoke) {
    own.gone = operation.index + 1;
    return;
  }
  for (const std::uint32_t partition : operation.details->partitions) own.gave_back[partition] = operation.index + 1;
}

SingleAcks::Group& SingleAcks::group(std::uint32_t number) {
  if (number >= groups_.size()) groups_.resize(number + std::size_t{1});
  return groups_[number];
}

SingleAcks::Client& SingleAcks::client(std::uint32_t process) {
  if (process >= clients_.size()) clients_.resize(process + std::size_t{1});
  return clients_[process];
}

SingleAcks::Unit SingleAcks::unit_of(const Operation& operation) {
  if (!operation.has(Member::kPosition)) return {false, operation.key_place(), operation.value};
  const bool stream = operation.position.kind == history::Position::Kind::kSequence;
  return {true, stream ? 0 : operation.position.partition, operation.position.offset};
}

void SingleAcks::publish(const Operation& operation) {
  if (operation.type != Type::kInvoke) return;
  const std::uint32_t key = operation.key_place();
  if (key >= sent_.size()) sent_.resize(key + std::size_t{1});
  sent_[key].process = operation.process;
  sent_[key].next = std::max(sent_[key].next, operation.value + 1);
}

void SingleAcks::reconnect(const Operation& operation) {
  Client& own = client(operation.process);
  own.gone = operation.index + 1;
  if (operation.has(Member::kSessionPresent) && !operation.is(Member::kSessionPresent)) own.new_session = operation.index + 1;
  for (Sent& sent : sent_) {
    if (sent.process == operation.process) sent.before = sent.next;
  }
}

void SingleAcks::deliver(const Operation& operation, Group& group, std::uint32_t number) {
  const bool named = operation.has(Member::kValue) && !operation.is_damaged() && !operation.has(Member::kRun);
  if (!named && !operation.has(Member::kPosition)) return;  // nobody knows what it was
  const Unit unit = unit_of(operation);
  const Held now{operation.process, false, operation.index + 1, MonotonicTime(Nanoseconds(operation.time_ns))};
  const auto done = group.done.find({unit.placed, unit.place});
  const bool for_good = done != group.done.end() && done->second.contains(unit.number);
  const auto held = group.held.find(unit);
  if (!for_good && held == group.held.end()) {
    if (units_ >= kUnitsMax) {
      ++not_judged_;
      return;
    }
    ++units_;
    group.held.emplace(unit, now);
    if (unit.placed && named) group.named.insert_or_assign({operation.key_place(), operation.value}, unit);
    return;
  }
  const bool allowed = !for_good && is_allowed(operation, unit, held->second);
  if (!for_good) held->second = now;
  if (allowed) {
    ++allowed_;
  } else if (forbidden_.size() < kNamedMax) {
    forbidden_.push_back({number, operation.process, named ? operation.key_place() : 0, operation.value, unit});
  }
}

bool SingleAcks::is_allowed(const Operation& operation, const Unit& unit, const Held& held) const {
  const Client* holder = held.process < clients_.size() ? &clients_[held.process] : nullptr;
  const std::uint8_t qos = operation.has(Member::kQos) ? operation.qos : 0;
  if (qos == 2) return holder != nullptr && holder->new_session > held.index;
  if (held.refused || (holder != nullptr && holder->gone > held.index)) return true;
  if (holder != nullptr && unit.placed) {
    const auto gave_back = holder->gave_back.find(unit.place);
    if (gave_back != holder->gave_back.end() && gave_back->second > held.index) return true;
  }
  const MonotonicTime now{Nanoseconds(operation.time_ns)};
  if (ack_wait_ && operation.has(Member::kTime) && now - held.time >= *ack_wait_) return true;
  if (qos != 1 || !operation.has(Member::kValue)) return false;
  const std::uint32_t key = operation.key_place();
  return key < sent_.size() && operation.value < sent_[key].before;
}

void SingleAcks::answer(const Operation& operation, Group& group) {
  Unit unit = unit_of(operation);
  if (!unit.placed) {
    const auto named = group.named.find({unit.place, unit.number});
    if (named != group.named.end()) unit = named->second;
  }
  const auto held = group.held.find(unit);
  if (held == group.held.end()) return;
  if (operation.function == Function::kNack) {
    held->second.refused = held->second.refused || operation.type != Type::kFail;
    return;
  }
  if (operation.type != Type::kOk || !operation.is(Member::kConfirmed)) return;
  group.done[{unit.placed, unit.place}].insert(unit.number);
  group.held.erase(held);
  --units_;
}

void SingleAcks::finish(const std::vector<std::string>& groups, judge::LabFacts& facts) const {
  judge::SingleAckFacts& said = facts.single_acks.emplace();
  said.allowed = allowed_;
  for (const Forbidden& one : forbidden_) {
    judge::Rest& rest = said.forbidden.emplace_back();
    rest.code = core::Code::kDuplicateDelivery;
    rest.group = groups[one.group];
    rest.consumer = vocabulary_.processes.text(one.process);
    rest.nameless = one.key == 0;
    if (one.key != 0) rest.key = vocabulary_.keys.text(one.key - 1);
    rest.sequence = one.sequence;
    if (one.unit.placed) rest.positions.push_back({core::PartitionId{one.unit.place}, core::Offset{one.unit.number}});
    rest.says = "handed over again, though whoever had it kept it or had acknowledged it";
  }
  if (not_judged_ > 0) facts.not_checked["duplicate-delivery"] += not_judged_;
}

}  // namespace sp::check

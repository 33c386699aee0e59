#include "history/schema.h"

#include <algorithm>

#include "base/check.h"

namespace sp::history {
namespace {

constexpr std::size_t kProcessesMax = std::size_t{1} << 20U;
constexpr std::array<std::string_view, 4> kTypes = {"invoke", "ok", "fail", "info"};
constexpr std::array<std::string_view, kFunctionCount> kFunctions = {
    "publish",      "subscribe", "unsubscribe",   "assign",    "revoke", "deliver",  "commit", "ack",  "nack",
    "begin",        "abort",     "copy",          "skip",      "client-error",       "disconnect", "reconnect",
    "cluster-state", "probe",    "read-begin",    "read",      "read-end", "clock",  "tick",   "end",  "stage", "incomplete",
    "",             ""};

constexpr std::array<MemberRow, kMemberCount> kRows = {{
    {Member::kTopic, "topic", Kind::kId, "a text"},
    {Member::kKey, "key", Kind::kId, "a text"},
    {Member::kValue, "value", Kind::kUnsigned, "a whole number"},
    {Member::kPosition, "position", Kind::kPosition,
     "a position: {\"partition\":p,\"offset\":o}, {\"seq\":s} or {\"partition\":p,\"ledger\":l,\"entry\":e,\"batch\":b}"},
    {Member::kPartition, "partition", Kind::kSmall, "a whole number below 2^32"},
    {Member::kAsked, "asked", Kind::kSmall, "a whole number below 2^32"},
    {Member::kChecksum, "checksum", Kind::kChecksum, "\"ok\" or \"bad\""},
    {Member::kRun, "run", Kind::kText, "a text"},
    {Member::kTxn, "txn", Kind::kId, "a text"},
    {Member::kRedelivered, "redelivered", Kind::kBool, "true or false"},
    {Member::kDup, "dup", Kind::kBool, "true or false"},
    {Member::kQos, "qos", Kind::kSmall, "0, 1 or 2"},
    {Member::kConfirmed, "confirmed", Kind::kBool, "true or false"},
    {Member::kSessionPresent, "session_present", Kind::kBool, "true or false"},
    {Member::kStart, "start", Kind::kStart, "\"earliest\", \"latest\", \"committed\" or a position"},
    {Member::kGroup, "group", Kind::kId, "a text"},
    {Member::kMode, "mode", Kind::kText, "a text"},
    {Member::kPartitions, "partitions", Kind::kNumbers, "a list of whole numbers below 2^32"},
    {Member::kGeneration, "generation", Kind::kUnsigned, "a whole number"},
    {Member::kProtocol, "protocol", Kind::kText, "a text"},
    {Member::kMember, "member", Kind::kText, "a text"},
    {Member::kInstance, "instance", Kind::kText, "a text"},
    {Member::kStarts, "starts", Kind::kPositions, "a list of positions"},
    {Member::kLost, "lost", Kind::kBool, "true or false"},
    {Member::kClosed, "closed", Kind::kBool, "true or false"},
    {Member::kFrom, "from", Kind::kPosition, "a position"},
    {Member::kLeader, "leader", Kind::kJson, "a number or a text"},
    {Member::kInSync, "in_sync", Kind::kJson, "a list of numbers or texts"},
    {Member::kController, "controller", Kind::kJson, "a number or a text"},
    {Member::kN, "n", Kind::kUnsigned, "a whole number"},
    {Member::kSeen, "seen", Kind::kSeen, "an object of whole numbers"},
    {Member::kLostIncarnations, "lost_incarnations", Kind::kTexts, "a list of texts"},
    {Member::kTarget, "target", Kind::kTargets, "a list of {\"partition\":p,\"start\":s,\"end\":e,\"reached\":true}"},
    {Member::kScope, "scope", Kind::kText, "\"full\" or \"holes\""},
    {Member::kIsolation, "isolation", Kind::kText, "a text"},
    {Member::kWallNs, "wall_ns", Kind::kUnsigned, "a whole number"},
    {Member::kReason, "reason", Kind::kText, "a text"},
    {Member::kDropped, "dropped", Kind::kUnsigned, "a whole number"},
    {Member::kError, "error", Kind::kText, "a text"},
    {Member::kDetail, "detail", Kind::kJson, "any value"},
    {Member::kTime, "time_ns", Kind::kSigned, "a whole number"},
    {Member::kStage, "stage", Kind::kText, "a text"},
}};

constexpr MemberSet kInDetails = bit(Member::kRun) | bit(Member::kStart) | bit(Member::kMode) | bit(Member::kPartitions) |
                                 bit(Member::kProtocol) | bit(Member::kMember) | bit(Member::kInstance) |
                                 bit(Member::kStarts) | bit(Member::kFrom) | bit(Member::kLeader) | bit(Member::kInSync) |
                                 bit(Member::kController) | bit(Member::kSeen) | bit(Member::kLostIncarnations) |
                                 bit(Member::kTarget) | bit(Member::kScope) | bit(Member::kIsolation) |
                                 bit(Member::kReason) | bit(Member::kError) | bit(Member::kDetail) |
                                 bit(Member::kStage);

constexpr MemberSet kRecord = bit(Member::kFrom) | bit(Member::kKey) | bit(Member::kValue);

// The members that an operation of that name must have, whatever its outcome.
MemberSet demanded_of(Function function) {
  switch (function) {
    case Function::kPublish: return bit(Member::kValue);
    case Function::kAssign:
    case Function::kRevoke: return bit(Member::kPartitions);
    case Function::kBegin:
    case Function::kAbort: return bit(Member::kTxn);
    case Function::kCopy:
    case Function::kSkip: return kRecord;
    case Function::kReadBegin:
    case Function::kReadEnd: return bit(Member::kTarget);
    case Function::kRead: return bit(Member::kPosition);
    case Function::kClock: return bit(Member::kWallNs);
    case Function::kTick: return bit(Member::kN);
    case Function::kEnd: return bit(Member::kReason);
    case Function::kStage: return bit(Member::kStage) | bit(Member::kSeen);
    case Function::kIncomplete: return bit(Member::kDropped);
    case Function::kSubscribe:
    case Function::kUnsubscribe:
    case Function::kDeliver:
    case Function::kCommit:
    case Function::kAck:
    case Function::kNack:
    case Function::kClientError:
    case Function::kDisconnect:
    case Function::kReconnect:
    case Function::kClusterState:
    case Function::kProbe:
    case Function::kFault:
    case Function::kOther: return 0;
  }
  return 0;
}

std::string needs(Function function, std::string_view what) {
  return std::string(function_name(function)) + " needs " + std::string(what);
}

bool has_one_of(const Operation& operation, MemberSet members) { return (operation.members & members) != 0; }

// What the alternatives of one operation demand.
std::string missing_choice(const Operation& operation) {
  const Function function = operation.function;
  const bool certain = operation.type == Type::kInvoke || operation.type == Type::kOk;
  const bool unreadable = operation.has(Member::kRun) || operation.is_damaged();
  if (function == Function::kSubscribe && certain && !operation.has(Member::kStart)) return needs(function, "member 'start'");
  if (function == Function::kDeliver || function == Function::kRead) {
    if (operation.type != Type::kOk) return needs(function, "type \"ok\": it happened or is not written");
    if (!operation.has(Member::kValue) && !unreadable) {
      return needs(function, "member 'value', or 'checksum' \"bad\" or 'run' to say why there is none");
    }
  }
  if (function == Function::kCommit && !has_one_of(operation, bit(Member::kPosition) | bit(Member::kTxn))) {
    return needs(function, "member 'position' or, for a transaction, 'txn'");
  }
  const bool individual = function == Function::kAck || function == Function::kNack;
  if (individual && !has_one_of(operation, bit(Member::kPosition) | bit(Member::kValue))) {
    return needs(function, "member 'position' or 'value'");
  }
  if (function == Function::kClusterState && !has_one_of(operation, bit(Member::kPartition) | bit(Member::kController))) {
    return needs(function, "member 'partition' or 'controller'");
  }
  if (function == Function::kReadEnd &&
      std::ranges::any_of(operation.details->target, [](const Target& target) { return !target.reached; })) {
    return needs(function, "'reached' in each of its targets");
  }
  return "";
}

std::string missing_in_driftlab(const Operation& operation) {
  const bool acked = operation.function == Function::kPublish && operation.type == Type::kOk;
  const bool seen = operation.function == Function::kDeliver || operation.function == Function::kRead;
  if (operation.function != Function::kPublish && !seen) return "";
  if (seen && operation.type != Type::kOk) return needs(operation.function, "type \"ok\"");
  if (!operation.has(Member::kValue)) return needs(operation.function, "member 'value' from 1 up");
  if ((acked || seen) && !operation.has(Member::kPosition)) {
    return needs(operation.function, "member 'stream_seq' from 1 up");
  }
  return "";
}

template <typename T>
bool same_if(const Operation& a, Member member, const T& x, const T& y) {
  return !a.has(member) || x == y;
}

}  // namespace

std::string_view type_name(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<Type> find_type(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name);
  if (found == kTypes.end()) return std::nullopt;
  return static_cast<Type>(found - kTypes.begin());
}

std::string_view function_name(Function function) { return kFunctions[static_cast<std::size_t>(function)]; }

std::optional<Function> find_function(std::string_view name) {
  const auto* const found = std::ranges::find(kFunctions, name);
  if (name.empty() || found == kFunctions.end()) return std::nullopt;
  return static_cast<Function>(found - kFunctions.begin());
}

std::span<const MemberRow, kMemberCount> member_rows() { return kRows; }

const MemberRow* find_member(std::string_view name) {
  const auto* const found = std::ranges::find(kRows, name, &MemberRow::name);
  return found == kRows.end() ? nullptr : found;
}

MemberSet detail_members() { return kInDetails; }

void Details::clear() {
  for (std::string* text : {&start, &mode, &protocol, &member, &instance, &scope, &isolation, &run, &reason, &error, &stage,
                            &leader, &in_sync, &controller, &detail}) {
    text->clear();
  }
  start_position = {};
  partitions.clear();
  starts.clear();
  from = {};
  target.clear();
  seen.clear();
  lost_incarnations.clear();
}

Vocabulary::Vocabulary() : processes(kProcessesMax) { nemesis = processes.add("nemesis").value_or(0); }

std::string what_is_missing(const Operation& operation, Dialect dialect) {
  if (dialect == Dialect::kDriftlab) return missing_in_driftlab(operation);
  const MemberSet missing = demanded_of(operation.function) & ~operation.members;
  if (missing != 0) {
    const auto row = std::ranges::find_if(kRows, [&](const MemberRow& r) { return (missing & bit(r.member)) != 0; });
    return needs(operation.function, "member '" + std::string(row->name) + "'");
  }
  return missing_choice(operation);
}

bool is_sayable(const Operation& operation, Dialect dialect) {
  MemberSet bools = 0;
  for (const MemberRow& row : kRows) bools |= row.kind == Kind::kBool ? bit(row.member) : 0;
  if ((operation.truths & ~(bools & operation.members)) != 0) return false;
  const auto only_of = [&](Member member, Function function) { return !operation.has(member) || operation.function == function; };
  if (!only_of(Member::kN, Function::kTick) || !only_of(Member::kWallNs, Function::kClock) ||
      !only_of(Member::kDropped, Function::kIncomplete)) {
    return false;
  }
  const Position& position = operation.position;
  if (operation.has(Member::kPosition)) {
    if (position.kind == Position::Kind::kSequence && position.has_partition) return false;
    if (position.kind != Position::Kind::kEntry && position.has_batch) return false;
  }
  if (dialect == Dialect::kVersion1) return true;
  constexpr MemberSet kDriftlab =
      bit(Member::kTime) | bit(Member::kValue) | bit(Member::kPosition) | bit(Member::kError) | bit(Member::kDetail);
  return (operation.members & ~kDriftlab) == 0 &&
         (!operation.has(Member::kPosition) || position.kind == Position::Kind::kSequence);
}

bool same(const Operation& a, const Operation& b) {
  if (a.members != b.members || a.truths != b.truths || a.index != b.index || a.type != b.type ||
      a.function != b.function || a.process != b.process) {
    return false;
  }
  const bool named = a.function == Function::kFault || a.function == Function::kOther;
  if (named && a.name != b.name) return false;
  constexpr MemberSet kNumbers = bit(Member::kN) | bit(Member::kWallNs) | bit(Member::kDropped);
  if ((a.members & kNumbers) != 0 && a.number != b.number) return false;
  if ((a.members & kInDetails) != 0 && !(*a.details == *b.details)) return false;
  return same_if(a, Member::kTime, a.time_ns, b.time_ns) && same_if(a, Member::kValue, a.value, b.value) &&
         same_if(a, Member::kGeneration, a.generation, b.generation) &&
         same_if(a, Member::kPosition, a.position, b.position) && same_if(a, Member::kKey, a.key, b.key) &&
         same_if(a, Member::kTopic, a.topic, b.topic) && same_if(a, Member::kTxn, a.txn, b.txn) &&
         same_if(a, Member::kGroup, a.group, b.group) && same_if(a, Member::kPartition, a.partition, b.partition) &&
         same_if(a, Member::kAsked, a.asked, b.asked) && same_if(a, Member::kChecksum, a.checksum, b.checksum) &&
         same_if(a, Member::kQos, a.qos, b.qos);
}

}  // namespace sp::history

// The vocabulary of histories: what one line can say, in both dialects, and what it must say.
//
//     {"index":7,"time_ns":73,"process":"producer-1","type":"ok","f":"publish","key":"k3","value":17,"position":{…}}
//      └ Operation ────────────────────────────────────────────────────────────────────────────────────────────┘
//
//     dialect     version 1    sequences from 0, position objects, many consumers
//                 driftlab     no `version`: one number line from 1, `stream_seq`, 0 is absent
//
// Shape:    `members` says which members an operation has; the others mean nothing. Names are ids of a Vocabulary; what is
//           rare stands in Details.
// Cost:     a value of 152 bytes, no allocation of its own.   Limits: see Names.   Errors: none here.   Threads: values.
// Source:   docs/formats/history.md (grammar and table of operations).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "history/names.h"

namespace sp::history {

enum class Dialect : std::uint8_t { kDriftlab, kVersion1 };

enum class Type : std::uint8_t { kInvoke, kOk, kFail, kInfo };
[[nodiscard]] std::string_view type_name(Type type);
[[nodiscard]] std::optional<Type> find_type(std::string_view name);

enum class Function : std::uint8_t {
  kPublish,
  kSubscribe,
  kUnsubscribe,
  kAssign,
  kRevoke,
  kDeliver,
  kCommit,        // of a position, or of a transaction
  kAck,
  kNack,
  kBegin,
  kAbort,
  kCopy,
  kSkip,
  kClientError,
  kDisconnect,
  kReconnect,
  kClusterState,
  kProbe,
  kReadBegin,
  kRead,
  kReadEnd,
  kClock,
  kTick,
  kEnd,
  kStage,         // what the coordinator is at, from here on
  kIncomplete,    // whoever wrote the file could not keep up here: `dropped` operations are missing
  kFault,         // of the process "nemesis": its name is Operation::name
  kOther,         // driftlab only: a name that this table does not know, in Operation::name
};
constexpr std::size_t kFunctionCount = 28;
// "" for kFault and kOther.
[[nodiscard]] std::string_view function_name(Function function);
[[nodiscard]] std::optional<Function> find_function(std::string_view name);

// What an operation can have, in the order in which it is written.
enum class Member : std::uint8_t {
  kTopic,
  kKey,
  kValue,
  kPosition,
  kPartition,
  kAsked,
  kChecksum,
  kRun,
  kTxn,
  kRedelivered,
  kDup,
  kQos,
  kConfirmed,
  kSessionPresent,
  kStart,
  kGroup,
  kMode,
  kPartitions,
  kGeneration,
  kProtocol,
  kMember,
  kInstance,
  kStarts,
  kLost,
  kClosed,
  kFrom,
  kLeader,
  kInSync,
  kController,
  kN,
  kSeen,
  kLostIncarnations,
  kTarget,
  kScope,
  kIsolation,
  kWallNs,
  kReason,
  kDropped,
  kError,
  kDetail,
  kTime,          // `time_ns`; written at its fixed place in front
  kStage,
};
constexpr std::size_t kMemberCount = 42;

using MemberSet = std::uint64_t;
[[nodiscard]] constexpr MemberSet bit(Member member) { return MemberSet{1} << static_cast<unsigned>(member); }

// Where a system put a record. Compares within one topic and partition, in the order of its members.
struct Position {
  enum class Kind : std::uint8_t {
    kOffset,    // Kafka: partition, offset
    kSequence,  // JetStream: one number line, in `offset`
    kEntry,     // Pulsar: partition, ledger (in `offset`), entry, batch
  };
  Kind kind = Kind::kOffset;
  bool has_partition = false;
  bool has_batch = false;       // kEntry
  std::uint32_t partition = 0;
  std::uint64_t offset = 0;
  std::uint64_t entry = 0;
  std::uint64_t batch = 0;
  bool operator==(const Position&) const = default;
};

enum class Checksum : std::uint8_t { kOk, kBad };

// One part of what a raw read sets out to see.
struct Target {
  std::uint32_t partition = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;               // not inside
  std::optional<bool> reached;         // on read-end: whether all of it was seen
  bool operator==(const Target&) const = default;
};

// What few operations have. Texts are the details' own.
struct Details {
  std::string start;                    // `earliest`, `latest` (Operation::position: where that was) or `committed`
  Position start_position;              // if `start` is ""
  std::string mode, protocol, member, instance, scope, isolation, run, reason, error, stage;
  std::string leader, in_sync, controller, detail;  // compact JSON
  std::vector<std::uint32_t> partitions;
  std::vector<Position> starts;
  Position from;
  std::vector<Target> target;
  std::vector<std::pair<std::string, std::uint64_t>> seen;  // source and the last index included, in the order of the file
  std::vector<std::string> lost_incarnations;
  bool operator==(const Details&) const = default;
  void clear();
};

struct Operation {
  MemberSet members = 0;
  MemberSet truths = 0;                 // those of `members` that are true or false, and true
  std::uint64_t index = 0;
  std::uint64_t line = 0;               // of the file, from 1; in the binary form the line it would have
  std::int64_t time_ns = 0;
  std::uint64_t value = 0;
  std::uint64_t number = 0;             // kN, kWallNs, kDropped: no operation has two of them
  std::uint64_t generation = 0;
  Position position;
  std::uint32_t process = 0;            // of Vocabulary::processes
  std::uint32_t key = 0;                // of Vocabulary::keys
  std::uint32_t topic = 0;              // of Vocabulary::words, as are those below
  std::uint32_t txn = 0;
  std::uint32_t group = 0;
  std::uint32_t name = 0;               // kFault, kOther
  std::uint32_t partition = 0;
  std::uint32_t asked = 0;              // the partition that the payload asked for
  Type type = Type::kInvoke;
  Function function = Function::kPublish;
  Checksum checksum = Checksum::kOk;
  std::uint8_t qos = 0;
  const Details* details = nullptr;     // set if one of kDetailMembers is there

  [[nodiscard]] bool has(Member member) const { return (members & bit(member)) != 0; }
  [[nodiscard]] bool is(Member member) const { return (truths & bit(member)) != 0; }
  // Its content disagrees with itself: its key and value are not to be trusted.
  [[nodiscard]] bool is_damaged() const { return has(Member::kChecksum) && checksum == Checksum::kBad; }
  // Of its key in a table by keys: 0 without one, else its number and one.
  [[nodiscard]] std::uint32_t key_place() const { return has(Member::kKey) ? key + 1 : 0; }
};

// The names of one judgement or conversion: all files of it share them.
struct Vocabulary {
  Vocabulary();
  Names processes;
  Names keys;
  Names words;
  std::uint32_t nemesis = 0;            // of processes
};

enum class Kind : std::uint8_t {
  kId, kUnsigned, kSigned, kSmall, kBool, kChecksum, kPosition, kStart, kText, kJson, kNumbers, kPositions, kTargets, kSeen, kTexts,
};
struct MemberRow {
  Member member;
  std::string_view name;
  Kind kind;
  std::string_view expects;             // for messages: "a text"
};
[[nodiscard]] std::span<const MemberRow, kMemberCount> member_rows();
[[nodiscard]] const MemberRow* find_member(std::string_view name);
// Members that live in Details.
[[nodiscard]] MemberSet detail_members();

// Why an operation with these members must be refused, or "".
[[nodiscard]] std::string what_is_missing(const Operation& operation, Dialect dialect);
// True if there is a line that says this: no member stands where it would not be read.
[[nodiscard]] bool is_sayable(const Operation& operation, Dialect dialect);
// True if both say the same: members, values and names (by id), index included; `line` is not compared.
[[nodiscard]] bool same(const Operation& a, const Operation& b);

// The first record of a file.
struct Meta {
  Dialect dialect = Dialect::kVersion1;
  enum class Kind : std::uint8_t { kLab, kProof };
  enum class Topics : std::uint8_t { kCreated, kReused };
  std::string run, driver, client, api, server, scenario, revision;
  std::vector<std::string> faults;
  std::string contract, params, proof;  // compact JSON; "": absent
  Kind kind = Kind::kLab;
  Topics topics = Topics::kCreated;
  bool raw_read = true;                 // the driver can
  std::string process;                  // per-process files only
  std::optional<std::uint64_t> incarnation;
  std::optional<std::uint64_t> started_wall_ns;
  bool operator==(const Meta&) const = default;
};

}  // namespace sp::history

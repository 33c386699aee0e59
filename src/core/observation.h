// The one value that everything which happened becomes: made by a driver or a history reader, consumed by track, history and
// judge, one at a time. After this nobody knows where an observation came from.
//
//     attempt     invoke ─► ok | fail | info                       key, sequence, position? (ok)
//     lineage     assign ─► deliver* ─► revoke                     consumer, partition, generation?, start?
//     commit      commit-invoke ─► commit-ok | -fail | -info       consumer, position (next to read)
//     raw read    raw-range-begin ─► raw* ─► raw-range-end         position; reached
//
// Shape:    members that an event does not have keep their defaults; `has` says which optional ones are there.
// Cost:     a plain value, some 150 bytes, no allocation; `text` is a view that lives as long as the call it is passed to.
// Threads:  a value.   Errors: none.   Source: docs/formats/history.md (the operation table).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "core/ids.h"
#include "core/key_space.h"

namespace sp::core {

enum class Event : std::uint8_t {
  kInvoke,        // an attempt begins: handed to the client library
  kOk,            // the library reported success; position if it told one
  kFail,          // certainly not stored
  kInfo,          // unknown whether stored
  kAssign,        // opens a lineage: this consumer now reads this partition
  kRevoke,        // closes a lineage; `close` says how
  kDeliver,       // one record handed to the application
  kCommitInvoke,  // a commit is requested: `position` is the next to read
  kCommitOk,
  kCommitFail,
  kCommitInfo,
  kRawBegin,      // the raw read of [position, end) of a partition begins
  kRaw,           // one record of the raw read
  kRawEnd,        // ... ends; `reached` says whether the whole range was seen
  kClientError,   // what a client library reported of itself: `text`
  kDisconnect,
  kReconnect,
  kTick,          // this process answers tick `number`
  kEnd,           // this process ended on purpose
};

enum class LineageClose : std::uint8_t { kRevoked, kLost, kClosed };

// What a delivered or raw-read record shows of itself. Several may hold.
enum class Content : std::uint8_t {
  kIntact,      // checksum, size, key and run agree
  kUnchecked,   // too short to carry a checksum: key and sequence only
  kDamaged,     // checksum, size, key or run disagree within the record: key and sequence are not to be trusted
  kOtherRun,    // intact, but of another run
};

// What the system refuses to a client.
enum class Refusal : std::uint8_t {
  kNone,
  kRight,       // for want of a right or a feature: waiting does not mend it
  kName,        // it does not know what it is asked for: for good if that stays so
};

// Why an attempt certainly failed.
enum class Failure : std::uint8_t {
  kRefused,  // the system or the library refused it
  kAborted,  // its transaction was aborted
  kFenced,   // its producer was shut out before it requested the commit
};

struct Observation {
  Event event = Event::kInvoke;
  Content content = Content::kIntact;
  LineageClose close = LineageClose::kRevoked;
  bool has_position = false;
  bool has_generation = false;
  bool has_start = false;        // kAssign: `start` is the stated first position
  bool reached = false;          // kRawEnd
  Refusal refusal = Refusal::kNone;  // kClientError, kFail, kInfo
  Failure failure = Failure::kRefused;  // kFail
  bool classic = true;           // kAssign: classic group protocol (dual-owner is defined for it only)
  std::uint32_t process = 0;     // producer or consumer, an index within the worker
  GroupIndex group;              // consumer events
  KeyRef key;                    // when `name` is empty
  Sequence sequence;
  PartitionId partition;         // also of `position`
  Offset offset;                 // of `position`; kCommit*: next to read; kRawBegin/End: begin of the range
  Offset end;                    // kRawBegin/End: end of the range, not inside
  Offset start;                  // kAssign
  Generation generation;
  std::uint64_t number = 0;      // kTick
  PartitionId asked_partition{~std::uint32_t{0}};  // kDeliver, kRaw: the partition the payload asked for; all ones: none
  MonotonicTime time{};
  WallTime published{};          // kDeliver, kRaw: the publish time in an intact payload; the epoch: it tells none
  std::string_view name;         // kDeliver, kRaw: the key as found, for whoever keeps the KeySpace to resolve
  std::string_view text;         // kAssign: member id; errors: what the library said
  std::string_view instance;     // kAssign: static instance id, if any
};

// Where observations go. One call, one observation, in the order in which they happened. A maker brackets what it has
// ready at once with begin() and end(), so that a sink shared by threads locks once a batch; it never waits in between.
class ObservationSink {
 public:
  virtual ~ObservationSink() = default;
  virtual void begin() {}
  virtual void observe(const Observation& observation) = 0;
  virtual void end() {}
};

}  // namespace sp::core

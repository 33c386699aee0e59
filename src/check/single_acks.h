// Which repeats individual acknowledgements allow: whoever was handed a record and neither acknowledged it for good nor kept it may not be
// the last to be handed it.
//
//     handed over ─► handed over again     allowed: no ack that the system confirmed came before, and the one who held it closed, lost its
//                                          connection, refused it (nack), or had it for longer than the ack-wait
//                                          qos 1: also if its publisher was connected anew since it sent the record
//                                          qos 2: only if the session was lost in between
//
// Shape:    fed with the operations of one file in their order. A unit is a position, or a record where there is none.
// Cost:     100 ns a delivery. Memory: some 100 bytes a unit that is not acknowledged for good; what is, as ranges.
// Limits:   kUnitsMax such units; what is handed over beyond is not judged, and counted in not_checked().
// Errors:   none.   Threads: one owner.   Source: docs/formats/history.md, "Individual acknowledgements".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/range_set.h"
#include "history/retold.h"
#include "history/schema.h"
#include "judge/judge.h"

namespace sp::check {

class SingleAcks {
 public:
  static constexpr std::size_t kUnitsMax = 16'000'000;
  static constexpr std::size_t kNamedMax = 100'000;     // repeats that are not allowed and named

  // `ack_wait`: how long a record may be held without an answer; absent: as long as its holder likes.
  SingleAcks(const history::Vocabulary& vocabulary, std::optional<Nanoseconds> ack_wait)
      : vocabulary_(vocabulary), ack_wait_(ack_wait) {}

  // `retold` has been told of it.
  void see(const history::Operation& operation, const history::Retold& retold);
  void finish(const std::vector<std::string>& groups, judge::LabFacts& facts) const;

 private:
  // Of a position: partition and offset; of a record: one of these keys and its sequence.
  struct Unit {
    bool placed = false;
    std::uint32_t place = 0;
    std::uint64_t number = 0;
    auto operator<=>(const Unit&) const = default;
  };
  struct Held {
    std::uint32_t process = 0;
    bool refused = false;
    std::uint64_t index = 0;          // of the operation that handed it over
    MonotonicTime time{};
  };
  struct Client {
    std::uint64_t gone = 0;           // index behind which it has been without what it held
    std::map<std::uint32_t, std::uint64_t> gave_back;  // the same of single partitions
    std::uint64_t new_session = 0;
  };
  struct Sent {
    std::uint32_t process = 0;
    std::uint64_t next = 0;           // one above the highest that was attempted
    std::uint64_t before = 0;         // ... when its publisher was last connected anew
  };
  struct Group {
    std::map<Unit, Held> held;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Unit> named;  // of those: by key and sequence, where they have positions
    std::map<std::pair<bool, std::uint32_t>, core::RangeSet> done;  // acknowledged for good
  };
  struct Forbidden {
    std::uint32_t group = 0;
    std::uint32_t process = 0;
    std::uint32_t key = 0;
    std::uint64_t sequence = 0;
    Unit unit;
  };

  void leave(const history::Operation& operation);
  void deliver(const history::Operation& operation, Group& group, std::uint32_t number);
  void answer(const history::Operation& operation, Group& group);
  void publish(const history::Operation& operation);
  void reconnect(const history::Operation& operation);
  [[nodiscard]] bool is_allowed(const history::Operation& operation, const Unit& unit, const Held& held) const;
  Group& group(std::uint32_t number);
  Client& client(std::uint32_t process);
  [[nodiscard]] static Unit unit_of(const history::Operation& operation);

  const history::Vocabulary& vocabulary_;
  std::optional<Nanoseconds> ack_wait_;
  std::vector<Group> groups_;
  std::vector<Client> clients_;       // by process
  std::vector<Sent> sent_;            // by place of the key
  std::vector<Forbidden> forbidden_;
  std::uint64_t allowed_ = 0;
  std::uint64_t units_ = 0;
  std::uint64_t not_judged_ = 0;
};

}  // namespace sp::check

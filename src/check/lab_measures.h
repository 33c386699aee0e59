// How fast a lab's clients were, by the times in its file: each measure for a group, or a producer, that has it.
//
//     recovery     from the end of the last fault, and from the moment at which a probe found the system usable after it, to the moment at
//                  which all that had been acknowledged by the fault's end was delivered
//     staleness    longest time from an acknowledgement to its delivery; what never came is measured up to the final read
//     silence      longest time without a delivery while something acknowledged was undelivered; a reconnect ends one silence and begins
//                  another
//     drain        from the last acknowledgement to the last first delivery
//     pause        of a producer: longest time between two acknowledgements of its attempts, or up to the first
//     resume       of a producer: from the end of the last fault, and from the probe, to its next acknowledgement
//     overrun      by how much a delivery missed the contract's deadline
//
// Only what was acknowledged when its group was there counts for staleness and silence: nobody can deliver to who has not come yet.
//
// Shape:    fed with the operations of one file in their order; times are nanoseconds of its clock.
// Cost:     some 20 ns an acknowledgement or delivery, 150 ns out of order. Memory: records that are acknowledged and not delivered.
// Limits:   Ledger::kGroupsMax groups; records without a position are not measured.   Errors: none.
// Threads:  one owner.   Source: docs/formats/history.md, "A file of a lab".
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "core/range_set.h"
#include "history/retold.h"
#include "history/schema.h"
#include "report/report.h"

namespace sp::check {

class LabMeasures {
 public:
  LabMeasures(const history::Vocabulary& vocabulary, Nanoseconds deadline) : vocabulary_(vocabulary), deadline_(deadline) {}

  // `retold` has been told of it.
  void see(const history::Operation& operation, const history::Retold& retold);
  // The final read begins, or the file ends: nothing is measured from then on.
  void close(MonotonicTime now);
  // Nothing where the file has no times.
  [[nodiscard]] std::optional<report::LabMeasures> take(const std::vector<std::string>& groups);

 private:
  struct Group {
    std::vector<core::RangeSet> handed;        // by partition
    std::uint64_t waiting = 0;                 // acknowledged, not delivered
    std::int64_t quiet_since = 0;              // while something waits
    bool by_reconnect = false;                 // ... since a reconnect
    std::vector<core::RangeSet> to_recover;    // by partition: undelivered at the end of the last fault
    std::uint64_t to_recover_count = 0;
    std::optional<std::int64_t> recovered;     // when the last of them came
    std::int64_t last_new = 0;                 // when something was delivered for the first time
    report::GroupMeasures measured;
  };
  struct Pending {
    std::uint64_t offset = 0;
    std::int64_t acked = 0;
    std::uint32_t groups = 0;                  // bits of those that wait; 0: none any more
  };
  // Of a partition, what is acknowledged and not delivered. Most are acknowledged in the order of their offsets, and wait not long.
  struct Waiting {
    std::deque<Pending> in_order;              // offsets rise; the first one waits
    std::unordered_map<std::uint64_t, Pending> others;
    std::size_t done = 0;                      // of in_order
  };
  struct Producer {
    std::uint32_t process = 0;
    std::optional<std::int64_t> last;          // acknowledgement, else first attempt
    std::optional<std::int64_t> resumed;       // the first after the last fault
    std::optional<std::int64_t> resumed_after_probe;
    std::int64_t pause = 0;
  };

  void publish(const history::Operation& operation);
  void acked(const history::Operation& operation);
  void delivered(const history::Operation& operation, std::uint32_t group);
  void fault(const history::Operation& operation);
  void probe(const history::Operation& operation);
  void be_quiet(Group& group, bool by_reconnect);
  void end_silence(Group& group);
  Group& group_at(std::uint32_t number);
  Producer& producer(std::uint32_t process);
  static void wait_for(Waiting& waiting, const Pending& pending);
  // What waits there for one of these groups waits for them no longer; when it was acknowledged. Else nothing.
  static std::optional<std::int64_t> arrived(Waiting& waiting, std::uint64_t offset, std::uint32_t groups);
  void never_came(const Pending& pending);
  [[nodiscard]] std::uint32_t partition_of(const history::Operation& operation) const { return stream_ ? 0 : operation.position.partition; }
  static core::RangeSet& at(std::vector<core::RangeSet>& sets, std::uint32_t partition);

  const history::Vocabulary& vocabulary_;
  Nanoseconds deadline_;
  std::vector<Group> groups_;
  std::vector<core::RangeSet> acked_;          // by partition
  std::vector<Waiting> waiting_;               // by partition
  std::vector<Producer> producers_;            // as they come
  std::vector<std::uint32_t> producer_of_;     // by process: one above the place among them, 0: none
  std::optional<std::int64_t> fault_end_;
  std::optional<std::int64_t> usable_;         // the first probe that succeeded since the last that did not, after the fault began
  std::optional<std::int64_t> last_ack_;
  std::int64_t now_ = 0;
  bool has_time_ = false;
  bool stream_ = false;
  bool closed_ = false;
};

}  // namespace sp::check

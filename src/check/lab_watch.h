// What only the history of a lab shows: whether the experiment may be judged at all, and which consumers came to rest.
//
//     see(operation) … ─► finish(…) ─► judge::LabFacts: reasons for invalid, stalls, dead subscriptions, budgets passed
//
// It also keeps what the ledger takes for granted of a worker: sequences of a key that are attempted once, and have an outcome only then.
//
//     valid    the final read is there, complete, without a hole that nothing explains · each declared fault was felt, within the
//              traffic · the driver ended
//     stall    a group is behind the highest acknowledged position that the final read found
//     dead     a consumer that nobody stopped is behind, and another of the same partition went past it later
//
// Shape:    fed with the operations of one file in their order.
// Cost:     some 20 ns an operation. Memory: gaps of positions and of sequences, consumers × partitions.
// Limits:   those of Retold, which sees each operation first.
// Errors:   kParse: an attempt twice, an outcome without its attempt or a second one; with line and remedy. kFull: numbers that go up
//           and down among too many gaps.
// Threads:  one owner.   Source: docs/formats/history.md, "A file of a lab".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "base/result.h"
#include "check/contract.h"
#include "core/fault.h"
#include "core/range_set.h"
#include "history/retold.h"
#include "history/schema.h"
#include "judge/judge.h"
#include "track/ledger.h"

namespace sp::check {

class LabWatch {
 public:
  LabWatch(const history::Vocabulary& vocabulary, const history::Meta& meta);

  // `retold` has been told of it.
  [[nodiscard]] Result<void> see(const history::Operation& operation, const history::Retold& retold);

  // It will be seen soon: has memory brought near.
  void expect(const history::Operation& operation) const {
    if (operation.key + std::size_t{1} < attempts_.size()) prefetch(&attempts_[operation.key + std::size_t{1}]);
  }

  // True once the final read has begun: what is produced or handed over from then on is no evidence.
  [[nodiscard]] bool reading() const { return read_begun_; }
  // Sequences below the highest attempted one of their key that nobody attempted: name of the key, range.
  [[nodiscard]] std::vector<std::pair<std::string, core::Range>> never_attempted() const;
  // Where the log begins and ends, as the final read says or shows.
  [[nodiscard]] std::vector<track::RawRange> bounds() const;
  // By partition: what the final read came to; from there on nothing is known.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> reach() const;
  // The final read as facts of the run, the faults, and what it was for.
  void tell(const core::Contract& contract, judge::RunFacts& facts) const;
  // What follows for the verdict; the ledger has all evidence.
  [[nodiscard]] judge::LabFacts finish(const track::Ledger& ledger, const core::Contract& contract) const;

 private:
  struct Attempts {
    std::uint64_t next = 0;                  // one above the highest attempted
    std::unique_ptr<core::RangeSet> skipped; // below that, not attempted so far
    core::RangeSet decided;                  // have their outcome
  };
  // One consumer at one partition.
  struct Place {
    std::uint32_t process = 0;
    std::uint32_t group = 0;
    bool open = true;
    std::uint64_t opened = 0;                // index of the operation
    std::optional<std::uint64_t> highest;    // position handed over
    std::uint64_t at = 0;                    // index of that hand-over
  };
  struct Log {
    core::RangeSet acked;
    core::RangeSet read;
    std::optional<std::uint64_t> begin;      // of the final read's target
    std::optional<std::uint64_t> end;
    bool reached = false;
    std::vector<Place> places;
  };
  struct Fault {
    core::FaultRecord record;
    std::optional<std::uint64_t> felt_in_load;  // index of the first time at which something had been attempted
  };

  void greet(std::size_t groups);
  Result<void> publish(const history::Operation& operation);
  void possession(const history::Operation& operation, const history::Retold& retold);
  void deliver(const history::Operation& operation, const history::Retold& retold);
  Result<void> read(const history::Operation& operation);
  // Numbers come in their order, but for some; a file whose numbers go up and down among many gaps would take for ever.
  Result<void> note(core::RangeSet& set, std::uint64_t number, const history::Operation& operation);
  void fault(const history::Operation& operation);
  void open(std::uint32_t partition, const history::Operation& operation, const history::Retold& retold);
  void close(std::uint32_t process, std::optional<std::uint32_t> partition);
  [[nodiscard]] std::uint32_t partition_of(const history::Operation& operation) const;
  Log& log(std::uint32_t partition);
  Attempts& attempts(const history::Operation& operation);
  void look_at_read(const core::Contract& contract, judge::LabFacts& facts) const;
  void look_at_faults(judge::LabFacts& facts) const;
  void look_for_stalls(const track::Ledger& ledger, const core::Contract& contract, judge::LabFacts& facts) const;
  void look_for_deaths(const track::Ledger& ledger, judge::LabFacts& facts) const;
  // The highest acknowledged position that the final read found.
  [[nodiscard]] std::optional<std::uint64_t> goal(std::uint32_t partition) const;
  // The name of the key whose attempts stand at that place; "": of records without one.
  [[nodiscard]] std::string key_at(std::size_t at) const;
  [[nodiscard]] std::string position_text(std::uint32_t partition, std::uint64_t position) const;

  const history::Vocabulary& vocabulary_;
  const history::Meta& meta_;
  std::vector<Attempts> attempts_;           // by number of the key's name, behind the one without
  std::vector<Log> logs_;                    // by partition
  std::vector<Fault> faults_;
  std::map<std::uint32_t, std::vector<std::size_t>> going_on_;  // by name: of faults_, the last is the latest
  std::vector<std::map<std::size_t, judge::BeforeGroup>> before_;  // by group: what it found, by place in attempts_
  std::uint64_t shifted_ = 0;                // ranges that were moved to make room
  bool stream_ = false;
  bool read_begun_ = false;
  bool read_ended_ = false;
  bool holes_only_ = false;                  // the final read did not set out to see all
  bool driver_ended_ = false;
  std::uint64_t after_read_ = 0;             // traffic when the final read had begun
  std::optional<std::uint64_t> first_attempt_;  // indices
  std::uint64_t last_traffic_ = 0;
};

}  // namespace sp::check

// Operations of a history as observations again: the way back of history/observed.h, and the way in of histories that others wrote.
//
//     Retold retold(vocabulary, groups)     tell(operation, sink) ─► no, one or more observations     of a worker of a proof
//     Retold retold(vocabulary, lab)                                                                  of a lab
//
// Of a worker: which consumer is which is in its name ("consumer-2"), its group in its `subscribe`. Keys are passed by name, so that
// whoever keeps the KeySpace finds them; an observation lives as long as the call.
//
// Of a lab: processes have any name and may do anything; a consumer without a group is a group of its own, named as it is, and each
// consumer tells its name as its member id. A number line without partitions is partition 0. driftlab's numbers from 1 become sequences
// from 0, its consumers start at 1. Whatever no rule can judge yet is refused by name. Transactions are check/transactions.h's: an attempt
// has none here unless it failed with its own, fenced if there is an error.
//
// Shape:    an assign or revoke of several partitions is one observation for each, a read-begin or read-end one for each target.
// Cost:     20 ns an operation.   Limits: kClientsMax, kPartitionsMax, kTimeMax; past one the operation is refused.
// Errors:   kParse: an operation that a worker of a proof does not write, or a lab's that cannot be judged, with what it is. kFull: more
//           keys than a KeySpace holds.
// Threads:  one owner.   Source: docs/formats/history.md, "Operations".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/prefetch.h"
#include "base/result.h"
#include "core/key_space.h"
#include "core/observation.h"
#include "history/schema.h"

namespace sp::history {

class Retold {
 public:
  static constexpr std::uint32_t kClientsMax = 65'536;              // producers, and consumers, of one worker
  static constexpr std::uint32_t kPartitionsMax = std::uint32_t{1} << 20U;
  static constexpr std::uint32_t kLabConsumersMax = 4'096;           // of a lab, which costs more for each
  static constexpr std::uint32_t kLabPartitionsMax = 65'536;
  static constexpr std::int64_t kTimeMax = std::int64_t{1} << 62U;  // nanoseconds of a clock, either way

  // `vocabulary` outlives this. `groups`: the names of the groups, by GroupIndex.
  Retold(const Vocabulary& vocabulary, std::vector<std::string> groups);

  // Of a lab; keys are found in `keys`, which outlives this, and passed by place.
  struct Lab {
    Dialect dialect = Dialect::kVersion1;
    core::KeySpace* keys = nullptr;
    bool individual = false;   // the contract's acknowledgement: then single acknowledgements may stand there
  };
  Retold(const Vocabulary& vocabulary, Lab lab);

  [[nodiscard]] Result<void> tell(const Operation& operation, core::ObservationSink& sink);
  // It will be told soon: has memory brought near.
  void expect(const Operation& operation) const {
    if (operation.key < keys_.size()) prefetch(&keys_[operation.key]);
  }

  // Of a lab: the groups so far, by GroupIndex, and what they are.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }
  // True if somebody subscribed in mode shared.
  [[nodiscard]] bool is_shared() const { return shared_; }
  [[nodiscard]] bool has_stated_group() const { return stated_group_; }
  // True if every consumer said when it first subscribed that it starts at the end of the log, or at a position of its own choice.
  [[nodiscard]] bool starts_late() const { return late_consumers_ > 0 && late_consumers_ == consumers_; }
  // The group of that process, if it has been seen to consume.
  [[nodiscard]] std::optional<core::GroupIndex> group_of(std::uint32_t process) const {
    if (process >= processes_.size() || !processes_[process].is_consumer) return std::nullopt;
    return processes_[process].group;
  }
  // True if positions are one number line, of which partition 0 is made.
  [[nodiscard]] bool is_stream() const { return kind_ == Position::Kind::kSequence; }

 private:
  enum class Role : std::uint8_t { kUnseen, kProducer, kConsumer, kFinalRead, kOther };
  struct Process {
    Role role = Role::kUnseen;
    std::uint32_t number = 0;
    core::GroupIndex group{};
    bool is_consumer = false;             // of a lab: has a number, a group and a name
    std::string_view name{};
    std::vector<bool> holds;              // of a lab: partitions it may hold
  };

  // True if the operation was told: nearly all of a lab's are records without a rarer member, of keys and consumers seen before.
  [[nodiscard]] bool tell_usual(const Operation& operation, core::ObservationSink& sink);
  Process& process_of(std::uint32_t id);
  // Into an observation that is new.
  [[nodiscard]] Result<void> begin(const Operation& operation, Role role, core::Observation& observation);
  [[nodiscard]] Result<void> begin_lab(const Operation& operation, Role role, core::Observation& observation);
  void make_consumer(std::uint32_t id, std::string_view group);
  [[nodiscard]] Result<void> subscribe_lab(const Operation& operation, core::ObservationSink& sink);
  // The consumer gives up all it may hold.
  void release(Process& process, core::Observation observation, core::LineageClose how, core::ObservationSink& sink);
  void hold(Process& process, core::PartitionId partition);
  [[nodiscard]] Result<void> other(const Operation& operation) const;
  // The start of a number line where the subscription says it.
  [[nodiscard]] std::optional<std::uint64_t> stream_start(const Operation& operation) const;
  [[nodiscard]] Result<void> attempt(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> subscribe(const Operation& operation);
  [[nodiscard]] Result<void> possession(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> record(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> commit(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> range(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> notice(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> position(const Operation& operation, core::Observation& observation);
  // What the sequences of the file begin with.
  [[nodiscard]] std::uint64_t first_value() const { return of_lab() && lab_->dialect == Dialect::kDriftlab ? 1 : 0; }
  [[nodiscard]] bool of_lab() const { return lab_.has_value(); }
  [[nodiscard]] std::uint32_t partitions_max() const { return of_lab() ? kLabPartitionsMax : kPartitionsMax; }

  const Vocabulary& vocabulary_;
  std::optional<Lab> lab_;
  std::vector<std::string> groups_;
  std::vector<core::KeyRef> keys_;      // of a lab: by number of their names; index ~0: not looked up yet
  std::optional<core::KeyRef> no_key_;  // of a lab: that of records without one
  std::optional<Position::Kind> kind_;  // of the positions so far
  std::uint32_t topic_ = 0;             // the one topic, if one was named
  bool has_topic_ = false;
  bool stated_group_ = false;
  bool shared_ = false;
  std::uint32_t late_consumers_ = 0;    // that said when they first subscribed that they do not start at the start
  std::uint32_t consumers_ = 0;
  std::vector<Process> processes_;  // by id
  core::Observation usual_;         // filled anew by each usual operation; what that does not fill is as it was made
};

}  // namespace sp::history

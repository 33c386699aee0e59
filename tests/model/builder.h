// Writes a history step by step, with the verbs of the field; keeps the time, the ticks and a log
// per partition.
//
//     Builder world;  world.join(w0);  world.issue(w0, k, 0);  world.ack(w0, k, 0, world.store(p0,
//     {k, 0}));  world.tick(1s);
//
// Errors:  none; what makes no sense is written down as it is.   Threads: one owner.   Source:
// docs/algebra.md 3.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "model/history.h"
#include "track/delta.h"

namespace sp::model {

struct Stored {
  Key key;
  std::uint64_t sequence = 0;
  core::Content content = core::Content::kIntact;
  std::optional<std::uint32_t> asked;
};

struct Consumer {  // who reads what
  core::SourceId source;
  std::uint32_t process = 0;
  core::GroupIndex group;
  core::PartitionId partition;
};

struct Opening {
  std::optional<std::uint64_t> generation;
  std::optional<std::uint64_t> start;
  bool classic = true;
  std::string member;
  std::string instance;
};

class Builder {
 public:
  History history;
  MonotonicTime now{};
  std::map<core::SourceId, Nanoseconds> clocks_back;  // how far a worker's own clock is behind

  void join(core::SourceId source);
  void hold(core::SourceId source);
  void release(core::SourceId source);
  void die(core::SourceId source);
  void away(core::SourceId source);

  void issue(core::SourceId source, const Key& key, std::uint64_t sequence);
  void ack(core::SourceId source, const Key& key, std::uint64_t sequence,
           std::optional<core::Position> position);
  void refuse(core::SourceId source, const Key& key, std::uint64_t sequence);
  void lose_track(core::SourceId source, const Key& key, std::uint64_t sequence);  // outcome info

  void open(const Consumer& consumer, const Opening& opening);
  void close(const Consumer& consumer, core::LineageClose how,
             std::optional<std::uint64_t> generation = std::nullopt);
  void deliver(const Consumer& consumer, const Stored& record, std::optional<core::Offset> offset);
  void commit_begin(const Consumer& consumer, std::uint64_t next);
  void commit_end(const Consumer& consumer, std::uint64_t next, track::CommitOutcome outcome);

  void answer(core::SourceId source);
  void complete(Nanoseconds after);
  // All live sources that did not yet, answer; then the tick is complete.
  void tick(Nanoseconds after);
  void close_load();
  void close_consumers();

  // The log. store() at its end, or at `offset`.
  core::Position store(core::PartitionId partition, const Stored& record,
                       std::optional<core::Offset> offset = std::nullopt);
  [[nodiscard]] std::map<std::uint64_t, Stored>& log(core::PartitionId partition) {
    return logs_[partition];
  }
  std::map<core::PartitionId, std::map<std::uint64_t, Stored>>& logs() { return logs_; }
  // One above the highest offset that was ever used.
  [[nodiscard]] std::uint64_t log_end(core::PartitionId partition) const;
  // Writes the log as it is now into the history; `begins` and `ends` override the bounds.
  void write_log(const std::map<core::PartitionId, std::uint64_t>& begins = {},
                 const std::map<core::PartitionId, std::uint64_t>& ends = {});

 private:
  Step& add(StepKind kind, core::SourceId source);
  core::Observation& attempt(core::SourceId source, core::Event event, const Key& key,
                             std::uint64_t sequence);
  core::Observation& reading(const Consumer& consumer, core::Event event);

  std::set<core::SourceId> live_;
  std::set<core::SourceId> answered_;
  std::uint64_t tick_ = 0;  // the last complete
  std::map<core::PartitionId, std::map<std::uint64_t, Stored>> logs_;
  std::map<core::PartitionId, std::uint64_t> ends_;
};

}  // namespace sp::model

// The coordinator's own history: what it had seen when, so that all that it did to the ledger can be done again in the same order.
//
//     saw(delta) …  ─► tick(n) · stage(name) · lost(source)     each says what had been seen by then
//                   ─► faults(…), bounds(…)                    ─► end(what only the coordinator knows)
//
// Without a writer every call does nothing.
//
// Cost:     a line a tick, O(sources).   Limits: –.
// Errors:   none: end() says what became of the file.
// Threads:  one owner.   Source: docs/formats/history.md, "The coordinator's file".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/contract.h"
#include "core/fault.h"
#include "core/ids.h"
#include "history/writer.h"
#include "track/delta.h"
#include "track/ledger.h"

namespace sp::coordinator {

class Journal {
 public:
  Journal() = default;
  explicit Journal(std::unique_ptr<history::Writer> writer) : writer_(std::move(writer)) {}

  // Before the delta is applied.
  void saw(const track::Delta& delta, MonotonicTime now);
  // Before the ledger is told.
  void lost(core::SourceId source, MonotonicTime now);
  void tick(std::uint64_t n, MonotonicTime now);
  void stage(std::string_view name, MonotonicTime now);
  // The log's bounds, from which the raw read's targets are made.
  void bounds(const std::vector<track::RawRange>& bounds, core::RawReadScope scope, MonotonicTime now);
  // All faults of the run so far, in the order of their numbers: writes what is new of them.
  void faults(std::span<const core::FaultRecord> faults);
  // The last line. What became of the file; nullopt: none was kept.
  std::optional<history::Writer::Summary> end(std::string_view reason, std::string facts, MonotonicTime now);

 private:
  struct FaultTold {
    bool begin = false, effect = false, end = false;
  };

  void begin_line(history::Function function, history::Type type, std::string_view process, MonotonicTime now);
  void add_seen();
  void mark(MonotonicTime now);
  void fault(const core::FaultRecord& fault, history::Type type, MonotonicTime at);
  void write();

  std::unique_ptr<history::Writer> writer_;
  std::map<core::SourceId, std::uint64_t> lines_;  // of each source, seen
  std::set<core::SourceId> lost_;
  std::string stage_ = "prepare";
  std::vector<FaultTold> told_;
  history::Operation operation_;
  history::Details details_;
};

}  // namespace sp::coordinator

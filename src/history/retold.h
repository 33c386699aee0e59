// Operations of a worker's history as observations again: the way back of history/observed.h.
//
//     Retold retold(vocabulary, groups)     tell(operation, sink) ─► no, one or more observations
//
// Which consumer is which is in its name ("consumer-2"), its group in its `subscribe`. Keys are passed by name, so that whoever keeps the
// KeySpace finds them; an observation lives as long as the call.
//
// Shape:    an assign or revoke of several partitions is one observation for each, a read-begin or read-end one for each target.
// Cost:     20 ns an operation.   Limits: kClientsMax, kPartitionsMax, kTimeMax; past one the operation is refused.
// Errors:   kParse: an operation that a worker of a proof does not write, with what it is.
// Threads:  one owner.   Source: docs/formats/history.md, "Operations".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/observation.h"
#include "history/schema.h"

namespace sp::history {

class Retold {
 public:
  static constexpr std::uint32_t kClientsMax = 65'536;              // producers, and consumers, of one worker
  static constexpr std::uint32_t kPartitionsMax = std::uint32_t{1} << 20U;
  static constexpr std::int64_t kTimeMax = std::int64_t{1} << 62U;  // nanoseconds of a clock, either way

  // `vocabulary` outlives this. `groups`: the names of the groups, by GroupIndex.
  Retold(const Vocabulary& vocabulary, std::vector<std::string> groups);

  [[nodiscard]] Result<void> tell(const Operation& operation, core::ObservationSink& sink);

 private:
  enum class Role : std::uint8_t { kUnseen, kProducer, kConsumer, kFinalRead, kOther };
  struct Process {
    Role role = Role::kUnseen;
    std::uint32_t number = 0;
    core::GroupIndex group{};
  };

  Process& process_of(std::uint32_t id);
  [[nodiscard]] Result<core::Observation> begin(const Operation& operation, Role role);
  [[nodiscard]] Result<void> attempt(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> subscribe(const Operation& operation);
  [[nodiscard]] Result<void> possession(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> record(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> commit(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> range(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> notice(const Operation& operation, core::ObservationSink& sink);
  [[nodiscard]] Result<void> position(const Operation& operation, core::Observation& observation) const;

  const Vocabulary& vocabulary_;
  std::vector<std::string> groups_;
  std::vector<Process> processes_;  // by id
};

}  // namespace sp::history

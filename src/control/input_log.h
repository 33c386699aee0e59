// The log of all that a proof's coordinator was told, in order. What it was told decides what it does, so a coordinator that
// is started again reads its log from the front and is where it was: same ledger, same ticks, same counts.
//
//     append(step 1.2 s) · append(answer of worker 0: 3 deltas) · … · commit()        ─► durable
//     replay() … replay() ─► nullopt: all is done again, from here on it is live
//
// The rule that nothing is lost by: an input is durable before anything that follows from it leaves the process. A worker that
// is told "acknowledged" throws its evidence away, so what is acknowledged must be here.
//
// Shape:    one owner's inputs; they are never changed.
// Cost:     append: memory. commit: one transaction on disk.
// Limits:   –.
// Errors:   kIo and kFull of commit(): then nothing may be told to anybody any more. kParse: what stands there is no input.
// Threads:  one owner.   Source: docs/decisions/0015.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace sp::control {

enum class InputKind : std::uint8_t {
  kStep = 1,   // `value`: the time of the step, nanoseconds of the run's clock
  kAnswer,     // of the port call `call` to worker `worker`: `bytes`
  kStop,       // somebody asked for the end
  kInterrupt,  // ... for the second time
  kRestarted,  // worker `worker` came back without what it knew; `value` as kStep
  kFault,      // a fault of outside: `bytes`; `value` as kStep
};

// The calls of WorkerPort that are answered. Values stand on disk: never change one.
enum class PortCall : std::uint8_t {
  kNone = 0,
  kPrepare = 1,
  kCreateTopic,
  kDeleteTopic,
  kStartConsumers,
  kStartProducers,
  kPoll,
  kStopProducers,
  kStopConsumers,
  kLogBounds,
  kStartRawRead,
  kRemove,
};

struct Input {
  InputKind kind = InputKind::kStep;
  PortCall call = PortCall::kNone;
  std::uint32_t worker = 0;
  std::int64_t value = 0;
  std::string bytes;
};

class InputLog {
 public:
  virtual ~InputLog() = default;
  // The next one that stands there; nullopt: none is left.
  virtual Result<std::optional<Input>> replay() = 0;
  virtual void append(Input input) = 0;
  // The number of inputs so far, replayed ones included.
  [[nodiscard]] virtual std::uint64_t count() const = 0;
  // Makes all that was appended durable.
  virtual Result<void> commit() = 0;
};

}  // namespace sp::control

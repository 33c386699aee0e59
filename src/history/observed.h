// Observations of a worker as operations of its history: the other end of core/observation.h.
//
//     Observed observed(writer, keys, …)     observe(observation) ─► one line, sometimes two
//
// Processes are named as what they are within the worker: producer-0, consumer-2, final-read, worker. A consumer's `subscribe` is
// written before the first thing that is seen of it.
//
// Shape:    lines in the order of the calls.
// Cost:     that of Writer::write() and of a key's name.   Limits: –.
// Errors:   none; what a history cannot say is left out: the publish time of a payload, which run a foreign record is of.
// Threads:  one owner.   Source: docs/formats/history.md, "Operations".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/key_space.h"
#include "core/observation.h"
#include "history/schema.h"
#include "history/writer.h"

namespace sp::history {

class Observed final : public core::ObservationSink {
 public:
  struct Options {
    std::vector<std::string> groups;    // by GroupIndex
    std::string start = "committed";    // where consumers begin
  };
  // `writer` and `keys`, which names the keys of observations, outlive this.
  Observed(Writer& writer, const core::KeySpace& keys, Options options);

  void observe(const core::Observation& observation) override;
  // The index of the last line, for whoever has to say up to where the history goes.
  [[nodiscard]] std::optional<std::uint64_t> last_index() const { return writer_.last_index(); }

 private:
  void attempt(const core::Observation& observation, Type type);
  void possession(const core::Observation& observation);
  void record(const core::Observation& observation);
  void commit(const core::Observation& observation, Type type);
  void range(const core::Observation& observation);
  void notice(const core::Observation& observation);
  void subscribe(const core::Observation& observation);
  void begin_line(const core::Observation& observation, Function function, Type type, std::uint32_t process);
  void position(const core::Observation& observation);
  void error(const core::Observation& observation);
  void write(std::optional<std::string_view> key = std::nullopt);
  [[nodiscard]] std::uint32_t named(std::vector<std::uint32_t>& ids, std::string_view what, std::uint32_t number);
  [[nodiscard]] std::uint32_t named(std::string_view what);

  Writer& writer_;
  const core::KeySpace& keys_;
  Options options_;
  std::vector<std::uint32_t> producers_, consumers_;  // ids of their names, by number
  std::vector<std::uint32_t> groups_;                 // of theirs
  std::vector<bool> subscribed_;
  Operation operation_;
  Details details_;
  std::string key_;
};

}  // namespace sp::history

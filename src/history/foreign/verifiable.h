// What Kafka's verifiable tools printed, one file for each process that ran one: a producer's sends, a consumer's assignments, records
// and commits.
//
//     p.log   producer_send_success "17" → t 0 41      p   publish invoke 17, then ok at partition 0 offset 41
//     c.log   record_data "17" from t 0 41             c   deliver 17 at partition 0 offset 41
//
// A producer counts its values from 0, and sends them in that order: when one is printed, all before it had been handed to the client. So
// their invokes are written then, and those of which no outcome was ever printed are of unknown outcome at the end. With --repeating-keys
// n the value v has the key v mod n, and is sequence v div n of it. Producers are told apart by topic and --value-prefix.
//
//     printed key    –                  7                        a name stands as it is printed, so nothing is lost
//     no prefix      the unnamed key    "7"
//     prefix 3       "3."               "3.7"                   with several topics "topic/" in front
//
// Shape:    all files in one order, that of their clocks; each file's own order is kept whatever its clock says.
// Cost:     some 4 µs an event, for it is read twice, a consumer's three times after a producer that was killed. Memory grows with attempts
//           that have no outcome yet, not with the files.
// Limits:   kUnprintedMax attempts of a producer that have no outcome; kValueMax.
// Errors:   kParse, kFull: file, line, column. kInvalid: files that do not belong together, each with the remedy.
// Threads:  one owner.   Source: as verifiable_events.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/range_set.h"
#include "history/foreign/foreign.h"
#include "history/foreign/notes.h"
#include "history/foreign/verifiable_events.h"

namespace sp::history {

class VerifiableOutput final : public Foreign {
 public:
  static constexpr std::uint64_t kUnprintedMax = std::uint64_t{1} << 20U;
  static constexpr std::uint64_t kValueMax = std::uint64_t{1} << 62U;

  VerifiableOutput(std::vector<ForeignInput> inputs, const ForeignOptions& options);
  [[nodiscard]] Result<Meta> survey() override;
  [[nodiscard]] Result<void> tell(Told& told) override;
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_.sentences(); }

 private:
  enum class Role : std::uint8_t { kProducer, kConsumer, kUnseen };
  // How a producer numbers its records.
  struct Numbering {
    std::string topic;
    std::string prefix;
    bool keyed = false;
    bool known = false;                     // one record at least was printed
    std::uint64_t period = 0;               // of keys; survey: what divides all value − key, 0: none yet
    std::uint64_t key_max = 0;
    std::uint64_t values_end = 0;           // above all that were printed
    std::uint64_t outcomes = 0;
    std::optional<std::uint64_t> sent;      // tool_data
    std::uint64_t attempts_end = 0;         // above all that were handed to the client, as far as is known
  };
  struct Tool {
    ForeignInput input;
    std::string process;
    Role role = Role::kUnseen;
    bool started = false;
    bool shut_down = false;
    std::optional<std::int64_t> first_ms;
    Numbering numbering;
    // While it is told:
    std::unique_ptr<ToolEvents> events;
    const ToolEvent* event = nullptr;       // the next one; null: the end
    std::int64_t time_ms = 0;               // of it, never below that of one before
    std::uint64_t invoked_end = 0;
    core::RangeSet open;                    // invoked and without an outcome
    bool subscribed = false;
  };
  struct Identity {
    Tool* producer = nullptr;               // null: none of those that are named
    std::uint64_t value = 0;
    bool fits = false;                      // key and value belong together
  };
  using Polled = std::map<std::pair<std::string, std::uint32_t>, std::uint64_t>;

  Result<void> survey_tool(Tool& tool);
  Result<void> survey_event(Tool& tool, const ToolEvents& events, const ToolEvent& event, Polled& polled);
  Result<void> survey_outcome(Tool& tool, const ToolEvents& events, const ToolEvent& event);
  Result<void> survey_poll(const ToolEvents& events, const ToolEvent& event, Polled& polled);
  Result<void> survey_records(Tool& tool);
  Result<void> match_tools();
  Result<void> number_keys(Tool& tool);
  Result<std::unique_ptr<ToolEvents>> open_events(const Tool& tool) const;

  [[nodiscard]] Identity identify(const ToolEvent& record);
  [[nodiscard]] std::string key_name(const Numbering& numbering, std::uint64_t value) const;
  void begin_attempt(const Tool& tool, std::uint64_t value, Type type, Told& told);
  [[nodiscard]] std::int64_t time_ns(const Tool& tool) const { return (tool.time_ms - first_ms_) * 1'000'000; }
  Result<void> advance(Tool& tool);
  [[nodiscard]] Tool* earliest();
  Result<void> tell_event(Tool& tool, Told& told);
  Result<void> invoke_through(Tool& tool, std::uint64_t last, Told& told);
  Result<void> outcome(Tool& tool, Told& told);
  Result<void> finish_tool(Tool& tool, Told& told);
  Result<void> subscribe(Tool& tool, Told& told);
  Result<void> possession(Tool& tool, Function function, Told& told);
  Result<void> record(Tool& tool, Told& told);
  Result<void> commits(Tool& tool, Told& told);

  ForeignOptions options_;
  std::vector<Tool> tools_;
  std::map<std::pair<std::string, std::string>, Tool*> producers_;  // by topic and prefix
  std::size_t topics_ = 0;
  std::int64_t first_ms_ = 0;
  std::int64_t now_ms_ = 0;
  Notes notes_;
};

// "3.17" is 17 with the prefix "3", "17" is 17 without one; nullopt: no value that VerifiableProducer makes.
struct VerifiableValue {
  std::string_view prefix;
  std::uint64_t value = 0;
};
[[nodiscard]] std::optional<VerifiableValue> parse_verifiable_value(std::string_view text);
// "0", "7", "-7" if `sign`: as Java prints a number, and in no other way.
[[nodiscard]] bool is_printed_number(std::string_view text, bool sign);

}  // namespace sp::history

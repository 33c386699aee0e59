// What one of Kafka's verifiable tools printed, event by event.
//
//     {"timestamp":1700000000123,"name":"producer_send_success","key":null,"value":"17","topic":"t","partition":0,"offset":41}
//         ─►   kSuccess · 1700000000123 · no key · "17" · "t" 0 · 41
//
// Lines that do not begin with '{' are what else the tools print (usage, logging): they are counted and left out.
//
// Cost:     1 µs an event. Memory is that of the longest line.
// Limits:   kLineBytesMax a line; partitions below 2^32; kTimestampMax.
// Errors:   kParse: file, line, column, what is wrong and what to do. kFull.
// Threads:  one owner.
// Source:   github.com/apache/kafka, tools/src/main/java/org/apache/kafka/tools/Verifiable{Producer,Consumer}.java, 05ced934093b and
//           00b2b262df5b; shutdown_requested: what the tools of 4.4.0 print.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/byte_source.h"
#include "codec/json_tree.h"
#include "codec/line_reader.h"

namespace sp::history {

struct ToolEvent {
  enum class Kind : std::uint8_t {
    kStartup, kShutdown,                                     // both tools
    kSuccess, kError, kToolData,                             // the producer
    kAssigned, kRevoked, kConsumed, kRecord, kCommitted, kAsked,     // the consumer; kAsked: to shut down
  };
  // Of the lists of the consumer's events.
  struct Place {
    std::string_view topic;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;           // kCommitted
    std::uint64_t count = 0;            // kConsumed
  };
  Kind kind = Kind::kStartup;
  std::int64_t timestamp_ms = 0;
  std::optional<std::string_view> key, value;
  std::string_view topic;
  std::uint32_t partition = 0;
  std::optional<std::uint64_t> offset;  // none: the broker told none, −1
  std::string_view exception, message;  // kError; kCommitted: message
  bool success = false;                 // kCommitted
  std::uint64_t sent = 0;               // kToolData
  std::vector<Place> places;
};

class ToolEvents {
 public:
  static constexpr std::int64_t kTimestampMax = std::int64_t{1} << 42U;  // milliseconds: the year 2109

  ToolEvents(std::unique_ptr<codec::ByteSource> source, std::string name, bool accept_torn);

  // The next event, or null: the end. It and its texts live until the next call.
  [[nodiscard]] Result<const ToolEvent*> next();
  // An error about the last event.
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view says) const;
  [[nodiscard]] std::uint64_t other_lines() const { return other_lines_; }
  // At the end: the line that was cut off and left out, 0 if none was.
  [[nodiscard]] std::uint64_t torn_line() const { return torn_line_; }

 private:
  [[nodiscard]] Result<bool> take_line();
  [[nodiscard]] Result<void> read_event();
  [[nodiscard]] Result<void> read_rest();
  [[nodiscard]] Result<void> read_places(std::string_view name, std::string_view number, std::uint64_t ToolEvent::Place::*into);
  [[nodiscard]] Result<void> read_record();
  [[nodiscard]] const codec::JsonNode& node(std::size_t index) const { return tree_.nodes()[index]; }
  [[nodiscard]] tl::unexpected<Error> refuse_node(std::size_t at, std::string_view says) const;
  // Of the object at `object`; nullopt: it has none, or null.
  [[nodiscard]] std::optional<std::size_t> find(std::size_t object, std::string_view name) const;
  [[nodiscard]] Result<std::string_view> text(std::size_t object, std::string_view name) const;
  [[nodiscard]] Result<std::optional<std::string_view>> text_or_null(std::size_t object, std::string_view name) const;
  [[nodiscard]] Result<std::uint64_t> number(std::size_t object, std::string_view name, std::uint64_t most) const;

  codec::LineReader lines_;
  std::string name_;
  bool accept_torn_;
  std::string_view block_;
  std::string_view line_;
  bool cut_off_ = false;                // line_ has no newline
  std::uint64_t line_number_ = 0;
  std::uint64_t other_lines_ = 0;
  std::uint64_t torn_line_ = 0;
  codec::JsonTree tree_;
  ToolEvent event_;
};

}  // namespace sp::history

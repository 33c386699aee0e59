// Small histories of driftlab, written line by line, and what is said of them.
//
//     Lines().acked(1).acked(2).got("c", 1).read(1).read(2)
//     says(…)      "verdict failed, 0 of 2 publishes unknown\nstall c ops=[4 6]: …\n"
//
// Shape:  one line an operation, the index counts by itself; sequence = value unless said otherwise.
// Errors: says() returns "error: …".   Threads: one owner.   Source: docs/formats/history.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/driftlab.h"
#include "codec/byte_source.h"

namespace sp::check {

class Lines {
 public:
  explicit Lines(const std::vector<std::string>& faults = {}) {
    text_ = R"({"type":"meta","client":"c@1","scenario":"s")";
    if (!faults.empty()) {
      text_ += ",\"faults\":[";
      for (std::size_t i = 0; i < faults.size(); ++i) text_ += (i == 0 ? "\"" : ",\"") + faults[i] + "\"";
      text_ += "]";
    }
    text_ += "}\n";
  }
  // `more` are members with their comma: ,"value":1
  Lines& op(std::string_view process, std::string_view type, std::string_view f, const std::string& more = "") {
    text_ += "{\"index\":" + std::to_string(count_++) + ",\"process\":\"" + std::string(process) + "\",\"type\":\"" + std::string(type) +
             "\",\"f\":\"" + std::string(f) + "\"" + more + "}\n";
    return *this;
  }
  Lines& invoke(std::uint64_t value) { return op("p", "invoke", "publish", value_of(value)); }
  Lines& ok(std::uint64_t value, std::uint64_t sequence) { return op("p", "ok", "publish", both(value, sequence)); }
  Lines& acked(std::uint64_t value, std::uint64_t sequence) { return invoke(value).ok(value, sequence); }
  Lines& acked(std::uint64_t value) { return acked(value, value); }
  Lines& sent(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t value = first; value <= last; ++value) acked(value);
    return *this;
  }
  Lines& failed(std::uint64_t value) { return op("p", "fail", "publish", value_of(value) + R"(,"error":"refused")"); }
  Lines& unknown(std::uint64_t value) { return op("p", "info", "publish", value_of(value) + R"(,"error":"timeout")"); }
  Lines& subscribed(std::string_view process) { return op(process, "ok", "subscribe"); }
  Lines& got(std::string_view process, std::uint64_t sequence) { return got(process, sequence, sequence); }
  Lines& got(std::string_view process, std::uint64_t value, std::uint64_t sequence) {
    return op(process, "ok", "deliver", both(value, sequence));
  }
  Lines& got_at(std::int64_t time_ns, std::string_view process, std::uint64_t sequence) {
    return op(process, "ok", "deliver", ",\"time_ns\":" + std::to_string(time_ns) + both(sequence, sequence));
  }
  Lines& read(std::uint64_t value) { return read(value, value); }
  Lines& read(std::uint64_t value, std::uint64_t sequence) { return op("final-read", "ok", "read", both(value, sequence)); }
  Lines& read_all(std::uint64_t last) {
    for (std::uint64_t value = 1; value <= last; ++value) read(value);
    return *this;
  }
  Lines& fault(std::string_view type, std::string_view name, std::int64_t time_ns = 0) {
    return op("nemesis", type, name, ",\"time_ns\":" + std::to_string(time_ns));
  }
  Lines& raw(std::string_view line) {
    text_ += std::string(line) + "\n";
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::string value_of(std::uint64_t value) { return ",\"value\":" + std::to_string(value); }
  static std::string both(std::uint64_t value, std::uint64_t sequence) {
    return value_of(value) + ",\"stream_seq\":" + std::to_string(sequence);
  }

  std::string text_;
  std::uint64_t count_ = 0;
};

struct Told {
  std::string lines;   // each with its line end, or "error: …"
  int opened = 0;      // how often the file was read
};

inline Told judge(std::string_view text, const DriftlabOptions& options = {}, bool salvage = false) {
  history::Vocabulary vocabulary;
  Told told;
  const auto open = [&] {
    ++told.opened;
    return history::Reader::open(std::make_unique<codec::TextSource>(text), "h", vocabulary, {.accept_torn = salvage, .threads = false});
  };
  const auto result = check_driftlab(open, vocabulary, options);
  if (!result) {
    told.lines = "error: " + result.error().message;
    return told;
  }
  tell_driftlab(*result, vocabulary, [&](std::string_view line) { told.lines.append(line) += '\n'; });
  return told;
}
inline std::string says(const Lines& lines, const DriftlabOptions& options = {}) { return judge(lines.text(), options).lines; }

}  // namespace sp::check

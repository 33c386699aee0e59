// The file of a lab as a text, line by line, for tests.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "check/lab_check.h"
#include "codec/byte_source.h"

namespace sp::check {

// `members` of the meta record: `"contract":{…}`.
class LabText {
 public:
  explicit LabText(std::string_view members = "") {
    text_ = fmt::format(R"({{"type":"meta","version":1,"client":"c@1","scenario":"s"{}{}}})"
                        "\n",
                        members.empty() ? "" : ",", members);
  }
  LabText& line(std::string_view process, std::string_view type, std::string_view f, std::string_view members = "") {
    text_ += fmt::format(R"({{"index":{},"time_ns":{},"process":"{}","type":"{}","f":"{}"{}{}}})"
                         "\n",
                         index_++, now_ms_ * 1'000'000, process, type, f, members.empty() ? "" : ",", members);
    return *this;
  }
  // All that follows is so much later.
  LabText& after_ms(std::int64_t span) {
    now_ms_ += span;
    return *this;
  }
  // Attempted, and acknowledged at that offset of partition 0.
  LabText& sent(std::uint64_t value, std::uint64_t offset, std::string_view key = "k") {
    attempt(value, key);
    return acked(value, offset, key);
  }
  LabText& attempt(std::uint64_t value, std::string_view key = "k") {
    return line("producer", "invoke", "publish", fmt::format(R"("key":"{}","value":{})", key, value));
  }
  LabText& acked(std::uint64_t value, std::uint64_t offset, std::string_view key = "k") {
    return line("producer", "ok", "publish", record(value, offset, key));
  }
  LabText& subscribed(std::string_view consumer, std::string_view start = "earliest") {
    return line(consumer, "ok", "subscribe", fmt::format(R"("start":"{}")", start));
  }
  LabText& assigned(std::string_view consumer, std::uint64_t start = 0, std::string_view members = "") {
    return line(consumer, "ok", "assign", fmt::format(R"("partitions":[0],"starts":[{{"partition":0,"offset":{}}}]{})", start, members));
  }
  LabText& got(std::string_view consumer, std::uint64_t value, std::uint64_t offset, std::string_view key = "k") {
    return line(consumer, "ok", "deliver", record(value, offset, key));
  }
  // The final read of partition 0: these records at offsets 0, 1, 2 …
  LabText& log(std::initializer_list<std::uint64_t> values, std::string_view key = "k") {
    line("final-read", "ok", "read-begin", fmt::format(R"("target":[{{"partition":0,"end":{}}}])", values.size()));
    std::uint64_t offset = 0;
    for (const std::uint64_t value : values) line("final-read", "ok", "read", record(value, offset++, key));
    return line("final-read", "ok", "read-end", fmt::format(R"("target":[{{"partition":0,"end":{},"reached":true}}])", values.size()));
  }
  LabText& ended() { return line("driver", "ok", "end", R"("reason":"done")"); }
  static std::string record(std::uint64_t value, std::uint64_t offset, std::string_view key) {
    return fmt::format(R"("key":"{}","value":{},"position":{{"partition":0,"offset":{}}})", key, value, offset);
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Result<report::Report> try_judge(const LabOptions& options = {}) const { return judge_text(text_, options); }
  [[nodiscard]] report::Report judge() const {
    auto report = try_judge();
    EXPECT_TRUE(report) << report.error().message << "\n" << text_;
    return report ? std::move(*report) : report::Report{};
  }
  [[nodiscard]] static Result<report::Report> judge_text(const std::string& text, const LabOptions& options = {}) {
    history::Vocabulary vocabulary;
    const auto reader = history::Reader::open(std::make_unique<codec::TextSource>(text), "lab.jsonl", vocabulary, {.threads = false});
    if (!reader) return tl::unexpected(reader.error());
    return check_lab(**reader, vocabulary, options);
  }

 private:
  std::string text_;
  std::uint64_t index_ = 0;
  std::int64_t now_ms_ = 0;
};

// "failed: lost 2, stall 1".
inline std::string in_short(const report::Report& report) {
  std::string text(judge::status_name(report.judgement.status));
  const char* between = ": ";
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (report.judgement.counts[code] == 0) continue;
    text += fmt::format("{}{} {}", std::exchange(between, ", "), core::code_row(code).name, report.judgement.counts[code]);
  }
  return text;
}

}  // namespace sp::check

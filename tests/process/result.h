// A run's result, as JSON, read strictly: its verdict, its counts, the records that its findings
// name.
//
//     const auto result = Result::of(outcome.out);      result.text("verdict")
//     result.number("counts", "lost")
//
// What is not there, or is no JSON at all, fails the test and reads as nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "sys/files.h"

namespace sp::process_test {

// One record, as findings and truth logs name it.
struct RecordName {
  std::string key;
  std::uint64_t sequence = 0;
  auto operator<=>(const RecordName&) const = default;
};

class ResultJson {
 public:
  static ResultJson of(const std::string& text) {
    ResultJson result;
    const auto error = result.parser_->parse(text).get(result.root_);
    if (error != simdjson::SUCCESS) result.root_ = result.parser_->parse(std::string_view("{}"));
    EXPECT_EQ(error, simdjson::SUCCESS) << simdjson::error_message(error) << "\n"
                                        << text.substr(0, 1000);
    return result;
  }
  static ResultJson in(const std::filesystem::path& folder) {
    const auto text = sys::read_file(folder / "result.json", std::size_t{256} << 20U);
    EXPECT_TRUE(text.has_value()) << (text ? "" : text.error().message);
    return of(text ? *text : "{}");
  }

  // The value at a JSON pointer, "/coverage/acked".
  [[nodiscard]] std::uint64_t number(std::string_view pointer) const {
    std::uint64_t value = 0;
    const auto error = root_.at_pointer(pointer).get(value);
    EXPECT_EQ(error, simdjson::SUCCESS) << pointer << ": " << simdjson::error_message(error);
    return value;
  }
  [[nodiscard]] std::uint64_t number_or_zero(std::string_view pointer) const {
    std::uint64_t value = 0;
    return root_.at_pointer(pointer).get(value) == simdjson::SUCCESS ? value : 0;
  }
  [[nodiscard]] std::string text(std::string_view pointer) const {
    std::string_view value;
    const auto error = root_.at_pointer(pointer).get(value);
    EXPECT_EQ(error, simdjson::SUCCESS) << pointer << ": " << simdjson::error_message(error);
    return std::string(value);
  }
  [[nodiscard]] std::uint64_t count(std::string_view code) const {
    return number_or_zero("/counts/" + std::string(code));
  }
  [[nodiscard]] std::uint64_t allowed(std::string_view code) const {
    return number_or_zero("/allowed/" + std::string(code));
  }
  [[nodiscard]] simdjson::dom::array list(std::string_view pointer) const {
    simdjson::dom::array value;
    const auto error = root_.at_pointer(pointer).get(value);
    EXPECT_EQ(error, simdjson::SUCCESS) << pointer << ": " << simdjson::error_message(error);
    return value;
  }
  // All texts of a list, joined.
  [[nodiscard]] std::string texts(std::string_view pointer) const {
    std::string all;
    for (const auto one : list(pointer)) {
      std::string_view value;
      if (one.get(value) == simdjson::SUCCESS) all += std::string(value) + "\n";
    }
    return all;
  }
  [[nodiscard]] std::vector<std::string> stages() const {
    std::vector<std::string> all;
    for (const auto one : list("/stages")) all.emplace_back(std::string_view(one["stage"]));
    return all;
  }
  // How long that stage took.
  [[nodiscard]] std::chrono::milliseconds stage(std::string_view name) const {
    for (const auto one : list("/stages")) {
      if (std::string_view(one["stage"]) == name) return std::chrono::milliseconds{std::uint64_t(one["ms"])};
    }
    ADD_FAILURE() << "there was no stage " << name;
    return {};
  }
  // The records that the findings of a code name.
  [[nodiscard]] std::set<RecordName> named(std::string_view code) const {
    std::set<RecordName> all;
    for (const auto one : list("/findings")) {
      if (std::string_view(one["code"]) != code) continue;
      add(one, all);
    }
    return all;
  }
  // All that must be the same online and offline, a line for each: the checking model, "Online = offline".
  [[nodiscard]] std::string judged() const {
    std::string all;
    for (const char* pointer : {"/verdict", "/reasons", "/counts", "/allowed", "/undecided", "/findings_left_out", "/coverage/not_checked",
                                "/coverage/attempts", "/coverage/acked", "/coverage/failed", "/coverage/unknown", "/coverage/received"}) {
      all += std::string(pointer) + " " + compact(root_, pointer) + "\n";
    }
    for (const simdjson::dom::element one : list("/findings")) {
      for (const char* pointer : {"/code", "/blame", "/group", "/key", "/first", "/last", "/records", "/positions"}) {
        all += compact(one, pointer) + " ";
      }
      all += "\n";
    }
    return all;
  }

  // The same of truth.jsonl.
  static std::set<RecordName> truth(const std::filesystem::path& folder, std::string_view kind) {
    std::set<RecordName> all;
    const auto text = sys::read_file(folder / "truth.jsonl", std::size_t{16} << 20U);
    EXPECT_TRUE(text.has_value()) << (text ? "" : text.error().message);
    if (!text) return all;
    simdjson::dom::parser parser;
    for (std::size_t begin = 0; begin < text->size();) {
      const std::size_t end = text->find('\n', begin);
      const simdjson::dom::element line = parser.parse(text->substr(begin, end - begin));
      if (std::string_view(line["kind"]) == kind) add(line, all);
      begin = end == std::string::npos ? text->size() : end + 1;
    }
    return all;
  }

 private:
  static std::string compact(const simdjson::dom::element& whole, std::string_view pointer) {
    simdjson::dom::element value;
    const auto error = whole.at_pointer(pointer).get(value);
    EXPECT_EQ(error, simdjson::SUCCESS) << pointer << ": " << simdjson::error_message(error);
    return error == simdjson::SUCCESS ? simdjson::minify(value) : "";
  }
  static void add(const simdjson::dom::element& one, std::set<RecordName>& all) {
    std::string_view key;
    if (one["key"].get(key) != simdjson::SUCCESS) return;
    const std::uint64_t last = one["last"];
    for (std::uint64_t sequence = one["first"]; sequence <= last; ++sequence)
      all.insert({std::string(key), sequence});
  }

  std::unique_ptr<simdjson::dom::parser> parser_ =
      std::make_unique<simdjson::dom::parser>();  // owns what root_ views
  simdjson::dom::element root_;
};

}  // namespace sp::process_test

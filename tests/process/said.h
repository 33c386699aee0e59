// What `check --json` said of the history of a lab, in few words.
//
//     Said(outcome.out).verdict()   "failed"      counts()   "lost 1, stall 1, undecided 2": what is not zero
//
// What is no JSON fails the test.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace sp::process_test {

class Said {
 public:
  explicit Said(const std::string& json) {
    const auto error = parser_.parse(json).get(root_);
    EXPECT_EQ(error, simdjson::SUCCESS) << json.substr(0, 500);
    if (error != simdjson::SUCCESS) root_ = parser_.parse(std::string_view("{}"));
  }
  [[nodiscard]] std::string verdict() const { return text(root_, "/verdict"); }
  [[nodiscard]] std::string counts() const {
    std::string all = numbers("/counts");
    std::uint64_t undecided = 0;
    EXPECT_EQ(root_.at_pointer("/undecided").get(undecided), simdjson::SUCCESS);
    if (undecided > 0) all += fmt::format("{}undecided {}", all.empty() ? "" : ", ", undecided);
    return all;
  }
  [[nodiscard]] std::string allowed() const { return numbers("/allowed"); }
  // Reasons, and findings with their blame, a line each.
  [[nodiscard]] std::string words() const {
    std::string all;
    simdjson::dom::array list;
    if (root_.at_pointer("/reasons").get(list) == simdjson::SUCCESS) {
      for (const auto reason : list) all += text(reason, "") + "\n";
    }
    if (root_.at_pointer("/findings").get(list) == simdjson::SUCCESS) {
      for (const auto finding : list) all += fmt::format("blame {}: {}\n", text(finding, "/blame"), text(finding, "/says"));
    }
    return all;
  }

 private:
  static std::string text(const simdjson::dom::element& at, std::string_view pointer) {
    std::string_view value;
    return at.at_pointer(pointer).get(value) == simdjson::SUCCESS ? std::string(value) : "none";
  }
  [[nodiscard]] std::string numbers(std::string_view pointer) const {
    std::string all;
    simdjson::dom::object object;
    const auto error = root_.at_pointer(pointer).get(object);
    EXPECT_EQ(error, simdjson::SUCCESS) << pointer;
    if (error != simdjson::SUCCESS) return all;
    for (const auto field : object) {
      const std::uint64_t number = field.value.get_uint64().value();
      if (number > 0) all += fmt::format("{}{} {}", all.empty() ? "" : ", ", field.key, number);
    }
    return all;
  }

  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

}  // namespace sp::process_test

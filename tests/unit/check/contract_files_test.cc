// contracts/*.yaml: each is a contract that can be read, says where it comes from, and stands in the table of contracts/README.md.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "check/contract.h"

namespace sp::check {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::set<std::string> names() {
  std::set<std::string> all;
  for (const auto& entry : fs::directory_iterator(SP_CONTRACTS)) {
    if (entry.path().extension() == ".yaml") all.insert(entry.path().stem().string());
  }
  return all;
}

class ContractFileTest : public testing::TestWithParam<std::string> {
 protected:
  const std::string text_ = text_of(fs::path(SP_CONTRACTS) / (GetParam() + ".yaml"));
};

TEST_P(ContractFileTest, IsAContract) {
  const auto promise = read_promise(text_, GetParam());
  ASSERT_TRUE(promise) << promise.error().message;
  EXPECT_TRUE(promise->order) << "what is promised of order is said, not guessed from the history";
  for (const std::string_view member : {"\ndelivery: ", "\norder: ", "\nstart: "}) EXPECT_THAT(text_, HasSubstr(member));
}

TEST_P(ContractFileTest, SaysWhatIsPromisedAndWhere) {
  EXPECT_THAT(text_, testing::StartsWith("# "));
  EXPECT_THAT(text_, HasSubstr("\n# Says: "));
  EXPECT_THAT(text_, HasSubstr("Source: "));
}

// The table says the same as the file.
TEST_P(ContractFileTest, StandsInTheTable) {
  std::string row;
  const std::string readme = text_of(fs::path(SP_CONTRACTS) / "README.md");
  for (const std::string_view line : split(readme, {.separator = '\n'})) {
    if (line.starts_with(fmt::format("| [{0}]({0}.yaml) |", GetParam()))) row = line;
  }
  ASSERT_FALSE(row.empty()) << "contracts/README.md has no row of it";
  const auto said = [this](std::string_view member, std::string_view absent) {
    for (const std::string_view line : split(text_, {.separator = '\n'})) {
      if (line.starts_with(std::string(member) + ": ")) return std::string(line.substr(member.size() + 2));
    }
    return std::string(absent);
  };
  const std::string end =
      fmt::format("| {} | {} | {} | {} |", said("delivery", ""), said("order", ""), said("redelivery", "never"), said("start", ""));
  EXPECT_THAT(row, testing::EndsWith(end));
}

std::string case_name(const testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Contracts, ContractFileTest, testing::ValuesIn(names()), case_name);

TEST(ContractFilesTest, EveryRowOfTheTableHasItsFile) {
  const std::string readme = text_of(fs::path(SP_CONTRACTS) / "README.md");
  std::set<std::string> rows;
  for (const std::string_view line : split(readme, {.separator = '\n'})) {
    if (line.starts_with("| [")) rows.emplace(line.substr(3, line.find(']') - 3));
  }
  EXPECT_EQ(rows, names());
  EXPECT_GE(rows.size(), 20U);
}

// The profiles that the table sets apart forbid what sets them apart.
TEST(ContractFilesTest, WhatIsForbiddenFollowsFromTheDocumentation) {
  const auto forbids = [](const std::string& name, core::Code code) {
    const auto promise = read_promise(text_of(fs::path(SP_CONTRACTS) / (name + ".yaml")), name);
    EXPECT_TRUE(promise) << name;
    return promise && promise->settle({.has_key = true}).forbids(code);
  };
  EXPECT_FALSE(forbids("kafka-go-defaults", core::Code::kLost));
  EXPECT_TRUE(forbids("kafka-go-all", core::Code::kLost));
  EXPECT_FALSE(forbids("kafka-go-all", core::Code::kDuplicateWrite));
  EXPECT_TRUE(forbids("franz-go", core::Code::kDuplicateWrite));
  EXPECT_FALSE(forbids("librdkafka-defaults", core::Code::kReorderedWrite));
  EXPECT_TRUE(forbids("librdkafka-idempotent", core::Code::kReorderedWrite));
  EXPECT_FALSE(forbids("paho-c-qos1", core::Code::kDuplicateDelivery));
  EXPECT_TRUE(forbids("paho-c-qos2", core::Code::kDuplicateDelivery));
}

}  // namespace
}  // namespace sp::check

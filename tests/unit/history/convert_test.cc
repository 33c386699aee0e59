#include "history/convert.h"

#include <gtest/gtest.h>

#include "sys/files.h"

namespace sp::history {
namespace {

constexpr std::string_view kText =
    R"({"type":"meta","version":1,"run":"r1","client":"c","scenario":"s","contract":{"order":"key"}})" "\n"
    R"({"index":0,"time_ns":-7,"process":"producer-1","type":"invoke","f":"publish","key":"k\"3","value":17})" "\n"
    R"({"index":1,"process":"producer-1","type":"ok","f":"publish","key":"k\"3","value":17,"position":{"partition":2,"offset":41}})" "\n"
    R"({"index":2,"process":"nemesis","type":"info","f":"cut","detail":{"a":[1,2.5]}})" "\n"
    R"({"index":3,"process":"coordinator","type":"info","f":"stage","seen":{"worker-0.1":18446744073709551615},)"
    R"("stage":"load"})" "\n"
    R"({"index":4,"process":"c","type":"ok","f":"deliver","value":18446744073709551615,"position":{"partition":0,)"
    R"("ledger":1,"entry":2}})" "\n";

class ConvertTest : public testing::Test {
 protected:
  ConvertTest() : folder_(std::move(*sys::TemporaryFolder::make())) {}
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  void put(const std::string& name, std::string_view text) const { ASSERT_TRUE(sys::write_atomically(path(name), text).has_value()); }
  [[nodiscard]] std::string text(const std::string& name) const { return sys::read_file(path(name), 1U << 20U).value_or("(none)"); }
  [[nodiscard]] std::string error(const std::string& from, const std::string& to) const {
    const auto done = convert(path(from), path(to), {});
    return done ? "" : done.error().message;
  }
  sys::TemporaryFolder folder_;
};

TEST_F(ConvertTest, EveryWayThroughTheFormsLeavesTheSameLines) {
  put("a.jsonl", kText);
  std::string from = "a.jsonl";
  for (const char* to : {"b.sph", "c.jsonl.zst", "d.jsonl", "e.jsonl.zst", "f.sph", "g.sph", "h.jsonl"}) {
    const auto done = convert(path(from), path(to), {});
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(done->operations, 5U);
    from = to;
  }
  EXPECT_EQ(text("d.jsonl"), kText);
  EXPECT_EQ(text("h.jsonl"), kText);
}

TEST_F(ConvertTest, ARefusedHistoryLeavesNothingAndHarmsNothing) {
  put("bad.jsonl", std::string(kText) + "nonsense\n");
  put("out.sph", "there before");
  EXPECT_NE(error("bad.jsonl", "out.sph").find("bad.jsonl line 7"), std::string::npos);
  EXPECT_EQ(text("out.sph"), "there before");
  EXPECT_FALSE(std::filesystem::exists(path("out.sph.part")));
  EXPECT_NE(error("nowhere.jsonl", "new.sph"), "");
  EXPECT_FALSE(std::filesystem::exists(path("new.sph")));
  put("a.jsonl", kText);
  EXPECT_EQ(error("a.jsonl", "a.txt"), path("a.txt").string() + ": the name says no form: end it with .jsonl, .jsonl.zst or .sph");
  EXPECT_NE(error("a.jsonl", "no/folder/a.sph"), "");
}

TEST_F(ConvertTest, WhatIsCutOffIsConvertedUpToThereIfAskedFor) {
  put("a.jsonl", kText.substr(0, kText.size() - 20));
  EXPECT_NE(error("a.jsonl", "b.jsonl"), "");
  ConvertOptions options;
  options.salvage = true;
  const auto done = convert(path("a.jsonl"), path("b.jsonl"), options);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->operations, 4U);
  EXPECT_EQ(done->torn_line, 6U);
  EXPECT_EQ(text("b.jsonl"), kText.substr(0, kText.rfind("{\"index\":4")));
}

}  // namespace
}  // namespace sp::history

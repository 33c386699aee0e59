// What others wrote, converted as a person does it: one command, and the file is a history.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/program.h"
#include "sys/files.h"

namespace sp::process_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string corpus(const std::string& name) { return (std::filesystem::path(SP_CORPUS) / name).string(); }
std::string text_of(const std::filesystem::path& path) { return sys::read_file(path, std::size_t{1} << 20U).value_or("(none)"); }

class ForeignProcessTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  sys::TemporaryFolder folder_ = sys::TemporaryFolder::make("sp-foreign-test").value();
};

TEST_F(ForeignProcessTest, EveryKindBecomesAHistoryInEveryForm) {
  const Outcome verifiable = run_program({"convert", "--from", "verifiable", corpus("verifiable/producer-1.log"),
                                          corpus("verifiable/consumer-1.log"), path("v.jsonl")});
  EXPECT_EQ(verifiable.code, 0) << verifiable.err;
  EXPECT_THAT(verifiable.out, HasSubstr("v.jsonl: 25 operations\n"));
  EXPECT_THAT(verifiable.err, HasSubstr("lines that are no events are left out (1)\n"));
  EXPECT_EQ(text_of(path("v.jsonl")), text_of(corpus("verifiable/both.jsonl")));
  const Outcome jepsen = run_program({"convert", "--from", "jepsen", "--quiet", corpus("jepsen/assign.edn"), path("j.sph")});
  EXPECT_EQ(jepsen.code, 0) << jepsen.err;
  EXPECT_EQ(jepsen.out, "");
  EXPECT_EQ(run_program({"convert", path("j.sph"), path("j.jsonl")}).code, 0);
  EXPECT_EQ(text_of(path("j.jsonl")), text_of(corpus("jepsen/assign.jsonl")));
}

TEST_F(ForeignProcessTest, WhatCannotBeConvertedIsToldWithItsRemedyAndLeavesNothing) {
  const Outcome kind = run_program({"convert", "--from", "tea", "a", "b"});
  EXPECT_EQ(kind.code, 3);
  EXPECT_THAT(kind.err, HasSubstr("--from: unknown kind 'tea'; kinds are verifiable, jepsen"));
  EXPECT_THAT(run_program({"convert", "--from", "jepsen", "a"}).err,
              HasSubstr("1 names are given; write the foreign files and, last, the new one"));
  EXPECT_THAT(run_program({"convert", "--from", "jepsen", "-", path("x.jsonl")}).err, HasSubstr("standard input can be read only once"));
  EXPECT_THAT(run_program({"convert", "--from", "jepsen", path("no.edn"), path("x.jsonl")}).err, HasSubstr("no.edn"));
  EXPECT_THAT(run_program({"convert", "--from", "jepsen", corpus("jepsen/assign.edn"), path("x.txt")}).err,
              HasSubstr("the name says no form"));
  std::ofstream(path("torn.edn")) << "{:process 1 :type :invoke :f :send :value [[:send 5 1]]}\n{:process";
  const Outcome torn = run_program({"convert", "--from", "jepsen", path("torn.edn"), path("x.jsonl")});
  EXPECT_EQ(torn.code, 3);
  EXPECT_THAT(torn.err, AllOf(HasSubstr("torn.edn line 2 column 1: the file ends within what begins here"), HasSubstr("--salvage")));
  const std::string sent = R"({"timestamp":1,"name":"producer_send_success","key":null,"value":"0","topic":"t","partition":0,"offset":0})";
  std::ofstream(path("twice.log")) << sent << "\n" << sent << "\n";
  EXPECT_THAT(run_program({"convert", "--from", "verifiable", path("twice.log"), path("x.jsonl")}).err,
              HasSubstr("twice.log line 2 column 1: value 0 has had an outcome"));
  EXPECT_FALSE(std::filesystem::exists(path("x.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(path("x.jsonl.part")));
  const Outcome salvaged = run_program({"convert", "--from", "jepsen", "--salvage", path("torn.edn"), path("x.jsonl")});
  EXPECT_EQ(salvaged.code, 0) << salvaged.err;
  EXPECT_THAT(salvaged.err, HasSubstr("line 2 is cut off and left out"));
}

}  // namespace
}  // namespace sp::process_test

#include "coordinator/archive.h"

#include <gtest/gtest.h>

namespace sp::coordinator {
namespace {

using namespace std::chrono_literals;

Archive full() {
  Archive archive;
  archive.head = {"aB3dE", {}, "sp-x", WallTime{1234567890123456789ns}, ProofStatus::kFailed, "why \"not\" ü\n"};
  archive.targets = {{"default", "k1", "kafka", {{"bootstrap.servers", "\"k:9092\""}}, R"({"a":[1,"x"]})"}};
  archive.summary = {1, 2, 3, 4, 5, 6, 7, 8s, 9s, {}};
  archive.summary.counts[core::Code::kLost] = 4;
  archive.summary.counts[core::Code::kG2] = ~std::uint64_t{0};
  archive.checkpoints = {1, 2, 3, 4, 5, 6, 7};
  archive.performance.elapsed = 11s;
  archive.performance.traffic.acked = 12;
  archive.performance.publish_latency = {13, 14ns, 15ns, 16ns, 17ns, 18ns};
  SeriesPoint point;
  point.elapsed = 19s;
  point.publish_rate = 0.1;
  point.end_to_end_p99 = 20ms;
  point.out_of_orders = 21;
  archive.series = {point, {}};
  Violation violation;
  violation.number = 22;
  violation.established = true;
  violation.code = core::Code::kRewind;
  violation.key = "r7.0.1.0.3";
  violation.first = 23;
  violation.last = 24;
  violation.positions = {{core::PartitionId{25}, core::Offset{26}}};
  violation.at = 27s;
  archive.violations = {violation};
  archive.violations_left_out = 28;
  archive.judgement.status = judge::Status::kFailed;
  archive.judgement.reasons = {"one", "two"};
  archive.judgement.coverage.not_checked = {{"rewind", 29}};
  archive.judged = true;
  archive.missing = {"a worker"};
  core::FaultRecord fault;
  fault.number = 1;
  fault.name = "kill";
  fault.begin = MonotonicTime{30s};
  fault.effect_seen = MonotonicTime{31s};
  archive.faults = {fault};
  archive.messages = {"said"};
  archive.result = R"({"verdict":"failed"})";
  return archive;
}

TEST(Archive, EverythingComesBack) {
  const std::string json = archive_json(full());
  const auto back = read_archive(json);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(archive_json(*back), json);  // every member is in the JSON once; so what came back equal was read
  EXPECT_EQ(back->head.reason, "why \"not\" ü\n");
  EXPECT_EQ(back->head.started, WallTime{1234567890123456789ns});
  EXPECT_EQ(back->head.status, ProofStatus::kFailed);
  EXPECT_EQ(back->targets[0].metadata, R"({"a":[1,"x"]})");
  EXPECT_EQ(back->summary.counts[core::Code::kG2], ~std::uint64_t{0});
  EXPECT_EQ(back->series[0].publish_rate, 0.1);
  EXPECT_EQ(back->violations[0].positions[0].offset.value(), 26U);
  EXPECT_EQ(back->faults[0].effect_seen, MonotonicTime{31s});
  EXPECT_FALSE(back->faults[0].end);
  EXPECT_EQ(back->result, R"({"verdict":"failed"})");
}

TEST(Archive, AbsentMembersKeepTheirDefaultsAndUnknownOnesArePassedOver) {
  const auto back = read_archive(R"({"head":{"id":"x","new":{"a":[1]}},"later":1})");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->head.id, "x");
  EXPECT_TRUE(back->series.empty());
}

TEST(Archive, WhatIsNoneIsRefused) {
  for (const char* text : {"", "[]", "{", "{\"head\"", "{}"}) EXPECT_FALSE(read_archive(text)) << text;
}

Archive with_violations() {
  Archive archive;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    Violation violation;
    violation.number = i;
    violation.code = i % 2 == 0 ? core::Code::kLost : core::Code::kRewind;
    violation.key = i <= 5 ? "a" : "b";
    violation.at = std::chrono::seconds{i};
    archive.violations.push_back(violation);
  }
  return archive;
}

std::vector<std::uint64_t> numbers(const ViolationPage& page) {
  std::vector<std::uint64_t> all;
  for (const auto& violation : page.violations) all.push_back(violation.number);
  return all;
}

TEST(ViolationPages, FollowEachOtherToTheEnd) {
  const Archive archive = with_violations();
  ViolationQuery query;
  query.code = core::Code::kLost;
  query.most = 2;
  std::vector<std::vector<std::uint64_t>> pages;
  for (;;) {
    const ViolationPage page = find_violations(archive, query);
    EXPECT_EQ(page.total, 5U);
    pages.push_back(numbers(page));
    if (!page.next) break;
    query.after = *page.next;
  }
  EXPECT_EQ(pages, (std::vector<std::vector<std::uint64_t>>{{2, 4}, {6, 8}, {10}}));
}

TEST(ViolationPages, AFullLastPageHasNoNext) {
  ViolationQuery query;
  query.most = 10;
  EXPECT_FALSE(find_violations(with_violations(), query).next);
}

TEST(ViolationPages, FilterByKeyAndTime) {
  ViolationQuery query;
  query.key = "b";
  EXPECT_EQ(numbers(find_violations(with_violations(), query)), (std::vector<std::uint64_t>{6, 7, 8, 9, 10}));
  query.since = 7s;
  query.until = 9s;
  EXPECT_EQ(numbers(find_violations(with_violations(), query)), (std::vector<std::uint64_t>{7, 8}));
}

}  // namespace
}  // namespace sp::coordinator

#include "rpc/answer_bytes.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "unit/rpc/sample_report.h"

namespace sp::rpc {
namespace {

using Bounds = std::vector<control::LogBounds>;

TEST(AnswerBytesTest, AReportComesBackWithEveryMember) {
  const auto back = report_from_bytes(to_bytes(Result<control::WorkerReport>(sample_report())));
  ASSERT_TRUE(back && *back);
  expect_same(**back, sample_report());
  const auto empty = report_from_bytes(to_bytes(Result<control::WorkerReport>(control::WorkerReport{})));
  ASSERT_TRUE(empty && *empty);
  expect_same(**empty, {});
}

TEST(AnswerBytesTest, AHelloComesBackWithEveryMember) {
  const auto back = hello_from_bytes(to_bytes(Result<control::WorkerHello>(sample_hello())));
  ASSERT_TRUE(back && *back);
  expect_same(**back, sample_hello());
}

TEST(AnswerBytesTest, PartitionsBoundsAndNothingComeBack) {
  for (const std::uint32_t count : {0U, 1U, ~0U}) EXPECT_EQ(**partitions_from_bytes(to_bytes(Result<std::uint32_t>(count))), count);
  EXPECT_TRUE(void_from_bytes(to_bytes(Result<void>()))->has_value());
  const Bounds bounds = {{core::PartitionId{0}, core::Offset{0}, core::Offset{0}},
                         {core::PartitionId{5}, core::Offset{17}, core::Offset{~std::uint64_t{0}}}};
  const auto back = log_bounds_from_bytes(to_bytes(Result<Bounds>(bounds)));
  ASSERT_TRUE(back && *back);
  ASSERT_EQ((*back)->size(), 2U);
  EXPECT_EQ((**back)[1].partition, core::PartitionId{5});
  EXPECT_EQ((**back)[1].begin, core::Offset{17});
  EXPECT_EQ((**back)[1].end, core::Offset{~std::uint64_t{0}});
  EXPECT_TRUE((*log_bounds_from_bytes(to_bytes(Result<Bounds>(Bounds{}))))->empty());
}

TEST(AnswerBytesTest, EveryErrorComesBackAsItself) {
  const auto [rows, count] = error_rows();
  for (std::size_t i = 0; i < count; ++i) {
    const Error error{rows[i].code, "a sentence with \xFF in it"};
    const auto same = [&](const auto& back) {
      return back.has_value() && !back->has_value() && back->error().code == error.code && back->error().message == error.message;
    };
    EXPECT_TRUE(same(void_from_bytes(to_bytes(Result<void>(tl::unexpected(error)))))) << rows[i].name;
    EXPECT_TRUE(same(hello_from_bytes(to_bytes(Result<control::WorkerHello>(tl::unexpected(error)))))) << rows[i].name;
    EXPECT_TRUE(same(report_from_bytes(to_bytes(Result<control::WorkerReport>(tl::unexpected(error)))))) << rows[i].name;
    EXPECT_TRUE(same(partitions_from_bytes(to_bytes(Result<std::uint32_t>(tl::unexpected(error)))))) << rows[i].name;
    EXPECT_TRUE(same(log_bounds_from_bytes(to_bytes(Result<Bounds>(tl::unexpected(error)))))) << rows[i].name;
  }
}

TEST(AnswerBytesTest, WhatIsNoAnswerIsRefused) {
  for (const std::string_view bytes : {"\xFF\xFF\xFF", "what is this?"}) {
    EXPECT_EQ(report_from_bytes(bytes).error().code, ErrorCode::kParse);
    EXPECT_EQ(hello_from_bytes(bytes).error().code, ErrorCode::kParse);
    EXPECT_EQ(void_from_bytes(bytes).error().code, ErrorCode::kParse);
  }
  EXPECT_EQ(report_from_bytes("").error().code, ErrorCode::kParse) << "neither a value nor an error";
  EXPECT_EQ(partitions_from_bytes("").error().code, ErrorCode::kParse);
}

TEST(AnswerBytesTest, ADamagedReportIsRefusedOrReadsAsOne) {
  const std::string good = to_bytes(Result<control::WorkerReport>(sample_report()));
  Prng prng(7);
  std::size_t refused = 0;
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes = good;
    const std::uint64_t bit = prng.below(8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << (bit % 8)));
    if (i % 2 == 0) bytes.resize(prng.below(bytes.size()));
    if (const auto read = report_from_bytes(bytes); !read) {
      EXPECT_EQ(read.error().code, ErrorCode::kParse);
      ++refused;
    }
  }
  EXPECT_GT(refused, 500U);
}

}  // namespace
}  // namespace sp::rpc

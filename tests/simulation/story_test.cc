// check --explain and --key: the story holds what a reader needs, in order, with its places in the files.
#include "check/story.h"

#include <algorithm>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulation/kept_run.h"

namespace sp::simulation {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

check::Story told(const KeptRun& run, const check::StoryOptions& options) {
  auto story = check::tell(run.files(), *run.check(), options);
  EXPECT_TRUE(story.has_value()) << story.error().message;
  return story ? *story : check::Story{};
}

check::StoryOptions finding(std::size_t number) {
  check::StoryOptions options;
  options.finding = number;
  return options;
}

// The first line that says so; the number of lines if none does.
std::size_t where(const check::Story& story, const std::string& what) {
  const auto at = std::ranges::find_if(story.lines, [&](const auto& line) { return line.what.find(what) != std::string::npos; });
  return static_cast<std::size_t>(at - story.lines.begin());
}

TEST(StoryTest, WhyARecordIsLost) {
  const KeptRun run({"lose:count=3"}, 2);
  const auto& lost = run.result().report.judgement.findings.at(0);
  ASSERT_EQ(lost.code, core::Code::kLost);
  const check::Story story = told(run, finding(1));
  EXPECT_THAT(story.title, AllOf(StartsWith("finding 1 of "), HasSubstr("lost: " + lost.key), HasSubstr(fmt::format("{}", lost.first))));
  const auto& place = lost.positions.at(0);
  const std::string at = fmt::format("partition {} offset {}", place.partition.value(), place.offset.value());
  const std::size_t sent = where(story, fmt::format("sequence {} sent", lost.first));
  const std::size_t acked = where(story, fmt::format("sequence {} acknowledged at {}", lost.first, at));
  const std::size_t passed = where(story, fmt::format(", and not {}", place.offset.value()));
  const std::size_t read = where(story, fmt::format("offset {} is not in it", place.offset.value()));
  EXPECT_LT(sent, acked);
  EXPECT_LT(acked, passed);
  EXPECT_LT(passed, read);
  ASSERT_LT(read, story.lines.size()) << check::story_text(story);
  EXPECT_LT(where(story, fmt::format("was assigned partition {}", place.partition.value())), passed);
  EXPECT_THAT(story.lines[acked].who, HasSubstr(" producer-"));
  EXPECT_THAT(story.lines[acked].where, HasSubstr(".jsonl.zst:"));
  EXPECT_THAT(story.lines[read].who, HasSubstr(" final-read"));
  EXPECT_TRUE(std::ranges::is_sorted(story.lines, {}, [](const auto& line) { return line.time.value(); }));
  EXPECT_THAT(check::story_text(story), HasSubstr(" s  worker-"));
}

TEST(StoryTest, ARecordThatIsHandedOverTwiceIsToldTwice) {
  const KeptRun run({"duplicate-delivery:count=3"}, 2);
  const auto& findings = run.result().report.judgement.findings;
  const auto found = std::ranges::find_if(findings, [](const auto& one) { return one.code == core::Code::kDuplicateDelivery; });
  ASSERT_NE(found, findings.end());
  const auto story = told(run, finding(static_cast<std::size_t>(found - findings.begin()) + 1));
  const std::size_t first = where(story, fmt::format("sequence {} handed over from", found->first));
  EXPECT_LT(first, where(story, ", for the 2. time"));
  EXPECT_LT(where(story, ", for the 2. time"), story.lines.size());
}

TEST(StoryTest, TheLifeOfAKey) {
  const KeptRun run({}, 3);
  check::StoryOptions options;
  options.key = core::run_text(run.result().report.run) + ".0.1.0.0";
  options.lines_max = 100'000;
  const check::Story story = told(run, options);
  EXPECT_EQ(story.title, "key " + options.key);
  EXPECT_LT(where(story, "sequence 0 sent"), where(story, "sequence 0 acknowledged"));
  EXPECT_LT(where(story, "sequence 0 acknowledged"), where(story, "sequence 1 sent"));
  options.lines_max = 2;
  const check::Story cut = told(run, options);
  EXPECT_EQ(cut.lines.size(), 2U);
  EXPECT_EQ(cut.left_out, story.lines.size() - 2);
  EXPECT_THAT(check::story_text(cut), HasSubstr("more lines"));
}

TEST(StoryTest, WhatIsNotThereIsSaid) {
  const KeptRun run({}, 3);
  const auto report = run.check();
  EXPECT_EQ(check::tell(run.files(), *report, finding(1)).error().message, "there is no finding to explain");
  check::StoryOptions options;
  options.key = "nobody";
  EXPECT_EQ(check::tell(run.files(), *report, options).error().message, "key 'nobody' is in none of the files");
  const KeptRun lossy({"lose:count=1"}, 2);
  EXPECT_THAT(check::tell(lossy.files(), *lossy.check(), finding(99)).error().message,
              StartsWith("there is no finding 99: they are numbered from 1 to "));
}

}  // namespace
}  // namespace sp::simulation

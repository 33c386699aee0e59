// check against the reference judge on random files of a lab, through the reader and all.
//
// SP_PROPERTY_COUNT=100000 SP_PROPERTY_SEED=1 lab_property_tests      more of them, from another seed
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "check/lab_check.h"
#include "codec/byte_source.h"
#include "history/convert.h"
#include "model/lab.h"
#include "property/agreement.h"
#include "property/generator.h"
#include "sys/files.h"

namespace sp::property {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Result<report::Report> checked(const std::string& text) {
  history::Vocabulary vocabulary;
  const auto reader = history::Reader::open(std::make_unique<codec::TextSource>(text), "random.jsonl", vocabulary, {.threads = false});
  if (!reader) return tl::unexpected(reader.error());
  return check::check_lab(**reader, vocabulary, {});
}

TEST(LabPropertyTest, CheckAgreesWithTheReferenceJudge) {
  constexpr int kShown = 5;
  const std::uint64_t first = from_environment("SP_PROPERTY_SEED", 1);
  const std::uint64_t count = from_environment("SP_PROPERTY_COUNT", 3000);
  int shown = 0;
  std::map<std::string, std::uint64_t> verdicts;
  for (std::uint64_t seed = first; seed < first + count && shown < kShown; ++seed) {
    const model::LabFile file = model::lab_of(make_history(seed, {.honest = seed % 3 == 0}), seed);
    const auto report = checked(file.text);
    ASSERT_TRUE(report) << "seed " << seed << ": " << report.error().message << "\n" << file.text;
    ++verdicts[std::string(judge::status_name(report->judgement.status))];
    const auto lines = disagreements(file, report->judgement);
    if (lines.empty()) continue;
    ++shown;
    std::string text;
    for (const auto& line : lines) text += "  " + line + "\n";
    for (const auto& reason : report->judgement.reasons) text += "  check says: " + reason + "\n";
    ADD_FAILURE() << "seed " << seed << "\n" << text << file.text;
  }
  if (count < 1000) return;
  for (const char* verdict : {"clean", "failed", "invalid"}) EXPECT_GT(verdicts[verdict], count / 50) << verdict;
}

// The same file in each of its forms, read with threads and without: the same result, to the byte.
TEST(LabPropertyTest, TheFormOfAFileAndThreadsDoNotMatter) {
  const auto folder = sys::TemporaryFolder::make("sp-lab-forms").value();
  const auto path = [&](std::string_view ending) { return folder.path() / fmt::format("random.{}", ending); };
  const auto json = [&](std::string_view ending, bool threads) {
    check::LabOptions options;
    options.threads = threads;
    auto report = check::check_lab(path(ending), options);
    EXPECT_TRUE(report) << report.error().message;
    report->lab->file = "random";
    return report::json_report(*report);
  };
  const std::uint64_t first = from_environment("SP_PROPERTY_SEED", 1);
  const std::uint64_t count = from_environment("SP_PROPERTY_COUNT", 3000) / 30;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::ofstream(path("jsonl"), std::ios::binary) << model::lab_of(make_history(seed), seed).text;
    for (const char* ending : {"jsonl.zst", "sph"}) {
      std::filesystem::remove(path(ending));
      ASSERT_TRUE(history::convert(path("jsonl"), path(ending), {}));
    }
    const std::string wanted = json("jsonl", false);
    EXPECT_EQ(json("jsonl", true), wanted) << "seed " << seed;
    for (const char* ending : {"jsonl.zst", "sph"}) {
      EXPECT_EQ(json(ending, true), wanted) << "seed " << seed << " as " << ending;
      EXPECT_EQ(json(ending, false), wanted) << "seed " << seed << " as " << ending << ", one thread";
    }
  }
}

}  // namespace
}  // namespace sp::property

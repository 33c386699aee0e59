// check against the reference judge on random files of a lab, through the reader and all.
//
// SP_PROPERTY_COUNT=100000 SP_PROPERTY_SEED=1 lab_property_tests      more of them, from another seed
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "check/lab_check.h"
#include "codec/byte_source.h"
#include "model/lab.h"
#include "property/agreement.h"
#include "property/generator.h"

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

}  // namespace
}  // namespace sp::property

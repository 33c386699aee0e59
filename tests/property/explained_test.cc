// Small histories against all logs that there could have been: a history that promises everything once, in order, from the start is clean
// exactly if one log explains what was acknowledged, handed over and read. Nothing of the engine's rules is in here, only what a log is.
//
// SP_PROPERTY_COUNT=100000 SP_PROPERTY_SEED=1 lab_property_tests --gtest_filter='Explained*'
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/prng.h"
#include "check/lab_check.h"
#include "codec/byte_source.h"

namespace sp::property {
namespace {

constexpr std::uint64_t kAttemptsMax = 8;

struct Tried {
  enum class Outcome : std::uint8_t { kOk, kFail, kInfo };
  Outcome outcome = Outcome::kOk;
  std::optional<std::uint64_t> position;  // that an ack told
};
struct Found {
  std::uint64_t value = 0;
  std::uint64_t position = 0;
  bool operator==(const Found&) const = default;
};
struct Small {
  std::vector<Tried> attempts;             // by value
  std::vector<Found> delivered;
  std::optional<std::vector<Found>> read;  // the final read, by position; absent: the driver cannot
};

Small make_small(std::uint64_t seed) {
  Prng prng(seed * 31 + 5);
  Small small;
  const std::uint64_t count = prng.between(1, kAttemptsMax);
  std::vector<Found> log;
  for (std::uint64_t value = 0; value < count; ++value) {
    Tried tried;
    tried.outcome = prng.chance(0.65) ? Tried::Outcome::kOk : prng.chance(0.6) ? Tried::Outcome::kInfo : Tried::Outcome::kFail;
    const bool stored = tried.outcome == Tried::Outcome::kOk || (tried.outcome == Tried::Outcome::kInfo && prng.chance(0.5));
    if (stored && tried.outcome == Tried::Outcome::kOk && prng.chance(0.7)) tried.position = log.size();
    if (stored) log.push_back({value, log.size()});
    small.attempts.push_back(tried);
  }
  small.delivered = log;
  if (prng.chance(0.6)) small.read = log;
  const auto spoil = [&](std::vector<Found>& list, bool places_too) {
    if (list.empty()) return;
    const std::size_t at = prng.below(list.size());
    switch (prng.below(places_too ? 6 : 5)) {
      case 0: list.erase(list.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: list.insert(list.begin() + static_cast<std::ptrdiff_t>(prng.below(list.size() + 1)), list[at]); break;
      case 2: std::swap(list[at], list[prng.below(list.size())]); break;
      case 3: list[at].value = prng.below(kAttemptsMax + 1); break;
      case 4: list.resize(at); break;
      default: list[at].position = prng.below(kAttemptsMax); break;
    }
  };
  while (prng.chance(0.5)) spoil(small.delivered, true);
  if (small.read && prng.chance(0.3)) {
    spoil(*small.read, false);
    for (std::size_t at = 0; at < small.read->size(); ++at) (*small.read)[at].position = at;  // a read goes by position
  }
  return small;
}

// Behind the log there may be what was there when it was handed over and was given up later: of unknown outcome, it was promised to nobody.
bool ends_well(const Small& small, const std::vector<std::uint64_t>& log) {
  for (std::size_t at = log.size(); at < small.delivered.size(); ++at) {
    const Found& found = small.delivered[at];
    const bool above = at == 0 || (found.value > small.delivered[at - 1].value && found.position > small.delivered[at - 1].position);
    if (!small.read || !above || found.position < log.size() || found.value >= small.attempts.size()) return false;
    if (small.attempts[found.value].outcome != Tried::Outcome::kInfo) return false;
  }
  return true;
}

// True if this log, with the given values in their order, is one that the history may have had.
bool explains(const Small& small, const std::vector<std::uint64_t>& log) {
  if (small.read) {
    if (small.read->size() != log.size()) return false;
    for (std::size_t at = 0; at < log.size(); ++at) {
      if ((*small.read)[at] != Found{log[at], at}) return false;
    }
  }
  if (!ends_well(small, log)) return false;
  std::optional<std::uint64_t> before;
  for (std::size_t at = 0; at < log.size(); ++at) {
    const Tried& tried = small.attempts[log[at]];
    if (at >= small.delivered.size()) {
      // What was not handed over is the end of the log, and nobody was promised it.
      if (tried.outcome == Tried::Outcome::kOk) return false;
      continue;
    }
    const Found& found = small.delivered[at];
    if (found.value != log[at] || (before && found.position <= *before)) return false;
    if (small.read && found.position != at) return false;
    if (tried.position && found.position != *tried.position) return false;
    before = found.position;
  }
  return true;
}

// All logs: what was acknowledged, and any of what is unknown, in the order of the values.
bool is_explained(const Small& small) {
  std::vector<std::uint64_t> unknown;
  for (std::uint64_t value = 0; value < small.attempts.size(); ++value) {
    if (small.attempts[value].outcome == Tried::Outcome::kInfo) unknown.push_back(value);
  }
  for (std::uint64_t choice = 0; choice < (std::uint64_t{1} << unknown.size()); ++choice) {
    std::vector<std::uint64_t> log;
    std::size_t next = 0;
    for (std::uint64_t value = 0; value < small.attempts.size(); ++value) {
      const auto outcome = small.attempts[value].outcome;
      const bool landed = outcome == Tried::Outcome::kInfo && ((choice >> next++) & 1U) != 0;
      if (outcome == Tried::Outcome::kOk || landed) log.push_back(value);
    }
    if (explains(small, log)) return true;
  }
  return false;
}

std::string text_of(const Small& small) {
  std::string text = fmt::format(
      R"({{"type":"meta","version":1,"client":"c","scenario":"s","raw_read":{},)"
      R"("contract":{{"delivery":"exactly-once","order":"key","redelivery":"never","idempotent":true}}}})"
      "\n",
      small.read.has_value());
  int index = 0;
  const auto line = [&](std::string_view process, std::string_view type, std::string_view f, std::string_view members) {
    text += fmt::format(R"({{"index":{},"process":"{}","type":"{}","f":"{}",{}}})"
                        "\n",
                        index++, process, type, f, members);
  };
  const auto record = [](const Found& found) {
    return fmt::format(R"("key":"k","value":{},"position":{{"partition":0,"offset":{}}})", found.value, found.position);
  };
  for (std::uint64_t value = 0; value < small.attempts.size(); ++value) {
    const Tried& tried = small.attempts[value];
    const std::string bare = fmt::format(R"("key":"k","value":{})", value);
    line("p", "invoke", "publish", bare);
    const std::string_view type = tried.outcome == Tried::Outcome::kOk ? "ok" : tried.outcome == Tried::Outcome::kFail ? "fail" : "info";
    line("p", type, "publish", tried.position ? record({value, *tried.position}) : bare);
  }
  line("c", "ok", "assign", R"("partitions":[0],"starts":[{"partition":0,"offset":0}])");
  for (const Found& found : small.delivered) line("c", "ok", "deliver", record(found));
  if (small.read) {
    line("f", "ok", "read-begin", fmt::format(R"("target":[{{"partition":0,"end":{}}}])", small.read->size()));
    for (const Found& found : *small.read) line("f", "ok", "read", record(found));
    line("f", "ok", "read-end", fmt::format(R"("target":[{{"partition":0,"end":{},"reached":true}}])", small.read->size()));
  }
  line("d", "ok", "end", R"("reason":"done")");
  return text;
}

TEST(ExplainedTest, AHistoryIsCleanExactlyIfALogExplainsIt) {
  const char* wanted = std::getenv("SP_PROPERTY_COUNT");  // NOLINT(concurrency-mt-unsafe): before any thread
  const char* from = std::getenv("SP_PROPERTY_SEED");     // NOLINT(concurrency-mt-unsafe): before any thread
  const std::uint64_t count = wanted == nullptr ? 3000 : std::strtoull(wanted, nullptr, 10);
  const std::uint64_t first = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  std::uint64_t explained = 0;
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Small small = make_small(seed);
    const std::string text = text_of(small);
    history::Vocabulary vocabulary;
    const auto reader = history::Reader::open(std::make_unique<codec::TextSource>(text), "small.jsonl", vocabulary, {.threads = false});
    ASSERT_TRUE(reader) << reader.error().message;
    const auto report = check::check_lab(**reader, vocabulary, {});
    ASSERT_TRUE(report) << "seed " << seed << ": " << report.error().message;
    if (report->judgement.coverage.acked == 0) continue;  // proves nothing, whatever explains it
    ++compared;
    const bool is = is_explained(small);
    explained += is ? 1 : 0;
    const auto status = report->judgement.status;
    EXPECT_EQ(status == judge::Status::kClean, is) << "seed " << seed << ": " << judge::status_name(status) << ": "
                                                   << report->judgement.reasons.front() << "\n"
                                                   << text;
    if (HasFailure()) return;
  }
  if (count < 1000) return;
  EXPECT_GT(explained, compared / 5);
  EXPECT_LT(explained, compared * 4 / 5);
}

}  // namespace
}  // namespace sp::property

// The engine against the reference judge on random histories, and what must not matter: the order,
// number and size of deltas, and extra ticks.
//
// SP_PROPERTY_COUNT=100000 SP_PROPERTY_SEED=1 property_tests      more of them, from another seed
// SP_PROPERTY_FAILURES=1000 property_tests                        goes on after ten disagreements
// SP_PROPERTY_IGNORE=late property_tests                          not this count, while looking for
// another disagreement
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "model/player.h"
#include "model/reference_judge.h"
#include "property/agreement.h"
#include "property/generator.h"

namespace sp::property {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
std::uint64_t count() { return from_environment("SP_PROPERTY_COUNT", 2000); }
std::uint64_t first_seed() { return from_environment("SP_PROPERTY_SEED", 1); }

std::string repeat_with(std::uint64_t seed) {
  return fmt::format(
      "repeat with: SP_PROPERTY_SEED={} SP_PROPERTY_COUNT=1 property_tests --gtest_filter='{}.{}'",
      seed, testing::UnitTest::GetInstance()->current_test_info()->test_suite_name(),
      testing::UnitTest::GetInstance()->current_test_info()->name());
}

// Leaves out what can be left out while the first disagreement stays; for people.
model::History shrunk(model::History history, const model::PlayOptions& options) {
  const auto first_word = [](const std::string& line) { return line.substr(0, line.find(':')); };
  const std::string wanted = first_word(disagreements(history, options).front());
  const auto still = [&](const model::History& smaller) {
    const auto lines = disagreements(smaller, options);
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return first_word(line) == wanted; });
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = history.steps.size(); i-- > 0;) {
      if (history.steps[i].kind != model::StepKind::kObserve) continue;
      const auto event = history.steps[i].seen.value.event;
      if (event == core::Event::kAssign) continue;
      model::History tried = history;
      if (event == core::Event::kInvoke || event == core::Event::kOk ||
          event == core::Event::kFail || event == core::Event::kInfo) {
        const auto& seen = history.steps[i].seen;
        std::erase_if(tried.steps, [&](const model::Step& step) {
          const auto other = step.seen.value.event;
          return step.kind == model::StepKind::kObserve && step.seen.key == seen.key &&
                 step.seen.value.sequence == seen.value.sequence && other != core::Event::kAssign &&
                 other != core::Event::kRevoke && other != core::Event::kCommitInvoke &&
                 other != core::Event::kCommitOk;
        });
        std::erase_if(tried.log.records, [&](const model::LogRecord& record) {
          return record.key == seen.key && record.sequence == seen.value.sequence.value();
        });
        bool higher = false;  // sequences go up by one: only the last may go
        for (const auto& step : tried.steps) {
          higher = higher ||
                   (step.kind == model::StepKind::kObserve &&
                    step.seen.value.event == core::Event::kInvoke && step.seen.key == seen.key &&
                    step.seen.value.sequence > seen.value.sequence);
        }
        if (higher) continue;
      } else {
        tried.steps.erase(tried.steps.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (!still(tried)) continue;
      history = std::move(tried);
      smaller = true;
      i = std::min(i, history.steps.size());
    }
  }
  return history;
}

void report(std::uint64_t seed, const model::History& history, const model::PlayOptions& options,
            const std::vector<std::string>& lines) {
  std::string text = fmt::format("seed {}\n", seed);
  for (const auto& line : lines) text += "  " + line + "\n";
  text += repeat_with(seed) + "\n";
  if (count() == 1) {
    const model::History small = shrunk(history, options);
    text += "shrunk:\n" + describe(small);
    for (const auto& line : disagreements(small, options)) text += "  " + line + "\n";
    for (const auto& finding : model::play(small, options).judgement.findings) {
      text += fmt::format("  engine: {} {} {} {}..{} {}\n", core::code_row(finding.code).name,
                          finding.group, finding.key, finding.first, finding.last, finding.says);
    }
  }
  ADD_FAILURE() << text;
}

TEST(EnginePropertyTest, AgreesWithTheReferenceJudge) {
  std::uint64_t wrong = 0;
  const std::uint64_t wrong_max = from_environment("SP_PROPERTY_FAILURES", 10);
  for (std::uint64_t i = 0; i < count() && wrong < wrong_max; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed);
    const auto lines = disagreements(history, way_of(seed));
    if (lines.empty()) continue;
    ++wrong;
    report(seed, history, way_of(seed), lines);
  }
}

TEST(EnginePropertyTest, AnHonestWorldHasNoFinding) {
  const std::vector<core::Code> never = {
      core::Code::kDuplicateWrite, core::Code::kReorderedDelivery,
      core::Code::kRewind,         core::Code::kPhantom,
      core::Code::kMisplaced,      core::Code::kCorrupt,
      core::Code::kDualOwner,      core::Code::kInconsistentPosition,
      core::Code::kBeforeStart,    core::Code::kSkip,
      core::Code::kCommitAhead};
  for (std::uint64_t i = 0; i < count() / 2; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed, {.honest = true});
    model::PlayOptions options = way_of(seed);
    if (seed % 7 == 0) options.slots_max = 16;  // nobody is blamed for what is not remembered
    const model::Played played = model::play(history, options);
    for (const auto code : never) {
      ASSERT_EQ(played.judgement.counts[code], 0U)
          << core::code_row(code).name << " seed " << seed << "\n"
          << repeat_with(seed);
    }
    if (history.contract.idempotent) continue;  // then a late landing is none of its excuses
    ASSERT_EQ(played.judgement.counts[core::Code::kReorderedWrite],
              played.judgement.allowed[core::Code::kReorderedWrite])
        << "seed " << seed << "\n"
        << repeat_with(seed);
  }
}

std::string said(const model::Played& played) {
  const judge::Judgement& judged = played.judgement;
  std::string text =
      fmt::format("{} undecided {}\n", judge::status_name(judged.status), judged.undecided);
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    text += fmt::format("{} {} {}\n", core::code_row(code).name, judged.counts[code],
                        judged.allowed[code]);
  }
  for (const auto& finding : judged.findings) {
    text += fmt::format("{} {} {} {} {} {} {}\n", core::code_row(finding.code).name,
                        core::blame_name(finding.blame), finding.group, finding.key, finding.first,
                        finding.last, finding.records);
  }
  for (const auto& reason : judged.reasons) text += reason + "\n";
  return text;
}

TEST(EnginePropertyTest, OrderNumberAndSizeOfDeltasDoNotMatter) {
  for (std::uint64_t i = 0; i < count() / 4; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed);
    const std::string plain = said(model::play(history));
    for (std::uint64_t way = 1; way < 8; ++way) {
      model::PlayOptions options;
      options.cut_each = (way & 1U) != 0;
      options.shuffle = (way & 2U) != 0;
      options.repeat = (way & 4U) != 0;
      options.seed = seed + way;
      ASSERT_EQ(plain, said(model::play(history, options)))
          << "seed " << seed << " way " << way << "\n"
          << repeat_with(seed);
    }
  }
}

TEST(EnginePropertyTest, TheQuietPathsAreOnlyShorter) {
  for (std::uint64_t i = 0; i < count() / 2; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed, {.honest = i % 2 == 0});
    model::PlayOptions options = way_of(seed);
    const std::string quiet = said(model::play(history, options));
    options.quiet_paths = false;
    ASSERT_EQ(quiet, said(model::play(history, options))) << "seed " << seed << "\n"
                                                          << repeat_with(seed);
  }
}

// With a short memory each count is the reference judge's, or it is lower and said not to have been checked: never silently
// different, and never higher. A record whose skip was not seen may count as reordered instead; what is not known to have
// been lost is undecided.
std::vector<std::string> unsaid(const model::Played& part, const model::ReferenceVerdict& reference) {
  const judge::Judgement& engine = part.judgement;
  std::vector<std::string> lines;
  const auto missing = [&](core::Code code) {
    return reference.counts[code] - std::min(reference.counts[code], engine.counts[code]);
  };
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    const std::string name(core::code_row(code).name);
    const auto listed = engine.coverage.not_checked.find(name);
    bool said = listed != engine.coverage.not_checked.end() && listed->second > 0;
    if (code == core::Code::kLost) said = engine.undecided >= reference.undecided + missing(code);
    // Of records whose skip was not seen, those that were reordered too count here.
    std::uint64_t instead_least = 0;
    std::uint64_t instead_most = 0;
    if (code == core::Code::kReorderedDelivery) {
      const std::uint64_t skips_alone = reference.counts[core::Code::kSkip] - reference.skipped_and_reordered;
      instead_most = std::min(missing(core::Code::kSkip), reference.skipped_and_reordered);
      instead_least = missing(core::Code::kSkip) - std::min(missing(core::Code::kSkip), skips_alone);
    }
    const std::uint64_t wrong = engine.counts[code] - engine.allowed[code];
    const std::uint64_t wrong_of_all = reference.counts[code] - reference.allowed[code];
    const bool too_many = engine.counts[code] > reference.counts[code] + instead_most || wrong > wrong_of_all + instead_most;
    const bool too_few = engine.counts[code] < reference.counts[code] + instead_least || wrong < wrong_of_all + instead_least;
    if (too_many || (too_few && !said)) {
      lines.push_back(fmt::format("{}: engine {} ({} allowed), reference {} ({} allowed){}", name, engine.counts[code],
                                  engine.allowed[code], reference.counts[code], reference.allowed[code],
                                  said ? ", said" : ""));
    }
  }
  const bool same = engine.status == reference.status;
  const bool careful = engine.status == judge::Status::kInconclusive;
  if (!same && !careful) {
    lines.push_back(fmt::format("verdict: engine {}, reference {}", judge::status_name(engine.status),
                                judge::status_name(reference.status)));
  }
  return lines;
}

struct Memory {
  std::size_t slots_first = 8;
  std::size_t slots_max = 8;
};

std::string checked_with(std::uint64_t seed, const Memory& memory, const WorldOptions& world = {}) {
  const model::History history = make_history(seed, world);
  model::PlayOptions options = way_of(seed);
  options.slots_first = memory.slots_first;
  options.slots_max = memory.slots_max;
  const model::Played part = model::play(history, options);
  const auto lines = unsaid(part, model::reference_judge(history, part.raw));
  if (lines.empty()) return {};
  std::string text = fmt::format("seed {}, {} to {} positions\n", seed, memory.slots_first, memory.slots_max);
  for (const auto& line : lines) text += "  " + line + "\n";
  text += repeat_with(seed) + "\n";
  if (count() == 1) text += describe(history) + said(part);
  return text;
}

TEST(EnginePropertyTest, WhatAShortMemoryForgetsIsSaidNotToBeChecked) {
  std::uint64_t wrong = 0;
  const std::uint64_t wrong_max = from_environment("SP_PROPERTY_FAILURES", 10);
  for (std::uint64_t i = 0; i < count() && wrong < wrong_max; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const std::string wrong_here = checked_with(seed, {.slots_first = 8, .slots_max = std::size_t{8} << seed % 4},
                                                {.dense = seed % 2 == 0});
    if (wrong_here.empty()) continue;
    ++wrong;
    ADD_FAILURE() << wrong_here;
  }
}

// Histories on which the engine and the reference judge once disagreed.
TEST(EnginePropertyTest, WhatWasWrongOnceStaysMended) {
  for (const std::uint64_t seed : {5570U, 14129U, 15268U, 22830U, 34975U, 42837U, 52438U, 60843U, 67379U, 79119U, 109832U, 124617U,
                                   136732U, 140556U, 146547U, 161840U, 166417U, 282607U}) {
    EXPECT_EQ(disagreements(make_history(seed), way_of(seed)), std::vector<std::string>{}) << "seed " << seed;
    for (const std::size_t slots : {8U, 16U, 32U, 64U}) {
      EXPECT_EQ(checked_with(seed, {.slots_first = slots, .slots_max = slots}), "");
      EXPECT_EQ(checked_with(seed, {.slots_first = 8, .slots_max = slots}), "");
    }
  }
}

// The same history with each tick taken twice, the second at the same moment: nobody may notice but
// the counters of ticks.
model::History with_extra_ticks(const model::History& history) {
  model::History more = history;
  more.steps.clear();
  std::vector<core::SourceId> sources;
  std::uint64_t number = 0;
  for (const auto& step : history.steps) {
    model::Step copy = step;
    if (step.kind == model::StepKind::kJoin) sources.push_back(step.source);
    if (step.kind == model::StepKind::kAnswer) copy.number = number + 1;
    if (step.kind == model::StepKind::kComplete) copy.number = ++number;
    more.steps.push_back(copy);
    if (step.kind != model::StepKind::kComplete) continue;
    // Sources that went on after their answer are in the next period already: the extra tick comes
    // after what they saw.
    copy.number = ++number;
    for (const auto& source : sources) {
      model::Step answer;
      answer.kind = model::StepKind::kAnswer;
      answer.source = source;
      answer.number = number;
      more.steps.push_back(answer);
    }
    more.steps.push_back(copy);
  }
  return more;
}

// Where nothing is concurrent (one source) and no deadline is near, ticks carry no information.
TEST(EnginePropertyTest, ExtraTicksDoNotMatter) {
  std::uint64_t judged = 0;
  for (std::uint64_t i = 0; i < count() && judged < count() / 4; ++i) {
    const std::uint64_t seed = first_seed() + i;
    model::History history = make_history(seed);
    if (history.steps[1].kind == model::StepKind::kJoin) continue;  // more than one source
    history.contract.timeout = std::chrono::hours(1);
    ++judged;
    ASSERT_EQ(said(model::play(history)), said(model::play(with_extra_ticks(history))))
        << "seed " << seed << "\n"
        << repeat_with(seed);
  }
  EXPECT_GT(judged, count() / 8);
}

// After each thing that was seen, everybody answers two ticks: whoever sees what comes next, it comes after it.
model::History all_ordered(const model::History& history, const std::vector<core::SourceId>& sources) {
  model::History ordered = history;
  ordered.steps.clear();
  std::uint64_t number = 0;
  for (const auto& source : sources) {
    model::Step join;
    join.source = source;
    join.kind = model::StepKind::kJoin;
    ordered.steps.push_back(join);
  }
  for (const auto& step : history.steps) {
    const bool ticks = step.kind == model::StepKind::kAnswer || step.kind == model::StepKind::kComplete;
    if (ticks || step.kind == model::StepKind::kJoin) continue;
    ordered.steps.push_back(step);
    if (step.kind != model::StepKind::kObserve) continue;
    for (int twice = 0; twice < 2; ++twice) {
      model::Step tick = step;
      tick.number = ++number;
      tick.kind = model::StepKind::kAnswer;
      for (const auto& source : sources) {
        tick.source = source;
        ordered.steps.push_back(tick);
      }
      tick.kind = model::StepKind::kComplete;
      ordered.steps.push_back(tick);
    }
  }
  return ordered;
}

constexpr core::SourceId kFirst{0, 1};
constexpr core::SourceId kSecond{1, 1};

// Every second producer and every second consumer of the only worker run on another one.
model::History split(const model::History& history) {
  model::History two = history;
  const auto move = [](model::Key& key) {
    if (key.foreign.empty() && key.block.producer == 1) key.block.source = kSecond;
  };
  two.key_counts.clear();
  for (const auto& [block, count] : history.key_counts) {
    model::Key key;
    key.block = block;
    move(key);
    two.key_counts[key.block] = count;
  }
  for (auto& record : two.log.records) move(record.key);
  for (auto& step : two.steps) {
    if (step.kind != model::StepKind::kObserve) continue;
    move(step.seen.key);
    const auto event = step.seen.value.event;
    const bool attempt = event == core::Event::kInvoke || event == core::Event::kOk ||
                         event == core::Event::kFail || event == core::Event::kInfo;
    const bool moves = attempt ? step.seen.key.block.source == kSecond : step.seen.value.process % 2 == 1;
    if (moves) step.source = kSecond;
  }
  return two;
}

// Counts and verdict, without the names of workers.
std::string counted(const model::Played& played) {
  const judge::Judgement& judged = played.judgement;
  std::string text =
      fmt::format("{} undecided {} landed {}\n", judge::status_name(judged.status),
                  judged.undecided, judged.coverage.landed);
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    text += fmt::format("{} {} {}\n", core::code_row(code).name, judged.counts[code],
                        judged.allowed[code]);
  }
  return text;
}

TEST(EnginePropertyTest, SplittingAWorkerIntoTwoDoesNotChangeWhatIsCounted) {
  std::uint64_t judged = 0;
  for (std::uint64_t i = 0; i < count() && judged < count() / 8; ++i) {
    const std::uint64_t seed = first_seed() + i;
    model::History history = make_history(seed);
    if (history.steps[1].kind == model::StepKind::kJoin) continue;  // more than one source
    history.contract.timeout = std::chrono::hours(1);
    ++judged;
    const model::History one = all_ordered(history, {kFirst});
    const model::History two = all_ordered(split(history), {kFirst, kSecond});
    ASSERT_EQ(counted(model::play(one)), counted(model::play(two, way_of(seed))))
        << "seed " << seed << "\n"
        << repeat_with(seed);
  }
  EXPECT_GT(judged, count() / 16);
}

// Who may hold a partition beside whom: every kind of member, of one generation, before and after the other left.
TEST(EnginePropertyTest, OwnersAgreeWithTheReferenceJudge) {
  std::uint64_t wrong = 0;
  std::uint64_t dual = 0;
  for (std::uint64_t i = 0; i < count() && wrong < 10; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed, {.honest = i % 2 == 0, .owners = true});
    const auto lines = disagreements(history, way_of(seed));
    dual += model::play(history).judgement.counts[core::Code::kDualOwner];
    if (lines.empty()) continue;
    ++wrong;
    report(seed, history, way_of(seed), lines);
  }
  EXPECT_GT(dual, count() / 10);
}

// A world in which little is as it should be.
TEST(EnginePropertyTest, AgreesWithTheReferenceJudgeWhereEverythingGoesWrong) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count() && wrong < 10; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed, {.dense = true});
    const auto lines = disagreements(history, way_of(seed));
    if (lines.empty()) continue;
    ++wrong;
    report(seed, history, way_of(seed), lines);
  }
}

// What the live view has counted when all is over is what the judge counts; of codes that are counted by the ledger.
TEST(EnginePropertyTest, TheLiveCountsEndAsTheJudgesCounts) {
  const std::vector<core::Code> counted_live = {
      core::Code::kDuplicateWrite, core::Code::kReorderedWrite,       core::Code::kDuplicateDelivery,
      core::Code::kPhantom,        core::Code::kInconsistentPosition, core::Code::kCorrupt,
      core::Code::kMisplaced,      core::Code::kLate,                 core::Code::kBeforeStart};
  for (std::uint64_t i = 0; i < count() / 2; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::Played played = model::play(make_history(seed), way_of(seed));
    for (const auto code : counted_live) {
      ASSERT_EQ(played.live[code], played.judgement.counts[code]) << core::code_row(code).name << " seed " << seed << "\n"
                                                                  << repeat_with(seed);
    }
    ASSERT_GE(played.live[core::Code::kReorderedDelivery], played.judgement.counts[core::Code::kReorderedDelivery]) << repeat_with(seed);
  }
}

// True if something was alarmed that the finding is about.
bool alarmed(const model::Played& played, const judge::Finding& finding, const std::vector<std::string>& groups) {
  return std::any_of(played.alarms.begin(), played.alarms.end(), [&](const track::Alarm& alarm) {
    const std::string group = alarm.group ? groups[alarm.group->value()] : "";
    const std::uint64_t sequence = alarm.sequence.value();
    const bool there = finding.positions.empty() || !alarm.position ||
                       std::find(finding.positions.begin(), finding.positions.end(), *alarm.position) != finding.positions.end() ||
                       finding.records > 1;
    return alarm.code == finding.code && group == finding.group && finding.first <= sequence && sequence <= finding.last && there;
  });
}

// Alarms may be more and finer than the findings, never fewer: nothing that is counted at once is silent until the end.
TEST(EnginePropertyTest, WhatIsFoundWasAlarmed) {
  const std::set<core::Code> at_once = {core::Code::kDuplicateWrite, core::Code::kReorderedWrite, core::Code::kReorderedDelivery,
                                        core::Code::kInconsistentPosition, core::Code::kLate, core::Code::kBeforeStart};
  for (std::uint64_t i = 0; i < count() / 2; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed);
    const model::Played played = model::play(history, way_of(seed));
    for (const auto& finding : played.judgement.findings) {
      if (!at_once.contains(finding.code)) continue;
      ASSERT_TRUE(alarmed(played, finding, history.groups))
          << core::code_row(finding.code).name << " " << finding.group << " " << finding.key << " " << finding.first << ".."
          << finding.last << " seed " << seed << "\n"
          << repeat_with(seed);
    }
  }
}

// Named up to a limit, counted without one.
TEST(EnginePropertyTest, HowManyAreNamedDoesNotChangeWhatIsCounted) {
  for (std::uint64_t i = 0; i < count() / 4; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const model::History history = make_history(seed);
    model::PlayOptions options = way_of(seed);
    options.quiet_paths = true;
    const model::Played all = model::play(history, options);
    for (const std::size_t named_max : {0U, 1U, 2U}) {
      options.named_max = named_max;
      const model::Played few = model::play(history, options);
      ASSERT_LE(few.alarms.size(), 2 * named_max) << repeat_with(seed);
      for (const auto code : {core::Code::kDuplicateWrite, core::Code::kDuplicateDelivery, core::Code::kPhantom,
                              core::Code::kInconsistentPosition, core::Code::kCorrupt, core::Code::kLate,
                              core::Code::kBeforeStart, core::Code::kLost}) {
        ASSERT_EQ(few.judgement.counts[code], all.judgement.counts[code])
            << core::code_row(code).name << " named_max " << named_max << "\n" << repeat_with(seed);
      }
    }
  }
}

}  // namespace
}  // namespace sp::property

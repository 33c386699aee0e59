// The judge of driftlab's files against one that keeps every operation and looks at all of them for every question.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/prng.h"
#include "unit/check/driftlab_history.h"

namespace sp::check {
namespace {

using Number = std::uint64_t;

struct Op {
  Number index = 0;
  std::string process, type, f;
  Number value = 0, sequence = 0;
  Number millis = 0;
};

struct Story {
  std::vector<std::string> faults;
  std::vector<Op> ops;
  void add(std::string process, std::string type, std::string f, Number value = 0, Number sequence = 0, Number millis = 0) {
    ops.push_back({ops.size(), std::move(process), std::move(type), std::move(f), value, sequence, millis});
  }
  [[nodiscard]] std::string text() const {
    Lines lines(faults);
    for (const Op& op : ops) {
      std::string more = fmt::format(",\"time_ns\":{}", op.millis * 1'000'000);
      if (op.value != 0) more += fmt::format(",\"value\":{}", op.value);
      if (op.sequence != 0) more += fmt::format(",\"stream_seq\":{}", op.sequence);
      lines.op(op.process, op.type, op.f, more);
    }
    return lines.text();
  }
};

// Quadratic and plain: every question is a walk over all operations.
class Obvious {
 public:
  explicit Obvious(const Story& story) : story_(story) {}
  std::string lines() {
    deliveries();
    stalls();
    lost_writes();
    phantoms();
    recoveries();
    const std::string why = reasons();
    const Number publishes = count([](const Op& op) { return op.f == "publish" && op.type == "invoke"; });
    const Number unknown = count([](const Op& op) { return op.f == "publish" && op.type == "info"; });
    const char* verdict = !why.empty() ? "invalid" : !anomalies_.empty() ? "failed" : "clean";
    return fmt::format("verdict {}, {} of {} publishes unknown\n", verdict, unknown, publishes) + why + anomalies_ + recoveries_;
  }

 private:
  template <typename Test>
  [[nodiscard]] Number count(const Test& test) const {
    return static_cast<Number>(std::ranges::count_if(story_.ops, test));
  }
  template <typename Test>
  [[nodiscard]] bool any(const Test& test) const { return count(test) != 0; }
  static bool is_ack(const Op& op) { return op.f == "publish" && op.type == "ok"; }
  [[nodiscard]] const Op* first_read() const {
    const auto found = std::ranges::find(story_.ops, "read", &Op::f);
    return found == story_.ops.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Op* last_read() const {
    const Op* last = nullptr;
    for (const Op& op : story_.ops) {
      if (op.f == "read" && (last == nullptr || op.sequence > last->sequence)) last = &op;
    }
    return last;
  }
  [[nodiscard]] std::vector<const Op*> delivered_to(const std::string& process, Number before) const {
    std::vector<const Op*> found;
    for (const Op& op : story_.ops) {
      if (op.index < before && op.f == "deliver" && op.process == process) found.push_back(&op);
    }
    return found;
  }

  void deliveries() {
    for (const Op& op : story_.ops) {
      if (op.f != "deliver") continue;
      const Op* highest = nullptr;
      const Op* same = nullptr;
      for (const Op* earlier : delivered_to(op.process, op.index)) {
        if (highest == nullptr || earlier->sequence > highest->sequence) highest = earlier;
        if (same == nullptr && earlier->sequence == op.sequence) same = earlier;
      }
      const Number last = highest == nullptr ? 0 : highest->sequence;
      if (same != nullptr) {
        anomalies_ += fmt::format("duplicate {} ops=[{} {}]: sequence {} was delivered again\n", op.process, same->index, op.index,
                                  op.sequence);
      } else if (op.sequence < last) {
        anomalies_ += fmt::format("nonmonotonic-poll {} ops=[{} {}]: sequence {} was delivered after {}\n", op.process, highest->index,
                                  op.index, op.sequence, last);
      } else if (op.sequence > last + 1) {
        skip(op, highest, last);
      }
    }
  }
  void skip(const Op& op, const Op* highest, Number last) {
    Number late = 0, never = 0;
    const auto all = delivered_to(op.process, story_.ops.size());
    for (Number sequence = last + 1; sequence < op.sequence; ++sequence) {
      const bool came = std::ranges::any_of(all, [&](const Op* other) { return other->sequence == sequence; });
      ++(came ? late : never);
    }
    const std::string before = highest == nullptr ? "" : fmt::format("{} ", highest->index);
    anomalies_ += fmt::format("poll-skip {} ops=[{}{}]: ", op.process, before, op.index);
    anomalies_ += fmt::format("expected sequence {}, received {}: ", last + 1, op.sequence);
    anomalies_ += fmt::format("{} skipped, {} delivered late, {} never delivered\n", late + never, late, never);
  }

  void stalls() {
    if (first_read() == nullptr) return;
    std::set<std::string> done;
    for (const Op& sign : story_.ops) {
      if (&sign == first_read()) return;
      const auto is_sign = [&](const Op& op) {
        const bool there = op.f == "deliver" || (op.f == "subscribe" && op.type == "ok");
        return there && op.process == sign.process && op.index < first_read()->index;
      };
      if (!is_sign(sign) || !done.insert(sign.process).second) continue;
      Number reached = 0, latest = 0;
      for (const Op& op : story_.ops) {
        if (is_sign(op)) latest = op.index;
        if (is_sign(op) && op.f == "deliver") reached = std::max(reached, op.sequence);
      }
      if (reached >= last_read()->sequence) continue;
      anomalies_ += fmt::format("stall {} ops=[{} {}]: ", sign.process, latest, last_read()->index);
      anomalies_ += reached == 0 ? fmt::format("received nothing before the final read; the stream ends at {}\n", last_read()->sequence)
                                 : fmt::format("reached {} of {} before the final read\n", reached, last_read()->sequence);
    }
  }

  void lost_writes() {
    if (first_read() == nullptr) return;
    for (const Op& op : story_.ops) {
      if (!is_ack(op) || any([&](const Op& other) { return other.f == "read" && other.value == op.value; })) continue;
      anomalies_ += fmt::format("lost-write {} ops=[{}]: value {}, acknowledged at sequence {}, is not in the final read\n", op.process,
                                op.index, op.value, op.sequence);
    }
  }

  void phantoms() {
    std::set<Number> done;
    for (const Op& op : story_.ops) {
      if (op.f != "deliver" && op.f != "read") continue;
      const auto outcome = [&](const char* type) {
        return any([&](const Op& other) { return other.f == "publish" && other.type == type && other.value == op.value; });
      };
      if ((outcome("invoke") && !outcome("fail")) || !done.insert(op.value).second) continue;
      std::string sightings;
      for (const Op& other : story_.ops) {
        if (other.value == op.value && (other.f == "deliver" || other.f == "read")) sightings += fmt::format(" {}", other.index);
      }
      anomalies_ += fmt::format("phantom {} ops=[{}]: value {} {}\n", op.process, sightings.substr(1), op.value,
                                outcome("invoke") ? "appeared although its publish failed" : "was never published");
    }
  }

  std::string reasons() const {
    std::string why;
    if (first_read() == nullptr) why = "invalid: there is no final read\n";
    Number holes = 0, first = 0;
    for (Number sequence = 1; first_read() != nullptr && sequence <= last_read()->sequence; ++sequence) {
      if (any([&](const Op& op) { return (op.f == "read" || is_ack(op)) && op.sequence == sequence; })) continue;
      if (holes++ == 0) first = sequence;
    }
    if (holes != 0) {
      why += fmt::format("invalid: the final read ends at sequence {} and lacks {} that no acknowledgement explains, the first at {}\n",
                         last_read()->sequence, holes, first);
    }
    for (const std::string& fault : story_.faults) {
      if (any([&](const Op& op) { return op.process == "nemesis" && op.f == fault && op.type == "ok"; })) continue;
      why += fmt::format("invalid: the declared fault {} never completed\n", fault);
    }
    return why;
  }

  void recoveries() {
    const Op* end = nullptr;
    for (const Op& op : story_.ops) {
      if (op.process == "nemesis" && op.type == "ok") end = &op;
    }
    Number target = 0;
    for (const Op& op : story_.ops) {
      if (end != nullptr && is_ack(op) && op.index < end->index) target = std::max(target, op.sequence);
    }
    std::map<std::string, std::set<Number>> seen;
    std::map<std::string, std::string> line;
    std::vector<std::string> order;
    for (const Op& op : story_.ops) {
      if (target == 0 || op.f != "deliver") continue;
      if (!line.contains(op.process)) {
        order.push_back(op.process);
        line[op.process] = "never caught up after";
      }
      if (op.sequence > target || !seen[op.process].insert(op.sequence).second || seen[op.process].size() != target) continue;
      const Number took = op.millis < end->millis ? 0 : op.millis - end->millis;
      line[op.process] = fmt::format("caught up {} after", took == 0 ? "0s" : fmt::format("{}ms", took));
    }
    for (const std::string& process : order) {
      recoveries_ += fmt::format("recovery {}: {} the faults ended\n", process, line[process]);
    }
  }

  const Story& story_;
  std::string anomalies_;
  std::string recoveries_;
};

std::string pick(Prng& chance, const std::vector<std::string>& words) { return words[chance.below(words.size())]; }

// Anything in any order.
void add_anything(Prng& chance, Story& story) {
  const std::vector<std::string> consumers = {"a", "b", "c"};
  const Number value = chance.between(1, 6), sequence = chance.between(1, 6), millis = chance.below(900);
  switch (chance.below(9)) {
    case 0:
    case 1: story.add("p", "invoke", "publish", value); break;
    case 2: story.add(pick(chance, {"p", "q"}), "ok", "publish", value, sequence); break;
    case 3: story.add("p", pick(chance, {"fail", "info"}), "publish", value); break;
    case 4: story.add(pick(chance, consumers), pick(chance, {"ok", "invoke", "info"}), "subscribe"); break;
    case 5:
    case 6: story.add(pick(chance, consumers), "ok", "deliver", value, sequence, millis); break;
    case 7: story.add("final-read", "ok", "read", value, sequence); break;
    default: story.add("nemesis", pick(chance, {"invoke", "ok", "info"}), pick(chance, {"cut", "stall", "x"}), 0, 0, millis);
  }
}

// What a good run writes, with few things wrong.
void add_run(Prng& chance, Story& story) {
  const Number last = chance.between(1, 8);
  const auto wrong = [&] { return chance.below(12) == 0; };
  for (Number value = 1; value <= last; ++value) {
    story.add("p", "invoke", "publish", value);
    story.add("p", wrong() ? "info" : wrong() ? "fail" : "ok", "publish", value, value);
    if (chance.below(6) == 0) story.add("nemesis", pick(chance, {"invoke", "ok"}), pick(chance, {"cut", "stall"}), 0, 0, chance.below(900));
  }
  for (const std::string consumer : {"a", "b"}) {
    if (wrong()) continue;
    story.add(consumer, "ok", "subscribe");
    for (Number value = 1; value <= last; ++value) {
      if (wrong()) continue;
      const Number sequence = wrong() ? chance.between(1, last) : value;
      story.add(consumer, "ok", "deliver", value, sequence, chance.below(900));
      if (wrong()) story.add(consumer, "ok", "deliver", value, sequence, chance.below(900));
    }
  }
  for (Number value = 1; value <= last; ++value) {
    if (!wrong()) story.add("final-read", "ok", "read", value, value);
  }
}

Story story_of(std::uint64_t seed) {
  Prng chance(seed);
  Story story;
  if (chance.below(3) == 0) story.faults.emplace_back("stall");
  if (chance.below(3) == 0) story.faults.emplace_back("cut");
  if (seed % 2 == 0) {
    add_run(chance, story);
  } else {
    for (Number left = chance.below(30); left > 0; --left) add_anything(chance, story);
  }
  return story;
}

TEST(DriftlabPropertyTest, AllLinesAreThoseOfTheObviousJudge) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const Story story = story_of(seed);
    const std::string expected = Obvious(story).lines();
    ASSERT_EQ(judge(story.text()).lines, expected) << "seed " << seed << "\n" << story.text();
    for (const char* word : {"clean,", "failed,", "invalid,", "duplicate ", "nonmonotonic", "poll-skip", "stall ", "lost-write", "phantom",
                             "although", "lacks", "no final", "caught up 0s", "ms after", "never caught"}) {
      seen[word] += expected.find(word) == std::string::npos ? 0 : 1;
    }
  }
  for (const auto& [word, stories] : seen) EXPECT_GE(stories, 30) << word << ": the stories are not about it";
}

}  // namespace
}  // namespace sp::check

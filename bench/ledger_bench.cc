// links: judge
// Ledger replay: a clean stream of acked and received observations through Recorder, Ledger and judge, as a run does it.
//
//     ledger_bench [--smoke] [--keys N] [--random] [--million N]
//
// Prints observations a second on one core, the memory of a quiet key, and a hash of the result. The rival is what the memory
// allows: bare counters of 64 bytes touched in the same order.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/prng.h"
#include "judge/judge.h"
#include "track/ledger.h"
#include "track/recorder.h"

namespace {

using sp::core::Event;

struct Options {
  std::uint32_t keys = 1000;
  std::uint64_t records = 20'000'000;
  bool random = false;
  std::uint32_t partitions = 12;
};

struct Outcome {
  double seconds = 0;
  double bare_seconds = 0;
  std::uint64_t observations = 0;
  std::uint64_t hash = 0;
  double bytes_a_key = 0;
  std::string status;
};

double since(sp::MonotonicTime start) {
  return std::chrono::duration<double>(sp::SystemMonotonicClock().now() - start).count();
}

// The order in which keys are written: round robin, or drawn.
std::vector<std::uint32_t> order_of_keys(const Options& options) {
  std::vector<std::uint32_t> order(1U << 22U);
  sp::Prng prng(7);
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(options.random ? prng.below(options.keys) : i % options.keys);
  }
  return order;
}

double bare(const Options& options, const std::vector<std::uint32_t>& order) {
  struct alignas(64) Line {
    std::uint64_t count = 0;
  };
  std::vector<Line> lines(options.keys);
  const sp::SystemMonotonicClock clock;
  const auto start = clock.now();
  for (std::uint64_t i = 0; i < options.records * 2; ++i) ++lines[order[i & (order.size() - 1)]].count;
  const double seconds = since(start);
  std::uint64_t sum = 0;
  for (const auto& line : lines) sum += line.count;
  return sum == options.records * 2 ? seconds : 0;
}

Outcome replay(const Options& options) {
  const auto order = order_of_keys(options);
  const sp::core::RunId run{42};
  const sp::core::SourceId source{0, 1};
  sp::track::LedgerOptions ledger_options;
  ledger_options.run = run;
  ledger_options.contract.at_least_once = true;
  ledger_options.contract.ordering = true;
  ledger_options.contract.raw_read = sp::core::RawReadScope::kNone;
  ledger_options.contract.timeout = std::chrono::seconds(30);
  sp::track::Ledger ledger(ledger_options);
  sp::track::Recorder recorder(source, run);
  const std::uint32_t block = recorder.keys().block({source, 0});
  ledger.declare({source, 0}, options.keys);
  ledger.expect(source);
  std::vector<std::uint32_t> next(options.keys);
  std::vector<std::uint64_t> offsets(options.partitions);
  Outcome outcome;
  const sp::SystemMonotonicClock clock;
  const auto start = clock.now();
  sp::core::Observation open;
  open.event = Event::kAssign;
  for (std::uint32_t p = 0; p < options.partitions; ++p) {
    open.partition = sp::core::PartitionId{p};
    open.has_start = true;
    recorder.observe(open);
  }
  sp::core::Observation ack;
  ack.event = Event::kOk;
  ack.has_position = true;
  sp::core::Observation delivery = ack;
  delivery.event = Event::kDeliver;
  constexpr std::uint64_t kBatch = 8192;
  std::vector<sp::core::Observation> batch(256, delivery);
  std::uint64_t tick = 0;
  for (std::uint64_t done = 0; done < options.records;) {
    for (std::uint64_t part = 0; part < kBatch && done < options.records; part += batch.size()) {
      std::size_t filled = 0;
      for (; filled < batch.size() && done < options.records; ++filled, ++done) {
        const std::uint32_t key = order[done & (order.size() - 1)];
        const std::uint32_t partition = key % options.partitions;
        ack.key = {block, key};
        ack.sequence = sp::core::Sequence{next[key]++};
        ack.partition = sp::core::PartitionId{partition};
        ack.offset = sp::core::Offset{offsets[partition]++};
        recorder.observe(ack);
        batch[filled].key = ack.key;
        batch[filled].sequence = ack.sequence;
        batch[filled].partition = ack.partition;
        batch[filled].offset = ack.offset;
      }
      for (std::size_t i = 0; i < filled; ++i) recorder.observe(batch[i]);
    }
    recorder.cut(false);
    for (const auto* delta : recorder.pending(recorder.acknowledged())) ledger.apply(*delta);
    recorder.acknowledge(recorder.last_cut());
    if (done / 10'000'000 != tick) {
      tick = done / 10'000'000;
      sp::core::Observation answer;
      answer.event = Event::kTick;
      answer.number = tick;
      recorder.observe(answer);
      recorder.cut(false);
      for (const auto* delta : recorder.pending(recorder.acknowledged())) ledger.apply(*delta);
      recorder.acknowledge(recorder.last_cut());
      ledger.tick(tick, clock.now());
    }
  }
  ledger.close_load();
  ledger.close_consumers(clock.now());
  ledger.finish();
  const auto judgement = sp::judge::judge(ledger, ledger_options.contract, {});
  outcome.seconds = since(start);
  outcome.bare_seconds = bare(options, order);
  outcome.observations = options.records * 2;
  outcome.status = std::string(sp::judge::status_name(judgement.status));
  outcome.hash = sp::mix64(judgement.coverage.acked) ^ sp::mix64(judgement.coverage.received + 1);
  for (std::size_t i = 0; i < sp::core::kCodeCount; ++i) {
    outcome.hash = sp::mix64(outcome.hash ^ judgement.counts[static_cast<sp::core::Code>(i)]);
  }
  outcome.bytes_a_key = static_cast<double>(ledger.bytes()) / options.keys;
  return outcome;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string flag = arguments[i];
    if (flag == "--smoke") options.records = 200'000;
    if (flag == "--random") options.random = true;
    if (flag == "--keys" && i + 1 < count) options.keys = static_cast<std::uint32_t>(std::stoul(arguments[++i]));
    if (flag == "--million" && i + 1 < count) options.records = std::stoull(arguments[++i]) * 1'000'000 / 2;
  }
  const Outcome outcome = replay(options);
  std::printf("ledger keys=%u %s observations=%llu status=%s\n", options.keys, options.random ? "random" : "in order",
              static_cast<unsigned long long>(outcome.observations), outcome.status.c_str());
  std::printf("ours %.1f M observations/s, bare counters %.1f M/s, %.1f bytes a key, hash %016llx\n",
              static_cast<double>(outcome.observations) / outcome.seconds / 1e6,
              static_cast<double>(outcome.observations) / outcome.bare_seconds / 1e6, outcome.bytes_a_key,
              static_cast<unsigned long long>(outcome.hash));
  return outcome.status == "passed" ? 0 : 1;
}

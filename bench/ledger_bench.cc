// links: judge
// Ledger replay: a clean stream of acked and received observations through Recorder, Ledger and judge, as check does it.
//
//     ledger_bench                          1,000 keys in order, 1,000,000 keys at random, memory of 10,000,000 keys
//     ledger_bench --memory                 1,000,000,000 observations: memory at the end against memory at a tenth
//
// The rival is what the memory allows: bare counters of 64 bytes touched in the same order. The stream is made as it goes, so
// that the memory measured is not the bench's.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/prng.h"
#include "judge/judge.h"
#include "machine.h"
#include "record.h"
#include "replay.h"

namespace sp::bench {
namespace {

constexpr std::uint32_t kFewKeys = 1000;
constexpr double kMillion = 1e6;
constexpr double kMebibyte = 1024.0 * 1024.0;

double seconds_since(MonotonicTime start) {
  return std::chrono::duration<double>(SystemMonotonicClock().now() - start).count();
}

std::uint64_t hash_of(const judge::Judgement& judgement) {
  std::uint64_t hash = mix64(judgement.coverage.acked) ^ mix64(judgement.coverage.received + 1);
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    hash = mix64(hash ^ judgement.counts[static_cast<core::Code>(i)]);
  }
  return hash;
}

void check(const judge::Judgement& judgement, const std::string& what, std::uint64_t records, Record& record) {
  record.hash(what, hash_of(judgement));
  if (judgement.status != judge::Status::kPassed || judgement.coverage.received != records) {
    record.wrong(fmt::format("{}: {} with {} of {} records received; a clean stream passes", what,
                             judge::status_name(judgement.status), judgement.coverage.received, records));
  }
}

double bare_counters(Order& order, std::uint64_t touches, Record& record) {
  struct alignas(64) Line {
    std::uint64_t count = 0;
  };
  std::vector<Line> lines(order.keys());
  const SystemMonotonicClock clock;
  const auto start = clock.now();
  for (std::uint64_t i = 0; i < touches; ++i) ++lines[order.next()].count;
  const double seconds = seconds_since(start);
  std::uint64_t sum = 0;
  for (const auto& line : lines) sum += line.count;
  if (sum != touches) record.wrong("bare counters: the sum is not the number of touches");
  return static_cast<double>(touches) / seconds / kMillion;
}

// Each several times, because others of the machine take from it what they like: the best is what the code can do.
void speed(const std::string& shape, const Order& order, std::uint64_t observations, std::uint64_t times, double goal, Record& record) {
  const std::uint64_t records = observations / 2;
  const SystemMonotonicClock clock;
  std::vector<double> rates;
  std::vector<double> bare;
  for (std::uint64_t i = 0; i < times; ++i) {
    Order fresh = order;
    const auto start = clock.now();
    Replay replay(fresh);
    replay.run(records);
    const auto judgement = replay.finish();
    rates.push_back(static_cast<double>(2 * records) / seconds_since(start) / kMillion);
    if (i == 0) check(judgement, shape, records, record);
    bare.push_back(bare_counters(fresh, observations, record));
  }
  record.figure(shape + fmt::format(", best of {}", times), *std::max_element(rates.begin(), rates.end()), "M observations/s",
                at_least(goal));
  record.figure(shape + ", median", median(rates), "M observations/s");
  record.figure(shape + ", bare counters, best", *std::max_element(bare.begin(), bare.end()), "M/s");
}

// Two records a key, all settled: what stays is what a quiet key costs. What a ledger of few keys keeps of as many records
// belongs to no key and is taken off.
void quiet_keys(std::uint32_t keys, bool smoke, Record& record) {
  std::size_t of_no_key = 0;
  {
    Order few(kFewKeys, false);
    Replay replay(few);
    replay.run(2ULL * keys);
    replay.tick();
    of_no_key = replay.ledger_bytes();
  }
  Order order(keys, false);
  trim_memory();
  const std::uint64_t before = resident_bytes();
  Replay replay(order);
  replay.run(2ULL * keys);
  replay.tick();
  const double in_ledger = static_cast<double>(replay.ledger_bytes()) - static_cast<double>(of_no_key);
  trim_memory();
  const double resident = static_cast<double>(resident_bytes() - before);
  const std::string what = fmt::format("{} quiet keys", keys);
  record.figure(what + ", ledger, a key", in_ledger / (keys - kFewKeys), "bytes", at_most(64));
  record.figure(what + ", process, a key", resident / keys, "bytes");
  record.figure(what + ", process", resident / kMebibyte, "MiB", at_most(smoke ? 64 : 1e9 / kMebibyte));
  check(replay.finish(), what, 2ULL * keys, record);
}

void long_replay(std::uint64_t observations, Record& record) {
  const std::uint64_t records = observations / 2;
  Order order(kFewKeys, false);
  Replay replay(order);
  replay.run(records / 10);
  trim_memory();
  const std::uint64_t at_tenth = resident_bytes();
  const SystemMonotonicClock clock;
  const auto start = clock.now();
  replay.run(records - records / 10);
  const double seconds = seconds_since(start);
  trim_memory();
  const std::uint64_t at_end = resident_bytes();
  record.figure(fmt::format("resident at {} observations", observations / 10), static_cast<double>(at_tenth) / kMebibyte, "MiB");
  record.figure(fmt::format("resident at {} observations", observations), static_cast<double>(at_end) / kMebibyte, "MiB");
  record.figure("growth", (static_cast<double>(at_end) - static_cast<double>(at_tenth)) / kMebibyte, "MiB", at_most(1));
  record.figure("speed meanwhile", static_cast<double>(observations) * 0.9 / seconds / kMillion, "M observations/s");
  check(replay.finish(), fmt::format("{} observations", observations), records, record);
}

Result<void> body(const Request& request, Record& record) {
  if (request.on("memory")) {
    record.rename("ledger_memory", "Memory of a long replay");
    record.note("1,000 keys in order over 12 partitions; each record is one ack and one delivery, passed on in deltas of 8,192 "
                "records, with a tick every 10 million records. Freed memory is given back before each look.");
    long_replay(request.number("observations"), record);
    return {};
  }
  const std::uint64_t observations = request.number("million") * 1'000'000;
  const std::uint64_t size = request.smoke() ? 400'000 : observations;
  record.note("One core. Each record is one ack and one delivery; recording, deltas, ticks, folding and judging are all in the "
              "time. Bare counters: one 64-byte line a key, touched in the same order.");
  const std::uint64_t times = request.smoke() ? 1 : 5;
  speed("1,000 keys in order", Order(kFewKeys, false), size, times, 20, record);
  speed("1,000,000 keys at random", Order(request.smoke() ? 100'000 : 1'000'000, true), size, times, 10, record);
  quiet_keys(static_cast<std::uint32_t>(request.number("keys")), request.smoke(), record);
  if (request.smoke()) long_replay(request.number("observations"), record);
  return {};
}

}  // namespace
}  // namespace sp::bench

int main(int count, char** arguments) {
  return sp::bench::run_bench({"ledger_bench",
                               "Ledger replay",
                               {{"million", 40, 0, "millions of observations of each speed"},
                                {"keys", 10'000'000, 100'000, "quiet keys"},
                                {"memory", 0, 0, "memory of a long replay instead", true},
                                {"observations", 1'000'000'000, 1'000'000, "of the long replay"}}},
                              count, arguments, sp::bench::body);
}

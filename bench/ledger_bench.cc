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
#include "track/ledger.h"
#include "track/recorder.h"

namespace sp::bench {
namespace {

using core::Event;

constexpr std::uint32_t kPartitions = 12;
constexpr std::uint32_t kFewKeys = 1000;
constexpr std::uint64_t kRecordsBetweenTicks = 10'000'000;
constexpr double kMillion = 1e6;
constexpr double kMebibyte = 1024.0 * 1024.0;

double seconds_since(MonotonicTime start) {
  return std::chrono::duration<double>(SystemMonotonicClock().now() - start).count();
}

// The order in which keys are written: round robin, which needs no memory, or drawn beforehand.
class Order {
 public:
  Order(std::uint32_t keys, bool random) : keys_(keys), drawn_(random ? kDrawn : 0) {
    Prng prng(7);
    for (auto& key : drawn_) key = static_cast<std::uint32_t>(prng.below(keys));
  }
  [[nodiscard]] std::uint32_t keys() const { return keys_; }
  [[nodiscard]] bool random() const { return !drawn_.empty(); }
  std::uint32_t next() {
    if (random()) return drawn_[turn_++ & (kDrawn - 1)];
    const std::uint32_t key = at_;
    at_ = at_ + 1 == keys_ ? 0 : at_ + 1;
    return key;
  }

 private:
  static constexpr std::size_t kDrawn = std::size_t{1} << 22U;
  std::uint32_t keys_;
  std::vector<std::uint32_t> drawn_;
  std::uint64_t turn_ = 0;
  std::uint32_t at_ = 0;
};

// The stream: what was acked, and a batch later what was handed over. In order, a key's sequence is the number of the round.
class Stream {
 public:
  Stream(Order& order, std::uint32_t block) : order_(order), block_(block), offsets_(kPartitions) {
    if (order.random()) next_.resize(order.keys());
    ack_.event = Event::kOk;
    ack_.has_position = true;
    batch_.resize(kBatch, ack_);
    for (auto& delivery : batch_) delivery.event = Event::kDeliver;
  }
  // Up to `records_max` records, each acked and received; how many.
  std::uint64_t step(track::Recorder& recorder, std::uint64_t records_max) {
    const std::uint64_t filled = std::min<std::uint64_t>(records_max, kBatch);
    for (std::uint64_t i = 0; i < filled; ++i) {
      const std::uint32_t key = order_.next();
      const std::uint32_t partition = key % kPartitions;
      ack_.key = {block_, key};
      ack_.sequence = core::Sequence{sequence_of(key)};
      ack_.partition = core::PartitionId{partition};
      ack_.offset = core::Offset{offsets_[partition]++};
      recorder.observe(ack_);
      core::Observation& delivery = batch_[i];
      delivery.key = ack_.key;
      delivery.sequence = ack_.sequence;
      delivery.partition = ack_.partition;
      delivery.offset = ack_.offset;
    }
    for (std::uint64_t i = 0; i < filled; ++i) recorder.observe(batch_[i]);
    return filled;
  }

 private:
  static constexpr std::size_t kBatch = 256;

  std::uint64_t sequence_of(std::uint32_t key) {
    if (!next_.empty()) return next_[key]++;
    if (key == 0) ++round_;
    return round_ - 1;
  }

  Order& order_;
  std::uint32_t block_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> next_;
  std::uint64_t round_ = 0;
  core::Observation ack_;
  std::vector<core::Observation> batch_;
};

track::LedgerOptions ledger_options(core::RunId run) {
  track::LedgerOptions options;
  options.run = run;
  options.contract.at_least_once = true;
  options.contract.ordering = true;
  options.contract.raw_read = core::RawReadScope::kNone;
  options.contract.timeout = std::chrono::seconds(30);
  return options;
}

class Replay {
 public:
  explicit Replay(Order& order)
      : order_(order),
        ledger_(ledger_options(kRun)),
        recorder_(kSource, kRun),
        stream_(order, recorder_.keys().block({kSource, 0})) {
    ledger_.declare({kSource, 0}, order.keys());
    ledger_.expect(kSource);
    core::Observation assigned;
    assigned.event = Event::kAssign;
    assigned.has_start = true;
    for (std::uint32_t p = 0; p < kPartitions; ++p) {
      assigned.partition = core::PartitionId{p};
      recorder_.observe(assigned);
    }
  }

  void run(std::uint64_t records) {
    const std::uint64_t end = records_ + records;
    while (records_ < end) {
      const std::uint64_t cut = std::min(end, records_ + kRecordsInDelta);
      while (records_ < cut) records_ += stream_.step(recorder_, cut - records_);
      pass();
      if (records_ / kRecordsBetweenTicks != ticks_) tick();
    }
  }
  void tick() {
    ++ticks_;
    core::Observation answer;
    answer.event = Event::kTick;
    answer.number = ticks_;
    recorder_.observe(answer);
    pass();
    ledger_.tick(ticks_, clock_.now());
  }
  judge::Judgement finish() {
    ledger_.close_load();
    ledger_.close_consumers(clock_.now());
    ledger_.finish();
    return judge::judge(ledger_, ledger_options(kRun).contract, {});
  }
  [[nodiscard]] std::size_t ledger_bytes() const { return ledger_.bytes(); }

 private:
  static constexpr core::RunId kRun{42};
  static constexpr core::SourceId kSource{0, 1};
  static constexpr std::uint64_t kRecordsInDelta = 8192;

  void pass() {
    if (auto delta = recorder_.hand_over(false)) ledger_.apply(std::move(*delta));
  }

  SystemMonotonicClock clock_;
  Order& order_;
  track::Ledger ledger_;
  track::Recorder recorder_;
  Stream stream_;
  std::uint64_t records_ = 0;
  std::uint64_t ticks_ = 0;
};

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

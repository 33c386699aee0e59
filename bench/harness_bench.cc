// links: raw live
// The harness, verdict included, against the raw client: each produces and consumes at the same time, in this one process,
// with the same settings on the same one-node Kafka that is started for it. In turns, so that what the machine does meanwhile
// hits both; then both held at 0.7 of what the raw client can do.
//
//     harness_bench [--pairs 20] [--held 5] [--seconds 5]      --smoke: one pair on librdkafka's mock cluster
//
// The raw client itself is compared with Kafka's own ProducerPerformance: a slow rival would flatter.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/prng.h"
#include "core/key_space.h"
#include "driver/kafka/kafka.h"
#include "live.h"
#include "machine.h"
#include "raw_client.h"
#include "raw_cluster.h"
#include "record.h"

namespace sp::bench {
namespace {

constexpr std::uint32_t kPartitions = 12;
constexpr std::uint32_t kKeys = 1000;
constexpr std::uint64_t kUnlimited = 1'000'000'000;  // workload/pacing.h: as fast as it goes
constexpr double kHeldAt = 0.7;
constexpr std::uint64_t kMockRate = 2000;            // more would push records out of the mock before they are read

// One run of either side.
struct Measured {
  double rate = 0;             // records received a second
  double cpu_a_record = 0;     // µs
  double cpu_after = 0;        // µs, of them after the end of the load
  double backlog_seconds = 0;  // from the end of the load to the last delivery
  double verdict_seconds = 0;  // from there to the verdict
  std::uint64_t records = 0;
};

double seconds_of(Nanoseconds span) { return std::chrono::duration<double>(span).count(); }

class Duel {
 public:
  Duel(RawCluster& cluster, Nanoseconds duration, MonotonicClock& clock, const WallClock& wall)
      : cluster_(cluster), duration_(duration), clock_(clock), wall_(wall) {}

  Result<void> open() {
    auto opened = driver::kafka::open({{"bootstrap.servers", cluster_.bootstrap()}}, clock_);
    if (!opened) return tl::unexpected(std::move(opened).error());
    admin_ = std::move(*opened);
    return {};
  }

  Result<Measured> harness(std::size_t bytes, double rate, Record& record) {
    LiveOptions options;
    options.run = core::RunId{mix64(++runs_)};
    proof::Proof& proof = options.proof;
    proof.driver = "kafka";
    proof.at_least_once = true;
    proof.ordering = true;
    proof.partitions = kPartitions;
    proof.producers = 1;
    proof.consumers = 1;
    proof.keys = kKeys;
    proof.rate = rate > 0 ? static_cast<std::uint64_t>(rate) : kUnlimited;
    proof.payload_bytes = bytes;
    proof.duration = std::chrono::duration_cast<std::chrono::seconds>(duration_);
    proof.check_point_interval = std::chrono::seconds(5);
    proof.timeout = std::chrono::seconds(30);
    if (!cluster_.is_real()) {
      proof.topic = topic_;
      proof.topic_exists = proof::TopicExists::kReuse;
    }
    options.factory = [&](const proof::Proof&) {
      return driver::kafka::open({{"bootstrap.servers", cluster_.bootstrap()}}, clock_);
    };
    auto ran = run_live(options, clock_, wall_);
    if (!ran) return fail_up(std::move(ran), "harness");
    const auto& judged = ran->report.judgement;
    if (judged.status != judge::Status::kPassed || judged.coverage.received != judged.coverage.acked) {
      record.wrong(fmt::format("the harness says {} with {} of {} records received{}", judge::status_name(judged.status),
                               judged.coverage.received, judged.coverage.acked,
                               judged.reasons.empty() ? "" : ": " + judged.reasons.front()));
    }
    Measured measured;
    measured.records = judged.coverage.received;
    measured.rate = ran->rate();
    measured.cpu_a_record = seconds_of(ran->cpu) * 1e6 / static_cast<double>(std::max<std::uint64_t>(1, measured.records));
    measured.cpu_after = seconds_of(ran->cpu - ran->cpu_load) * 1e6 / static_cast<double>(std::max<std::uint64_t>(1, measured.records));
    measured.backlog_seconds = std::max(0.0, seconds_of(ran->last_delivery - ran->load_end));
    measured.verdict_seconds = seconds_of(ran->judged - ran->last_delivery);
    return measured;
  }

  Result<Measured> raw(std::size_t bytes, double rate, Record& record) {
    RawOptions options = raw_options(bytes);
    options.rate = rate;
    if (auto made = make_topic(options.topic); !made) return tl::unexpected(std::move(made).error());
    auto ran = run_raw(options, clock_);
    remove_topic(options.topic);
    if (!ran) return fail_up(std::move(ran), "raw client");
    if (ran->failed > 0) record.wrong(fmt::format("{} records of the raw client failed", ran->failed));
    Measured measured;
    measured.records = ran->received;
    measured.rate = ran->rate();
    measured.cpu_a_record = seconds_of(ran->cpu) * 1e6 / static_cast<double>(std::max<std::uint64_t>(1, measured.records));
    measured.backlog_seconds = std::max(0.0, seconds_of(ran->whole - ran->load));
    return measured;
  }

  // Producing alone, both at their fastest: ours over Java's.
  Result<double> against_java(std::size_t bytes, std::uint64_t records, std::string& says) {
    RawOptions options = raw_options(bytes);
    options.consume = false;
    if (auto made = make_topic(options.topic); !made) return tl::unexpected(std::move(made).error());
    auto java = cluster_.producer_performance(options.topic, records, bytes);
    remove_topic(options.topic);
    if (!java) return tl::unexpected(std::move(java).error());
    says = java->says;
    options = raw_options(bytes);
    if (auto made = make_topic(options.topic); !made) return tl::unexpected(std::move(made).error());
    options.consume = false;
    auto ran = run_raw(options, clock_);
    remove_topic(options.topic);
    if (!ran) return fail_up(std::move(ran), "raw producer");
    return ran->rate() / java->records_a_second;
  }

  void reuse(std::string topic) { topic_ = std::move(topic); }

 private:
  RawOptions raw_options(std::size_t bytes) {
    ++runs_;
    RawOptions options;
    options.bootstrap = cluster_.bootstrap();
    options.topic = cluster_.is_real() ? fmt::format("raw-{}", runs_) : topic_;
    options.group = fmt::format("raw-{}", runs_);
    options.settings = admin_->effective_settings();
    core::KeySpace keys(core::RunId{mix64(runs_)});
    const std::uint32_t block = keys.block({core::SourceId{0, 1}, 0});
    for (std::uint32_t i = 0; i < kKeys; ++i) options.keys.push_back(keys.name({block, i}));
    options.payload_bytes = bytes;
    options.duration = duration_;
    return options;
  }
  Result<void> make_topic(const std::string& name) {
    if (!cluster_.is_real()) return {};
    driver::TopicSpec spec;
    spec.name = name;
    spec.partitions = kPartitions;
    return admin_->create_topic(spec);
  }
  void remove_topic(const std::string& name) {
    if (cluster_.is_real()) static_cast<void>(admin_->delete_topic(name));  // only its space matters
  }

  RawCluster& cluster_;
  Nanoseconds duration_;
  MonotonicClock& clock_;
  const WallClock& wall_;
  std::unique_ptr<driver::Driver> admin_;
  std::string topic_;
  std::uint64_t runs_ = 0;
};

struct Pair {
  Measured raw;
  Measured harness;
};

// `count` pairs, first one side first and then the other.
Result<std::vector<Pair>> pairs(Duel& duel, std::uint64_t count, std::size_t bytes, double rate, Record& record) {
  std::vector<Pair> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    Pair pair;
    for (int side = 0; side < 2; ++side) {
      const bool raw = (side == 0) == (i % 2 == 0);
      auto measured = raw ? duel.raw(bytes, rate, record) : duel.harness(bytes, rate, record);
      if (!measured) return tl::unexpected(std::move(measured).error());
      (raw ? pair.raw : pair.harness) = *measured;
    }
    fmt::print("  pair {:>2}: raw {:>9.0f}/s {:6.2f} µs CPU, harness {:>9.0f}/s {:6.2f} µs CPU, ratio {:.3f}\n", i + 1,
               pair.raw.rate, pair.raw.cpu_a_record, pair.harness.rate, pair.harness.cpu_a_record,
               pair.harness.rate / pair.raw.rate);
    static_cast<void>(std::fflush(stdout));
    all.push_back(pair);
  }
  return all;
}

template <typename Of>
std::vector<double> each(const std::vector<Pair>& all, Of of) {
  std::vector<double> values;
  for (const auto& pair : all) values.push_back(of(pair));
  return values;
}

std::uint64_t hash_of(const std::vector<Pair>& all, std::size_t bytes) {
  std::uint64_t hash = mix64(bytes);
  for (const auto& pair : all) hash = mix64(hash ^ (pair.raw.records > 0 ? 1U : 0U) ^ (pair.harness.records > 0 ? 2U : 0U));
  return hash;
}

Result<void> java(Duel& duel, std::size_t bytes, Record& record) {
  constexpr int kTimes = 3;
  const std::uint64_t records = bytes < 500 ? 2'000'000 : 500'000;
  std::vector<double> ratios;
  for (int i = 0; i < kTimes; ++i) {
    std::string says;
    auto ratio = duel.against_java(bytes, records, says);
    if (!ratio) return tl::unexpected(std::move(ratio).error());
    fmt::print("  ProducerPerformance: {}; raw producer over it {:.3f}\n", says, *ratio);
    ratios.push_back(*ratio);
  }
  record.figure(fmt::format("{} bytes: raw producer over ProducerPerformance", bytes), median(ratios), "", at_least(1));
  return {};
}

Result<void> one_size(Duel& duel, const Request& request, std::size_t bytes, double goal, Record& record) {
  const bool smoke = request.smoke();
  if (!smoke) {
    if (auto done = java(duel, bytes, record); !done) return done;
    if (auto warm = pairs(duel, 1, bytes, 0, record); !warm) return tl::unexpected(std::move(warm).error());
  }
  auto fast = pairs(duel, request.number("pairs"), bytes, smoke ? static_cast<double>(kMockRate) : 0, record);
  if (!fast) return tl::unexpected(std::move(fast).error());
  const std::string size = fmt::format("{} bytes: ", bytes);
  const double raw_rate = median(each(*fast, [](const Pair& pair) { return pair.raw.rate; }));
  record.figure(size + "raw client", raw_rate, "records/s");
  record.figure(size + "harness", median(each(*fast, [](const Pair& pair) { return pair.harness.rate; })), "records/s");
  record.interval(size + "harness over raw",
                  median_interval(each(*fast, [](const Pair& pair) { return pair.harness.rate / pair.raw.rate; })), "",
                  at_least(goal));
  record.figure(size + "from the last delivery to the verdict",
                median(each(*fast, [](const Pair& pair) { return pair.harness.verdict_seconds; })), "s");
  record.hash(size + "both ran", hash_of(*fast, bytes));
  if (smoke) return {};
  const double rate = kHeldAt * raw_rate;
  auto held = pairs(duel, request.number("held"), bytes, rate, record);
  if (!held) return tl::unexpected(std::move(held).error());
  const std::string at = size + "held at 0.7: ";
  const auto worst = [](const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); };
  record.figure(at + "asked for", rate, "records/s");
  record.figure(at + "harness", median(each(*held, [](const Pair& pair) { return pair.harness.rate; })), "records/s");
  record.figure(at + "backlog at the end of the load, worst",
                worst(each(*held, [](const Pair& pair) { return pair.harness.backlog_seconds; })), "s", at_most(1));
  record.figure(at + "CPU a record, raw", median(each(*held, [](const Pair& pair) { return pair.raw.cpu_a_record; })), "µs");
  record.interval(at + "CPU a record, harness over raw", median_interval(each(*held, [](const Pair& pair) {
                    return pair.harness.cpu_a_record / pair.raw.cpu_a_record;
                  })), "", at_most(1.25));
  return {};
}

// For a profiler: one side only.
Result<void> alone(Duel& duel, const Request& request, Record& record) {
  const double rate = static_cast<double>(request.number("rate"));
  for (std::uint64_t i = 0; i < request.number("alone"); ++i) {
    auto measured = request.on("raw") ? duel.raw(request.number("bytes"), rate, record)
                                      : duel.harness(request.number("bytes"), rate, record);
    if (!measured) return tl::unexpected(std::move(measured).error());
    fmt::print("{:.0f}/s, {:.3f} µs CPU a record, {:.3f} of them after the load\n", measured->rate, measured->cpu_a_record,
               measured->cpu_after);
  }
  return {};
}

Result<void> body(const Request& request, Record& record) {
  const std::string topic = "sp-bench";
  SystemMonotonicClock clock;
  SystemWallClock wall;
  auto cluster = request.smoke() ? start_mock({topic + "-100", topic + "-1000"}, kPartitions) : start_kafka(clock, wall);
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  Duel duel(**cluster, std::chrono::seconds(request.number("seconds")), clock, wall);
  if (auto opened = duel.open(); !opened) return opened;
  record.note("One process, one node of Kafka on the same machine. Rates are records received, from the begin of the load to "
              "the last delivery; every harness run goes on to its verdict, which must be passed. CPU is that of the whole "
              "process from the begin of the load to the last delivery (raw) or to the verdict (harness).");
  record.note("The raw client keeps nothing but counts and commits nothing; the harness commits at checkpoints. "
              "Client: librdkafka " + driver::kafka::library_version() + ".");
  if (request.number("alone") > 0 && !request.record()) return alone(duel, request, record);
  for (const auto& [bytes, goal] : {std::pair<std::size_t, double>{100, 0.85}, {1000, 0.95}}) {
    duel.reuse(fmt::format("{}-{}", topic, bytes));
    if (auto done = one_size(duel, request, bytes, goal, record); !done) return done;
  }
  return {};
}

}  // namespace
}  // namespace sp::bench

int main(int count, char** arguments) {
  return sp::bench::run_bench({"harness_bench",
                               "The harness against the raw client",
                               {{"pairs", 20, 1, "pairs at full speed"},
                                {"held", 6, 0, "pairs at 0.7 of the raw client's speed"},
                                {"seconds", 5, 1, "load of each run"},
                                {"alone", 0, 0, "runs of one side only, for a profiler"},
                                {"raw", 0, 0, "that side is the raw client", true},
                                {"bytes", 100, 100, "its payload"},
                                {"rate", 0, 0, "its rate; 0 as fast as it goes"}}},
                              count, arguments, sp::bench::body);
}

// links: live
// How soon the harness says that something is wrong, on the embedded broker, with threads and the machine's clock.
//
//     duplicate, reorder, phantom    from the delivery that shows it (a duplicate's second) to the alarm
//     loss                           from the tick that passes its deadline to the alarm: the first at or after `timeout` from
//                                    the first that knows its acknowledgement
//
// The driver's observations are overheard before the harness sees them; alarms are compared by key and sequence.
#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/prng.h"
#include "cli/wiring.h"
#include "driver/embedded/broker.h"
#include "driver/embedded/defects.h"
#include "live.h"
#include "record.h"

namespace sp::bench {
namespace {

using core::Code;
using core::Event;

constexpr double kGoalSeconds = 1.0;

struct Case {
  std::string defect;   // of the embedded broker
  Code code;
  std::size_t delivery; // which delivery of the record shows it, from 1; 0: none does, a tick does
};

// When what was seen. Loops write from their threads, the coordinator reads.
class Overheard {
 public:
  void observed(const core::Observation& observation, MonotonicTime now) {
    if (observation.event == Event::kDeliver) {
      const std::lock_guard lock(mutex_);
      deliveries_[{std::string(observation.name), observation.sequence.value()}].push_back(now);
    } else if (observation.event == Event::kOk) {
      const std::lock_guard lock(mutex_);
      acks_[{observation.key.index, observation.sequence.value()}] = now;
    }
  }
  void ticked(MonotonicTime now) { ticks_.push_back(now); }
  // The n-th delivery of a record, from 1; the last one if there were fewer.
  [[nodiscard]] std::optional<MonotonicTime> delivery(const std::string& key, std::uint64_t sequence, std::size_t n) const {
    const std::lock_guard lock(mutex_);
    const auto found = deliveries_.find({key, sequence});
    if (found == deliveries_.end()) return std::nullopt;
    return found->second[std::min(n, found->second.size()) - 1];
  }
  // The tick that passes the deadline of an acked record.
  [[nodiscard]] std::optional<MonotonicTime> tick(std::uint32_t key, std::uint64_t sequence, Nanoseconds timeout) const {
    const std::lock_guard lock(mutex_);
    const auto acked = acks_.find({key, sequence});
    if (acked == acks_.end()) return std::nullopt;
    const auto knows = std::lower_bound(ticks_.begin(), ticks_.end(), acked->second);
    if (knows == ticks_.end()) return std::nullopt;
    const auto passed = std::lower_bound(knows, ticks_.end(), *knows + timeout);
    if (passed == ticks_.end()) return std::nullopt;
    return *passed;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::uint64_t>, std::vector<MonotonicTime>> deliveries_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, MonotonicTime> acks_;
  std::vector<MonotonicTime> ticks_;  // the coordinator's own
};

proof::Proof alarm_proof(const Request& request, const std::string& defect) {
  proof::Proof proof;
  proof.driver = "embedded";
  proof.at_least_once = true;
  proof.ordering = true;
  proof.partitions = 4;
  proof.producers = 1;  // so that an ack's key index is the key's
  proof.consumers = 1;
  proof.keys = 100;
  proof.rate = request.number("rate");
  proof.payload_bytes = 100;
  proof.check_point_interval = std::chrono::seconds(1);
  proof.timeout = std::chrono::seconds(2);
  proof.final_wait = std::chrono::seconds(4);
  proof.duration = std::chrono::seconds(request.number("seconds"));
  proof.defects = {defect};
  return proof;
}

Result<void> one_case(const Case& one, const Request& request, Record& record) {
  SystemMonotonicClock clock;
  SystemWallClock wall;
  const std::string defect = fmt::format("{}:count={}", one.defect, request.number("count"));
  LiveOptions options;
  options.proof = alarm_proof(request, defect);
  driver::embedded::BrokerOptions broker_options;
  broker_options.seed = 7;
  auto defects = driver::embedded::parse_defects(options.proof.defects);
  if (!defects) return tl::unexpected(std::move(defects).error());
  broker_options.defects = std::move(*defects);
  broker_options.expected = cli::expected_of(options.proof);
  driver::embedded::Broker broker(clock, wall, std::move(broker_options));
  options.factory = cli::embedded_factory(broker);
  Overheard overheard;
  std::vector<double> delays;
  std::uint64_t unknown = 0;
  options.on_observation = [&](const core::Observation& seen, MonotonicTime now) { overheard.observed(seen, now); };
  options.on_tick = [&](std::uint64_t, MonotonicTime now) { overheard.ticked(now); };
  options.on_alarm = [&](const track::Alarm& alarm, const std::string& key, MonotonicTime now) {
    if (alarm.code != one.code) return;
    const std::uint64_t sequence = alarm.sequence.value();
    const auto shown = one.delivery == 0 ? overheard.tick(alarm.key.index, sequence, options.proof.timeout)
                                         : overheard.delivery(key, sequence, one.delivery);
    if (shown) delays.push_back(std::chrono::duration<double>(now - *shown).count());
    if (!shown) ++unknown;
  };
  auto ran = run_live(options, clock, wall);
  if (!ran) return fail_up(std::move(ran), one.defect);
  const std::string_view name = core::code_row(one.code).name;
  std::uint64_t planted = 0;
  for (const auto& line : broker.truth()) {
    if (line.code == one.code) planted += line.count;
  }
  const auto& judged = ran->report.judgement;
  const std::uint64_t counted = judged.counts[one.code] - judged.allowed[one.code];
  if (planted == 0 || counted != planted) record.wrong(fmt::format("{}: {} found, {} planted", name, counted, planted));
  if (delays.size() < planted || unknown > 0) {
    record.wrong(fmt::format("{}: {} alarms of {} planted, {} about records that nobody saw", name, delays.size(), planted,
                             unknown));
  }
  if (delays.empty()) return {};
  const double most = *std::max_element(delays.begin(), delays.end());
  record.figure(fmt::format("{}, {} alarms, slowest", name, delays.size()), most, "s", at_most(kGoalSeconds));
  record.figure(fmt::format("{}, median", name), median(delays), "s");
  record.hash(std::string(name), mix64(planted ^ mix64(counted)));
  return {};
}

Result<void> body(const Request& request, Record& record) {
  record.note("Embedded broker, one producer, one consumer, threads and the machine's clock; checkpoints every second, timeout "
              "2 s. Duplicates, reorders and phantoms: from the delivery that shows it, overheard at the driver, to the alarm. "
              "Loss: from the first tick at or after its deadline, which counts from the tick that knew its acknowledgement, to "
              "the alarm.");
  for (const Case& one : {Case{"duplicate-delivery", Code::kDuplicateDelivery, 2},
                          Case{"reorder-delivery", Code::kReorderedDelivery, 1}, Case{"phantom", Code::kPhantom, 1},
                          Case{"lose", Code::kLost, 0}}) {
    if (auto done = one_case(one, request, record); !done) return done;
  }
  return {};
}

}  // namespace
}  // namespace sp::bench

int main(int count, char** arguments) {
  return sp::bench::run_bench({"alarms_bench",
                               "How soon an anomaly is told",
                               {{"seconds", 20, 3, "load of each run"},
                                {"rate", 2000, 500, "records a second"},
                                {"count", 50, 3, "plants of each kind"}}},
                              count, arguments, sp::bench::body);
}

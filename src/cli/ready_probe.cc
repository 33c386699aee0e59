#include "cli/ready_probe.h"

#include <array>
#include <set>

#include "core/payload.h"

namespace sp::cli {
namespace {

constexpr std::size_t kPayloadBytes = 64;
constexpr core::RunId kReadyRun{1};
constexpr Nanoseconds kTurn = std::chrono::milliseconds{100};

// What went well, by partition.
class ReadySink final : public core::ObservationSink {
 public:
  void observe(const core::Observation& observation) override {
    if (observation.event == core::Event::kOk) acked.insert(observation.partition.value());
    if (observation.event == core::Event::kRaw) found.insert(observation.partition.value());
  }
  std::set<std::uint32_t> acked;
  std::set<std::uint32_t> found;
};

Result<bool> send_everywhere(driver::Driver& driver, const ReadyOptions& options,
                             MonotonicClock& clock, const WallClock& wall, MonotonicTime until) {
  driver::ProducerSpec spec;
  spec.name = options.topic;
  spec.topic = options.topic;
  auto producer = driver.open_producer(spec);
  if (!producer) return tl::unexpected(std::move(producer).error());
  ReadySink sink;
  for (std::uint32_t partition = 0; partition < options.partitions; ++partition) {
    std::array<std::byte, kPayloadBytes> payload{};
    core::PayloadFields fields;
    fields.run = kReadyRun;
    fields.partition = partition;
    fields.published = wall.now();
    core::write_payload(fields, "ready", payload);
    core::Envelope envelope;
    envelope.key = "ready";
    envelope.payload = payload;
    envelope.partition = core::PartitionId{partition};
    static_cast<void>(
        (*producer)->send(envelope, core::KeyRef{}));  // what is not taken is not acked
  }
  while (sink.acked.size() < options.partitions && clock.now() < until)
    (*producer)->poll(kTurn, sink);
  (*producer)->close(Nanoseconds{0}, sink);
  return sink.acked.size() >= options.partitions;
}

Result<bool> read_everywhere(driver::Driver& driver, const ReadyOptions& options,
                             MonotonicClock& clock, MonotonicTime until) {
  auto bounds = driver.bounds(options.topic);
  if (!bounds) return tl::unexpected(std::move(bounds).error());
  driver::RawSpec spec;
  spec.topic = options.topic;
  spec.run = kReadyRun;
  spec.payload_bytes = kPayloadBytes;
  for (const auto& bound : *bounds)
    spec.targets.push_back({bound.partition, bound.begin, bound.end});
  auto reader = driver.open_raw_reader(spec);
  if (!reader) return tl::unexpected(std::move(reader).error());
  ReadySink sink;
  bool all = false;
  while (!all && clock.now() < until) {
    auto step = (*reader)->step(kTurn, sink);
    if (!step) return tl::unexpected(std::move(step).error());
    all = *step;
  }
  return sink.found.size() >= options.partitions;
}

}  // namespace

Result<bool> goes_through(driver::Driver& driver, const ReadyOptions& options,
                          MonotonicClock& clock, const WallClock& wall) {
  const MonotonicTime until = clock.now() + options.look_wait;
  driver::TopicSpec topic;
  topic.name = options.topic;
  topic.partitions = options.partitions;
  topic.replication = options.replication;
  if (auto made = driver.create_topic(topic); !made && made.error().code != ErrorCode::kExists) {
    return tl::unexpected(std::move(made).error());
  }
  auto sent = send_everywhere(driver, options, clock, wall, until);
  if (!sent || !*sent) return sent;
  auto read = read_everywhere(driver, options, clock, until);
  if (!read || !*read) return read;
  static_cast<void>(driver.delete_topic(options.topic));  // a topic that stays does no harm
  return true;
}

}  // namespace sp::cli

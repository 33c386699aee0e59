// A small world for tests of the embedded broker: producers and consumers in one thread on a virtual clock, as a
// worker would drive them, and everything they were told.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/payload.h"
#include "driver/embedded/embedded.h"

namespace sp::driver::embedded::test {

// An observation that owns its text.
struct Told {
  core::Observation observation;
  std::string name;
  std::string text;
};

class TestSink final : public core::ObservationSink {
 public:
  void observe(const core::Observation& observation) override {
    told.push_back({observation, std::string(observation.name), std::string(observation.text)});
  }
  std::vector<Told> told;
};

struct WorldOptions {
  BrokerOptions broker;
  std::uint32_t partitions = 4;
  std::uint32_t producers = 2;
  std::uint32_t keys = 10;          // of each producer
  std::uint32_t consumers = 3;      // of each group
  std::uint32_t groups = 1;
  std::uint64_t records = 2000;     // in all
  std::size_t payload_bytes = 64;
  Nanoseconds send_every = std::chrono::microseconds{500};
  Nanoseconds step = std::chrono::milliseconds{2};
  Nanoseconds commit_every = std::chrono::milliseconds{20};
};

class World {
 public:
  static constexpr const char* kTopic = "topic";
  const core::RunId run{0x1234567};

  explicit World(WorldOptions options_in) : options(std::move(options_in)), wall(clock, WallTime{std::chrono::hours{1000}}) {
    options.broker.simulated = true;
    options.broker.expected = {options.records, std::uint64_t{options.producers} * options.keys, options.groups};
    broker = std::make_unique<Broker>(clock, wall, options.broker);
    driver = std::move(*EmbeddedDriver::make(*broker));
    CHECK(driver->create_topic({kTopic, options.partitions, 1, {}}).has_value(), "the topic is new");
    for (std::uint32_t i = 0; i < options.producers; ++i) {
      producers.push_back(std::move(*driver->open_producer({i, "p" + std::to_string(i), kTopic, {}})));
    }
    for (std::uint32_t i = 0; i < options.groups * options.consumers; ++i) {
      ConsumerSpec spec;
      spec.index = i;
      spec.group = core::GroupIndex(i / options.consumers);
      spec.name = "c" + std::to_string(i);
      spec.group_name = "g" + std::to_string(i / options.consumers);
      spec.topic = kTopic;
      spec.run = run;
      spec.payload_bytes = options.payload_bytes;
      consumers.push_back(std::move(*driver->open_consumer(spec)));
      states.emplace_back();
    }
  }

  static std::string key_name(core::KeyRef key) {
    return "key-" + std::to_string(key.block) + "-" + std::to_string(key.index);
  }

  void send(std::uint32_t producer, std::uint32_t key_index) {
    const core::KeyRef key{producer, key_index};
    const std::string name = key_name(key);
    auto& next = sequences[{producer, key_index}];
    std::vector<std::byte> payload(options.payload_bytes);
    core::write_payload({run, 0, core::Sequence(next), core::kNoPartition, wall.now()}, name, payload);
    const core::Envelope envelope{name, core::Sequence(next), payload, std::nullopt};
    if (producers[producer]->send(envelope, key) != SendStatus::kAccepted) {
      ++queue_full;
      return;
    }
    core::Observation invoke;
    invoke.key = key;
    invoke.sequence = core::Sequence(next++);
    sink.told.push_back({invoke, "", ""});
  }

  void poll_all() {
    for (auto& producer : producers) producer->poll(Nanoseconds{0}, sink);
    for (std::size_t i = 0; i < consumers.size(); ++i) poll_consumer(i);
  }

  void poll_consumer(std::size_t i) {
    Consumer& consumer = *consumers[i];
    State& state = states[i];
    const std::size_t before = sink.told.size();
    consumer.poll(500, Nanoseconds{0}, sink);
    note(before, state);
    const auto revoking = consumer.revoking();
    const bool pressed = !revoking.empty() && consumer.commits_open() == 0;
    if (pressed && !state.flushed) {
      commit(consumer, state);
      state.flushed = true;
    } else if (pressed) {
      const std::size_t at = sink.told.size();
      consumer.release(sink);
      note(at, state);
      state.flushed = false;
    } else if (revoking.empty() && clock.now() >= state.commit_at) {
      commit(consumer, state);
      state.commit_at = clock.now() + options.commit_every;
    }
  }

  // Sends all records, spread evenly over the keys, then lets the world settle.
  void play() {
    MonotonicTime next_send = clock.now();
    for (std::uint64_t sent = 0; sent < options.records;) {
      while (sent < options.records && next_send <= clock.now()) {
        const auto key = static_cast<std::uint32_t>(sent % (options.producers * options.keys));
        send(key % options.producers, key / options.producers);
        ++sent;
        next_send += options.send_every;
      }
      poll_all();
      clock.advance(options.step);
    }
    settle(std::chrono::seconds{4});
    finish();
  }

  void settle(Nanoseconds span) {
    const MonotonicTime until = clock.now() + span;
    while (clock.now() < until) {
      poll_all();
      advance(until);
    }
  }

  // Turns the clock to what comes next: an event of the broker or a commit of ours, a step at least.
  void advance(MonotonicTime until) {
    MonotonicTime next = until;
    if (const auto event = broker->next_event()) next = std::min(next, *event);
    for (const auto& state : states) {
      if (!state.handed.empty() || state.flushed) next = std::min(next, state.commit_at);
    }
    clock.set(std::max(next, clock.now() + options.step));
  }

  // Steps of the end: producers close, a wait, consumers close, a full raw read.
  void finish() {
    for (auto& producer : producers) producer->close(std::chrono::seconds{5}, sink);
    producers.clear();
    settle(std::chrono::seconds{13});
    for (auto& consumer : consumers) consumer->close(std::chrono::seconds{5}, sink);
    consumers.clear();
    RawSpec spec;
    spec.topic = kTopic;
    spec.run = run;
    spec.payload_bytes = options.payload_bytes;
    const auto all = *driver->bounds(kTopic);
    for (const auto& bounds : all) spec.targets.push_back({bounds.partition, bounds.begin, bounds.end});
    auto reader = std::move(*driver->open_raw_reader(spec));
    while (!*reader->step(Nanoseconds{0}, sink)) clock.advance(options.step);
  }

  WorldOptions options;
  ManualClock clock;
  ManualWallClock wall;
  std::unique_ptr<Broker> broker;
  std::unique_ptr<EmbeddedDriver> driver;
  std::vector<std::unique_ptr<Producer>> producers;
  std::vector<std::unique_ptr<Consumer>> consumers;
  TestSink sink;
  std::uint64_t queue_full = 0;

 private:
  struct State {
    std::map<std::uint32_t, std::uint64_t> handed;  // partition → one above the highest handed over in the open lineage
    MonotonicTime commit_at{};
    bool flushed = false;
  };
  void note(std::size_t from, State& state) {
    for (std::size_t i = from; i < sink.told.size(); ++i) {
      const auto& seen = sink.told[i].observation;
      const std::uint32_t partition = seen.partition.value();
      if (seen.event == core::Event::kAssign || seen.event == core::Event::kRevoke) state.handed.erase(partition);
      if (seen.event != core::Event::kDeliver) continue;
      auto& next = state.handed[partition];
      next = std::max(next, seen.offset.value() + 1);
    }
  }
  void commit(Consumer& consumer, State& state) {
    std::vector<CommitPoint> points;
    for (const auto& [partition, next] : state.handed) {
      points.push_back({core::PartitionId(partition), core::Offset(next)});
    }
    consumer.commit(points, sink);
    state.handed.clear();
  }

  std::vector<State> states;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sequences;
};

}  // namespace sp::driver::embedded::test

// The broker's clients behind driver.h: each copies under the broker's lock what it is to pass on, and passes it on
// without.
//
// Cost:    a copy of each record.   Errors: see driver.h.   Threads: a client belongs to one thread at a time.
// Limits:  –.   Source: driver/driver.h.
#pragma once

#include <memory>
#include <vector>

#include "driver/driver.h"
#include "driver/embedded/state.h"

namespace sp::driver::embedded {

class EmbeddedProducer final : public Producer {
 public:
  // The topic must be there. `state` outlives this.
  EmbeddedProducer(State& state, Topic& topic, const ProducerSpec& spec);
  // Without a close before: a crash; open attempts stay unknown.
  ~EmbeddedProducer() override;
  EmbeddedProducer(const EmbeddedProducer&) = delete;
  EmbeddedProducer& operator=(const EmbeddedProducer&) = delete;
  SendStatus send(const core::Envelope& envelope, core::KeyRef key) override;
  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override;
  [[nodiscard]] std::size_t in_flight() const override;
  void close(Nanoseconds wait, core::ObservationSink& sink) override;

 private:
  // Waits until an outcome is due or `until`.
  void wait_for_acks(std::unique_lock<std::mutex>& lock, MonotonicTime until);
  void leave();

  State& state_;
  ProducerCore core_;
  Batch batch_;
  bool open_ = true;
};

class EmbeddedConsumer final : public Consumer {
 public:
  EmbeddedConsumer(State& state, Topic& topic, const ConsumerSpec& spec);
  // Without a close before: a crash; its partitions move when its session ends.
  ~EmbeddedConsumer() override;
  EmbeddedConsumer(const EmbeddedConsumer&) = delete;
  EmbeddedConsumer& operator=(const EmbeddedConsumer&) = delete;
  std::size_t poll(std::size_t records_max, Nanoseconds wait, core::ObservationSink& sink) override;
  [[nodiscard]] std::vector<core::PartitionId> revoking() const override;
  void release(core::ObservationSink& sink) override;
  void commit(std::span<const CommitPoint> points, core::ObservationSink& sink) override;
  [[nodiscard]] std::size_t commits_open() const override;
  void pause(bool paused) override;
  void close(Nanoseconds wait, core::ObservationSink& sink) override;

 private:
  State& state_;
  Topic& topic_;
  Group* group_ = nullptr;
  Member* member_ = nullptr;   // absent once closed
  core::RunId run_;
  std::size_t payload_bytes_ = 0;
  Batch batch_;
};

class EmbeddedRawReader final : public RawReader {
 public:
  EmbeddedRawReader(State& state, Topic& topic, const RawSpec& spec);
  Result<bool> step(Nanoseconds wait, core::ObservationSink& sink) override;

 private:
  void read_some(MonotonicTime now);

  State& state_;
  Topic& topic_;
  RawSpec spec_;
  std::size_t target_ = 0;
  bool begun_ = false;
  std::uint64_t next_ = 0;
  Batch batch_;
};

}  // namespace sp::driver::embedded

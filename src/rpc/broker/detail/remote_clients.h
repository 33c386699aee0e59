// Producer, Consumer and RawReader of driver/driver.h at a broker in another process.
//
// Times of observations are those of this process's clock, when the answer came. A client that is destroyed without a close is a crash:
// nothing is told to the broker, which drops it when its lease is over.
//
// Cost:     a call for each poll; records and observations are copied.   Limits: remote_driver.h.
// Errors:   see driver.h.   Threads: a client belongs to one thread at a time.   Source: driver/driver.h.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "driver/driver.h"
#include "rpc/broker/detail/remote_handle.h"

namespace sp::rpc::broker::detail {

// What all clients of a driver share; it outlives them.
struct Surrounding {
  const Line& line;
  MonotonicClock& clock;
  Nanoseconds lease;
};

class RemoteProducer final : public driver::Producer {
 public:
  RemoteProducer(const Surrounding& around, const driver::ProducerSpec& spec);
  [[nodiscard]] Result<void> open() { return handle_.open(); }
  driver::SendStatus send(const core::Envelope& envelope, core::KeyRef key) override;
  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override;
  [[nodiscard]] std::size_t in_flight() const override { return queue_.size() + open_.size() + refused_.size(); }
  void close(Nanoseconds wait, core::ObservationSink& sink) override;

 private:
  using Attempt = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // key block, key index, sequence

  [[nodiscard]] static Attempt attempt_of(const v1::Record& record) {
    return {record.key_block(), record.key_index(), record.sequence()};
  }
  [[nodiscard]] core::Observation outcome(core::Event event, const Attempt& attempt) const;
  [[nodiscard]] v1::ExchangeRequest next_call(Nanoseconds wait);
  [[nodiscard]] Exchange exchange(core::ObservationSink& sink, std::size_t& outcomes);
  void take(const v1::ExchangeRequest& request, const v1::Exchanged& answer, core::ObservationSink& sink, std::size_t& outcomes);
  // The outcomes of what will never have another one.
  std::size_t lose(core::ObservationSink& sink);
  std::size_t fail_queue(core::ObservationSink& sink, std::string_view why);
  std::size_t tell_refused(core::ObservationSink& sink);

  MonotonicClock& clock_;
  const std::uint32_t index_;
  RemoteHandle handle_;
  std::deque<v1::Record> queue_;     // not sent
  std::size_t queue_bytes_ = 0;
  std::set<Attempt> open_;           // sent, without an outcome
  std::vector<Attempt> refused_;     // too large for any call
};

class RemoteConsumer final : public driver::Consumer {
 public:
  RemoteConsumer(const Surrounding& around, const driver::ConsumerSpec& spec);
  [[nodiscard]] Result<void> open() { return handle_.open(); }
  std::size_t poll(std::size_t records_max, Nanoseconds wait, core::ObservationSink& sink) override;
  [[nodiscard]] std::vector<core::PartitionId> revoking() const override { return revoking_; }
  void release(core::ObservationSink& sink) override;
  void commit(std::span<const driver::CommitPoint> points, core::ObservationSink& sink) override;
  [[nodiscard]] std::size_t commits_open() const override { return commits_.size() + points_unsent_; }
  void pause(bool paused) override;
  void close(Nanoseconds wait, core::ObservationSink& sink) override;

 private:
  struct Seen {
    std::size_t deliveries = 0;
    std::size_t observations = 0;
  };
  [[nodiscard]] Exchange exchange(core::ObservationSink& sink, Seen& seen);
  void take(const v1::ExchangeRequest& request, const v1::Exchanged& answer, core::ObservationSink& sink, Seen& seen);
  void note(const core::Observation& observation);
  [[nodiscard]] core::Observation event(core::Event what) const;
  // Tells that all it held and had open is gone.
  void lose(core::ObservationSink& sink, core::LineageClose how);
  [[nodiscard]] bool come_back(core::ObservationSink& sink);

  MonotonicClock& clock_;
  const std::uint32_t index_;
  const core::GroupIndex group_;
  RemoteHandle handle_;
  std::set<core::PartitionId> held_;
  std::vector<driver::CommitPoint> commits_;  // requested, without an outcome
  std::size_t points_unsent_ = 0;             // of commits that the broker has not answered
  std::vector<core::PartitionId> revoking_;
  bool consuming_ = false;                    // a poll waits for its answer
  bool paused_ = false;
};

class RemoteRawReader final : public driver::RawReader {
 public:
  RemoteRawReader(const Surrounding& around, const driver::RawSpec& spec);
  [[nodiscard]] Result<void> open() { return handle_.open(); }
  Result<bool> step(Nanoseconds wait, core::ObservationSink& sink) override;

 private:
  void give_up(core::ObservationSink& sink);

  MonotonicClock& clock_;
  std::vector<driver::RawTarget> targets_;    // in the order in which the broker reads them
  std::size_t begun_ = 0;                     // targets ...
  std::size_t ended_ = 0;
  RemoteHandle handle_;
};

}  // namespace sp::rpc::broker::detail

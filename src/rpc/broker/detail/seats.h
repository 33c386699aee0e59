// Clients of the broker by the handles of their callers: who sits where, and since when nobody has called.
//
//     reserve() ─► open(handle, client) ─► exchange(handle, number, …) …      watch(): drops who was silent for the lease
//
// Limits:   kHandlesMax seats.
// Errors:   kNotFound: dropped, or of a former life of the broker; kFull; kInvalid: a call out of its order, or not of that client.
// Threads:  any; the calls of one handle come after each other.   Source: proto/broker.proto.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include <proto/broker.pb.h>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"

namespace sp::rpc::broker::detail {

namespace v1 = ::streaming_proof::v1;

class Seats {
 public:
  // `driver` and the clock outlive the seats. `life` is that of the broker.
  Seats(driver::Driver& driver, MonotonicClock& clock, std::uint64_t life, Nanoseconds lease);
  ~Seats();
  Seats(const Seats&) = delete;
  Seats& operator=(const Seats&) = delete;

  [[nodiscard]] Result<v1::Handle> reserve();
  [[nodiscard]] Result<void> open(const v1::OpenRequest& request);
  void exchange(const v1::ExchangeRequest& request, v1::ExchangeAnswer& answer);
  [[nodiscard]] std::size_t count() const;

 private:
  struct Seat {
    std::mutex mutex;                 // guards all but `number`; held while a call is carried out
    std::unique_ptr<driver::Producer> producer;
    std::unique_ptr<driver::Consumer> consumer;
    std::unique_ptr<driver::RawReader> raw_reader;
    std::uint32_t partitions = 0;     // of its topic
    bool opened = false;
    bool closed = false;
    bool dropped = false;
    std::uint64_t last = 0;           // the number of the last call ...
    v1::ExchangeAnswer answer;        // ... and what was said to it
    MonotonicTime seen{};
  };
  using SharedSeat = std::shared_ptr<Seat>;  // shared: the table may drop it while a call is still about to use it

  [[nodiscard]] Result<SharedSeat> find(const v1::Handle& handle) const;
  [[nodiscard]] Result<void> make_client(Seat& seat, const v1::OpenRequest& request);
  [[nodiscard]] static Result<void> carry_out(Seat& seat, const v1::ExchangeRequest& request, v1::Exchanged& answer);
  [[nodiscard]] static Result<void> produce(Seat& seat, const v1::Produce& call, v1::Exchanged& answer);
  [[nodiscard]] static Result<void> consumer_call(Seat& seat, const v1::ExchangeRequest& request, v1::Exchanged& answer);
  [[nodiscard]] static Result<void> close(Seat& seat, Nanoseconds wait, v1::Exchanged& answer);
  void watch(const std::stop_token& stop);

  driver::Driver& driver_;
  MonotonicClock& clock_;
  const std::uint64_t life_;
  const Nanoseconds lease_;
  mutable std::mutex mutex_;          // guards seats_ and numbers_
  std::map<std::uint64_t, SharedSeat> seats_;
  std::uint64_t numbers_ = 0;
  std::mutex stop_mutex_;
  std::condition_variable stopped_;
  std::jthread watch_;                // last: it uses the others
};

}  // namespace sp::rpc::broker::detail

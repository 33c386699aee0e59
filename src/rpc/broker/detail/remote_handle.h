// A client's place at a broker: its calls are numbered and made one after the other, each again and again until it is answered.
//
//     open() ─► add(call) … exchange(take) ─► kAnswered: all were, and taken   kSilent: later again   kLost: never; open() anew
//
// Errors:   open(): those of the line, and the broker's own.
// Threads:  one owner.   Source: proto/broker.proto.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include <proto/broker.pb.h>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/broker/detail/line.h"

namespace sp::rpc::broker::detail {

enum class Exchange : std::uint8_t { kAnswered, kSilent, kLost };

class RemoteHandle {
 public:
  // `request` says which client is opened. After silence for `lease` it is lost. Line and clock outlive this.
  RemoteHandle(const Line& line, MonotonicClock& clock, Nanoseconds lease, v1::OpenRequest request);

  // Forgets the calls that were not answered.
  [[nodiscard]] Result<void> open();
  // The same for one that is lost, at most every RemoteBroker::reopen_every; absent: not now.
  [[nodiscard]] std::optional<Result<void>> reopen();

  using Take = std::function<void(const v1::ExchangeRequest& request, const v1::Exchanged& answer)>;
  void add(v1::ExchangeRequest call) { calls_.push_back(std::move(call)); }
  [[nodiscard]] bool idle() const { return calls_.empty(); }
  [[nodiscard]] Exchange exchange(const Take& take);

  [[nodiscard]] bool lost() const { return lost_; }
  // Why it is lost, or silent.
  [[nodiscard]] const Error& why() const { return why_; }
  // True when the broker should hear something, or it would drop the client.
  [[nodiscard]] bool must_call() const { return clock_.now() >= heard_ + lease_ / 4; }
  // Waits that time out: there is nobody to wait for.
  void pause(Nanoseconds wait);

 private:
  [[nodiscard]] Exchange failed(Error error, bool for_good);

  const Line& line_;
  MonotonicClock& clock_;
  const Nanoseconds lease_;
  v1::OpenRequest request_;
  std::deque<v1::ExchangeRequest> calls_;
  std::uint64_t answered_ = 0;       // the number of the last call that was
  bool lost_ = false;
  Error why_;
  MonotonicTime heard_{};            // when the broker answered last
  MonotonicTime reopen_at_{};
  std::mutex pause_mutex_;           // guards nothing: a pause waits on it
  std::condition_variable pause_;
};

}  // namespace sp::rpc::broker::detail

#include "rpc/broker/detail/remote_handle.h"

#include <algorithm>
#include <utility>

#include "rpc/line.h"

namespace sp::rpc::broker::detail {
namespace {

constexpr Nanoseconds kPauseMax = std::chrono::milliseconds(100);  // then the broker may be there again

// What the broker may wait in it.
Nanoseconds wait_of(const v1::ExchangeRequest& call) {
  const std::int64_t wait = call.has_produce()    ? call.produce().wait()
                            : call.has_consume()  ? call.consume().wait()
                            : call.has_raw_step() ? call.raw_step().wait()
                            : call.has_close()    ? call.close().wait()
                                                  : 0;
  return Nanoseconds(wait);
}

}  // namespace

RemoteHandle::RemoteHandle(const Line& line, MonotonicClock& clock, Nanoseconds lease, v1::OpenRequest request)
    : line_(line), clock_(clock), lease_(lease), request_(std::move(request)) {}

Result<void> RemoteHandle::open() {
  calls_.clear();
  auto reserved = line_.call(&v1::Broker::Stub::Reserve, v1::ReserveRequest{});
  if (!reserved) return tl::unexpected(std::move(reserved).error());
  if (!reserved->has_handle()) return fail_up(Result<void>(error_of(reserved->error())), line_.where());
  *request_.mutable_handle() = reserved->handle();
  auto opened = line_.call(&v1::Broker::Stub::Open, request_);
  // Its answer may be lost alone: of an open handle the second call does nothing.
  if (!opened) opened = line_.call(&v1::Broker::Stub::Open, request_);
  if (!opened) return tl::unexpected(std::move(opened).error());
  if (opened->has_error()) return fail_up(Result<void>(error_of(opened->error())), line_.where());
  answered_ = 0;
  lost_ = false;
  heard_ = clock_.now();
  return {};
}

std::optional<Result<void>> RemoteHandle::reopen() {
  if (clock_.now() < reopen_at_) return std::nullopt;
  auto opened = open();
  if (!opened) reopen_at_ = clock_.now() + line_.options().reopen_every;
  return opened;
}

Exchange RemoteHandle::failed(Error error, bool for_good) {
  why_ = std::move(error);
  if (!for_good && clock_.now() < heard_ + lease_) return Exchange::kSilent;
  lost_ = true;
  reopen_at_ = clock_.now();
  return Exchange::kLost;
}

Exchange RemoteHandle::exchange(const Take& take) {
  while (!calls_.empty()) {
    v1::ExchangeRequest& call = calls_.front();
    *call.mutable_handle() = request_.handle();
    call.set_number(answered_ + 1);
    const auto answer = line_.call(&v1::Broker::Stub::Exchange, call, wait_of(call));
    if (!answer) return failed(answer.error(), false);
    if (!answer->has_exchanged()) return failed(std::move(error_of(answer->error()).value()).in(line_.where()), true);
    heard_ = clock_.now();
    ++answered_;
    const v1::ExchangeRequest done = std::move(call);
    calls_.pop_front();
    take(done, answer->exchanged());
  }
  return Exchange::kAnswered;
}

void RemoteHandle::pause(Nanoseconds wait) {
  if (wait <= Nanoseconds{0}) return;
  std::unique_lock lock(pause_mutex_);
  clock_.wait_until(lock, pause_, clock_.now() + std::min(wait, kPauseMax));
}

}  // namespace sp::rpc::broker::detail

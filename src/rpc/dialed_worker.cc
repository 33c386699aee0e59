#include "rpc/dialed_worker.h"

namespace sp::rpc {

void DialedWorker::attach(core::RunId run, core::SourceId source) {
  about_ = {run, source};
  if (remote_) remote_->attach(run, source);
}

Result<void> DialedWorker::reach() {
  if (remote_ && !lost_) return {};
  const MonotonicTime now = clock_.now();
  if (found_at_ && now - *found_at_ < kFindPeriod) {
    if (remote_) return {};
    return fail(ErrorCode::kUnavailable, problem_);
  }
  found_at_ = now;
  auto address = find_();
  if (!address) {
    problem_ = address.error().message;
    if (remote_) return {};  // it may be back where it was
    return tl::unexpected(std::move(address).error());
  }
  if (remote_ && *address == options_.address) return {};
  options_.address = *std::move(address);
  auto opened = RemoteWorker::open(clock_, options_);
  if (!opened) return tl::unexpected(std::move(opened).error());
  remote_ = std::move(*opened);
  if (about_) remote_->attach(about_->first, about_->second);
  return {};
}

template <typename Call>
auto DialedWorker::call(Call call) -> decltype(call(std::declval<RemoteWorker&>())) {
  if (auto reached = reach(); !reached) return tl::unexpected(std::move(reached).error());
  auto answer = call(*remote_);
  lost_ = !answer && answer.error().code == ErrorCode::kUnavailable;
  return answer;
}

Result<control::WorkerHello> DialedWorker::prepare(const control::WorkerPlan& plan) {
  about_ = {plan.run, plan.source};
  return call([&](RemoteWorker& remote) { return remote.prepare(plan); });
}

Result<std::uint32_t> DialedWorker::create_topic() {
  return call([](RemoteWorker& remote) { return remote.create_topic(); });
}

Result<void> DialedWorker::delete_topic() {
  return call([](RemoteWorker& remote) { return remote.delete_topic(); });
}

Result<void> DialedWorker::start_consumers() {
  return call([](RemoteWorker& remote) { return remote.start_consumers(); });
}

Result<void> DialedWorker::start_producers() {
  return call([](RemoteWorker& remote) { return remote.start_producers(); });
}

void DialedWorker::ask(const control::WorkerPoll& request) {
  if (remote_ && !lost_) remote_->ask(request);
}

Result<control::WorkerReport> DialedWorker::poll(const control::WorkerPoll& request) {
  return call([&](RemoteWorker& remote) { return remote.poll(request); });
}

Result<void> DialedWorker::stop_producers() {
  return call([](RemoteWorker& remote) { return remote.stop_producers(); });
}

Result<void> DialedWorker::stop_consumers() {
  return call([](RemoteWorker& remote) { return remote.stop_consumers(); });
}

Result<std::vector<control::LogBounds>> DialedWorker::log_bounds() {
  return call([](RemoteWorker& remote) { return remote.log_bounds(); });
}

Result<void> DialedWorker::start_raw_read(const control::RawReadRequest& request) {
  return call([&](RemoteWorker& remote) { return remote.start_raw_read(request); });
}

Result<void> DialedWorker::remove() {
  return call([](RemoteWorker& remote) { return remote.remove(); });
}

}  // namespace sp::rpc

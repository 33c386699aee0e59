#include "rpc/broker/detail/remote_clients.h"

#include <algorithm>
#include <utility>

#include "rpc/broker/broker_server.h"
#include "rpc/broker/detail/messages.h"

namespace sp::rpc::broker::detail {
namespace {

constexpr std::size_t kCallRecordsMax = 16'384;
constexpr std::size_t kCallBytesMax = std::size_t{8} << 20U;
constexpr std::size_t kRecordBytesMax = std::size_t{32} << 20U;
constexpr std::size_t kRecordBytes = 64;  // of its message, beside key and payload

template <typename Spec>
v1::OpenRequest request_of(const Spec& spec, void (*fill)(const Spec&, v1::OpenRequest&)) {
  v1::OpenRequest request;
  fill(spec, request);
  return request;
}

std::size_t bytes_of(const v1::Record& record) { return kRecordBytes + record.key().size() + record.payload().size(); }

// The answer's observations with this process's time; what is no observation is left out, and told as an error of the client.
template <typename Use>
void pass_on(const v1::Exchanged& answer, MonotonicTime now, core::ObservationSink& sink, Use use) {
  if (answer.observations().empty()) return;
  sink.begin();
  for (const auto& message : answer.observations()) {
    auto observation = observation_of(message);
    if (!observation) {
      core::Observation error;
      error.event = core::Event::kClientError;
      error.time = now;
      error.text = observation.error().message;
      sink.observe(error);
      continue;
    }
    observation->time = now;
    if (use(*observation)) sink.observe(*observation);
  }
  sink.end();
}

Nanoseconds left(MonotonicTime until, MonotonicTime now) { return std::clamp(until - now, Nanoseconds{0}, kWaitMax); }

// An unknown topic or group does not come back by waiting.
core::Refusal refusal_of(const Error& error) {
  if (error.code == ErrorCode::kNotFound) return core::Refusal::kName;
  return error.code == ErrorCode::kDenied ? core::Refusal::kRight : core::Refusal::kNone;
}

}  // namespace

RemoteProducer::RemoteProducer(const Surrounding& around, const driver::ProducerSpec& spec)
    : clock_(around.clock),
      index_(spec.index),
      handle_(around.line, around.clock, around.lease, request_of<driver::ProducerSpec>(spec, [](const auto& from, auto& to) {
                put(from, *to.mutable_producer());
              })) {}

driver::SendStatus RemoteProducer::send(const core::Envelope& envelope, core::KeyRef key) {
  const std::size_t bytes = kRecordBytes + envelope.key.size() + envelope.payload.size();
  if (envelope.key.size() > kKeyBytesMax || bytes > kRecordBytesMax) {
    refused_.emplace_back(key.block, key.index, envelope.sequence.value());
    return driver::SendStatus::kAccepted;
  }
  const bool full = queue_.size() >= kQueueRecordsMax || (!queue_.empty() && queue_bytes_ + bytes > kQueueBytesMax);
  if (full || open_.size() >= kQueueRecordsMax) return driver::SendStatus::kQueueFull;
  v1::Record& record = queue_.emplace_back();
  record.set_key(envelope.key.data(), envelope.key.size());
  record.set_sequence(envelope.sequence.value());
  record.set_payload(envelope.payload.data(), envelope.payload.size());
  if (envelope.partition) record.set_partition(envelope.partition->value());
  record.set_key_block(key.block);
  record.set_key_index(key.index);
  queue_bytes_ += bytes;
  return driver::SendStatus::kAccepted;
}

core::Observation RemoteProducer::outcome(core::Event event, const Attempt& attempt) const {
  core::Observation observation;
  observation.event = event;
  observation.process = index_;
  observation.time = clock_.now();
  observation.key = {std::get<0>(attempt), std::get<1>(attempt)};
  observation.sequence = core::Sequence(std::get<2>(attempt));
  return observation;
}

v1::ExchangeRequest RemoteProducer::next_call(Nanoseconds wait) {
  v1::ExchangeRequest request;
  v1::Produce& call = *request.mutable_produce();
  std::size_t bytes = 0;
  for (std::size_t count = 0; !queue_.empty() && count < kCallRecordsMax; ++count) {
    const std::size_t more = bytes_of(queue_.front());
    if (count > 0 && bytes + more > kCallBytesMax) break;
    bytes += more;
    queue_bytes_ -= more;
    open_.insert(attempt_of(queue_.front()));
    *call.add_records() = std::move(queue_.front());
    queue_.pop_front();
  }
  call.set_wait(queue_.empty() ? wait.count() : 0);
  return request;
}

void RemoteProducer::take(const v1::ExchangeRequest& request, const v1::Exchanged& answer, core::ObservationSink& sink,
                          std::size_t& outcomes) {
  const auto& records = request.produce().records();
  // What the broker did not take is as if it had never been sent.
  for (int i = records.size() - 1; i >= 0 && static_cast<std::uint64_t>(i) >= answer.taken(); --i) {
    open_.erase(attempt_of(records[i]));
    queue_bytes_ += bytes_of(records[i]);
    queue_.push_front(records[i]);
  }
  pass_on(answer, clock_.now(), sink, [&](const core::Observation& observation) {
    const bool is_outcome = observation.event == core::Event::kOk || observation.event == core::Event::kFail ||
                            observation.event == core::Event::kInfo;
    if (!is_outcome) return observation.event == core::Event::kClientError;
    if (open_.erase({observation.key.block, observation.key.index, observation.sequence.value()}) == 0) return false;
    ++outcomes;
    return true;
  });
}

Exchange RemoteProducer::exchange(core::ObservationSink& sink, std::size_t& outcomes) {
  const Exchange result = handle_.exchange([&](const v1::ExchangeRequest& request, const v1::Exchanged& answer) {
    take(request, answer, sink, outcomes);
  });
  if (result == Exchange::kLost) outcomes += lose(sink);
  return result;
}

std::size_t RemoteProducer::lose(core::ObservationSink& sink) {
  const std::size_t count = open_.size();
  sink.begin();
  core::Observation error;
  error.event = core::Event::kClientError;
  error.process = index_;
  error.time = clock_.now();
  error.text = handle_.why().message;
  sink.observe(error);
  for (const Attempt& attempt : open_) {
    auto unknown = outcome(core::Event::kInfo, attempt);
    unknown.text = handle_.why().message;
    sink.observe(unknown);
  }
  sink.end();
  open_.clear();
  return count;
}

std::size_t RemoteProducer::fail_queue(core::ObservationSink& sink, std::string_view why) {
  const std::size_t count = queue_.size();
  if (count == 0) return 0;
  sink.begin();
  for (const auto& record : queue_) {
    auto failed = outcome(core::Event::kFail, attempt_of(record));
    failed.text = why;
    sink.observe(failed);
  }
  sink.end();
  queue_.clear();
  queue_bytes_ = 0;
  return count;
}

std::size_t RemoteProducer::tell_refused(core::ObservationSink& sink) {
  const std::size_t count = refused_.size();
  if (count == 0) return 0;
  sink.begin();
  for (const Attempt& attempt : refused_) {
    auto failed = outcome(core::Event::kFail, attempt);
    failed.text = "the key or the payload is too large for a call to the broker";
    sink.observe(failed);
  }
  sink.end();
  refused_.clear();
  return count;
}

std::size_t RemoteProducer::poll(Nanoseconds wait, core::ObservationSink& sink) {
  std::size_t outcomes = tell_refused(sink);
  const MonotonicTime until = clock_.now() + wait;
  if (handle_.lost()) {
    const auto opened = handle_.reopen();
    if (!opened || !*opened) {
      outcomes += fail_queue(sink, opened ? opened->error().message : handle_.why().message);
      if (outcomes == 0) handle_.pause(until - clock_.now());
      return outcomes;
    }
  }
  do {
    const MonotonicTime now = clock_.now();
    if (handle_.idle() && queue_.empty() && open_.empty() && !handle_.must_call()) {
      handle_.pause(until - now);
      continue;
    }
    if (handle_.idle()) handle_.add(next_call(outcomes > 0 ? Nanoseconds{0} : left(until, now)));
    const Exchange result = exchange(sink, outcomes);
    if (result == Exchange::kAnswered) continue;
    if (outcomes == 0) handle_.pause(until - clock_.now());
    break;
  } while (outcomes == 0 && clock_.now() < until);
  return outcomes;
}

void RemoteProducer::close(Nanoseconds wait, core::ObservationSink& sink) {
  std::size_t outcomes = 0;
  const MonotonicTime until = clock_.now() + wait;
  do {
    outcomes += poll(left(until, clock_.now()), sink);
  } while (in_flight() > 0 && !handle_.lost() && clock_.now() < until);
  if (!handle_.lost() && handle_.idle()) {
    v1::ExchangeRequest request;
    request.mutable_close()->set_wait(0);
    handle_.add(std::move(request));
    if (exchange(sink, outcomes) == Exchange::kSilent) static_cast<void>(exchange(sink, outcomes));
  }
  static_cast<void>(fail_queue(sink, "closed before it was sent"));
  for (const Attempt& attempt : std::exchange(open_, {})) {
    auto unknown = outcome(core::Event::kInfo, attempt);
    unknown.text = "closed without an answer of the broker";
    sink.observe(unknown);
  }
}

RemoteConsumer::RemoteConsumer(const Surrounding& around, const driver::ConsumerSpec& spec)
    : clock_(around.clock),
      index_(spec.index),
      group_(spec.group),
      handle_(around.line, around.clock, around.lease, request_of<driver::ConsumerSpec>(spec, [](const auto& from, auto& to) {
                put(from, *to.mutable_consumer());
              })) {}

core::Observation RemoteConsumer::event(core::Event what) const {
  core::Observation observation;
  observation.event = what;
  observation.process = index_;
  observation.group = group_;
  observation.time = clock_.now();
  return observation;
}

void RemoteConsumer::note(const core::Observation& observation) {
  const core::Event what = observation.event;
  if (what == core::Event::kAssign) held_.insert(observation.partition);
  if (what == core::Event::kRevoke) held_.erase(observation.partition);
  if (what == core::Event::kCommitInvoke) commits_.push_back({observation.partition, observation.offset});
  if (what == core::Event::kCommitOk || what == core::Event::kCommitFail || what == core::Event::kCommitInfo) {
    const auto found = std::find_if(commits_.begin(), commits_.end(), [&](const driver::CommitPoint& point) {
      return point.partition == observation.partition && point.next == observation.offset;
    });
    if (found != commits_.end()) commits_.erase(found);
  }
}

void RemoteConsumer::take(const v1::ExchangeRequest& request, const v1::Exchanged& answer, core::ObservationSink& sink, Seen& seen) {
  if (request.has_consume()) consuming_ = false;
  points_unsent_ -= std::min(points_unsent_, static_cast<std::size_t>(request.commit().points_size()));
  pass_on(answer, clock_.now(), sink, [&](const core::Observation& observation) {
    note(observation);
    ++seen.observations;
    if (observation.event == core::Event::kDeliver) ++seen.deliveries;
    return true;
  });
  revoking_.clear();
  for (const auto partition : answer.revoking()) {
    if (held_.contains(core::PartitionId(partition))) revoking_.emplace_back(partition);
  }
}

Exchange RemoteConsumer::exchange(core::ObservationSink& sink, Seen& seen) {
  const Exchange result = handle_.exchange([&](const v1::ExchangeRequest& request, const v1::Exchanged& answer) {
    take(request, answer, sink, seen);
  });
  if (result == Exchange::kLost) lose(sink, core::LineageClose::kLost);
  return result;
}

void RemoteConsumer::lose(core::ObservationSink& sink, core::LineageClose how) {
  sink.begin();
  if (how == core::LineageClose::kLost) {
    auto error = event(core::Event::kClientError);
    error.text = handle_.why().message;
    sink.observe(error);
    auto gone = event(core::Event::kDisconnect);
    gone.text = handle_.why().message;
    sink.observe(gone);
  }
  for (const auto& point : commits_) {
    auto unknown = event(core::Event::kCommitInfo);
    unknown.has_position = true;
    unknown.partition = point.partition;
    unknown.offset = point.next;
    sink.observe(unknown);
  }
  for (const auto partition : held_) {
    auto revoke = event(core::Event::kRevoke);
    revoke.close = how;
    revoke.partition = partition;
    sink.observe(revoke);
  }
  sink.end();
  commits_.clear();
  held_.clear();
  revoking_.clear();
  points_unsent_ = 0;
  consuming_ = false;
}

bool RemoteConsumer::come_back(core::ObservationSink& sink) {
  const auto opened = handle_.reopen();
  if (!opened) return false;
  if (!*opened) {
    auto error = event(core::Event::kClientError);
    error.text = opened->error().message;
    error.refusal = refusal_of(opened->error());
    sink.observe(error);
    return false;
  }
  sink.observe(event(core::Event::kReconnect));
  if (paused_) pause(true);
  return true;
}

std::size_t RemoteConsumer::poll(std::size_t records_max, Nanoseconds wait, core::ObservationSink& sink) {
  Seen seen;
  const MonotonicTime until = clock_.now() + wait;
  if (handle_.lost() && !come_back(sink)) {
    handle_.pause(until - clock_.now());
    return 0;
  }
  do {
    if (!consuming_) {
      v1::ExchangeRequest request;
      request.mutable_consume()->set_records_max(records_max);
      request.mutable_consume()->set_wait(left(until, clock_.now()).count());
      handle_.add(std::move(request));
      consuming_ = true;
    }
    if (exchange(sink, seen) != Exchange::kAnswered) {
      if (seen.observations == 0) handle_.pause(until - clock_.now());
      break;
    }
  } while (seen.observations == 0 && revoking_.empty() && clock_.now() < until);
  return seen.deliveries;
}

void RemoteConsumer::release(core::ObservationSink& sink) {
  if (handle_.lost()) return;
  v1::ExchangeRequest request;
  request.mutable_release();
  handle_.add(std::move(request));
  Seen seen;
  static_cast<void>(exchange(sink, seen));
}

void RemoteConsumer::commit(std::span<const driver::CommitPoint> points, core::ObservationSink& sink) {
  v1::ExchangeRequest request;
  for (const auto& point : points) {
    if (!held_.contains(point.partition)) continue;
    auto& to = *request.mutable_commit()->add_points();
    to.set_partition(point.partition.value());
    to.set_next(point.next.value());
  }
  if (!request.has_commit() || handle_.lost()) return;
  points_unsent_ += static_cast<std::size_t>(request.commit().points_size());
  handle_.add(std::move(request));
  Seen seen;
  static_cast<void>(exchange(sink, seen));
}

void RemoteConsumer::pause(bool paused) {
  paused_ = paused;
  if (handle_.lost()) return;  // it is told when it is there again
  v1::ExchangeRequest request;
  request.mutable_pause()->set_paused(paused);
  handle_.add(std::move(request));  // goes out before the next poll
}

void RemoteConsumer::close(Nanoseconds wait, core::ObservationSink& sink) {
  Seen seen;
  const MonotonicTime until = clock_.now() + wait;
  if (!handle_.lost() && exchange(sink, seen) == Exchange::kAnswered) {
    // Nothing more is handed over: a poll for no record passes outcomes alone.
    while (commits_open() > 0 && !handle_.lost() && clock_.now() < until) {
      static_cast<void>(poll(0, Nanoseconds{0}, sink));
      if (commits_open() > 0) handle_.pause(std::min<Nanoseconds>(until - clock_.now(), std::chrono::milliseconds(1)));
    }
    if (!handle_.lost()) {
      v1::ExchangeRequest request;
      request.mutable_close()->set_wait(0);
      handle_.add(std::move(request));
      if (exchange(sink, seen) == Exchange::kSilent) static_cast<void>(exchange(sink, seen));
    }
  }
  if (!held_.empty() || !commits_.empty()) lose(sink, core::LineageClose::kClosed);
}

RemoteRawReader::RemoteRawReader(const Surrounding& around, const driver::RawSpec& spec)
    : clock_(around.clock),
      targets_(spec.targets),
      handle_(around.line, around.clock, around.lease, request_of<driver::RawSpec>(spec, [](const auto& from, auto& to) {
                put(from, *to.mutable_raw_reader());
              })) {}

void RemoteRawReader::give_up(core::ObservationSink& sink) {
  sink.begin();
  for (; ended_ < targets_.size(); ++ended_) {
    core::Observation edge;
    edge.event = core::Event::kRawBegin;
    edge.time = clock_.now();
    edge.partition = targets_[ended_].partition;
    edge.offset = targets_[ended_].begin;
    edge.end = targets_[ended_].end;
    if (ended_ >= begun_) sink.observe(edge);
    edge.event = core::Event::kRawEnd;
    sink.observe(edge);
  }
  sink.end();
}

Result<bool> RemoteRawReader::step(Nanoseconds wait, core::ObservationSink& sink) {
  if (handle_.lost()) return tl::unexpected(handle_.why());
  const MonotonicTime until = clock_.now() + wait;
  if (handle_.idle()) {
    v1::ExchangeRequest request;
    request.mutable_raw_step()->set_wait(left(until, clock_.now()).count());
    handle_.add(std::move(request));
  }
  bool done = false;
  const Exchange result = handle_.exchange([&](const v1::ExchangeRequest&, const v1::Exchanged& answer) {
    done = answer.done();
    pass_on(answer, clock_.now(), sink, [this](const core::Observation& observation) {
      if (observation.event == core::Event::kRawBegin) ++begun_;
      if (observation.event == core::Event::kRawEnd) ++ended_;
      return true;
    });
  });
  if (result == Exchange::kLost) {
    give_up(sink);
    return fail_up(Result<bool>(tl::unexpected(handle_.why())), "raw read");
  }
  if (result == Exchange::kSilent) handle_.pause(until - clock_.now());
  return done;
}

}  // namespace sp::rpc::broker::detail

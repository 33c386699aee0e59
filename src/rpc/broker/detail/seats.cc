#include "rpc/broker/detail/seats.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/payload.h"
#include "rpc/broker/broker_server.h"
#include "rpc/broker/detail/messages.h"
#include "rpc/line.h"

namespace sp::rpc::broker::detail {
namespace {

constexpr int kLooksInLease = 8;

class AnswerSink final : public core::ObservationSink {
 public:
  explicit AnswerSink(v1::Exchanged& answer) : answer_(answer) {}
  void observe(const core::Observation& observation) override { put(observation, *answer_.add_observations()); }

 private:
  v1::Exchanged& answer_;
};

Nanoseconds bounded(std::int64_t wait) { return std::clamp(Nanoseconds(wait), Nanoseconds{0}, kWaitMax); }

Result<void> check_record(const v1::Record& record, std::uint32_t partitions) {
  if (record.key().size() > kKeyBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("a key of {} bytes: the broker takes {} at most", record.key().size(), kKeyBytesMax));
  }
  if (record.payload().size() < core::kPayloadBytesMin) {
    return fail(ErrorCode::kInvalid, fmt::format("a payload of {} bytes: the broker takes {} at least", record.payload().size(),
                                                 core::kPayloadBytesMin));
  }
  if (record.has_partition() && record.partition() >= partitions) {
    return fail(ErrorCode::kInvalid, fmt::format("a record for partition {} of a topic of {}", record.partition(), partitions));
  }
  return {};
}

tl::unexpected<Error> other_client() {
  return fail(ErrorCode::kInvalid, "the call is not one of this handle's client: let broker and worker be of one release");
}

}  // namespace

Seats::Seats(driver::Driver& driver, MonotonicClock& clock, std::uint64_t life, Nanoseconds lease)
    : driver_(driver), clock_(clock), life_(life), lease_(lease) {
  watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

Seats::~Seats() {
  watch_.request_stop();
  {
    const std::lock_guard lock(stop_mutex_);  // not between its look at the token and its wait
  }
  stopped_.notify_all();
  watch_.join();
}

void Seats::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<SharedSeat> dropped;  // they crash outside of the table's lock
    {
      const std::lock_guard lock(mutex_);
      const MonotonicTime now = clock_.now();
      for (auto seat = seats_.begin(); seat != seats_.end();) {
        const std::unique_lock idle(seat->second->mutex, std::try_to_lock);
        const bool silent = idle.owns_lock() && seat->second->seen + lease_ <= now;
        if (silent) {
          seat->second->dropped = true;
          dropped.push_back(std::move(seat->second));
        }
        seat = silent ? seats_.erase(seat) : std::next(seat);
      }
    }
    dropped.clear();
    std::unique_lock lock(stop_mutex_);
    if (!stop.stop_requested()) clock_.wait_until(lock, stopped_, clock_.now() + lease_ / kLooksInLease);
  }
}

Result<v1::Handle> Seats::reserve() {
  const std::lock_guard lock(mutex_);
  if (seats_.size() >= kHandlesMax) {
    return fail(ErrorCode::kFull, fmt::format("the broker has {} clients, and takes no more: run fewer producers and consumers",
                                              kHandlesMax));
  }
  v1::Handle handle;
  handle.set_broker(life_);
  handle.set_number(++numbers_);
  auto seat = std::make_shared<Seat>();  // shared: see SharedSeat
  seat->seen = clock_.now();
  seats_.emplace(handle.number(), std::move(seat));
  return handle;
}

Result<Seats::SharedSeat> Seats::find(const v1::Handle& handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = seats_.find(handle.number());
  if (handle.broker() == life_ && found != seats_.end()) return found->second;
  return fail(ErrorCode::kNotFound, handle.broker() == life_ ? "the broker has dropped this client, which was silent for its lease"
                                                             : "the broker was started again, and does not know this client");
}

std::size_t Seats::count() const {
  const std::lock_guard lock(mutex_);
  return seats_.size();
}

Result<void> Seats::open(const v1::OpenRequest& request) {
  auto seat = find(request.handle());
  if (!seat) return tl::unexpected(std::move(seat).error());
  const std::lock_guard lock((*seat)->mutex);
  (*seat)->seen = clock_.now();
  if ((*seat)->opened) return {};
  auto made = make_client(**seat, request);
  (*seat)->opened = made.has_value();
  return made;
}

Result<void> Seats::make_client(Seat& seat, const v1::OpenRequest& request) {
  const auto keep = [](auto& into, auto&& opened) -> Result<void> {
    if (!opened) return tl::unexpected(std::move(opened).error());
    into = std::move(*opened);
    return {};
  };
  switch (request.client_case()) {
    case v1::OpenRequest::kProducer: {
      auto topic = driver_.describe_topic(request.producer().topic());
      if (!topic) return tl::unexpected(std::move(topic).error());
      seat.partitions = topic->partitions;
      return keep(seat.producer, driver_.open_producer(producer_of(request.producer())));
    }
    case v1::OpenRequest::kConsumer: {
      auto spec = consumer_of(request.consumer());
      if (!spec) return tl::unexpected(std::move(spec).error());
      return keep(seat.consumer, driver_.open_consumer(*spec));
    }
    case v1::OpenRequest::kRawReader: {
      auto spec = raw_reader_of(request.raw_reader());
      if (!spec) return tl::unexpected(std::move(spec).error());
      return keep(seat.raw_reader, driver_.open_raw_reader(*spec));
    }
    case v1::OpenRequest::CLIENT_NOT_SET: break;
  }
  return fail(ErrorCode::kParse, "a client is to be opened that is neither producer nor consumer nor raw reader");
}

void Seats::exchange(const v1::ExchangeRequest& request, v1::ExchangeAnswer& answer) {
  auto found = find(request.handle());
  if (!found) return put(found.error(), *answer.mutable_error());
  Seat& seat = **found;
  const std::lock_guard lock(seat.mutex);
  seat.seen = clock_.now();
  if (seat.dropped) {
    const Error error{ErrorCode::kNotFound, "the broker has just dropped this client, which was silent for its lease"};
    return put(error, *answer.mutable_error());
  }
  if (seat.last > 0 && request.number() == seat.last) {
    answer = seat.answer;
    return;
  }
  if (!seat.opened || request.number() != seat.last + 1) {
    const Error error{ErrorCode::kInvalid, fmt::format("call {} of a client whose last was {}: one is missing, or was given up",
                                                       request.number(), seat.last)};
    return put(error, *answer.mutable_error());
  }
  seat.answer.Clear();
  if (auto done = carry_out(seat, request, *seat.answer.mutable_exchanged()); !done) put(done.error(), *seat.answer.mutable_error());
  seat.last = request.number();
  seat.seen = clock_.now();
  answer = seat.answer;
}

Result<void> Seats::carry_out(Seat& seat, const v1::ExchangeRequest& request, v1::Exchanged& answer) {
  if (seat.closed) return fail(ErrorCode::kInvalid, "the client was closed: nothing may be called afterwards");
  if (request.call_case() == v1::ExchangeRequest::kClose) return close(seat, bounded(request.close().wait()), answer);
  if (request.call_case() == v1::ExchangeRequest::kProduce) {
    return seat.producer ? produce(seat, request.produce(), answer) : other_client();
  }
  if (request.call_case() != v1::ExchangeRequest::kRawStep) return consumer_call(seat, request, answer);
  if (!seat.raw_reader) return other_client();
  AnswerSink sink(answer);
  auto done = seat.raw_reader->step(bounded(request.raw_step().wait()), sink);
  if (!done) return tl::unexpected(std::move(done).error());
  answer.set_done(*done);
  return {};
}

Result<void> Seats::produce(Seat& seat, const v1::Produce& call, v1::Exchanged& answer) {
  std::vector<driver::Outgoing> records;
  records.reserve(static_cast<std::size_t>(call.records_size()));
  for (const auto& record : call.records()) {
    if (auto good = check_record(record, seat.partitions); !good) return good;
    driver::Outgoing& out = records.emplace_back();
    out.envelope.key = record.key();
    out.envelope.sequence = core::Sequence(record.sequence());
    out.envelope.payload = std::as_bytes(std::span(record.payload().data(), record.payload().size()));
    if (record.has_partition()) out.envelope.partition = core::PartitionId(record.partition());
    out.key = {record.key_block(), record.key_index()};
  }
  AnswerSink sink(answer);
  answer.set_taken(seat.producer->send_all(records));
  seat.producer->poll(bounded(call.wait()), sink);
  answer.set_in_flight(seat.producer->in_flight());
  return {};
}

Result<void> Seats::consumer_call(Seat& seat, const v1::ExchangeRequest& request, v1::Exchanged& answer) {
  if (!seat.consumer) return other_client();
  AnswerSink sink(answer);
  if (request.has_consume()) {
    const std::size_t records_max = std::min<std::size_t>(request.consume().records_max(), kDeliveriesMax);
    // Without room for a record it would look again and again for one that it may hand over.
    seat.consumer->poll(records_max, records_max == 0 ? Nanoseconds{0} : bounded(request.consume().wait()), sink);
  } else if (request.has_commit()) {
    std::vector<driver::CommitPoint> points;
    for (const auto& point : request.commit().points()) {
      points.push_back({core::PartitionId(point.partition()), core::Offset(point.next())});
    }
    seat.consumer->commit(points, sink);
  } else if (request.has_release()) {
    seat.consumer->release(sink);
  } else if (request.has_pause()) {
    seat.consumer->pause(request.pause().paused());
  } else {
    return other_client();
  }
  for (const auto partition : seat.consumer->revoking()) answer.add_revoking(partition.value());
  return {};
}

Result<void> Seats::close(Seat& seat, Nanoseconds wait, v1::Exchanged& answer) {
  AnswerSink sink(answer);
  seat.closed = true;
  if (seat.producer) seat.producer->close(wait, sink);
  if (seat.consumer) seat.consumer->close(wait, sink);
  return {};
}

}  // namespace sp::rpc::broker::detail

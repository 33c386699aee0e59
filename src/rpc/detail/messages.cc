#include "rpc/detail/messages.h"

#include <limits>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "proof/fields.h"
#include "rpc/detail/report_message.h"
#include "rpc/line.h"

namespace sp::rpc::detail {

using rpc::error_of;
using rpc::put;

namespace {

constexpr std::uint64_t kNarrowMax = std::numeric_limits<std::uint16_t>::max();

tl::unexpected<Error> no_outcome() {
  return fail(ErrorCode::kParse, "an answer that holds neither a value nor an error: it was damaged on its way, or made by another "
                                 "program");
}

control::WorkerInfo info_of(const v1::Info& message) {
  control::WorkerInfo info;
  info.name = message.name();
  info.version = message.version();
  info.incarnation = message.incarnation();
  info.zone = message.zone();
  info.rpc_port = message.rpc_port() <= kNarrowMax ? static_cast<std::uint16_t>(message.rpc_port()) : std::uint16_t{0};
  return info;
}

control::WorkerHello hello_of(const v1::Hello& message) {
  control::WorkerHello hello;
  hello.driver = message.driver();
  hello.client = message.client();
  for (const auto& setting : message.settings()) hello.settings[setting.name()] = setting.value();
  hello.notes.assign(message.notes().begin(), message.notes().end());
  hello.positions = message.positions();
  hello.raw_read = message.raw_read();
  hello.idempotent = message.idempotent();
  return hello;
}

void put(core::PartitionId partition, core::Offset begin, core::Offset end, v1::OffsetRange& message) {
  message.set_partition(partition.value());
  message.set_begin(begin.value());
  message.set_end(end.value());
}

}  // namespace

void put(core::RunId run, core::SourceId source, v1::Source& message) {
  message.set_run(run.value());
  message.set_worker(source.worker);
  message.set_incarnation(source.incarnation);
}
core::RunId run_of(const v1::Source& message) { return core::RunId{message.run()}; }
core::SourceId source_of(const v1::Source& message) { return {message.worker(), message.incarnation()}; }

Result<void> put(const control::WorkerPlan& plan, v1::PrepareRequest& message) {
  put(plan.run, plan.source, *message.mutable_source());
  message.set_proof(proof::to_json(plan.proof, {.secrets = true, .one_line = true}));
  // A worker must run what the coordinator judges: what does not come back the same is not sent.
  auto read = proof::read_proof({.file_name = "the proof as it is sent to a worker", .file_text = message.proof()});
  if (!read.faults.empty()) return tl::unexpected(proof::to_error(read.faults));
  if (!(read.proof == plan.proof)) {
    return fail(ErrorCode::kInvalid, "the proof cannot be told to a worker exactly: give its names and settings in UTF-8");
  }
  message.set_topic(plan.topic);
  message.set_group_prefix(plan.group_prefix);
  for (const auto& share : plan.producers) {
    auto& to = *message.add_producers();
    to.set_worker(share.worker);
    to.set_producer(share.producer);
    to.set_keys(share.keys);
    to.set_rate(share.rate);
  }
  for (const auto& share : plan.consumers) {
    auto& to = *message.add_consumers();
    to.set_worker(share.worker);
    to.set_consumer(share.consumer);
    to.set_group(share.group.value());
  }
  return {};
}

Result<control::WorkerPlan> plan_of(const v1::PrepareRequest& message) {
  control::WorkerPlan plan;
  plan.run = run_of(message.source());
  plan.source = source_of(message.source());
  auto read = proof::read_proof({.file_name = "the proof that the coordinator sent", .file_text = message.proof()});
  if (!read.faults.empty()) return tl::unexpected(proof::to_error(read.faults));
  plan.proof = std::move(read.proof);
  plan.topic = message.topic();
  plan.group_prefix = message.group_prefix();
  for (const auto& share : message.producers()) {
    if (!(share.rate() >= 0)) return fail(ErrorCode::kParse, "a producer's rate is no number, or below 0");
    plan.producers.push_back({share.worker(), share.producer(), share.keys(), share.rate()});
  }
  for (const auto& share : message.consumers()) {
    plan.consumers.push_back({share.worker(), share.consumer(), core::GroupIndex{share.group()}});
  }
  return plan;
}

void put(const control::WorkerPoll& poll, v1::PollRequest& message) {
  message.set_acknowledge(poll.acknowledge);
  if (poll.tick) message.set_tick(*poll.tick);
  message.set_rows_max(poll.rows_max);
  message.set_counters(poll.counters);
}

control::WorkerPoll poll_of(const v1::PollRequest& message) {
  control::WorkerPoll poll;
  poll.acknowledge = message.acknowledge();
  if (message.has_tick()) poll.tick = message.tick();
  poll.rows_max = message.rows_max();
  poll.counters = message.counters();
  return poll;
}

void put(const control::RawReadRequest& request, v1::RawReadRequest& message) {
  for (const auto& [partition, range] : request.targets) put(partition, range.first, range.second, *message.add_targets());
}

Result<control::RawReadRequest> raw_read_of(const v1::RawReadRequest& message) {
  control::RawReadRequest request;
  for (const auto& range : message.targets()) {
    if (range.begin() > range.end()) return fail(ErrorCode::kParse, "a target of the raw read ends before it begins");
    request.targets.push_back({core::PartitionId{range.partition()}, {core::Offset{range.begin()}, core::Offset{range.end()}}});
  }
  return request;
}

void put(const Result<control::WorkerInfo>& answer, v1::InfoAnswer& message) {
  if (!answer) return put(answer.error(), *message.mutable_error());
  auto& info = *message.mutable_info();
  info.set_name(answer->name);
  info.set_version(answer->version);
  info.set_incarnation(answer->incarnation);
  info.set_zone(answer->zone);
  info.set_rpc_port(answer->rpc_port);
}

void put(const Result<control::WorkerHello>& answer, v1::HelloAnswer& message) {
  if (!answer) return put(answer.error(), *message.mutable_error());
  auto& hello = *message.mutable_hello();
  hello.set_driver(answer->driver);
  hello.set_client(answer->client);
  for (const auto& [name, value] : answer->settings) {
    auto& setting = *hello.add_settings();
    setting.set_name(name);
    setting.set_value(value);
  }
  for (const auto& note : answer->notes) hello.add_notes(note);
  hello.set_positions(answer->positions);
  hello.set_raw_read(answer->raw_read);
  hello.set_idempotent(answer->idempotent);
}

void put(const Result<std::uint32_t>& answer, v1::PartitionsAnswer& message) {
  if (!answer) return put(answer.error(), *message.mutable_error());
  message.set_partitions(*answer);
}

void put(const Result<std::vector<control::LogBounds>>& answer, v1::LogBoundsAnswer& message) {
  if (!answer) return put(answer.error(), *message.mutable_error());
  auto& bounds = *message.mutable_bounds();
  for (const auto& one : *answer) put(one.partition, one.begin, one.end, *bounds.add_partitions());
}

void put(const Result<void>& answer, v1::VoidAnswer& message) {
  if (!answer) put(answer.error(), *message.mutable_error());
}

void put(const Result<control::WorkerReport>& answer, v1::ReportAnswer& message, std::size_t bytes_max) {
  if (!answer) return put(answer.error(), *message.mutable_error());
  put_report(*answer, *message.mutable_report(), bytes_max);
}

Outcome<control::WorkerInfo> outcome_of(const v1::InfoAnswer& message) {
  if (message.has_error()) return Result<control::WorkerInfo>(error_of(message.error()));
  if (!message.has_info()) return no_outcome();
  return Result<control::WorkerInfo>(info_of(message.info()));
}

Outcome<control::WorkerHello> outcome_of(const v1::HelloAnswer& message) {
  if (message.has_error()) return Result<control::WorkerHello>(error_of(message.error()));
  if (!message.has_hello()) return no_outcome();
  return Result<control::WorkerHello>(hello_of(message.hello()));
}

Outcome<std::uint32_t> outcome_of(const v1::PartitionsAnswer& message) {
  if (message.has_error()) return Result<std::uint32_t>(error_of(message.error()));
  if (message.outcome_case() != v1::PartitionsAnswer::kPartitions) return no_outcome();
  return Result<std::uint32_t>(message.partitions());
}

Outcome<std::vector<control::LogBounds>> outcome_of(const v1::LogBoundsAnswer& message) {
  if (message.has_error()) return Result<std::vector<control::LogBounds>>(error_of(message.error()));
  if (!message.has_bounds()) return no_outcome();
  std::vector<control::LogBounds> bounds;
  for (const auto& range : message.bounds().partitions()) {
    if (range.begin() > range.end()) return fail(ErrorCode::kParse, "the bounds of a log end before they begin");
    bounds.push_back({core::PartitionId{range.partition()}, core::Offset{range.begin()}, core::Offset{range.end()}});
  }
  return Result<std::vector<control::LogBounds>>(std::move(bounds));
}

Outcome<void> outcome_of(const v1::VoidAnswer& message) {
  if (message.has_error()) return Result<void>(error_of(message.error()));
  return Result<void>();
}

Outcome<control::WorkerReport> outcome_of(const v1::ReportAnswer& message) {
  if (message.has_error()) return Result<control::WorkerReport>(error_of(message.error()));
  if (!message.has_report()) return no_outcome();
  auto report = report_of(message.report());
  if (!report) return tl::unexpected(std::move(report).error());
  return Result<control::WorkerReport>(std::move(*report));
}

}  // namespace sp::rpc::detail

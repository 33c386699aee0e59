#include "rpc/worker_server.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <proto/worker.grpc.pb.h>

#include "base/text.h"
#include "rpc/detail/messages.h"
#include "rpc/detail/wire.h"
#include "rpc/line.h"

namespace sp::rpc {

namespace v1 = ::streaming_proof::v1;

namespace detail {

class WorkerService final : public v1::Worker::Service {
 public:
  WorkerService(control::WorkerHost& host, std::string token) : host_(host), token_(std::move(token)) {}
  void served_at(std::uint16_t port) { port_ = port; }  // before the first call

  grpc::Status Info(grpc::ServerContext* context, const v1::InfoRequest* /*request*/, v1::InfoAnswer* answer) override {
    return serve(*context, *answer, [this]() -> Result<control::WorkerInfo> {
      control::WorkerInfo info = host_.info();
      if (info.rpc_port == 0) info.rpc_port = port_;
      return info;
    });
  }
  grpc::Status Prepare(grpc::ServerContext* context, const v1::PrepareRequest* request, v1::HelloAnswer* answer) override {
    return serve(*context, *answer, [&]() -> Result<control::WorkerHello> {
      auto plan = plan_of(*request);
      if (!plan) return tl::unexpected(std::move(plan).error());
      return host_.prepare(*plan);
    });
  }
  grpc::Status CreateTopic(grpc::ServerContext* context, const v1::CallRequest* request, v1::PartitionsAnswer* answer) override {
    return pass(*context, *request, *answer, &control::WorkerPort::create_topic);
  }
  grpc::Status DeleteTopic(grpc::ServerContext* context, const v1::CallRequest* request, v1::VoidAnswer* answer) override {
    return pass(*context, *request, *answer, &control::WorkerPort::delete_topic);
  }
  grpc::Status StartConsumers(grpc::ServerContext* context, const v1::CallRequest* request, v1::VoidAnswer* answer) override {
    return pass(*context, *request, *answer, &control::WorkerPort::start_consumers);
  }
  grpc::Status StartProducers(grpc::ServerContext* context, const v1::CallRequest* request, v1::VoidAnswer* answer) override {
    return pass(*context, *request, *answer, &control::WorkerPort::start_producers);
  }
  grpc::Status StopProducers(grpc::ServerContext* context, const v1::CallRequest* request, v1::VoidAnswer* answer) override {
    return pass(*context, *request, *answer, &control::WorkerPort::stop_producers);
  }
  grpc::Status StopConsumers(grpc::ServerContext* context, const v1::CallRequest* request, v1::VoidAnswer* answer) override {
    return pass(*context, *request, *answer, &control::WorkerPort::stop_consumers);
  }
  grpc::Status ReadLogBounds(grpc::ServerContext* context, const v1::CallRequest* request, v1::LogBoundsAnswer* answer) override {
    return pass(*context, *request, *answer, &control::WorkerPort::log_bounds);
  }
  grpc::Status Poll(grpc::ServerContext* context, const v1::PollRequest* request, v1::ReportAnswer* answer) override;
  grpc::Status StartRawRead(grpc::ServerContext* context, const v1::RawReadRequest* request, v1::VoidAnswer* answer) override;
  grpc::Status Remove(grpc::ServerContext* context, const v1::CallRequest* request, v1::VoidAnswer* answer) override {
    return serve(*context, *answer, [&] { return host_.remove(run_of(request->source()), source_of(request->source())); });
  }

 private:
  [[nodiscard]] grpc::Status admit(const grpc::ServerContext& context) const {
    if (context.IsCancelled()) return {grpc::StatusCode::CANCELLED, "the caller has gone"};
    if (token_.empty()) return grpc::Status::OK;
    const std::string wanted = kTokenScheme + token_;
    const auto& headers = context.client_metadata();
    const auto given = headers.find(kTokenHeader);
    if (given != headers.end() && same_secret({given->second.data(), given->second.size()}, wanted)) return grpc::Status::OK;
    return {grpc::StatusCode::UNAUTHENTICATED, "this worker asks for a token, and the call has none or another one"};
  }
  template <typename Answer, typename Call>
  grpc::Status serve(const grpc::ServerContext& context, Answer& answer, Call call) {
    if (auto refused = admit(context); !refused.ok()) return refused;
    put(call(), answer);
    return grpc::Status::OK;
  }
  [[nodiscard]] Result<control::SharedPort> find(const v1::Source& source) {
    return host_.find(run_of(source), source_of(source));
  }
  template <typename Answer, typename T>
  grpc::Status pass(const grpc::ServerContext& context, const v1::CallRequest& request, Answer& answer,
                    Result<T> (control::WorkerPort::*call)()) {
    return serve(context, answer, [&]() -> Result<T> {
      auto port = find(request.source());
      if (!port) return tl::unexpected(std::move(port).error());
      return ((**port).*call)();
    });
  }

  control::WorkerHost& host_;
  const std::string token_;
  std::uint16_t port_ = 0;
};

grpc::Status WorkerService::Poll(grpc::ServerContext* context, const v1::PollRequest* request, v1::ReportAnswer* answer) {
  if (auto refused = admit(*context); !refused.ok()) return refused;
  auto port = find(request->source());
  if (!port) {
    put(Result<control::WorkerReport>(tl::unexpected(std::move(port).error())), *answer, 0);
    return grpc::Status::OK;
  }
  control::WorkerPoll poll = poll_of(*request);
  poll.rows_max = std::min(poll.rows_max, kRowsMax);
  put((*port)->poll(poll), *answer, kDeltaBytesMax);
  return grpc::Status::OK;
}

grpc::Status WorkerService::StartRawRead(grpc::ServerContext* context, const v1::RawReadRequest* request, v1::VoidAnswer* answer) {
  return serve(*context, *answer, [&]() -> Result<void> {
    auto targets = raw_read_of(*request);
    if (!targets) return tl::unexpected(std::move(targets).error());
    auto port = find(request->source());
    if (!port) return tl::unexpected(std::move(port).error());
    return (*port)->start_raw_read(*targets);
  });
}

}  // namespace detail

struct WorkerServer::Parts {
  Parts(control::WorkerHost& host, const ServerOptions& given)
      : options(given), service(host, given.credentials.token) {}
  ServerOptions options;
  detail::WorkerService service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;  // last: it uses the service
};

WorkerServer::WorkerServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<WorkerServer>> WorkerServer::start(control::WorkerHost& host, const ServerOptions& options) {
  if (auto good = check(options.credentials); !good) return fail_up(std::move(good), "credentials of the worker");
  auto parts = std::make_unique<Parts>(host, options);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(fmt::format("{}:{}", options.address, options.port), listening_with(options.credentials), &parts->port);
  builder.RegisterService(&parts->service);
  set_up(builder, "worker server", options.threads_max);
  parts->server = builder.BuildAndStart();
  if (!parts->server || parts->port == 0) {
    return fail(ErrorCode::kIo, fmt::format("cannot serve a worker at {}:{}: the address is not of this machine or its port is taken{}",
                                            options.address, options.port,
                                            options.credentials.certificate.empty() ? "" : ", or its certificate or key is none"));
  }
  parts->service.served_at(static_cast<std::uint16_t>(parts->port));
  return std::unique_ptr<WorkerServer>(new WorkerServer(std::move(parts)));
}

WorkerServer::~WorkerServer() {
  const auto wait = gpr_time_from_nanos(parts_->options.shutdown_wait.count(), GPR_TIMESPAN);
  parts_->server->Shutdown(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), wait));
  parts_->server->Wait();
}

std::uint16_t WorkerServer::port() const { return static_cast<std::uint16_t>(parts_->port); }

std::string WorkerServer::address() const { return fmt::format("{}:{}", parts_->options.address, parts_->port); }

}  // namespace sp::rpc

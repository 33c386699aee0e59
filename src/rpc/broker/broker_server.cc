#include "rpc/broker/broker_server.h"

#include <utility>

#include <fmt/core.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <proto/broker.grpc.pb.h>

#include "base/text.h"
#include "driver/embedded/embedded.h"
#include "rpc/broker/detail/messages.h"
#include "rpc/broker/detail/seats.h"
#include "rpc/line.h"

namespace sp::rpc::broker {
namespace detail {

class BrokerService final : public v1::Broker::Service {
 public:
  BrokerService(driver::embedded::Broker& broker, std::unique_ptr<driver::Driver> driver, MonotonicClock& clock, std::uint64_t life,
                const BrokerServerOptions& options)
      : broker_(broker), driver_(std::move(driver)), lease_(options.lease), seats_(*driver_, clock, life, options.lease),
        token_(options.credentials.token) {}

  grpc::Status Hello(grpc::ServerContext* context, const v1::BrokerHelloRequest* /*request*/, v1::BrokerHelloAnswer* answer) override {
    return serve(*context, [&] {
      answer->mutable_hello()->set_client(driver_->client());
      answer->mutable_hello()->set_lease(lease_.count());
    });
  }
  grpc::Status ReadTruth(grpc::ServerContext* context, const v1::TruthRequest* /*request*/, v1::TruthAnswer* answer) override {
    return serve(*context, [&] { answer->set_text(driver::embedded::truth_text(broker_.truth())); });
  }
  grpc::Status CreateTopic(grpc::ServerContext* context, const v1::TopicSpec* request, v1::VoidAnswer* answer) override {
    return serve(*context, [&] { tell(driver_->create_topic(topic_of(*request)), *answer); });
  }
  grpc::Status DeleteTopic(grpc::ServerContext* context, const v1::TopicName* request, v1::VoidAnswer* answer) override {
    return serve(*context, [&] { tell(driver_->delete_topic(request->name()), *answer); });
  }
  grpc::Status DescribeTopic(grpc::ServerContext* context, const v1::TopicName* request, v1::TopicAnswer* answer) override {
    return serve(*context, [&] {
      const auto topic = driver_->describe_topic(request->name());
      if (!topic) return put(topic.error(), *answer->mutable_error());
      answer->mutable_topic()->set_partitions(topic->partitions);
      answer->mutable_topic()->set_replication(topic->replication);
    });
  }
  grpc::Status ReadBounds(grpc::ServerContext* context, const v1::TopicName* request, v1::LogBoundsAnswer* answer) override {
    return serve(*context, [&] {
      const auto bounds = driver_->bounds(request->name());
      if (!bounds) return put(bounds.error(), *answer->mutable_error());
      put(*bounds, *answer->mutable_bounds());
    });
  }
  grpc::Status ReadClusterState(grpc::ServerContext* context, const v1::TopicName* request, v1::ClusterStateAnswer* answer) override {
    return serve(*context, [&] {
      const auto state = driver_->cluster_state(request->name());
      if (!state) return put(state.error(), *answer->mutable_error());
      put(*state, *answer->mutable_state());
    });
  }
  grpc::Status Reserve(grpc::ServerContext* context, const v1::ReserveRequest* /*request*/, v1::HandleAnswer* answer) override {
    return serve(*context, [&] {
      auto handle = seats_.reserve();
      if (!handle) return put(handle.error(), *answer->mutable_error());
      *answer->mutable_handle() = std::move(*handle);
    });
  }
  grpc::Status Open(grpc::ServerContext* context, const v1::OpenRequest* request, v1::VoidAnswer* answer) override {
    return serve(*context, [&] { tell(seats_.open(*request), *answer); });
  }
  grpc::Status Exchange(grpc::ServerContext* context, const v1::ExchangeRequest* request, v1::ExchangeAnswer* answer) override {
    return serve(*context, [&] { seats_.exchange(*request, *answer); });
  }

  [[nodiscard]] std::size_t handles() const { return seats_.count(); }

 private:
  static void tell(const Result<void>& done, v1::VoidAnswer& answer) {
    if (!done) put(done.error(), *answer.mutable_error());
  }
  template <typename Call>
  grpc::Status serve(const grpc::ServerContext& context, Call call) {
    if (context.IsCancelled()) return {grpc::StatusCode::CANCELLED, "the caller has gone"};
    if (!admitted(context)) {
      return {grpc::StatusCode::UNAUTHENTICATED, "this broker asks for a token, and the call has none or another one"};
    }
    call();
    return grpc::Status::OK;
  }
  [[nodiscard]] bool admitted(const grpc::ServerContext& context) const {
    if (token_.empty()) return true;
    const auto& headers = context.client_metadata();
    const auto given = headers.find(kTokenHeader);
    return given != headers.end() && same_secret({given->second.data(), given->second.size()}, kTokenScheme + token_);
  }

  driver::embedded::Broker& broker_;
  const std::unique_ptr<driver::Driver> driver_;
  const Nanoseconds lease_;
  Seats seats_;
  const std::string token_;
};

}  // namespace detail

struct BrokerServer::Parts {
  Parts(driver::embedded::Broker& broker, std::unique_ptr<driver::Driver> driver, MonotonicClock& clock, std::uint64_t life,
        const BrokerServerOptions& given)
      : options(given), service(broker, std::move(driver), clock, life, given) {}
  BrokerServerOptions options;
  detail::BrokerService service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;  // last: it uses the service
};

BrokerServer::BrokerServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<BrokerServer>> BrokerServer::start(driver::embedded::Broker& broker, MonotonicClock& clock, const WallClock& wall,
                                                          const BrokerServerOptions& options) {
  if (auto good = check(options.credentials); !good) return fail_up(std::move(good), "credentials of the broker");
  auto driver = driver::embedded::EmbeddedDriver::make(broker);
  if (!driver) return tl::unexpected(std::move(driver).error());
  const auto life = static_cast<std::uint64_t>(wall.now().time_since_epoch().count());
  auto parts = std::make_unique<Parts>(broker, std::move(*driver), clock, life, options);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(fmt::format("{}:{}", options.address, options.port), listening_with(options.credentials), &parts->port);
  builder.RegisterService(&parts->service);
  set_up(builder, "broker server", options.threads_max);
  parts->server = builder.BuildAndStart();
  if (!parts->server || parts->port == 0) {
    return fail(ErrorCode::kIo, fmt::format("cannot serve a broker at {}:{}: the address is not of this machine or its port is taken{}",
                                            options.address, options.port,
                                            options.credentials.certificate.empty() ? "" : ", or its certificate or key is none"));
  }
  return std::unique_ptr<BrokerServer>(new BrokerServer(std::move(parts)));
}

BrokerServer::~BrokerServer() {
  const auto wait = gpr_time_from_nanos(parts_->options.shutdown_wait.count(), GPR_TIMESPAN);
  parts_->server->Shutdown(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), wait));
  parts_->server->Wait();
}

std::uint16_t BrokerServer::port() const { return static_cast<std::uint16_t>(parts_->port); }

std::string BrokerServer::address() const { return fmt::format("{}:{}", parts_->options.address, parts_->port); }

std::size_t BrokerServer::handles() const { return parts_->service.handles(); }

}  // namespace sp::rpc::broker

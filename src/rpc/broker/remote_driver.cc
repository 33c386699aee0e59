#include "rpc/broker/remote_driver.h"

#include <algorithm>
#include <utility>

#include "driver/embedded/embedded.h"
#include "rpc/broker/detail/line.h"
#include "rpc/broker/detail/messages.h"
#include "rpc/broker/detail/remote_clients.h"
#include "rpc/line.h"

namespace sp::rpc::broker {
namespace detail {
namespace {

constexpr Nanoseconds kLeaseMin = std::chrono::milliseconds(10);
constexpr Nanoseconds kLeaseMax = std::chrono::hours(1);

driver::Settings without_address(driver::Settings settings) {
  settings.erase(std::string(driver::embedded::kBrokerAddress));
  return settings;
}

class RemoteDriver final : public driver::Driver {
 public:
  RemoteDriver(MonotonicClock& clock, const RemoteBroker& broker, driver::Settings settings)
      : clock_(clock), line_(broker), settings_(std::move(settings)) {}

  [[nodiscard]] Result<void> greet() {
    auto answer = line_.call(&v1::Broker::Stub::Hello, v1::BrokerHelloRequest{});
    if (!answer) return tl::unexpected(std::move(answer).error());
    if (!answer->has_hello()) return fail_up(Result<void>(error_of(answer->error())), line_.where());
    client_ = answer->hello().client();
    lease_ = std::clamp(Nanoseconds(answer->hello().lease()), kLeaseMin, kLeaseMax);
    return {};
  }

  [[nodiscard]] std::string_view name() const override { return "embedded"; }
  [[nodiscard]] std::string client() const override { return client_; }
  [[nodiscard]] driver::Capabilities capabilities() const override { return driver::embedded::broker_capabilities(); }
  [[nodiscard]] driver::Settings effective_settings() const override {
    driver::Settings settings = settings_;
    settings[std::string(driver::embedded::kBrokerAddress)] = line_.options().address;
    return settings;
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return driver::embedded::idle_notes(settings_); }

  Result<void> create_topic(const driver::TopicSpec& spec) override {
    v1::TopicSpec request;
    put(spec, request);
    return done(line_.call(&v1::Broker::Stub::CreateTopic, request));
  }
  Result<void> delete_topic(const std::string& topic) override {
    return done(line_.call(&v1::Broker::Stub::DeleteTopic, named(topic)));
  }
  Result<driver::TopicInfo> describe_topic(const std::string& topic) override {
    auto answer = good(line_.call(&v1::Broker::Stub::DescribeTopic, named(topic)));
    if (!answer) return tl::unexpected(std::move(answer).error());
    return driver::TopicInfo{answer->topic().partitions(), answer->topic().replication()};
  }
  Result<std::vector<driver::PartitionBounds>> bounds(const std::string& topic) override {
    auto answer = good(line_.call(&v1::Broker::Stub::ReadBounds, named(topic)));
    if (!answer) return tl::unexpected(std::move(answer).error());
    return bounds_of(answer->bounds());
  }
  Result<driver::ClusterState> cluster_state(const std::string& topic) override {
    auto answer = good(line_.call(&v1::Broker::Stub::ReadClusterState, named(topic)));
    if (!answer) return tl::unexpected(std::move(answer).error());
    return state_of(answer->state());
  }
  Result<std::unique_ptr<driver::Producer>> open_producer(const driver::ProducerSpec& spec) override {
    return opened<driver::Producer, RemoteProducer>(spec);
  }
  Result<std::unique_ptr<driver::Consumer>> open_consumer(const driver::ConsumerSpec& spec) override {
    return opened<driver::Consumer, RemoteConsumer>(spec);
  }
  Result<std::unique_ptr<driver::RawReader>> open_raw_reader(const driver::RawSpec& spec) override {
    return opened<driver::RawReader, RemoteRawReader>(spec);
  }

 private:
  [[nodiscard]] static v1::TopicName named(const std::string& topic) {
    v1::TopicName request;
    request.set_name(topic);
    return request;
  }
  // The answer, unless it is an error or nothing at all.
  template <typename Answer>
  [[nodiscard]] Result<Answer> good(Result<Answer> answer) const {
    if (!answer) return answer;
    if (answer->has_error()) return fail_up(Result<Answer>(error_of(answer->error())), line_.where());
    if (answer->outcome_case() == Answer::OUTCOME_NOT_SET) return fail(ErrorCode::kParse, line_.where() + " answered without an outcome");
    return answer;
  }
  [[nodiscard]] Result<void> done(Result<v1::VoidAnswer> answer) const {
    if (!answer) return tl::unexpected(std::move(answer).error());
    if (answer->has_error()) return fail_up(Result<void>(error_of(answer->error())), line_.where());
    return {};
  }
  template <typename Port, typename Client, typename Spec>
  [[nodiscard]] Result<std::unique_ptr<Port>> opened(const Spec& given) {
    Spec spec = given;
    spec.settings = without_address(std::move(spec.settings));
    auto client = std::make_unique<Client>(Surrounding{line_, clock_, lease_}, spec);
    if (auto open = client->open(); !open) return tl::unexpected(std::move(open).error());
    return std::unique_ptr<Port>(std::move(client));
  }

  MonotonicClock& clock_;
  const Line line_;
  const driver::Settings settings_;
  std::string client_;
  Nanoseconds lease_ = kLeaseMax;
};

}  // namespace
}  // namespace detail

Result<std::unique_ptr<driver::Driver>> open(MonotonicClock& clock, const RemoteBroker& broker, const driver::Settings& settings) {
  driver::Settings all = settings;
  all[std::string(driver::embedded::kBrokerAddress)] = broker.address;
  if (auto checked = driver::embedded::check_settings(all); !checked) return tl::unexpected(std::move(checked).error());
  if (auto good = check(broker.credentials); !good) return fail_up(std::move(good), "credentials for broker " + broker.address);
  auto driver = std::make_unique<detail::RemoteDriver>(clock, broker, detail::without_address(settings));
  if (auto greeted = driver->greet(); !greeted) return tl::unexpected(std::move(greeted).error());
  return std::unique_ptr<driver::Driver>(std::move(driver));
}

Result<std::string> read_truth(const RemoteBroker& broker) {
  const detail::Line line(broker);
  auto answer = line.call(&::streaming_proof::v1::Broker::Stub::ReadTruth, ::streaming_proof::v1::TruthRequest{});
  if (!answer) return tl::unexpected(std::move(answer).error());
  return std::move(*answer->mutable_text());
}

}  // namespace sp::rpc::broker

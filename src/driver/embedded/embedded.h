// The driver of the embedded broker. Several drivers (one for each worker) share one broker.
//
//     Broker broker(clock, wall, {.seed = 7});
//     auto driver = EmbeddedDriver::make(broker, settings);      an unknown setting is refused by name
//
// Settings:  session.timeout.ms is not settable here (BrokerOptions); acks, enable.idempotence, client.id,
//            compression.type, linger.ms and isolation.level are accepted and noted as meaning nothing. All others
//            are refused; broker.address too, which is for a driver of a broker in another process.
// Cost:      see broker.h.   Limits: see broker.h.
// Errors:    kInvalid names the setting; kNotFound, kExists the topic.   Threads: any.   Source: driver/driver.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.h"
#include "driver/embedded/broker.h"

namespace sp::driver::embedded {

// What a driver of the embedded broker can do, wherever the broker is.
[[nodiscard]] Capabilities broker_capabilities();
// "acks means nothing to the embedded broker", for each setting.
[[nodiscard]] std::vector<std::string> idle_notes(const Settings& settings);
// The setting that names a broker in another process, as "host:port" (rpc/broker/remote_driver.h).
inline constexpr std::string_view kBrokerAddress = "broker.address";
// What a proof on the embedded broker may set, the address included. Errors: kInvalid names the setting.
[[nodiscard]] Result<void> check_settings(const Settings& settings);

class EmbeddedDriver final : public Driver {
 public:
  // `broker` outlives the driver and all its clients.
  [[nodiscard]] static Result<std::unique_ptr<EmbeddedDriver>> make(Broker& broker, const Settings& settings = {});
  [[nodiscard]] std::string_view name() const override { return "embedded"; }
  [[nodiscard]] std::string client() const override;
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Settings effective_settings() const override { return settings_; }
  [[nodiscard]] std::vector<std::string> notes() const override;
  Result<void> create_topic(const TopicSpec& spec) override;
  Result<void> delete_topic(const std::string& topic) override;
  Result<TopicInfo> describe_topic(const std::string& topic) override;
  Result<std::vector<PartitionBounds>> bounds(const std::string& topic) override;
  Result<ClusterState> cluster_state(const std::string& topic) override;
  Result<std::unique_ptr<Producer>> open_producer(const ProducerSpec& spec) override;
  Result<std::unique_ptr<Consumer>> open_consumer(const ConsumerSpec& spec) override;
  Result<std::unique_ptr<RawReader>> open_raw_reader(const RawSpec& spec) override;

 private:
  EmbeddedDriver(Broker& broker, Settings settings) : state_(broker.state()), settings_(std::move(settings)) {}
  [[nodiscard]] Result<Topic*> need_topic(const std::string& topic);  // under the mutex
  [[nodiscard]] Result<Topic*> open_topic(const Settings& settings, const std::string& topic);

  State& state_;
  Settings settings_;
};

}  // namespace sp::driver::embedded

// One whole run in this process: coordinator, workers and embedded broker on clocks that the test
// holds. What the program's own simulation does not let anybody touch can be touched here: drivers
// are wrapped, clocks are stepped, topics are there before.
//
//     World world(proof);   world.wrap = …;   world.meanwhile = …;   const report::Report& report =
//     world.run();
//
// Threads: one. Nothing waits on a real clock.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "coordinator/coordinator.h"
#include "driver/embedded/embedded.h"
#include "worker/worker.h"

namespace sp::process_test {

// Everything of a Driver passed on to another one; a test overrides what it means to change.
class PassingDriver : public driver::Driver {
 public:
  explicit PassingDriver(std::unique_ptr<driver::Driver> behind) : behind_(std::move(behind)) {}
  [[nodiscard]] std::string_view name() const override { return behind_->name(); }
  [[nodiscard]] std::string client() const override { return behind_->client(); }
  [[nodiscard]] driver::Capabilities capabilities() const override {
    return behind_->capabilities();
  }
  [[nodiscard]] driver::Settings effective_settings() const override {
    return behind_->effective_settings();
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return behind_->notes(); }
  Result<void> create_topic(const driver::TopicSpec& spec) override {
    return behind_->create_topic(spec);
  }
  Result<void> delete_topic(const std::string& topic) override {
    return behind_->delete_topic(topic);
  }
  Result<driver::TopicInfo> describe_topic(const std::string& topic) override {
    return behind_->describe_topic(topic);
  }
  Result<std::vector<driver::PartitionBounds>> bounds(const std::string& topic) override {
    return behind_->bounds(topic);
  }
  Result<driver::ClusterState> cluster_state(const std::string& topic) override {
    return behind_->cluster_state(topic);
  }
  Result<std::unique_ptr<driver::Producer>> open_producer(
      const driver::ProducerSpec& spec) override {
    return behind_->open_producer(spec);
  }
  Result<std::unique_ptr<driver::Consumer>> open_consumer(
      const driver::ConsumerSpec& spec) override {
    return behind_->open_consumer(spec);
  }
  Result<std::unique_ptr<driver::RawReader>> open_raw_reader(const driver::RawSpec& spec) override {
    return behind_->open_raw_reader(spec);
  }

 private:
  std::unique_ptr<driver::Driver> behind_;
};

class World {
 public:
  using Drivers = std::unique_ptr<driver::Driver>;
  explicit World(proof::Proof proof, driver::embedded::BrokerOptions broker = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Set before run().
  std::function<Drivers(Drivers)> wrap;                     // each worker's driver
  std::function<void(const coordinator::Live&)> meanwhile;  // after every step of the run
  coordinator::RunLimits limits;

  // To its end; the report is whole then.
  const report::Report& run();
  // A driver of its own to the same broker, for what was there before.
  [[nodiscard]] Drivers driver();
  // Puts `records` records of other programs into partition 0 of `topic`.
  void put_foreign(const std::string& topic, std::uint32_t records);
  void step_wall_clock(Nanoseconds by) { wall_.step(by); }
  [[nodiscard]] const std::vector<std::string>& said() const { return said_; }
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }
  void note_group(const std::string& group) { groups_.push_back(group); }

 private:
  proof::Proof proof_;
  ManualClock clock_;
  ManualWallClock wall_;
  driver::embedded::Broker broker_;
  std::vector<std::unique_ptr<worker::Worker>> workers_;  // before the broker goes
  std::unique_ptr<coordinator::ProofRun> run_;
  std::vector<std::string> said_;
  std::vector<std::string> groups_;
};

// A proof that takes milliseconds: five seconds of virtual time, 400 records a second over 40 keys.
[[nodiscard]] proof::Proof small_proof();
// All reasons of the verdict, a line each; or why it could not run.
[[nodiscard]] std::string reasons(const report::Report& report);

}  // namespace sp::process_test

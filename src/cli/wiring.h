// The one place that knows every driver, cluster and fault: what a proof names becomes a System
// that a run can use.
//
//     open_system(request) ─► System ── factory() ─► workers
//                                  └── load_begins ─ step … step ─ load_ends ─ faults()
//
// Errors:   those of drivers and clusters, as sentences for a person.
// Threads:  one owner.
// Waiting:  opening a local cluster takes seconds and says what it does; step() never waits.
// Source:   ARCHITECTURE.md, "Rooms and their doors".
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/run_request.h"
#include "core/fault.h"
#include "driver/embedded/broker.h"
#include "worker/worker.h"

namespace sp::cli {

using Say = std::function<void(std::string_view)>;

class System {
 public:
  virtual ~System() = default;
  [[nodiscard]] virtual worker::DriverFactory factory() = 0;
  virtual void load_begins(const std::string& topic, MonotonicTime begin,
                           std::optional<MonotonicTime> end);
  virtual void load_ends(MonotonicTime now);
  // Does what is due; when to come again.
  virtual MonotonicTime step(MonotonicTime now);
  // In the order of their numbers; lives until the next step.
  [[nodiscard]] virtual const std::vector<core::FaultRecord>& faults();
  // Ends what was started for this run alone. `passed`: what only helps to find a fault may go.
  virtual Result<void> close(bool passed);
};

struct Surroundings {
  MonotonicClock& clock;
  const WallClock& wall;
  std::filesystem::path folder;  // of the run
  std::uint64_t seed = 0;
  Say say;
  std::function<bool()> cancelled;
};

// The clocks in `around` outlive the system.
[[nodiscard]] Result<std::unique_ptr<System>> open_system(const RunRequest& request,
                                                          const Surroundings& around);

// A driver of the embedded broker for each worker; `broker` outlives them.
[[nodiscard]] worker::DriverFactory embedded_factory(driver::embedded::Broker& broker);
[[nodiscard]] driver::embedded::Expected expected_of(const proof::Proof& proof);

// Drivers for a worker process that takes part in proofs of any system. An embedded broker lives in this process, one for a
// topic, and the proof has one worker; or in the process that its setting broker.address names. `zone` stands for {zone.id} in a
// client.id; "": there is none.
class WorkerSystems {
 public:
  // Clocks outlive it.
  WorkerSystems(MonotonicClock& clock, const WallClock& wall, std::string zone) : clock_(clock), wall_(wall), zone_(std::move(zone)) {}
  // It outlives the factory.
  [[nodiscard]] worker::DriverFactory factory();

 private:
  [[nodiscard]] Result<std::unique_ptr<driver::Driver>> open(const proof::Proof& proof);
  [[nodiscard]] Result<std::unique_ptr<driver::Driver>> open_embedded(const proof::Proof& proof);

  MonotonicClock& clock_;
  const WallClock& wall_;
  const std::string zone_;
  std::mutex mutex_;  // guards brokers_
  std::map<std::string, std::unique_ptr<driver::embedded::Broker>> brokers_;  // by topic
};

// What is wrong with the plans that only their own rooms understand: chaos, defects, client settings.
[[nodiscard]] std::vector<proof::Fault> faults_of_plans(const RunRequest& request);

// What must be true before anything is sent: a usable client library. Error: kUnsupported with the
// remedy.
[[nodiscard]] Result<void> check_clients(const proof::Proof& proof);
// "librdkafka 2.16.0", a line for each client library.
[[nodiscard]] std::string client_versions();

// Clusters by name, for `cluster`: the leader of a partition as a client sees it.
[[nodiscard]] Result<std::int32_t> leader_of(const std::string& bootstrap, const std::string& topic,
                                             core::PartitionId partition, MonotonicClock& clock);
// A record through every node: what `up` waits for. The clock outlives the function.
[[nodiscard]] std::function<Result<bool>(const std::string& bootstrap)> ready_probe(
    std::uint32_t nodes, MonotonicClock& clock, const WallClock& wall);

}  // namespace sp::cli

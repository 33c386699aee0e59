// The proofs of one coordinator process, their configuration and their state file: Service as it is.
//
//     open ─► state file ─► finished proofs: their archives · running ones: gone on with from their logs
//     create ─► state file ─► ServedProof … over ─► archive in the state file ─► webhook
//
// Limits:   RegistryOptions: past proofs_max of running proofs create() says kFull.
// Errors:   as service.h; those of the state file.
// Threads:  any.   Source: coordinator/service.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "coordinator/archive.h"
#include "coordinator/config_layers.h"
#include "coordinator/served_proof.h"
#include "coordinator/service.h"
#include "store/state.h"

namespace sp::coordinator {

struct RegistryOptions {
  std::string program;        // name and version
  std::uint64_t entropy = 0;  // drawn anew by each process: ids of runs and proofs are made of it
  std::span<const proof::DriverFacts> drivers = proof::kKnownDrivers;
  std::size_t running_max = 16;    // proofs that run at once
  std::size_t proofs_max = 1'000;  // that are kept
  RunLimits limits;
  Nanoseconds stop_wait = std::chrono::hours(2);  // how long stop() and remove() wait for the end procedure
  PortMaker ports;
  // A port to a worker outside of any proof's log: for deleting topics.
  std::function<std::unique_ptr<control::WorkerPort>(const NamedWorker&)> bare_port;
  // Posts `body`; returns at once. Absent: webhooks are not sent.
  std::function<void(const Webhook&, std::string body)> notify;
  // A sentence for the log; may be absent.
  std::function<void(std::string_view)> say;
};

class Registry final : public Service {
 public:
  // State and clocks outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Registry>> open(RegistryOptions options, store::State& state, MonotonicClock& clock,
                                                              const WallClock& wall);
  // Ends where it is: running proofs can be gone on with.
  ~Registry() override;

  Answer<ProofHead> create(const codec::Node& body, bool wait) override;
  [[nodiscard]] std::vector<ProofHead> list() const override;
  [[nodiscard]] Result<ProofHead> find(std::string_view id) const override;
  [[nodiscard]] Result<ProofDetails> details(std::string_view id, bool keys) const override;
  [[nodiscard]] Result<ProofReport> report(std::string_view id) const override;
  [[nodiscard]] Result<std::string> result(std::string_view id) const override;
  Result<void> stop(std::string_view id, bool wait) override;
  Result<void> remove(std::string_view id) override;
  [[nodiscard]] Result<ViolationPage> violations(std::string_view id, const ViolationQuery& query) const override;
  [[nodiscard]] Result<KeyView> key(std::string_view id, std::string_view key) const override;
  [[nodiscard]] Result<CoverageView> coverage(std::string_view id) const override;
  [[nodiscard]] Result<std::vector<core::FaultRecord>> faults(std::string_view id) const override;
  Result<core::FaultRecord> mark_fault(std::string_view id, const core::FaultRecord& fault, bool effect, bool end) override;
  [[nodiscard]] Result<Diagnostics> diagnostics(std::string_view id) const override;
  [[nodiscard]] Result<Events> events(std::string_view id, std::uint64_t after, std::size_t most, Nanoseconds wait) const override;
  [[nodiscard]] std::optional<Configs> configs() const override;
  Answer<void> put_configs(const codec::Node& body) override;
  Answer<void> delete_configs(const codec::Node& body) override;
  [[nodiscard]] std::string not_ready() const override;

  // Whoever waits for a proof waits no longer; before the end of the process, so that its server can end.
  void release();
  // The configuration folder was read again.
  void set_folder(std::optional<Configs> folder);

 private:
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;  // shared with answers that are on their way while the proof is removed
  Registry(RegistryOptions options, store::State& state, MonotonicClock& clock, const WallClock& wall);

  [[nodiscard]] Result<void> load();
  [[nodiscard]] Result<EntryPtr> load_one(const store::ProofRow& row);
  [[nodiscard]] Result<EntryPtr> entry(std::string_view id) const;
  [[nodiscard]] EntryPtr make_entry(std::string id, core::RunId run, Submission submission, const std::string& world_json,
                                    WallTime started) const;
  [[nodiscard]] std::string new_id() const;
  void serve(Entry& entry);
  void is_over(Entry& entry, ServedProof& proof);
  [[nodiscard]] Archive archive_of(const Entry& entry) const;
  Result<void> delete_topic(const Entry& entry);
  void say(std::string_view sentence) const;

  RegistryOptions options_;
  store::State& state_;
  MonotonicClock& clock_;
  const WallClock& wall_;
  mutable std::mutex mutex_;  // guards what follows
  ConfigLayers layers_;
  std::vector<EntryPtr> entries_;
  mutable std::uint64_t drawn_ = 0;
  bool released_ = false;
};

}  // namespace sp::coordinator

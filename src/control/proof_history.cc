#include "control/proof_history.h"

#include <fmt/core.h>

#include "history/merge.h"
#include "history/numbered.h"
#include "proof/fields.h"

namespace sp::control {
namespace {

constexpr std::string_view kWorker = "worker";

history::Meta meta_of(const proof::Proof& proof, const HistoryFacts& facts) {
  history::Meta meta;
  meta.kind = history::Meta::Kind::kProof;
  meta.run = core::run_text(facts.run);
  meta.driver = proof.driver;
  meta.client = facts.client.empty() ? proof.driver : facts.client;
  meta.scenario = proof.name.empty() ? "proof" : proof.name;
  meta.faults = proof.chaos;
  if (proof.topic_exists == proof::TopicExists::kReuse) meta.topics = history::Meta::Topics::kReused;
  meta.raw_read = facts.raw_read;
  if (facts.started) meta.started_wall_ns = static_cast<std::uint64_t>(facts.started->time_since_epoch().count());
  return meta;
}

}  // namespace

std::string worker_name(std::uint32_t worker) { return fmt::format("{}-{}", kWorker, worker); }

std::optional<std::uint32_t> worker_number(std::string_view name) { return history::number_of(name, kWorker); }

history::Meta worker_meta(const proof::Proof& proof, const HistoryFacts& facts, core::SourceId source) {
  history::Meta meta = meta_of(proof, facts);
  meta.process = worker_name(source.worker);
  meta.incarnation = source.incarnation;
  return meta;
}

history::Meta coordinator_meta(const proof::Proof& proof, const HistoryFacts& facts) {
  history::Meta meta = meta_of(proof, facts);
  meta.process = history::kCoordinator;
  meta.incarnation = 1;
  proof::Proof shown = proof;
  std::erase_if(shown.settings, [](const auto& setting) { return proof::is_secret(setting.first); });
  meta.proof = proof::to_json(shown, {.one_line = true});
  return meta;
}

HistoryFactory histories_in(const std::filesystem::path& folder, const history::Writer::Options& options) {
  return [folder, options](const history::Meta& meta) {
    const bool alone = meta.process == history::kCoordinator;
    const std::string name = alone ? meta.process : history::source_name(meta.process, meta.incarnation.value_or(1));
    return history::Writer::create(folder / (name + (options.zstd ? ".jsonl.zst" : ".jsonl")), meta, options);
  };
}

}  // namespace sp::control

// What the system refuses to producers and consumers for good. Before anything went through the run
// cannot take place; afterwards evidence is missing, and what is missing is no loss for that alone.
#include <fmt/core.h>

#include "coordinator/coordinator.h"

namespace sp::coordinator {
namespace {

void add(std::string& text, const Fleet::Worker& worker, const std::string& refusal) {
  text +=
      fmt::format("{}worker {}: {}", text.empty() ? "" : "; and ", worker.source.worker, refusal);
}

}  // namespace

// One sentence for all consumers and one for all producers, if nothing went through to or from
// them; empty: something did, or nothing is refused.
std::string ProofRun::refused_before_anything() const {
  const track::Progress progress = ledger_->progress();
  std::string text;
  for (const auto& worker : fleet_.workers()) {
    if (progress.received > 0 || !text.empty() || worker.last.consumers_refused.empty()) continue;
    add(text, worker, worker.last.consumers_refused.begin()->second);
  }
  for (const auto& worker : fleet_.workers()) {
    if (progress.acked > 0 || worker.last.producers_refused.empty()) continue;
    add(text, worker, worker.last.producers_refused);
    break;
  }
  return text;
}

// True if the run was given up. It waits a moment, so that what else is refused is told with it.
bool ProofRun::refused(MonotonicTime now) {
  std::string why = refused_before_anything();
  if (why.empty()) {
    refused_since_.reset();
    return false;
  }
  if (!refused_since_) refused_since_ = now;
  if (now - *refused_since_ < options_.limits.refused) return false;
  if (stage_ == Stage::kLoad && hooks_.load_ends) hooks_.load_ends();
  give_up(std::move(why), now);
  return true;
}

void ProofRun::collect_refusals() {
  auto& facts = report_.facts;
  for (const auto& worker : fleet_.workers()) {
    for (const auto& [group, refusal] : worker.last.consumers_refused) {
      const std::string name = group_name(group.value());
      if (!facts.refused.emplace(name, refusal).second) continue;
      missing(fmt::format("the consumers of group {} were refused to the end, so what they did not "
                          "receive is not called lost: worker {}: {}",
                          name, worker.source.worker, refusal));
    }
  }
  for (const auto& worker : fleet_.workers()) {
    if (worker.last.producers_refused.empty()) continue;
    missing(fmt::format("producers were refused to the end of the load: worker {}: {}",
                        worker.source.worker, worker.last.producers_refused));
    break;
  }
}

}  // namespace sp::coordinator

#include "coordinator/lag_watch.h"

#include <algorithm>

#include <fmt/core.h>

namespace sp::coordinator {

void LagWatch::look(std::span<const Place> places, std::span<const core::FaultRecord> faults, MonotonicTime now) {
  if (closed_) return;
  places_.assign(places.begin(), places.end());
  if (lags_.size() < places.size()) lags_.resize(places.size());
  for (std::size_t partition = 0; partition < places.size(); ++partition) measure(partition, places[partition], now);
  for (auto entry = waits_.begin(); entry != waits_.end();) {
    const bool over = recovered(entry->second);
    if (over) recovered_.emplace(entry->first, now);
    entry = over ? waits_.erase(entry) : std::next(entry);
  }
  begin_waits(faults, now);
  before_ = now;
}

void LagWatch::measure(std::size_t partition, const Place& place, MonotonicTime now) {
  Lag& lag = lags_[partition];
  if (place.acked > lag.known) {
    lag.known = place.acked;
    lag.marks.push_back({place.acked, before_.value_or(now)});
  }
  std::size_t done = 0;
  for (; done < lag.marks.size() && lag.marks[done].acked <= place.reached; ++done) {
    staleness_ = std::max(staleness_, now - lag.marks[done].since);
  }
  lag.marks.erase(lag.marks.begin(), lag.marks.begin() + static_cast<std::ptrdiff_t>(done));
  if (lag.marks.size() >= kMarksMax) thin_out(lag.marks, now);
}

// The two neighbours that span the least time become one, as old as the older: a lag is overstated, never understated.
void LagWatch::thin_out(std::vector<Mark>& marks, MonotonicTime now) {
  const auto span = [&](std::size_t at) { return (at + 2 < marks.size() ? marks[at + 2].since : now) - marks[at].since; };
  std::size_t least = 0;
  for (std::size_t at = 1; at + 1 < marks.size(); ++at) {
    if (span(at) < span(least)) least = at;
  }
  marks[least].acked = marks[least + 1].acked;
  marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(least) + 1);
}

void LagWatch::begin_waits(std::span<const core::FaultRecord> faults, MonotonicTime now) {
  for (std::size_t at = begun_; at < faults.size(); ++at) {
    const auto over = faults[at].over();
    if (!over || now - *over < kEvidenceDelay) continue;
    const bool known = waits_.contains(at) || recovered_.contains(at) || not_known_.contains(at);
    if (!known && waits_.size() >= kWaitsMax) {
      not_known_.emplace(at, fmt::format("{} faults before it were still waited for", kWaitsMax));
    } else if (!known) {
      Wait& wait = waits_[at];
      for (const Place& place : places_) wait.acked.push_back(place.acked);
    }
    if (at == begun_) ++begun_;
  }
}

bool LagWatch::recovered(Wait& wait) const {
  bool used = false;
  for (std::size_t at = wait.next; at < wait.acked.size(); ++at) {
    if (wait.acked[at] == 0) continue;
    used = true;
    wait.next = at;
    if (places_[at].acked <= wait.acked[at] || places_[at].reached <= wait.acked[at]) return false;
  }
  // Nothing had been acknowledged anywhere: the first record that goes through is the recovery.
  return used || std::any_of(places_.begin(), places_.end(),
                             [](const Place& place) { return place.acked > 0 && place.reached > 0; });
}

void LagWatch::close(MonotonicTime now) {
  if (closed_) return;
  closed_ = true;
  for (const Lag& lag : lags_) {
    if (!lag.marks.empty()) staleness_ = std::max(staleness_, now - lag.marks.front().since);
  }
  for (auto& [at, wait] : waits_) {
    static_cast<void>(recovered(wait));  // finds the partition to name
    not_known_.emplace(at, why_not(wait));
  }
  waits_.clear();
}

std::string LagWatch::why_not(const Wait& wait) const {
  if (!no_staleness().empty()) return no_staleness();
  if (wait.next >= wait.acked.size() || wait.acked[wait.next] == 0) return "nothing was acknowledged and received after it";
  const Place& place = places_[wait.next];
  const std::uint64_t acked = wait.acked[wait.next];
  if (place.acked <= acked) {
    return fmt::format("nothing new was acknowledged on partition {} after it", wait.next);
  }
  if (place.reached <= acked) {
    return fmt::format("no consumer of some group came past offset {} of partition {} after it", acked, wait.next);
  }
  return "the run ended before it could be seen";
}

std::optional<Nanoseconds> LagWatch::staleness() const {
  if (!no_staleness().empty()) return std::nullopt;
  return staleness_;
}

std::string LagWatch::no_staleness() const {
  const bool any = std::any_of(places_.begin(), places_.end(), [](const Place& place) { return place.acked > 0; });
  return any ? "" : "no acknowledgement told a position";
}

void LagWatch::tell(std::vector<core::FaultRecord>& faults) const {
  for (std::size_t at = 0; at < faults.size(); ++at) {
    core::FaultRecord& fault = faults[at];
    if (!fault.took_effect()) {
      fault.no_recovery = "it took no effect";
    } else if (const auto found = recovered_.find(at); found != recovered_.end()) {
      fault.recovered = found->second;
    } else if (const auto why = not_known_.find(at); why != not_known_.end()) {
      fault.no_recovery = why->second;
    } else {
      fault.no_recovery = "it was not over before the consumers were stopped";
    }
  }
}

}  // namespace sp::coordinator

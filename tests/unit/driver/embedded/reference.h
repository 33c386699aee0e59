// The obvious judge: counts the codes of a finished run from everything that was told, as the checking model says,
// with a full raw read and every deadline past. Slow and short, so that it can be read beside the rules.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/code.h"
#include "unit/driver/embedded/world.h"

namespace sp::driver::embedded::test {

class Reference {
 public:
  explicit Reference(const World& world) : told_(world.sink.told) {
    for (const auto& each : told_) take(each);
    find_homes();
    count_log();
    for (const auto& [group, lineages] : groups_) count_group(lineages);
    count_phantoms();
    count_owners();
  }
  core::PerCode<std::uint64_t> counts;    // duplicate-delivery: those not allowed
  std::uint64_t allowed_repeats = 0;
  std::uint64_t acked = 0;
  std::uint64_t unknown = 0;
  std::uint64_t lineage_count = 0;
  std::uint64_t allowed_reordered_writes = 0;

 private:
  using Record = std::pair<std::string, std::uint64_t>;
  struct Handed {
    Record record;
    std::uint64_t offset = 0;
    bool damaged = false;
    std::uint32_t partition = 0;
  };
  struct LineageSeen {
    std::uint32_t consumer = 0;
    std::string member;
    std::uint32_t partition = 0;
    std::uint64_t generation = 0;
    std::uint64_t start = 0;
    std::size_t opened = 0;
    std::size_t closed = ~std::size_t{0};
    std::vector<Handed> handed;
    std::vector<std::tuple<std::size_t, std::uint64_t>> ok_commits;  // answered at, next
  };
  struct Attempt {
    core::Event outcome = core::Event::kInvoke;
    std::optional<core::Position> position;
  };

  void take(const Told& each) {
    const auto& seen = each.observation;
    const std::size_t at = ++now_;
    const Record record{each.name, seen.sequence.value()};
    const std::pair<std::uint32_t, std::uint32_t> place{seen.process, seen.partition.value()};
    auto& lineages = groups_[seen.group.value()];
    switch (seen.event) {
      case core::Event::kInvoke: attempts_[{World::key_name(seen.key), seen.sequence.value()}] = {}; break;
      case core::Event::kOk:
      case core::Event::kFail:
      case core::Event::kInfo: outcome(seen); break;
      case core::Event::kAssign:
        CHECK(!open_.contains(place), "a consumer opens a partition once at a time");
        open_[place] = lineages.size();
        lineages.push_back({seen.process, each.text, seen.partition.value(), seen.generation.value(),
                            seen.start.value(), at, ~std::size_t{0}, {}, {}});
        ++lineage_count;
        break;
      case core::Event::kRevoke:
        lineages[open_.at(place)].closed = at;
        last_[place] = open_.at(place);
        open_.erase(place);
        break;
      case core::Event::kDeliver:
        CHECK(open_.contains(place), "deliveries come within a lineage");
        lineages[open_.at(place)].handed.push_back(
            {record, seen.offset.value(), seen.content == core::Content::kDamaged, seen.partition.value()});
        if (seen.content != core::Content::kDamaged) pairs_[record].insert({seen.partition, seen.offset});
        break;
      case core::Event::kCommitOk: {
        const std::size_t lineage = commits_[place].front();
        commits_[place].pop_front();
        lineages[lineage].ok_commits.emplace_back(at, seen.offset.value());
        break;
      }
      case core::Event::kCommitInvoke:
        commits_[place].push_back(open_.contains(place) ? open_.at(place) : last_.at(place));
        break;
      case core::Event::kCommitFail:
      case core::Event::kCommitInfo: commits_[place].pop_front(); break;
      case core::Event::kRaw:
        pairs_[record].insert({seen.partition, seen.offset});
        raw_.insert(record);
        break;
      case core::Event::kRawBegin:
      case core::Event::kRawEnd:
      case core::Event::kClientError:
      case core::Event::kDisconnect:
      case core::Event::kReconnect:
      case core::Event::kTick:
      case core::Event::kEnd: break;
    }
  }
  void outcome(const core::Observation& seen) {
    const Record record{World::key_name(seen.key), seen.sequence.value()};
    Attempt& attempt = attempts_.at(record);
    CHECK(attempt.outcome == core::Event::kInvoke, "an attempt has one outcome");
    attempt.outcome = seen.event;
    if (seen.event == core::Event::kInfo) ++unknown;
    if (seen.event != core::Event::kOk) return;
    ++acked;
    attempt.position = core::Position{seen.partition, seen.offset};
  }
  [[nodiscard]] bool issued(const Record& record) const {
    const auto found = attempts_.find(record);
    return found != attempts_.end() && found->second.outcome != core::Event::kFail;
  }
  void find_homes() {
    std::map<std::string, std::map<core::PartitionId, int>> places;
    for (const auto& [record, positions] : pairs_) {
      for (const auto& position : positions) ++places[record.first][position.partition];
    }
    for (const auto& [key, counted] : places) {
      int most = 0;
      for (const auto& [partition, count] : counted) {
        if (count <= most) continue;
        most = count;
        home_[key] = partition;
      }
    }
  }
  [[nodiscard]] bool in_order_rules(const Record& record, core::PartitionId partition) const {
    return issued(record) && home_.at(record.first) == partition;
  }
  void count_log() {
    std::map<std::string, std::map<std::uint64_t, core::Position>> first_copies;
    for (const auto& [record, positions] : pairs_) {
      if (!issued(record)) continue;
      counts[core::Code::kDuplicateWrite] += positions.size() - 1;
      if (positions.begin()->partition != home_.at(record.first)) {
        ++counts[core::Code::kMisplaced];
      } else {
        first_copies[record.first][record.second] = *positions.begin();
      }
    }
    for (const auto& [key, copies] : first_copies) {
      std::uint64_t lowest = ~std::uint64_t{0};
      for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) {
        const bool late = attempts_.at({key, copy->first}).outcome == core::Event::kInfo;
        if (copy->second.offset.value() > lowest) {
          ++(late ? allowed_reordered_writes : counts[core::Code::kReorderedWrite]);
        }
        lowest = std::min(lowest, copy->second.offset.value());
      }
    }
  }
  // C of the checking model.
  [[nodiscard]] static std::uint64_t committed_before(const std::vector<const LineageSeen*>& order, std::size_t index) {
    for (std::size_t i = index; i-- > 0;) {
      std::optional<std::uint64_t> last;
      for (const auto& [answered, next] : order[i]->ok_commits) {
        if (order[i]->generation < order[index]->generation || answered < order[index]->opened) last = next;
      }
      if (last) return *last;
    }
    return 0;
  }
  void count_group(const std::vector<LineageSeen>& lineages) {
    std::map<std::uint32_t, std::vector<const LineageSeen*>> by_partition;
    for (const auto& lineage : lineages) by_partition[lineage.partition].push_back(&lineage);
    std::set<Record> received;
    std::set<core::Position> positions;
    std::set<Record> reordered;
    for (auto& [partition, order] : by_partition) {
      std::stable_sort(order.begin(), order.end(),
                       [](const auto* a, const auto* b) { return a->generation < b->generation; });
      std::set<std::uint64_t> handed_before;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::uint64_t committed = committed_before(order, i);
        std::set<std::uint64_t> handed_here;
        std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> higher;  // sequence, offset
        std::set<Record> seen_here;
        for (const auto& each : order[i]->handed) {
          positions.insert({core::PartitionId(each.partition), core::Offset(each.offset)});
          if (each.damaged) {
            ++counts[core::Code::kCorrupt];
          } else {
            received.insert(each.record);
          }
          const bool again_here = !handed_here.insert(each.offset).second;
          const bool again = handed_before.contains(each.offset);
          if (!again_here && again && order[i]->start < committed && each.offset < committed) {
            ++counts[core::Code::kRewind];
          }
          if (again_here || (again && each.offset < committed)) {
            ++counts[core::Code::kDuplicateDelivery];
          } else if (again) {
            ++allowed_repeats;
          }
          if (each.damaged || !in_order_rules(each.record, core::PartitionId(partition))) continue;
          if (seen_here.insert(each.record).second) {
            for (const auto& [sequence, offset] : higher[each.record.first]) {
              if (sequence > each.record.second && offset > each.offset) reordered.insert(each.record);
            }
          }
          higher[each.record.first].emplace_back(each.record.second, each.offset);
        }
        handed_before.insert(handed_here.begin(), handed_here.end());
      }
    }
    for (const auto& [record, attempt] : attempts_) {
      if (received.contains(record)) continue;
      const bool known = attempt.outcome == core::Event::kOk;
      if (known && positions.contains(*attempt.position)) continue;  // a damaged delivery there discharges it
      if (known || (attempt.outcome == core::Event::kInfo && raw_.contains(record))) ++counts[core::Code::kLost];
    }
    for (const auto& record : reordered) {
      if (received.contains(record)) ++counts[core::Code::kReorderedDelivery];
    }
    for (const auto& record : received) {
      if (issued(record)) continue;
      ++counts[core::Code::kPhantom];
      phantoms_.insert(record);
    }
  }
  void count_phantoms() {
    for (const auto& record : raw_) {
      if (!issued(record) && !phantoms_.contains(record)) ++counts[core::Code::kPhantom];
    }
  }
  void count_owners() {
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> dual;
    for (const auto& [group, lineages] : groups_) {
      for (const auto& a : lineages) {
        for (const auto& b : lineages) {
          if (a.partition != b.partition || a.generation != b.generation || a.member == b.member) continue;
          if (a.opened < b.opened && a.closed > b.opened) dual.insert({group, a.partition, a.generation});
        }
      }
    }
    counts[core::Code::kDualOwner] = dual.size();
  }

  const std::vector<Told>& told_;
  std::size_t now_ = 0;
  std::map<Record, Attempt> attempts_;
  std::map<Record, std::set<core::Position>> pairs_;
  std::set<Record> raw_;
  std::set<Record> phantoms_;
  std::map<std::string, core::PartitionId> home_;
  std::map<std::uint32_t, std::vector<LineageSeen>> groups_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> open_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> last_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::size_t>> commits_;
};

}  // namespace sp::driver::embedded::test

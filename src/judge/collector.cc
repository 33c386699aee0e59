#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "judge/rule.h"

namespace sp::judge {
namespace {

constexpr std::size_t kPositionsMax = 5;  // of a finding

}  // namespace

void Collector::add(const Item& item) {
  auto& items = items_[item.code];
  if (items.size() >= kRangesMax) {
    ++dropped_;
    return;
  }
  items.push_back(item);
}

void Collector::add(core::Code code, const track::Named& named, std::string_view note, core::Blame blame) {
  Item item;
  item.code = code;
  item.blame = blame;
  item.group = named.group;
  item.key = named.key;
  item.first = named.sequence;
  item.last = named.sequence;
  item.lineage = named.lineage;
  if (named.partition != track::kNone && named.offset != track::kNoOffset) {
    item.position = core::Position{core::PartitionId{named.partition}, core::Offset{named.offset}};
  }
  item.note = note;
  add(item);
}

void Collector::add_all(core::Code code, const track::NamedList& list, std::string_view note) {
  for (const auto& named : list.items) add(code, named, note);
}

void Collector::add_set(core::Code code, std::uint32_t group, core::KeyRef key, const core::RangeSet& sequences,
                        std::string_view note) {
  for (const auto& range : sequences.ranges()) {
    Item item;
    item.code = code;
    item.group = group;
    item.key = key;
    item.first = range.begin;
    item.last = range.end - 1;
    item.note = note;
    add(item);
  }
}

Finding Collector::finding(std::span<const Item> run) const {
  const Item& head = run.front();
  Finding finding;
  finding.code = head.code;
  finding.blame = head.blame;
  if (head.group != track::kNone) finding.group = state_.groups[head.group].name;
  finding.first = head.first;
  for (const Item& item : run) {
    finding.last = std::max(finding.last, item.last);
    finding.records += item.last - item.first + 1;
    if (item.position && finding.positions.size() < kPositionsMax) finding.positions.push_back(*item.position);
  }
  if (head.key.index != track::kNone) {
    finding.key = state_.keys.name(head.key);
    if (head.key.block != core::KeySpace::kLiteralBlock) {
      const core::KeyBlock& owner = state_.keys.identity(head.key.block);
      finding.producer = fmt::format("worker {} incarnation {} producer {}", owner.source.worker,
                                     owner.source.incarnation, owner.producer);
    }
  }
  if (head.lineage != track::kNone) {
    const track::Lineage& lineage = state_.lineages[head.lineage];
    finding.consumer = fmt::format("worker {} incarnation {} consumer {}", lineage.source.worker,
                                   lineage.source.incarnation, lineage.consumer);
  }
  std::sort(finding.positions.begin(), finding.positions.end());
  finding.says = head.note;
  if (!finding.positions.empty()) {
    finding.says += fmt::format(" (partition {} offset {})", finding.positions.front().partition.value(),
                                finding.positions.front().offset.value());
  }
  return finding;
}

std::vector<Finding> Collector::take(std::size_t findings_max, std::uint64_t& left_out) {
  left_out += dropped_;
  std::vector<Finding> findings;
  for (auto& [code, items] : items_) {
    // Names decide the order, so they are made once for each item that may be kept.
    std::map<core::KeyRef, std::string> names;
    for (const Item& item : items) {
      if (item.key.index != track::kNone) names.try_emplace(item.key, state_.keys.name(item.key));
    }
    const auto rank = [&](const Item& item) {
      static const std::string kNoName;
      const auto name = names.find(item.key);
      return std::tuple(item.group, std::string_view(name == names.end() ? kNoName : name->second), item.first,
                        item.last, item.blame, item.lineage, item.position);
    };
    std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) { return rank(a) < rank(b); });
    std::size_t kept = 0;
    for (std::size_t at = 0; at < items.size();) {
      std::size_t end = at + 1;
      const auto joins = [&](const Item& a, const Item& b) {
        return a.group == b.group && a.key == b.key && a.blame == b.blame && a.note == b.note &&
               a.lineage == b.lineage && a.key.index != track::kNone &&
               (b.first == a.last + 1 || (b.first == a.first && b.last == a.last));
      };
      while (end < items.size() && joins(items[end - 1], items[end])) ++end;
      if (kept < findings_max) {
        findings.push_back(finding({items.data() + at, end - at}));
        ++kept;
      } else {
        ++left_out;
      }
      at = end;
    }
  }
  return findings;
}

}  // namespace sp::judge

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "judge/rule.h"

namespace sp::judge {
namespace {

constexpr std::size_t kPositionsMax = 5;  // of a finding

// True if b goes on where a ends, or is the same record again.
bool joins(const Collector::Item& a, const Collector::Item& b) {
  return a.group == b.group && a.key == b.key && a.blame == b.blame && a.note == b.note && a.lineage == b.lineage &&
         a.key.index != track::kNone && (b.first == a.last + 1 || (b.first == a.first && b.last == a.last));
}

}  // namespace

std::string consumer_text(const track::Lineage& lineage) {
  if (lineage.source == core::kHistorySource) return lineage.member;
  return fmt::format("worker {} incarnation {} consumer {}", lineage.source.worker, lineage.source.incarnation,
                     lineage.consumer);
}

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
    finding.nameless = finding.key.empty();
    if (head.key.block != core::KeySpace::kLiteralBlock) {
      const core::KeyBlock& owner = state_.keys.identity(head.key.block);
      finding.producer = fmt::format("worker {} incarnation {} producer {}", owner.source.worker,
                                     owner.source.incarnation, owner.producer);
    }
  }
  if (head.lineage != track::kNone) {
    finding.consumer = consumer_text(state_.lineages[head.lineage]);
  }
  std::sort(finding.positions.begin(), finding.positions.end());
  finding.says = head.note;
  if (!finding.positions.empty()) {
    const core::Position& first = finding.positions.front();
    finding.says += stream_ ? fmt::format(" (position {} of the stream)", first.offset.value())
                            : fmt::format(" (partition {} offset {})", first.partition.value(), first.offset.value());
  }
  return finding;
}

std::tuple<core::SourceId, std::uint64_t> Collector::lineage_rank(std::uint32_t number) const {
  if (number == track::kNone) return {};
  const track::Lineage& lineage = state_.lineages[number];
  return {lineage.source, lineage.opened_order + 1};
}

std::vector<Finding> Collector::take(std::size_t findings_max, std::uint64_t& left_out, const Complete& complete) {
  left_out += dropped_;
  std::vector<Finding> findings;
  for (auto& [code, items] : items_) {
    // Names decide the order, so they are made once for each item that may be kept.
    std::map<core::KeyRef, std::string> names;
    for (const Item& item : items) {
      if (item.key.index != track::kNone) names.try_emplace(item.key, state_.keys.name(item.key));
    }
    const auto name_of = [&](const Item& item) {
      const auto name = names.find(item.key);
      return name == names.end() ? std::string_view() : std::string_view(name->second);
    };
    // What joins stands together: ranges are maximal, whoever's evidence came first.
    const auto rank = [&](const Item& item) {
      return std::tuple(item.group, name_of(item), item.blame, item.note, lineage_rank(item.lineage), item.first, item.last,
                        item.position);
    };
    std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) { return rank(a) < rank(b); });
    std::vector<std::span<const Item>> runs;
    for (std::size_t at = 0; at < items.size();) {
      std::size_t end = at + 1;
      while (end < items.size() && joins(items[end - 1], items[end])) ++end;
      runs.emplace_back(items.data() + at, end - at);
      at = end;
    }
    const auto run_rank = [&](std::span<const Item> run) {
      const Item& head = run.front();
      return std::tuple(head.group, name_of(head), head.first, run.back().last, head.blame, head.note,
                        lineage_rank(head.lineage), head.position);
    };
    std::sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) { return run_rank(a) < run_rank(b); });
    const std::size_t kept = std::min(runs.size(), findings_max);
    for (std::size_t at = 0; at < kept; ++at) {
      findings.push_back(finding(runs[at]));
      complete(runs[at], findings.back());
    }
    left_out += runs.size() - kept;
  }
  return findings;
}

}  // namespace sp::judge

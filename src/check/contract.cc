#include "check/contract.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "codec/document.h"

namespace sp::check {
namespace {

using codec::Node;
using core::Contract;

constexpr Nanoseconds kSpanMax = std::chrono::hours{24 * 7};
constexpr std::size_t kBytesMax = std::size_t{1} << 16U;

enum class Delivery : std::uint8_t { kAtMostOnce, kAtLeastOnce, kExactlyOnce };

template <typename Value>
struct Word {
  std::string_view name;
  Value value;
};
constexpr std::array kDeliveryWords = {Word<Delivery>{"at-most-once", Delivery::kAtMostOnce},
                                    Word<Delivery>{"at-least-once", Delivery::kAtLeastOnce},
                                    Word<Delivery>{"exactly-once", Delivery::kExactlyOnce}};
constexpr std::array kOrders = {Word<core::Order>{"key", core::Order::kKey}, Word<core::Order>{"partition", core::Order::kPartition},
                                Word<core::Order>{"stream", core::Order::kPartition}, Word<core::Order>{"none", core::Order::kNone}};
constexpr std::array kStarts = {Word<core::Start>{"earliest", core::Start::kEarliest},
                                Word<core::Start>{"latest", core::Start::kLatest},
                                Word<core::Start>{"committed", core::Start::kCommitted}};
constexpr std::array kRedeliveries = {Word<core::Redelivery>{"never", core::Redelivery::kNever},
                                      Word<core::Redelivery>{"after-lineage-change", core::Redelivery::kAfterLineageChange},
                                      Word<core::Redelivery>{"any", core::Redelivery::kAny}};
constexpr std::array kAcknowledgements = {Word<core::Acknowledgement>{"cumulative", core::Acknowledgement::kCumulative},
                                          Word<core::Acknowledgement>{"individual", core::Acknowledgement::kIndividual}};
constexpr std::array kTruths = {Word<bool>{"true", true}, Word<bool>{"false", false}};
// What has no rule of its own: read so that a misspelt one is found.
constexpr std::array kAcks = {Word<int>{"none", 0}, Word<int>{"leader", 1}, Word<int>{"all", 2}};
constexpr std::array kIsolations = {Word<core::Isolation>{"read-committed", core::Isolation::kReadCommitted},
                                    Word<core::Isolation>{"read-uncommitted", core::Isolation::kReadUncommitted}};

constexpr std::string_view kMembers =
    "delivery, order, start, redelivery, acknowledgement, idempotent, acks, isolation, gaps, deadline_ms, ack_wait_ms, budgets";

class PromiseReader {
 public:
  explicit PromiseReader(std::string_view name) : name_(name) {}

  Result<Promise> read(const Node& root) {
    if (root.kind != Node::Kind::kMap) {
      return fail(ErrorCode::kParse, fmt::format("{}: a contract is a map; it may have {}", place(root.place), kMembers));
    }
    for (const codec::Member& member : root.members) {
      if (auto taken = take(member); !taken) return tl::unexpected(std::move(taken).error());
    }
    return promise_;
  }

 private:
  [[nodiscard]] std::string place(codec::Place at) const { return codec::place_text(name_, at); }
  tl::unexpected<Error> refuse(codec::Place at, const std::string& why) const {
    return fail(ErrorCode::kInvalid, fmt::format("{}: {}", place(at), why));
  }

  template <typename Value, std::size_t kCount>
  Result<Value> word(const codec::Member& member, const std::array<Word<Value>, kCount>& words) const {
    std::string names;
    for (const auto& each : words) {
      if (member.value.kind == Node::Kind::kScalar && member.value.text == each.name) return each.value;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
    }
    return refuse(member.value.place, fmt::format("'{}' of a contract is one of {}", member.name, names));
  }
  template <typename Value, std::size_t kCount, typename Place>
  Result<void> set(const codec::Member& member, const std::array<Word<Value>, kCount>& words, Place& to) const {
    const auto value = word(member, words);
    if (!value) return tl::unexpected(value.error());
    to = *value;
    return {};
  }
  template <typename Place>
  Result<void> milliseconds(const codec::Member& member, Place& to) const {
    const auto number = parse_unsigned(member.value.text);
    constexpr auto kMax = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(kSpanMax).count());
    if (member.value.kind != Node::Kind::kScalar || !number || *number > kMax) {
      return refuse(member.value.place, fmt::format("'{}' is a whole number of milliseconds, at most {}", member.name, kMax));
    }
    to = std::chrono::milliseconds(*number);
    return {};
  }
  Result<void> gaps(const codec::Member& member) {
    if (member.value.kind != Node::Kind::kList) return refuse(member.value.place, "'gaps' is a list of compaction, retention, markers");
    for (const Node& item : member.value.items) {
      if (item.text == "compaction") {
        promise_.contract.gaps_compaction = true;
      } else if (item.text == "retention") {
        promise_.contract.gaps_retention = true;
      } else if (item.text == "markers") {
        promise_.contract.gaps_markers = true;
      } else {
        return refuse(item.place,
                      fmt::format("'gaps' does not know '{}'; there are compaction, retention and markers", printable(item.text)));
      }
    }
    return {};
  }
  Result<void> budgets(const codec::Member& member) {
    for (const codec::Member& inner : member.value.members) {
      Result<void> taken;
      if (inner.name == "recovery_ms") {
        taken = milliseconds(inner, promise_.recovery_max);
      } else if (inner.name == "staleness_ms") {
        taken = milliseconds(inner, promise_.staleness_max);
      } else {
        taken =
            refuse(inner.place, fmt::format("'budgets' does not know '{}'; there are recovery_ms and staleness_ms", printable(inner.name)));
      }
      if (!taken) return taken;
    }
    return {};
  }
  Result<void> delivery(const codec::Member& member) {
    const auto value = word(member, kDeliveryWords);
    if (!value) return tl::unexpected(value.error());
    promise_.contract.at_most_once = *value == Delivery::kAtMostOnce;
    promise_.contract.at_least_once = *value == Delivery::kAtLeastOnce;
    promise_.contract.exactly_once = *value == Delivery::kExactlyOnce;
    return {};
  }
  Result<void> take(const codec::Member& member) {
    const std::string& name = member.name;
    Contract& contract = promise_.contract;
    int ignored = 0;
    if (name == "delivery") return delivery(member);
    if (name == "order") return set(member, kOrders, promise_.order);
    if (name == "start") return set(member, kStarts, promise_.start);
    if (name == "redelivery") return set(member, kRedeliveries, promise_.redelivery);
    if (name == "acknowledgement") return set(member, kAcknowledgements, contract.acknowledgement);
    if (name == "idempotent") return set(member, kTruths, contract.idempotent);
    if (name == "acks") return set(member, kAcks, ignored);
    if (name == "isolation") return set(member, kIsolations, contract.isolation);
    if (name == "gaps") return gaps(member);
    if (name == "deadline_ms") return milliseconds(member, contract.timeout);
    if (name == "ack_wait_ms") return milliseconds(member, promise_.ack_wait);
    if (name == "budgets" && member.value.kind == Node::Kind::kMap) return budgets(member);
    if (name == "budgets") return refuse(member.value.place, "'budgets' is a map of recovery_ms and staleness_ms");
    return refuse(member.place, fmt::format("a contract has no '{}'; it may have {}", printable(name), kMembers));
  }

  std::string_view name_;
  Promise promise_ = default_promise();
};

}  // namespace

Contract Promise::settle(const HistoryFacts& facts) const {
  Contract settled = contract;
  const bool individual = contract.acknowledgement == core::Acknowledgement::kIndividual;
  settled.order = order.value_or(facts.has_key ? core::Order::kKey : core::Order::kPartition);
  settled.start = start.value_or(facts.starts_late ? core::Start::kLatest : core::Start::kEarliest);
  settled.ordering = settled.order != core::Order::kNone;
  settled.redelivery = redelivery.value_or(facts.has_group || individual ? core::Redelivery::kAny : core::Redelivery::kNever);
  return settled;
}

Promise default_promise() {
  Promise promise;
  promise.contract.at_least_once = true;
  promise.contract.raw_read = core::RawReadScope::kFull;
  return promise;
}

Promise driftlab_promise() {
  Promise promise = default_promise();
  promise.contract.at_least_once = false;
  promise.contract.exactly_once = true;
  promise.order = core::Order::kPartition;
  promise.redelivery = core::Redelivery::kNever;
  return promise;
}

Result<Promise> read_promise(std::string_view text, std::string_view name) {
  const auto root = codec::parse_document(text, {.name = name, .bytes_max = kBytesMax});
  if (!root) return tl::unexpected(root.error());
  return PromiseReader(name).read(*root);
}

std::string contract_text(const Contract& contract) {
  std::string text = contract.exactly_once ? "exactly once" : contract.at_most_once ? "at most once" : "at least once";
  text += contract.order == core::Order::kKey         ? " · order by key"
          : contract.order == core::Order::kPartition ? " · order by position"
                                                      : " · no order";
  if (contract.never_again()) {
    text += " · redelivery never";
  } else if (contract.exactly_once || contract.redelivery == core::Redelivery::kAfterLineageChange) {
    text += " · redelivery after a change of consumers";
  } else {
    text += " · redelivery any";
  }
  text += contract.start == core::Start::kEarliest ? " · from the start"
          : contract.start == core::Start::kLatest ? " · from the end of the log"
                                                   : " · from what was committed";
  if (contract.isolation == core::Isolation::kReadCommitted) text += " · read committed";
  if (contract.isolation == core::Isolation::kReadUncommitted) text += " · read uncommitted";
  if (contract.timeout.count() > 0) text += fmt::format(" · deadline {}", human_duration(contract.timeout));
  return text;
}

}  // namespace sp::check

#include "check/lab_watch.h"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "base/text.h"
#include "track/state.h"

namespace sp::check {
namespace {

constexpr std::uint64_t kShiftedMax = std::uint64_t{1} << 31U;

using history::Dialect;
using history::Function;
using history::Member;
using history::Operation;
using history::Type;

tl::unexpected<Error> refuse(const Operation& operation, std::string_view why) {
  return fail(ErrorCode::kParse, fmt::format("line {}: {}: {}", operation.line, history::function_name(operation.function), why));
}

}  // namespace

LabWatch::LabWatch(const history::Vocabulary& vocabulary, const history::Meta& meta) : vocabulary_(vocabulary), meta_(meta) {}

Result<void> LabWatch::see(const Operation& operation, const history::Retold& retold) {
  stream_ = retold.is_stream();
  if (retold.groups().size() > before_.size()) greet(retold.groups().size());
  const Function function = operation.function;
  if (function == Function::kPublish) return publish(operation);
  if (function == Function::kDeliver) {
    deliver(operation, retold);
  } else if (function == Function::kRead || function == Function::kReadBegin || function == Function::kReadEnd) {
    return read(operation);
  } else if (function == Function::kFault) {
    fault(operation);
  } else if (function == Function::kEnd) {
    driver_ended_ = true;
  } else {
    possession(operation, retold);
  }
  return {};
}

LabWatch::Log& LabWatch::log(std::uint32_t partition) {
  if (partition >= logs_.size()) logs_.resize(partition + std::size_t{1});
  return logs_[partition];
}

std::uint32_t LabWatch::partition_of(const Operation& operation) const { return stream_ ? 0 : operation.position.partition; }

LabWatch::Attempts& LabWatch::attempts(const Operation& operation) {
  const std::size_t at = operation.key_place();
  if (at >= attempts_.size()) attempts_.resize(at + 1);
  return attempts_[at];
}

// ── what is seen ──

Result<void> LabWatch::note(core::RangeSet& set, std::uint64_t number, const Operation& operation) {
  if (!set.empty() && number < set.last()) shifted_ += set.range_count();
  if (shifted_ > kShiftedMax) {
    return fail(ErrorCode::kFull, fmt::format("line {}: numbers go up and down among {} gaps: that cannot be judged", operation.line,
                                              set.range_count()));
  }
  set.insert(number);
  return {};
}

// New groups: what they find.
void LabWatch::greet(std::size_t groups) {
  before_.resize(groups);
  for (std::size_t at = 0; at < attempts_.size(); ++at) {
    if (attempts_[at].next == 0) continue;
    judge::BeforeGroup& before = before_.back()[at];
    before.attempted.insert_range(0, attempts_[at].next);
    if (attempts_[at].skipped != nullptr) before.attempted = before.attempted.minus(*attempts_[at].skipped);
    before.decided = attempts_[at].decided;
  }
}

Result<void> LabWatch::publish(const Operation& operation) {
  Attempts& of_key = attempts(operation);
  const std::uint64_t sequence = operation.value - (meta_.dialect == Dialect::kDriftlab ? 1 : 0);
  const bool attempted = sequence < of_key.next && (of_key.skipped == nullptr || !of_key.skipped->contains(sequence));
  if (operation.type != Type::kInvoke) {
    if (!attempted) return refuse(operation, fmt::format("value {} was not attempted before: its invoke is missing", operation.value));
    if (of_key.decided.contains(sequence)) {
      return refuse(operation, fmt::format("value {} has its outcome already: an attempt has one", operation.value));
    }
    if (auto noted = note(of_key.decided, sequence, operation); !noted) return noted;
    if (operation.type != Type::kOk || !operation.has(Member::kPosition)) return {};
    return note(log(partition_of(operation)).acked, operation.position.offset, operation);
  }
  if (attempted) {
    return refuse(operation, fmt::format("value {} of this key is attempted a second time: number attempts, not records", operation.value));
  }
  if (sequence == ~std::uint64_t{0}) return refuse(operation, "there is no higher value than 18446744073709551614");
  if (read_begun_) ++after_read_;
  if (!first_attempt_) first_attempt_ = operation.index;
  if (!read_begun_) last_traffic_ = operation.index;
  if (sequence >= of_key.next) {
    if (sequence > of_key.next) {
      if (of_key.skipped == nullptr) of_key.skipped = std::make_unique<core::RangeSet>();
      of_key.skipped->insert_range(of_key.next, sequence);
    }
    of_key.next = sequence + 1;
  } else {
    of_key.skipped->erase(sequence);
  }
  return {};
}

void LabWatch::open(std::uint32_t partition, const Operation& operation, const history::Retold& retold) {
  const auto group = retold.group_of(operation.process);
  auto& places = log(partition).places;
  // A crash is no line: whoever opens the partition anew in a group ends the possession before it.
  for (Place& place : places) {
    if (group && place.group == group->value()) place.open = false;
  }
  const auto own = std::ranges::find(places, operation.process, &Place::process);
  Place& place = own == places.end() ? places.emplace_back() : *own;
  place.process = operation.process;
  place.group = group ? group->value() : 0;
  place.open = true;
  place.opened = operation.index;
}

void LabWatch::close(std::uint32_t process, std::optional<std::uint32_t> partition) {
  for (std::uint32_t number = 0; number < logs_.size(); ++number) {
    if (partition && *partition != number) continue;
    for (Place& place : logs_[number].places) {
      if (place.process == process) place.open = false;
    }
  }
}

void LabWatch::possession(const Operation& operation, const history::Retold& retold) {
  if (operation.type != Type::kOk || read_begun_) return;
  const Function function = operation.function;
  if (function == Function::kSubscribe) {
    close(operation.process, std::nullopt);
    if (stream_) open(0, operation, retold);
  } else if (function == Function::kUnsubscribe) {
    close(operation.process, std::nullopt);
  } else if (function == Function::kAssign) {
    for (const std::uint32_t partition : operation.details->partitions) open(partition, operation, retold);
  } else if (function == Function::kRevoke) {
    for (const std::uint32_t partition : operation.details->partitions) close(operation.process, partition);
  }
}

void LabWatch::deliver(const Operation& operation, const history::Retold& retold) {
  if (read_begun_) {
    ++after_read_;
    return;
  }
  last_traffic_ = operation.index;
  if (!operation.has(Member::kPosition)) return;
  const std::uint32_t partition = partition_of(operation);
  auto& places = log(partition).places;
  auto place = std::ranges::find(places, operation.process, &Place::process);
  if (place == places.end()) {
    open(partition, operation, retold);
    place = std::ranges::find(places, operation.process, &Place::process);
  }
  if (place->highest && *place->highest >= operation.position.offset) return;
  place->highest = operation.position.offset;
  place->at = operation.index;
}

Result<void> LabWatch::read(const Operation& operation) {
  read_begun_ = true;
  if (operation.function == Function::kRead) {
    if (!operation.has(Member::kPosition)) return {};
    return note(log(partition_of(operation)).read, operation.position.offset, operation);
  }
  if (operation.has(Member::kScope) && operation.details->scope == "holes") holes_only_ = true;
  const bool ends = operation.function == Function::kReadEnd;
  read_ended_ = read_ended_ || ends;
  for (const auto& target : operation.details->target) {
    Log& own = log(target.partition);
    own.begin = std::min(own.begin.value_or(target.start), target.start);
    own.end = std::max(own.end.value_or(target.end), target.end);
    if (ends) own.reached = target.reached.value_or(false);
  }
  return {};
}

void LabWatch::fault(const Operation& operation) {
  const std::string_view name = vocabulary_.words.text(operation.name);
  const MonotonicTime now{Nanoseconds(operation.time_ns)};
  auto& going_on = going_on_[operation.name];
  const bool begins = operation.type == Type::kInvoke || going_on.empty();
  if (begins) going_on.push_back(faults_.size());
  Fault& one = begins ? faults_.emplace_back() : faults_[going_on.back()];
  if (begins) {
    one.record.number = faults_.size();
    one.record.name = name;
    one.record.begin = now;
  }
  // driftlab writes its ok at the moment at which the fault has completely happened; version 1 has a line of its own for what was seen.
  const bool felt = meta_.dialect == Dialect::kDriftlab ? operation.type == Type::kOk : operation.type == Type::kInfo;
  if (felt && first_attempt_ && !one.felt_in_load) one.felt_in_load = operation.index;
  if (felt && !one.record.effect_seen) {
    one.record.effect_seen = now;
    one.record.effect = operation.has(Member::kDetail) && !operation.details->detail.empty() ? operation.details->detail : "observed";
  }
  if (operation.type != Type::kOk && operation.type != Type::kFail) return;
  one.record.end = now;
  going_on.pop_back();
}

// ── what follows ──

std::string LabWatch::key_at(std::size_t at) const {
  return at == 0 ? std::string() : std::string(vocabulary_.keys.text(static_cast<std::uint32_t>(at - 1)));
}

std::vector<std::pair<std::string, core::Range>> LabWatch::never_attempted() const {
  std::vector<std::pair<std::string, core::Range>> never;
  for (std::size_t at = 0; at < attempts_.size(); ++at) {
    if (attempts_[at].skipped == nullptr) continue;
    for (const auto& range : attempts_[at].skipped->ranges()) never.emplace_back(key_at(at), range);
  }
  return never;
}

std::vector<track::RawRange> LabWatch::bounds() const {
  std::vector<track::RawRange> bounds;
  for (std::uint32_t number = 0; number < logs_.size(); ++number) {
    const Log& own = logs_[number];
    if (own.end) {
      bounds.push_back({core::PartitionId{number}, core::Offset{own.begin.value_or(0)}, core::Offset{*own.end}});
    } else if (meta_.dialect == Dialect::kDriftlab && !own.read.empty()) {
      bounds.push_back({core::PartitionId{number}, core::Offset{1}, core::Offset{own.read.last() + 1}});
    }
  }
  return bounds;
}

std::map<std::uint32_t, std::uint64_t> LabWatch::reach() const {
  std::map<std::uint32_t, std::uint64_t> reach;
  for (std::uint32_t number = 0; number < logs_.size(); ++number) {
    const Log& own = logs_[number];
    reach[number] = own.reached && own.end ? *own.end : own.read.empty() ? own.begin.value_or(0) : own.read.last() + 1;
  }
  return reach;
}

void LabWatch::tell(const core::Contract& contract, judge::RunFacts& facts) const {
  facts.raw_read_available = contract.raw_read != core::RawReadScope::kNone;
  facts.raw_read_complete = read_begun_;
  for (std::uint32_t number = 0; number < logs_.size(); ++number) {
    const Log& own = logs_[number];
    if (meta_.dialect == Dialect::kDriftlab || own.reached || (own.acked.empty() && own.read.empty() && !own.end)) continue;
    facts.raw_read_complete = false;
    facts.raw_read_problem = !own.end ? fmt::format("it did not set out to read partition {}", number)
                                      : fmt::format("it did not reach the end of partition {}", number);
  }
  if (!read_begun_) facts.raw_read_problem = "there is no final read";
  if (read_begun_ && meta_.dialect != Dialect::kDriftlab && !read_ended_) {
    facts.raw_read_complete = false;
    facts.raw_read_problem = "it has no end";
  }
  for (const Fault& fault : faults_) facts.faults.push_back(fault.record);
}

judge::LabFacts LabWatch::finish(const track::Ledger& ledger, const core::Contract& contract) const {
  judge::LabFacts facts;
  facts.stream = stream_;
  look_at_read(contract, facts);
  look_at_faults(facts);
  if (meta_.dialect != Dialect::kDriftlab && !driver_ended_) {
    facts.invalid.emplace_back("the driver never ended: what it still had to say is not known");
  }
  for (std::size_t group = 0; group < before_.size(); ++group) {
    if (contract.start != core::Start::kLatest) break;
    for (const auto& [at, before] : before_[group]) {
      facts.before_group[{ledger.state().groups[group].name, key_at(at)}] = before;
    }
  }
  look_for_stalls(ledger, contract, facts);
  look_for_deaths(ledger, facts);
  return facts;
}

void LabWatch::look_at_read(const core::Contract& contract, judge::LabFacts& facts) const {
  if (after_read_ > 0) facts.invalid.push_back(fmt::format("{} attempts and deliveries came after the final read had begun", after_read_));
  if (holes_only_) facts.invalid.emplace_back("the final read did not set out to see the whole log");
  if (contract.gaps_compaction || contract.gaps_retention || contract.gaps_markers) return;
  for (const auto& range : bounds()) {
    const Log& own = logs_[range.partition.value()];
    core::RangeSet holes;
    holes.insert_range(range.begin.value(), std::max(range.begin.value(), range.end.value()));
    holes = holes.minus(own.read).minus(own.acked);
    if (holes.empty()) continue;
    facts.invalid.push_back(fmt::format("the final read has a hole that no acknowledgement explains: {} positions, the first {}",
                                        holes.size(), position_text(range.partition.value(), holes.first())));
  }
}

void LabWatch::look_at_faults(judge::LabFacts& facts) const {
  for (const auto& name : meta_.faults) {
    const auto is_it = [&](const Fault& fault) { return fault.record.name == name; };
    const auto felt = [&](const Fault& fault) { return is_it(fault) && fault.record.took_effect(); };
    // H6 of the reference: what happened before the first attempt or after the last traffic tests nothing.
    const auto within = [&](const Fault& fault) {
      return is_it(fault) && fault.felt_in_load && *fault.felt_in_load < last_traffic_;
    };
    if (std::ranges::none_of(faults_, is_it)) {
      facts.invalid.push_back(fmt::format("the fault {} was declared and never made", name));
    } else if (std::ranges::none_of(faults_, felt)) {
      facts.invalid.push_back(fmt::format("the fault {} was made, and no effect of it was seen", name));
    } else if (std::ranges::none_of(faults_, within)) {
      facts.invalid.push_back(fmt::format("the fault {} lies outside the traffic", name));
    }
  }
}

std::optional<std::uint64_t> LabWatch::goal(std::uint32_t partition) const {
  if (partition >= logs_.size()) return std::nullopt;
  const core::RangeSet there = logs_[partition].acked.intersect(logs_[partition].read);
  return there.empty() ? std::nullopt : std::optional(there.last());
}

std::string LabWatch::position_text(std::uint32_t partition, std::uint64_t position) const {
  return stream_ ? fmt::format("position {} of the stream", position) : fmt::format("partition {} offset {}", partition, position);
}

void LabWatch::look_for_stalls(const track::Ledger& ledger, const core::Contract& contract, judge::LabFacts& facts) const {
  const track::State& state = ledger.state();
  for (const auto& group : state.groups) {
    for (std::uint32_t number = 0; number < logs_.size(); ++number) {
      const auto end = goal(number);
      if (!end) continue;
      const track::GroupPartition* own = number < group.partitions.size() ? &group.partitions[number] : nullptr;
      const bool nothing = own == nullptr || own->handed.empty();
      if (!nothing && own->handed.last() >= *end) continue;
      const track::Lineage* last = own == nullptr || own->lineages.empty() ? nullptr : &state.lineages[own->lineages.back()];
      // Who starts at the end of the log is owed nothing below; nothing says that it started below the goal.
      if (contract.start == core::Start::kLatest && (last == nullptr || last->start.value_or(*end + 1) > *end)) continue;
      const std::uint64_t reached = nothing ? *end : own->handed.last();
      facts.rests.push_back({core::Code::kStall, group.name, last == nullptr ? "" : last->member,
                             {{core::PartitionId{number}, core::Offset{reached}}},
                             nothing ? fmt::format("received nothing; the log ends at {}", position_text(number, *end))
                                     : fmt::format("came to {} of {}", position_text(number, reached), position_text(number, *end)),
                             {}, false, 0, {}});
    }
  }
}

void LabWatch::look_for_deaths(const track::Ledger& ledger, judge::LabFacts& facts) const {
  if (ledger.state().options.contract.shared) return;  // each is handed a part, and no part is the last
  std::vector<judge::Rest> deaths;
  for (std::uint32_t number = 0; number < logs_.size(); ++number) {
    const auto end = goal(number);
    if (!end) continue;
    for (const Place& own : logs_[number].places) {
      if (!own.open || (own.highest && *own.highest >= *end)) continue;
      const auto sibling = std::ranges::find_if(logs_[number].places, [&](const Place& other) {
        return other.process != own.process && other.highest && (!own.highest || *other.highest > *own.highest) &&
               other.at > std::max(own.at, own.opened);
      });
      if (sibling == logs_[number].places.end()) continue;
      deaths.push_back({core::Code::kSubDeath, ledger.state().groups[own.group].name, std::string(vocabulary_.processes.text(own.process)),
                        {{core::PartitionId{number}, core::Offset{own.highest.value_or(*end)}}},
                        fmt::format("{}, while {} went on to {}",
                                    own.highest ? "received nothing after " + position_text(number, *own.highest) : "received nothing",
                                    vocabulary_.processes.text(sibling->process), position_text(number, *sibling->highest)),
                        {}, false, 0, {}});
    }
  }
  std::ranges::sort(deaths, {}, [](const judge::Rest& one) { return std::tie(one.group, one.consumer, one.positions); });
  facts.rests.insert(facts.rests.end(), deaths.begin(), deaths.end());
}

}  // namespace sp::check

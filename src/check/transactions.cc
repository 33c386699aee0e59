#include "check/transactions.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace sp::check {
namespace {

using history::bit;
using history::Function;
using history::Member;
using history::Operation;
using history::Type;

constexpr std::size_t kStepsNamed = 8;  // of a cycle
constexpr std::uint64_t kShiftedMax = std::uint64_t{1} << 31U;

tl::unexpected<Error> refuse(const Operation& operation, std::string_view why) {
  return fail(ErrorCode::kParse, fmt::format("line {}: {}: {}", operation.line, history::function_name(operation.function), why));
}

bool is_fenced(const Operation& operation) {
  return operation.has(Member::kError) && operation.details->error.find("fenced") != std::string::npos;
}

Operation plain(Operation operation) {
  operation.members &= ~bit(Member::kTxn);
  return operation;
}

std::string_view edge_name(Isolation::Edge edge) {
  switch (edge) {
    case Isolation::Edge::kWriteWrite: return "ww";
    case Isolation::Edge::kWriteRead: return "wr";
    case Isolation::Edge::kReadWrite: return "rw";
  }
  return {};
}

std::string where(bool stream, std::uint32_t partition, std::uint64_t offset) {
  return stream ? fmt::format("position {}", offset) : fmt::format("partition {} offset {}", partition, offset);
}

}  // namespace

// ── what is seen ──

Result<void> Transactions::see(const Operation& operation, const history::Retold& retold, const Tell& tell) {
  last_ = operation;
  last_.details = nullptr;
  const Function function = operation.function;
  if (function == Function::kPublish) return publish(operation, tell);
  if (function == Function::kDeliver) return deliver(operation, retold, tell);
  if (function == Function::kBegin || function == Function::kAbort) return boundary(operation, tell);
  if (function == Function::kCommit) {
    return operation.has(Member::kPosition) ? consumer_commit(operation, tell) : boundary(operation, tell);
  }
  if (function != Function::kRead) return tell(operation);
  const auto by = operation.is_damaged() ? std::nullopt : writer({operation.key_place(), operation.value});
  if (by && !transactions_[*by].placed && operation.has(Member::kPosition)) note(writes_, operation.position, *by);
  return tell(plain(operation));
}

std::uint32_t Transactions::transaction(const Operation& operation) {
  const auto [found, is_new] = by_name_.try_emplace(operation.txn, static_cast<std::uint32_t>(transactions_.size()));
  if (is_new) {
    Transaction& one = transactions_.emplace_back();
    one.name = operation.txn;
    one.process = operation.process;
  }
  return found->second;
}

Result<void> Transactions::publish(const Operation& operation, const Tell& tell) {
  const std::uint32_t number = transaction(operation);
  Transaction& one = transactions_[number];
  const Identity record{operation.key_place(), operation.value};
  if (operation.type == Type::kInvoke) return attempt(operation, number, tell);
  const auto found = waiting_.find(record);
  if (found == waiting_.end() || found->second.first != number) {
    // Behind the end of its transaction a report says nothing new.
    if (writer(record) && (one.state != State::kOpen || retries_.contains(record))) return {};
    return refuse(operation, fmt::format("value {} was not attempted in transaction '{}': its invoke is missing", operation.value,
                                         printable(vocabulary_.words.text(operation.txn))));
  }
  Attempt& own = one.attempts[found->second.second];
  if (operation.type == Type::kOk) own.own = Own::kSent;
  if (operation.type == Type::kFail) own.own = Own::kFailed;
  own.has_position = operation.type == Type::kOk && operation.has(Member::kPosition);
  if (own.has_position) own.position = operation.position;
  if (operation.type == Type::kFail && is_fenced(operation) && !one.asked && !one.waiting) {
    return end(number, State::kFenced, operation, tell);
  }
  return {};
}

Result<void> Transactions::attempt(const Operation& operation, std::uint32_t number, const Tell& tell) {
  Transaction& one = transactions_[number];
  if (one.state != State::kOpen) {
    return refuse(operation, fmt::format("transaction '{}' has ended: give each transaction a name of its own",
                                         printable(vocabulary_.words.text(operation.txn))));
  }
  const Identity record{operation.key_place(), operation.value};
  const auto before = writer(record);
  const bool again = before && *before != number && transactions_[*before].state != State::kCommitted;
  if (again) {
    Retry& retry = retries_[record];
    retry.transaction = number;
    retry.process = operation.process;
    ++retry.attempts;
    if (transactions_[*before].state == State::kOpen) retry.unknown = retry.unknown || transactions_[*before].asked;
  } else {
    if (auto told = tell(plain(operation)); !told) return told;
    if (written_.size() <= record.first) written_.resize(record.first + std::size_t{1});
    auto& spans = written_[record.first];
    if (!spans.empty() && spans.back().transaction == number && spans.back().sequences.end == record.second) {
      ++spans.back().sequences.end;
    } else {
      const auto behind = std::ranges::upper_bound(spans, record.second, {}, [](const Span& span) { return span.sequences.begin; });
      shifted_ += static_cast<std::uint64_t>(spans.end() - behind);
      if (shifted_ > kShiftedMax) {
        return fail(ErrorCode::kFull, fmt::format("line {}: values go up and down among {} transactions: that cannot be judged",
                                                  operation.line, spans.size()));
      }
      spans.insert(behind, {{record.second, record.second + 1}, number});
    }
  }
  waiting_[record] = {number, one.attempts.size()};
  one.attempts.push_back({.key = record.first, .sequence = record.second, .position = {}});
  return {};
}

std::optional<std::uint32_t> Transactions::writer(const Identity& record) const {
  if (!retries_.empty()) {
    if (const auto again = retries_.find(record); again != retries_.end()) return again->second.transaction;
  }
  if (record.first >= written_.size()) return std::nullopt;
  const auto& spans = written_[record.first];
  const auto behind = std::ranges::upper_bound(spans, record.second, {}, [](const Span& span) { return span.sequences.begin; });
  if (behind == spans.begin() || std::prev(behind)->sequences.end <= record.second) return std::nullopt;
  return std::prev(behind)->transaction;
}

Result<void> Transactions::boundary(const Operation& operation, const Tell& tell) {
  const bool known = by_name_.contains(operation.txn);
  const std::uint32_t number = transaction(operation);
  Transaction& one = transactions_[number];
  const std::string name = printable(vocabulary_.words.text(operation.txn));
  if (operation.function == Function::kBegin) {
    if (operation.type == Type::kInvoke && known) {
      return refuse(operation, fmt::format("transaction '{}' begins a second time: give each transaction a name of its own", name));
    }
    one.process = operation.process;
    if (operation.type == Type::kFail && one.attempts.empty() && one.state == State::kOpen) one.state = State::kAborted;
    return {};
  }
  one.process = operation.process;
  const bool again_ends = one.state != State::kOpen && operation.type != Type::kInfo && operation.type != Type::kFail;
  if (again_ends && one.state != State::kFenced) {
    return refuse(operation, fmt::format("transaction '{}' has ended before: a transaction ends once", name));
  }
  if (one.state != State::kOpen) return {};  // shut out, and told so once more
  return operation.function == Function::kCommit ? commit(operation, number, tell) : abort(operation, number, tell);
}

Result<void> Transactions::commit(const Operation& operation, std::uint32_t number, const Tell& tell) {
  Transaction& one = transactions_[number];
  switch (operation.type) {
    case Type::kInvoke: one.waiting = true; return {};
    case Type::kOk: return end(number, State::kCommitted, operation, tell);
    case Type::kInfo:  // it may have happened; it may be asked for again
      one.waiting = false;
      one.asked = true;
      return {};
    case Type::kFail:  // it certainly did not
      one.waiting = false;
      one.refused = true;
      if (is_fenced(operation) && !one.asked) return end(number, State::kFenced, operation, tell);
      return {};
  }
  return {};
}

Result<void> Transactions::abort(const Operation& operation, std::uint32_t number, const Tell& tell) {
  const Transaction& one = transactions_[number];
  const bool may_be_committed = one.asked || one.waiting;
  if (operation.type == Type::kOk) return end(number, may_be_committed ? State::kUnknown : State::kAborted, operation, tell);
  if (operation.type != Type::kInvoke && is_fenced(operation) && !may_be_committed) return end(number, State::kFenced, operation, tell);
  return {};
}

Result<void> Transactions::consumer_commit(const Operation& operation, const Tell& tell) {
  const std::uint32_t number = transaction(operation);
  Transaction& one = transactions_[number];
  Operation told = plain(operation);
  if (operation.type == Type::kOk && one.state == State::kOpen) {
    told.details = nullptr;
    told.members &= ~(history::detail_members());
    one.offsets.push_back(told);
    return {};
  }
  if (operation.type == Type::kOk && one.state != State::kCommitted) {
    told.type = one.state == State::kUnknown ? Type::kInfo : Type::kFail;
  }
  return tell(told);
}

Result<void> Transactions::deliver(const Operation& operation, const history::Retold& retold, const Tell& tell) {
  const bool within = operation.has(Member::kTxn);
  const std::uint32_t reader = within ? transaction(operation) : 0;
  if (within && operation.has(Member::kPosition)) note(reads_, operation.position, reader);
  if (auto told = tell(plain(operation)); !told) return told;
  if (aborted_may_be_seen_ || operation.is_damaged() || !operation.has(Member::kValue) || operation.has(Member::kRun)) return {};
  const Identity record{operation.key_place(), operation.value};
  const auto by = writer(record);
  if (!by) return {};
  const Transaction& one = transactions_[*by];
  const bool own = within && reader == *by;
  const bool not_asked = one.state == State::kOpen && !one.asked && !one.waiting;
  if ((!own && !not_asked) || retries_.contains(record)) return {};
  if (early_.size() >= kEarlyMax) {
    ++early_left_out_;
    return {};
  }
  const auto group = retold.group_of(operation.process);
  early_.push_back({*by, operation.process, group ? group->value() : 0, record.first, own, operation.has(Member::kPosition), record.second,
                    operation.position});
  return {};
}

void Transactions::note(std::vector<Isolation::Touch>& touches, const history::Position& position, std::uint32_t number) {
  if (position.kind == history::Position::Kind::kEntry) return;
  if (touches.size() >= kRecordsMax) {
    ++left_out_;
    return;
  }
  touches.push_back({number, position.kind == history::Position::Kind::kSequence ? 0 : position.partition, position.offset});
}

// ── how it ended ──

Result<void> Transactions::end(std::uint32_t number, State state, const Operation& at, const Tell& tell) {
  transactions_[number].state = state;
  const std::vector<Attempt> attempts = std::exchange(transactions_[number].attempts, {});
  const std::vector<Operation> offsets = std::exchange(transactions_[number].offsets, {});
  for (const Attempt& each : attempts) {
    const auto waits = waiting_.find({each.key, each.sequence});
    if (waits != waiting_.end() && waits->second.first == number) waiting_.erase(waits);
    if (auto told = outcome(number, each, at, tell); !told) return told;
  }
  for (Operation commit : offsets) {
    commit.type = state == State::kCommitted ? Type::kOk : state == State::kUnknown ? Type::kInfo : Type::kFail;
    if (auto told = tell(commit); !told) return told;
  }
  if (state == State::kCommitted || state == State::kUnknown) keep(transactions_[number], attempts);
  return {};
}

Result<void> Transactions::outcome(std::uint32_t number, const Attempt& attempt, const Operation& at, const Tell& tell) {
  Transaction& one = transactions_[number];
  const Identity record{attempt.key, attempt.sequence};
  const bool failed = attempt.own == Own::kFailed;
  one.placed = one.placed && (failed || attempt.has_position);
  auto retry = retries_.find(record);
  if (one.state == State::kCommitted) {
    if (!failed && attempt.has_position) note(writes_, attempt.position, number);
    const bool told_before = retry != retries_.end() && (failed || std::exchange(retry->second.ok, true));
    return told_before ? Result<void>() : tell(report(one.process, attempt, failed ? Type::kFail : Type::kOk, at));
  }
  // Not before the load is over: it may be attempted again.
  if (retry == retries_.end()) {
    retry = retries_.emplace(record, Retry{}).first;
    retry->second.transaction = number;
    retry->second.process = one.process;
  }
  Retry& known = retry->second;
  if (!failed && one.state == State::kUnknown && attempt.has_position) note(writes_, attempt.position, number);
  if (failed) return {};
  known.fenced = known.fenced || one.state == State::kFenced;
  known.aborted = known.aborted || one.state == State::kAborted;
  known.unknown = known.unknown || one.state == State::kUnknown || (aborted_may_be_seen_ && one.state != State::kFenced);
  return {};
}

Operation Transactions::report(std::uint32_t process, const Attempt& attempt, Type type, const Operation& at) {
  Operation operation;
  operation.function = Function::kPublish;
  operation.type = type;
  operation.index = at.index;
  operation.line = at.line;
  operation.time_ns = at.time_ns;
  operation.process = process;
  operation.value = attempt.sequence;
  operation.members = (at.members & bit(Member::kTime)) | bit(Member::kValue);
  if (attempt.key != 0) {
    operation.key = attempt.key - 1;
    operation.members |= bit(Member::kKey);
  }
  if (type == Type::kOk && attempt.has_position) {
    operation.position = attempt.position;
    operation.members |= bit(Member::kPosition);
  }
  return operation;
}

// The ranges of its records that may be there, by key.
void Transactions::keep(Transaction& one, const std::vector<Attempt>& attempts) {
  std::vector<Identity> records;
  records.reserve(attempts.size());
  for (const Attempt& each : attempts) {
    if (each.own != Own::kFailed) records.emplace_back(each.key, each.sequence);
  }
  if (records_ + records.size() > kRecordsMax) {
    left_out_ += records.size();
    return;
  }
  records_ += records.size();
  std::ranges::sort(records);
  for (const auto& [key, sequence] : records) {
    if (!one.records.empty() && one.records.back().first == key && one.records.back().second.end == sequence) {
      ++one.records.back().second.end;
    } else {
      one.records.push_back({key, {sequence, sequence + 1}});
    }
  }
  one.records.shrink_to_fit();
}

Result<void> Transactions::close(const Tell& tell) {
  for (std::uint32_t number = 0; number < transactions_.size(); ++number) {
    const Transaction& one = transactions_[number];
    if (one.state != State::kOpen) continue;
    const bool certainly_not = one.refused && !one.asked && !one.waiting;
    if (auto ended = end(number, certainly_not ? State::kAborted : State::kUnknown, last_, tell); !ended) return ended;
  }
  for (const auto& [record, retry] : retries_) {
    if (retry.ok) continue;
    Operation operation = report(retry.process, {.key = record.first, .sequence = record.second, .position = {}},
                                 retry.unknown ? Type::kInfo : Type::kFail, last_);
    if (!retry.unknown && (retry.aborted || retry.fenced)) {
      operation.txn = transactions_[retry.transaction].name;
      operation.members |= bit(Member::kTxn);
      if (!retry.aborted) {
        operation.members |= bit(Member::kError);
        operation.details = &fenced_;
      }
    }
    if (auto told = tell(operation); !told) return told;
  }
  return {};
}

// ── what follows ──

bool Transactions::any_unknown() const {
  return std::ranges::any_of(transactions_, [](const Transaction& one) { return one.state == State::kUnknown && !one.proven; });
}

std::string Transactions::key_name(std::uint32_t place) const {
  return place == 0 ? std::string() : std::string(vocabulary_.keys.text(place - 1));
}

std::string Transactions::name_of(std::uint32_t number) const {
  return printable(vocabulary_.words.text(transactions_[number].name));
}

track::Ledger::TransactionRecords Transactions::named(const Transaction& one, bool alone) const {
  track::Ledger::TransactionRecords records;
  for (const auto& [key, sequences] : one.records) {
    core::RangeSet own{sequences};
    for (auto retry = retries_.lower_bound({key, sequences.begin});
         alone && retry != retries_.end() && retry->first < Identity{key, sequences.end}; ++retry) {
      if (retry->second.attempts > 1) own.erase(retry->first.second);
    }
    for (const auto& range : own.ranges()) records.emplace_back(key_name(key), range);
  }
  return records;
}

void Transactions::prove(track::Ledger& ledger, bool raw_read) {
  if (aborted_may_be_seen_) return;  // then what is seen proves nothing
  for (Transaction& one : transactions_) {
    if (one.state != State::kUnknown || one.proven || one.records.empty()) continue;
    const auto records = named(one, true);
    if (!raw_read) {
      one.proven = ledger.count_received(records) > 0;
      if (one.proven) ledger.prove_committed(records);
      continue;
    }
    const auto count = [](const auto& all) {
      std::uint64_t sum = 0;
      for (const auto& [key, range] : all) sum += range.size();
      return sum;
    };
    // What is in the log and was not handed over is nobody's loss yet; what is not there is.
    const auto absent = ledger.absent_from_raw_read(records);
    one.proven = count(absent) < count(records);
    if (one.proven) ledger.prove_committed(absent);
  }
}

void Transactions::tell_committed(track::Ledger& ledger) const {
  for (std::uint32_t number = 0; number < transactions_.size(); ++number) {
    const Transaction& one = transactions_[number];
    if (is_committed(one) && !one.records.empty()) ledger.committed_transaction(name_of(number), named(one, false));
  }
}

std::string Transactions::text(const Isolation::Cycle& cycle, bool stream) const {
  std::string text;
  for (std::size_t at = 0; at < std::min(cycle.steps.size(), kStepsNamed); ++at) {
    const auto& step = cycle.steps[at];
    text += fmt::format("{} {} ({}) → ", name_of(step.transaction), edge_name(step.edge), where(stream, step.partition, step.offset));
  }
  if (cycle.steps.size() > kStepsNamed) text += fmt::format("{} more → ", cycle.steps.size() - kStepsNamed);
  return text + name_of(cycle.steps.front().transaction);
}

void Transactions::finish(const std::vector<std::string>& groups, bool stream, judge::LabFacts& facts) const {
  std::vector<judge::Rest> found;
  for (const Early& early : early_) {
    const Transaction& one = transactions_[early.transaction];
    if (one.state == State::kAborted || one.state == State::kFenced) continue;  // a phantom
    judge::Rest& rest = found.emplace_back();
    rest.code = core::Code::kPrecommittedRead;
    rest.group = early.group < groups.size() ? groups[early.group] : "";
    rest.consumer = vocabulary_.processes.text(early.process);
    rest.key = key_name(early.key);
    rest.nameless = early.key == 0;
    rest.sequence = early.sequence;
    if (early.has_position) {
      rest.positions.push_back({core::PartitionId{stream ? 0 : early.position.partition}, core::Offset{early.position.offset}});
    }
    rest.transactions.push_back(name_of(early.transaction));
    rest.says = fmt::format("transaction {} {}", name_of(early.transaction),
                            early.own ? "was handed what it had written itself" : "had not asked for its commit when this was handed over");
  }
  std::ranges::stable_sort(found, {}, [](const judge::Rest& one) { return std::tie(one.group, one.key, one.sequence); });
  const auto committed = [&](std::vector<Isolation::Touch> touches) {
    std::erase_if(touches, [&](const Isolation::Touch& touch) { return !is_committed(transactions_[touch.transaction]); });
    return touches;
  };
  const auto graph = Isolation::find(committed(writes_), committed(reads_), static_cast<std::uint32_t>(transactions_.size()));
  for (const auto& cycle : graph.cycles) {
    judge::Rest& rest = found.emplace_back();
    rest.code = cycle.code;
    rest.says = text(cycle, stream);
    for (std::size_t at = 0; at < std::min(cycle.steps.size(), kStepsNamed); ++at) {
      const auto& step = cycle.steps[at];
      rest.transactions.push_back(name_of(step.transaction));
      rest.positions.push_back({core::PartitionId{step.partition}, core::Offset{step.offset}});
    }
  }
  facts.rests.insert(facts.rests.begin(), found.begin(), found.end());
  if (early_left_out_ > 0) facts.not_checked["precommitted-read"] += early_left_out_;
  if (graph.not_decided > 0) facts.not_checked["g-single"] += graph.not_decided;
  if (left_out_ == 0) return;
  for (const core::Code code : {core::Code::kTornTransaction, core::Code::kG0, core::Code::kG1c, core::Code::kGSingle, core::Code::kG2}) {
    facts.not_checked[std::string(core::code_row(code).name)] += left_out_;
  }
}

}  // namespace sp::check

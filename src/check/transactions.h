// Transactions of a lab's history: holds what depends on how they end, and tells it once that is known.
//
//     begin publish* ( commit | abort )        in, with `txn`
//     publish invoke … publish ok|fail|info     out: attempts whose outcome is that of their transaction
//
//     the transaction          its records                            the sentence of a finding
//     committed                those that did not fail are ok
//     aborted                  failed                                 … its transaction was aborted
//     fenced, no commit asked  failed                                 … its producer was fenced
//     its commit failed        failed, if none that may have happened was asked for, as if it was aborted
//     else                     unknown; if one is seen after all, the ledger calls the others acknowledged
//
// One identity may be attempted again after a transaction that was not committed: it is ok if one attempt is, else unknown if one is,
// else failed. With isolation read-uncommitted an aborted record may be seen, so that it is unknown.
//
// Shape:    fed with the operations of one file in their order; what it tells has no `txn` but for attempts that failed with theirs.
// Cost:     50 ns a record of a transaction. Memory: 100 bytes a record of a transaction that has not ended well, 16 to 40 of another.
// Limits:   kRecordsMax records of transactions; what is beyond has its outcome, but counts in not_checked() for the rules of isolation.
// Errors:   kParse: a transaction that goes on after its end, ends twice, or whose name is used again, with line and remedy.
// Threads:  one owner.   Source: docs/formats/history.md, "Transactions".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "check/isolation.h"
#include "history/retold.h"
#include "history/schema.h"
#include "judge/judge.h"
#include "track/ledger.h"

namespace sp::check {

class Transactions {
 public:
  static constexpr std::size_t kRecordsMax = std::size_t{1} << 26U;
  static constexpr std::size_t kEarlyMax = std::size_t{1} << 20U;  // records handed over too early that are named
  using Tell = std::function<Result<void>(const history::Operation&)>;

  Transactions(const history::Vocabulary& vocabulary, bool aborted_may_be_seen)
      : vocabulary_(vocabulary), aborted_may_be_seen_(aborted_may_be_seen) {
    fenced_.error = "fenced";
  }

  // True if see() has something to say of it; else it is to be told as it is.
  [[nodiscard]] bool concerns(const history::Operation& operation) const {
    const auto function = operation.function;
    return operation.has(history::Member::kTxn) || function == history::Function::kBegin || function == history::Function::kAbort ||
           (any() && (function == history::Function::kDeliver || function == history::Function::kRead));
  }
  // Tells what follows from the operation. `retold` knows the groups of consumers that it was told of before.
  [[nodiscard]] Result<void> see(const history::Operation& operation, const history::Retold& retold, const Tell& tell);
  // Nothing is produced or handed over any more: tells what is left.
  [[nodiscard]] Result<void> close(const Tell& tell);

  // True if there was a transaction.
  [[nodiscard]] bool any() const { return !transactions_.empty(); }
  // True if some transaction has no known outcome.
  [[nodiscard]] bool any_unknown() const;

  // Which of those of unknown outcome were committed after all: by what was handed over, and by what the raw read holds, when `raw_read`.
  void prove(track::Ledger& ledger, bool raw_read);
  // What there is to judge, once all was proven that can be.
  void tell_committed(track::Ledger& ledger) const;
  void finish(const std::vector<std::string>& groups, bool stream, judge::LabFacts& facts) const;

 private:
  enum class State : std::uint8_t { kOpen, kCommitted, kAborted, kFenced, kUnknown };
  enum class Own : std::uint8_t { kNone, kSent, kFailed };   // what became of the attempt itself
  struct Attempt {
    std::uint32_t key = 0;         // place: 0 without a key, else the number of its name and one
    Own own = Own::kNone;
    bool has_position = false;
    std::uint64_t sequence = 0;
    history::Position position;
  };
  struct Transaction {
    std::uint32_t name = 0;
    std::uint32_t process = 0;
    State state = State::kOpen;
    bool asked = false;            // for its commit, which may have happened
    bool waiting = false;          // for the answer
    bool refused = false;          // its commit: it certainly did not happen
    bool proven = false;
    std::vector<Attempt> attempts; // until the outcome is known
    std::vector<history::Operation> offsets;  // commits of consumers' positions that wait for the outcome
    std::vector<std::pair<std::uint32_t, core::Range>> records;  // by place of the key
  };
  // A record that was attempted by a transaction which did not end well, or by several.
  struct Retry {
    std::uint32_t transaction = 0; // the latest
    std::uint32_t process = 0;
    std::uint32_t attempts = 1;
    bool unknown = false;          // one attempt of it may have happened
    bool aborted = false;
    bool fenced = false;
    bool ok = false;
  };
  struct Early {                   // a record handed over before its commit was asked for
    std::uint32_t transaction = 0;
    std::uint32_t process = 0;
    std::uint32_t group = 0;
    std::uint32_t key = 0;
    bool own = false;              // within it
    bool has_position = false;
    std::uint64_t sequence = 0;
    history::Position position;
  };
  using Identity = std::pair<std::uint32_t, std::uint64_t>;

  // Of that name; made if it is new.
  [[nodiscard]] std::uint32_t transaction(const history::Operation& operation);
  [[nodiscard]] Result<void> publish(const history::Operation& operation, const Tell& tell);
  [[nodiscard]] Result<void> attempt(const history::Operation& operation, std::uint32_t number, const Tell& tell);
  [[nodiscard]] Result<void> boundary(const history::Operation& operation, const Tell& tell);
  [[nodiscard]] Result<void> commit(const history::Operation& operation, std::uint32_t number, const Tell& tell);
  [[nodiscard]] Result<void> abort(const history::Operation& operation, std::uint32_t number, const Tell& tell);
  [[nodiscard]] Result<void> end(std::uint32_t number, State state, const history::Operation& at, const Tell& tell);
  [[nodiscard]] Result<void> outcome(std::uint32_t number, const Attempt& attempt, const history::Operation& at, const Tell& tell);
  [[nodiscard]] Result<void> consumer_commit(const history::Operation& operation, const Tell& tell);
  [[nodiscard]] Result<void> deliver(const history::Operation& operation, const history::Retold& retold, const Tell& tell);
  // The transaction that attempted the record last.
  [[nodiscard]] std::optional<std::uint32_t> writer(const Identity& record) const;
  void note(std::vector<Isolation::Touch>& touches, const history::Position& position, std::uint32_t number);
  void keep(Transaction& one, const std::vector<Attempt>& attempts);
  // Its records by name of the key; `alone`: without those that another transaction attempted too.
  [[nodiscard]] track::Ledger::TransactionRecords named(const Transaction& one, bool alone) const;
  [[nodiscard]] std::string key_name(std::uint32_t place) const;
  [[nodiscard]] std::string text(const Isolation::Cycle& cycle, bool stream) const;
  [[nodiscard]] std::string name_of(std::uint32_t number) const;
  [[nodiscard]] static bool is_committed(const Transaction& one) { return one.state == State::kCommitted || one.proven; }
  // The outcome of an attempt as an operation, at the place of another.
  [[nodiscard]] static history::Operation report(std::uint32_t process, const Attempt& attempt, history::Type type,
                                                 const history::Operation& at);

  struct Span {
    core::Range sequences;
    std::uint32_t transaction = 0;
  };

  const history::Vocabulary& vocabulary_;
  bool aborted_may_be_seen_;
  std::vector<Transaction> transactions_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_name_;
  std::vector<std::vector<Span>> written_;             // by place of the key, in the order of the sequences
  std::map<Identity, Retry> retries_;
  std::map<Identity, std::pair<std::uint32_t, std::size_t>> waiting_;  // of open transactions: which, and where in its attempts
  std::vector<Early> early_;
  std::vector<Isolation::Touch> writes_;
  std::vector<Isolation::Touch> reads_;
  history::Operation last_;                            // the latest that concerned a transaction
  history::Details fenced_;
  std::uint64_t records_ = 0;                          // kept
  std::uint64_t left_out_ = 0;
  std::uint64_t early_left_out_ = 0;
};

}  // namespace sp::check

// What a history of the lab is judged by: the `contract` of its meta record, or a file that a person wrote.
//
//     {"delivery":"at-least-once","order":"key","start":"latest","redelivery":"never", …}      JSON, or the YAML of the same
//
// What it does not say is taken from the history: `Promise::settle`.
//
// Cost:     that of codec/document.h.   Limits: one map of a few members; a deadline or budget of up to 7 days.
// Errors:   kParse and kInvalid: place, what is wrong there, what may stand there. A member that nobody knows is refused, for it may be
//           one that was misspelt.
// Threads:  values.   Source: docs/formats/history.md, "Contract".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/contract.h"

namespace sp::check {

// What is only known when the whole history was read.
struct HistoryFacts {
  bool has_key = false;
  bool has_group = false;
  bool starts_late = false;                  // each consumer chose where it starts, at the end of the log or at a position
};

struct Promise {
  core::Contract contract;                   // without what is absent below
  std::optional<core::Order> order;
  std::optional<core::Redelivery> redelivery;
  std::optional<core::Start> start;
  std::optional<Nanoseconds> ack_wait;       // how long an individual acknowledgement may be missing before a record comes again
  std::optional<Nanoseconds> recovery_max;   // budgets: passing one makes a clean run slow
  std::optional<Nanoseconds> staleness_max;

  // The contract with what it leaves out: order by key, or of the stream where no record has a key; redelivery any where a consumer has
  // a group or acknowledges one by one, else never; from the start of the log unless each consumer chose another.
  [[nodiscard]] core::Contract settle(const HistoryFacts& facts) const;
};

// At least once, and all else left out.
[[nodiscard]] Promise default_promise();
// Of a driftlab file: everything once, in order, from the start.
[[nodiscard]] Promise driftlab_promise();
// `name`: what errors call the text.
[[nodiscard]] Result<Promise> read_promise(std::string_view text, std::string_view name);
// "at least once · order by key · redelivery never · from the start".
[[nodiscard]] std::string contract_text(const core::Contract& contract);

}  // namespace sp::check

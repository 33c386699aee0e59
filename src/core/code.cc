#include "core/code.h"

#include "base/check.h"
#include "core/contract.h"

namespace sp::core {
namespace {

constexpr std::array kRows = {
    CodeRow{Code::kLost, "lost", "lost-write", "record, group", "An acknowledged record was never received.",
            "The blame says where to look: log (the broker), client (the consumer library), behind (too slow)."},
    CodeRow{Code::kLate, "late", "unseen", "record, group", "A record missed its deadline and arrived afterwards.",
            "Look at consumer lag and at the faults around it; raise timeout if the delay is acceptable."},
    CodeRow{Code::kDuplicateWrite, "duplicate-write", "duplicate (Jepsen)", "copies beyond the first",
            "One record stands at two positions of the log.", "A retry was stored twice: enable idempotence in the producer."},
    CodeRow{Code::kDuplicateDelivery, "duplicate-delivery", "duplicate (driftlab)", "repeats",
            "One position was handed over more than once.",
            "Redelivery after a rebalance is allowed and counted so; what is not allowed points at the client."},
    CodeRow{Code::kReorderedWrite, "reordered-write", "nonmonotonic-send", "record",
            "A record stands in the log behind a later record of its key.",
            "A retry overtook: enable idempotence or one request in flight."},
    CodeRow{Code::kReorderedDelivery, "reordered-delivery", "nonmonotonic-poll", "record, group",
            "A record was handed over behind a later record of its key though the log has them in order.",
            "The consumer library or the application's hand-over reorders."},
    CodeRow{Code::kSkip, "skip", "poll-skip", "record, group",
            "A consumer jumped over a record that the log holds and another consumer had to deliver it.",
            "The consumer library moved its position past data."},
    CodeRow{Code::kRewind, "rewind", "", "records handed over again",
            "A consumer started below the committed position.", "Look at the group coordinator and at offset reset."},
    CodeRow{Code::kCommitAhead, "commit-ahead", "auto_commit", "record",
            "A commit passed records that had not been handed over.",
            "Those records would be lost at a crash: look at automatic commits."},
    CodeRow{Code::kPhantom, "phantom", "G1a", "record, group",
            "A record that nobody issued, or whose attempt failed, was delivered or stands in the log.",
            "Look for another writer, an unclean leader election, or an aborted transaction that is visible."},
    CodeRow{Code::kMisplaced, "misplaced", "", "record", "A record stands in the wrong topic or partition.",
            "Look at the partitioner and at changes of the partition count."},
    CodeRow{Code::kCorrupt, "corrupt", "", "record",
            "Checksum, size, key or run disagree within a record.", "Bytes were changed between producer and consumer."},
    CodeRow{Code::kInconsistentPosition, "inconsistent-position", "inconsistent-offsets", "position",
            "One position was seen with two different records, or an acknowledgement names a position that holds another.",
            "Replicas diverged, or the log was truncated and written again."},
    CodeRow{Code::kBeforeStart, "before-start", "before-start", "record",
            "A record was delivered from below the position the consumer asked to start at.",
            "The consumer library ignores its start position."},
    CodeRow{Code::kDualOwner, "dual-owner", "", "partition, generation",
            "Two members held one partition in one generation.", "Look at the group coordinator and the assignor."},
    CodeRow{Code::kTornTransaction, "torn-transaction", "", "transaction",
            "Only part of a transaction that was committed is visible at the end.",
            "The records that are missing are lost too: look at the transaction coordinator and at truncated logs.", true},
    CodeRow{Code::kPrecommittedRead, "precommitted-read", "precommitted-read", "record, group",
            "A record was handed over before the commit of its transaction was requested, or within that transaction.",
            "The consumer does not read committed, or the broker shows what is not.", true},
    CodeRow{Code::kG0, "g0", "G0", "set of transactions", "Transactions wrote in each other's midst: a cycle of writes alone.",
            "Kafka does not isolate writes, so this is counted and forbids nothing.", true},
    CodeRow{Code::kG1c, "g1c", "G1c", "set of transactions",
            "Transactions saw each other in a circle: a cycle of writes and of reads of what was written.",
            "A transaction saw the effect of one that had not happened yet: look at isolation.", true},
    CodeRow{Code::kGSingle, "g-single", "G-single", "set of transactions",
            "A cycle with exactly one transaction that missed what the next one wrote.",
            "Consumers of a log promise no snapshot, so this is counted and forbids nothing.", true},
    CodeRow{Code::kG2, "g2", "G2", "set of transactions",
            "A cycle in which several transactions missed what the next one wrote.",
            "Consumers of a log promise no snapshot, so this is counted and forbids nothing.", true},
    CodeRow{Code::kStall, "stall", "stall", "consumer, partition",
            "In a lab: a group had not reached the end of what was acknowledged when the final read began.",
            "The consumer stopped reading, or was too slow for the time it was given.", true},
    CodeRow{Code::kSubDeath, "sub-death", "sub-death", "consumer, partition",
            "In a lab: a consumer that nobody stopped delivers no more, while another of the same partition went on.",
            "The subscription died inside the client library: look at its reconnect.", true},
};
static_assert(kRows.size() == kCodeCount);

}  // namespace

const CodeRow& code_row(Code code) {
  const auto index = static_cast<std::size_t>(code);
  CHECK(index < kRows.size() && kRows[index].code == code, "every code has its row, in order");
  return kRows[index];
}

std::optional<Code> find_code(std::string_view name) {
  for (const auto& row : kRows) {
    if (row.name == name) return row.code;
  }
  return std::nullopt;
}

std::string_view blame_name(Blame blame) {
  constexpr std::array<std::string_view, 7> kNames = {"none", "log", "client", "behind", "processor", "producer", "unknown"};
  return kNames[static_cast<std::size_t>(blame)];
}

bool Contract::forbids(Code code) const {
  switch (code) {
    case Code::kPhantom:
    case Code::kCorrupt:
    case Code::kMisplaced:
    case Code::kInconsistentPosition:
    case Code::kBeforeStart:
      return true;
    case Code::kLost:
    case Code::kCommitAhead:
    case Code::kStall:
    case Code::kSubDeath:
      return at_least_once || exactly_once;
    case Code::kReorderedWrite:
    case Code::kReorderedDelivery:
    case Code::kSkip:
    case Code::kDualOwner:
      return ordering;
    case Code::kDuplicateWrite:
      return exactly_once || at_most_once;
    case Code::kDuplicateDelivery:
    case Code::kRewind:
      return exactly_once || at_most_once || redelivery != Redelivery::kAny;
    case Code::kTornTransaction:
    case Code::kPrecommittedRead:
    case Code::kG1c:
      return exactly_once || isolation == Isolation::kReadCommitted;
    case Code::kLate:
    case Code::kG0:
    case Code::kGSingle:
    case Code::kG2:
      return false;
  }
  return false;
}

}  // namespace sp::core

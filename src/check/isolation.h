// What transactions saw of each other: the graph of their writes and reads, and the cycles that isolation forbids.
//
//     ww   a wrote a position, b the next one of that partition             a ─► b
//     wr   a wrote what b read                                              a ─► b
//     rw   a read a position, and not the next one, which b wrote           a ─► b
//
//     g0 a cycle of ww · g1c a cycle of ww and wr, with a wr · g-single a cycle with one rw · g2 a cycle with more, where there is
//     none with one
//
// Counted are strongly connected sets of transactions, not cycles, of which there may be exponentially many: one set counts once under
// g0 if its writes alone connect it, once under g1c, and once under g-single or else g2. One short cycle of each is named.
//
// Shape:    transactions are numbers from 0; only committed ones are to be given. Positions of one partition compare.
// Cost:     O(n log n) of touches for their order, else linear; the search for g-single is bounded, see `not_decided`.
// Limits:   kStepsMax steps of that search.   Errors: none.   Threads: a pure function.
// Source:   Adya, Weak Consistency (1999); the codes as in docs/reference/findings.md.
#pragma once

#include <cstdint>
#include <vector>

#include "core/code.h"

namespace sp::check {

class Isolation {
 public:
  static constexpr std::uint64_t kStepsMax = 50'000'000;
  // A transaction wrote, or read, what stands at a position.
  struct Touch {
    std::uint32_t transaction = 0;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;
  };
  enum class Edge : std::uint8_t { kWriteWrite, kWriteRead, kReadWrite };
  struct Step {                    // from `transaction` to that of the next step; the last leads to the first
    std::uint32_t transaction = 0;
    Edge edge = Edge::kWriteWrite;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;      // that the next transaction wrote, or read
  };
  struct Cycle {
    core::Code code = core::Code::kG0;
    std::vector<Step> steps;
  };
  struct Result {
    std::vector<Cycle> cycles;     // one of each set and code, by code, then by the lowest transaction
    std::uint64_t not_decided = 0; // sets of which it was not found out whether they hold g-single: they count under g2
  };

  [[nodiscard]] static Result find(std::vector<Touch> writes, std::vector<Touch> reads, std::uint32_t transactions,
                                   std::uint64_t steps_max = kStepsMax);
};

}  // namespace sp::check

// The fast reader: knows the lines that make up nearly all of a history if they are written exactly as we, or driftlab, write them.
//
//     {"index":N,"time_ns":N,"process":"p","type":"t","f":"publish|deliver|read|commit"
//        [,"topic":"t"][,"key":"k"][,"value":N][,"position":{"partition":N,"offset":N}|{"seq":N}]
//        [,"asked":N][,"checksum":"ok"][,"txn":"t"]}\n                                     version 1
//        [,"value":N][,"stream_seq":N]}\n                                                  driftlab
//
// Anything else is null: LineParser decides, and what both read is the same (tests/fuzz/history_line_fuzz.cc).
//
// Cost:    60 ns a line.   Limits: those of Names.   Errors: null.   Threads: one owner.   Source: docs/formats/history.md.
#pragma once

#include <array>
#include <cstdint>

#include "history/schema.h"

namespace sp::history {

class FastLine {
 public:
  // `vocabulary` outlives this.
  FastLine(Vocabulary& vocabulary, Dialect dialect) : vocabulary_(vocabulary), dialect_(dialect) {}

  // Reads the line at `at` into `operation`; where the next one begins, or null. codec::kLinePadding bytes behind `end` are readable.
  [[nodiscard]] const char* read(const char* at, const char* end, std::uint64_t index, Operation& operation);

  // The same, but the key is looked up by settle(), when its place in memory is near: before a line is read elsewhere, and when it
  // is_full(). Until then `operation` and the bytes of the line must stay where they are.
  [[nodiscard]] const char* read_ahead(const char* at, const char* end, std::uint64_t index, Operation& operation);
  [[nodiscard]] bool is_full() const { return later_count_ == kLaterMax; }
  struct Later {
    const char* line = nullptr;
    Operation* operation = nullptr;
    Names::Sought key;
  };
  // Null, or the first whose key there is no room for, as if nothing from there on had been read.
  [[nodiscard]] const Later* settle();

 private:
  [[nodiscard]] const char* read_head(const char* at, const char* end, std::uint64_t index, Operation& operation);
  [[nodiscard]] const char* read_version1(const char* at, const char* end, Operation& operation);
  [[nodiscard]] const char* read_driftlab(const char* at, const char* end, Operation& operation);

  [[nodiscard]] bool take_key(const char*& at, const char* end);
  [[nodiscard]] bool take_process(const char*& at, const char* end, std::uint32_t& process);

  Vocabulary& vocabulary_;
  Dialect dialect_;
  // Processes whose names have 8 to 16 bytes and were seen last: most lines need no look-up.
  static constexpr std::size_t kRemembered = 64;
  struct Remembered {
    std::uint64_t first = 0;  // eight bytes
    std::uint64_t last = 0;   // eight bytes
    std::size_t size = 0;
    std::uint32_t process = 0;
  };
  std::array<Remembered, kRemembered> remembered_;
  static constexpr std::size_t kLaterMax = 16;
  std::array<Later, kLaterMax> later_;
  std::size_t later_count_ = 0;
  Names::Sought key_;            // of the line that is being read
};

}  // namespace sp::history

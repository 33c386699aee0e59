// What a conversion left out or assumed, counted: one sentence each, in the order in which they came up.
//
//     count("lines that are no events are left out", 3)     ─►  "lines that are no events are left out (3)"
//
// Cost: O(kinds of notes).   Errors: none.   Threads: one owner.   Source: docs/howto/foreign-histories.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace sp::history {

class Notes {
 public:
  // `what` outlives this: a constant.
  void count(std::string_view what, std::uint64_t many = 1) {
    for (auto& [known, times] : counts_) {
      if (known == what) {
        times += many;
        return;
      }
    }
    if (many > 0) counts_.emplace_back(what, many);
  }
  // As it is.
  void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  [[nodiscard]] std::vector<std::string> sentences() const {
    std::vector<std::string> all = sentences_;
    for (const auto& [what, times] : counts_) all.push_back(std::string(what) + " (" + grouped(times) + ")");
    return all;
  }
  void clear() {
    counts_.clear();
    sentences_.clear();
  }

 private:
  std::vector<std::pair<std::string_view, std::uint64_t>> counts_;
  std::vector<std::string> sentences_;
};

}  // namespace sp::history

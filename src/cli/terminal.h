// Where a command writes: results to `out`, everything else to `err`. Colours and rewritten lines
// only where a person looks.
//
// Cost:     none.
// Errors:   none.
// Threads:  one owner.
// Source:   –.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/result.h"

namespace sp::cli {

struct Terminal {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  std::size_t columns = 120;

  // stdout and stderr of this process. NO_COLOR in the environment takes the colours away.
  [[nodiscard]] static Terminal of_process();
  void print(std::string_view text) const;     // to out
  void complain(std::string_view text) const;  // to err, with a line end
  int could_not_run(const Error& why) const;   // complains; the exit code
  bool colour = false;                         // on out
};

// What a command's exit code says.
constexpr int kExitGood = 0;
constexpr int kExitCouldNotRun = 3;

}  // namespace sp::cli

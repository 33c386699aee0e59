#include "cli/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys/paths.h"

namespace sp::cli {

Terminal Terminal::of_process() {
  Terminal terminal;
  terminal.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.err_is_terminal = isatty(STDERR_FILENO) == 1;
  terminal.colour = terminal.out_is_terminal && !sys::environment("NO_COLOR");
  struct winsize size{};
  constexpr unsigned short kNarrow = 40;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= kNarrow)
    terminal.columns = size.ws_col;
  return terminal;
}

void Terminal::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

void Terminal::complain(std::string_view text) const {
  fmt::print(err, "{}\n", text);
  std::fflush(err);
}

int Terminal::could_not_run(const Error& why) const {
  complain(why.message);
  return kExitCouldNotRun;
}

}  // namespace sp::cli

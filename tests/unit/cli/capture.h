// The program called within a test: what it printed, what it complained about, its exit code.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace sp::cli {

// A file in the temporary folder that what is written to a stream can be read back from.
class Capture {
 public:
  Capture() : file_(std::tmpfile()) {}
  ~Capture() { std::fclose(file_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  [[nodiscard]] std::FILE* stream() const { return file_; }
  [[nodiscard]] std::string text() const {
    std::fflush(file_);
    std::rewind(file_);
    std::string out;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) out += static_cast<char>(c);
    std::fseek(file_, 0, SEEK_END);
    return out;
  }

 private:
  std::FILE* file_;
};

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

inline Outcome call(const std::vector<std::string>& arguments) {
  const Capture out;
  const Capture err;
  Terminal terminal;
  terminal.out = out.stream();
  terminal.err = err.stream();
  const int code = run_program(arguments, terminal);
  return {code, out.text(), err.text()};
}

}  // namespace sp::cli

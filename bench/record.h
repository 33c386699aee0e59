// The frame of every bench: its flags, what it prints, and what it keeps.
//
//     bench [--smoke] [--record] [--NAME N] [--SWITCH]
//
//     --smoke    the tiny size of the tests: seconds, results are checked, goals are not
//     --record   writes docs/results/<bench>.json and .md: date, commit, command, cores, processor and all figures. Refused
//                before anything is measured if the source tree has uncommitted changes, and in a build without optimisation.
//
// Shape:    every figure is printed as it comes and has, maybe, a goal; a hash line says that the work was done, and the
//           same work each time.
// Errors:   exit code 0 right and all goals met; 1 a result is wrong, or the bench could not run; 4 a goal was missed.
// Threads:  one owner.   Source: STYLE.md 11.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ratio.h"

namespace sp::bench {

// A flag with a number: its value without the flag, and with --smoke. A switch is a flag whose numbers are 0.
struct FlagRow {
  std::string_view name;
  std::uint64_t usual = 0;
  std::uint64_t smoke = 0;
  std::string_view says;
  bool is_switch = false;
};

class Request {
 public:
  // Errors: kInvalid names the flag and lists all there are.
  [[nodiscard]] static Result<Request> read(const std::vector<FlagRow>& rows, const std::vector<std::string>& words);

  [[nodiscard]] bool smoke() const { return smoke_; }
  [[nodiscard]] bool record() const { return record_; }
  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  [[nodiscard]] bool on(std::string_view name) const { return number(name) != 0; }

 private:
  bool smoke_ = false;
  bool record_ = false;
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
};

struct Goal {
  enum class Kind : std::uint8_t { kAtLeast, kAtMost };
  Kind kind = Kind::kAtLeast;
  double bound = 0;
  [[nodiscard]] bool met(double value) const { return kind == Kind::kAtLeast ? value >= bound : value <= bound; }
};
[[nodiscard]] inline Goal at_least(double bound) { return {Goal::Kind::kAtLeast, bound}; }
[[nodiscard]] inline Goal at_most(double bound) { return {Goal::Kind::kAtMost, bound}; }

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<Goal> goal;
};

// Rows of text, for what is no single figure.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// Where and when a record was made.
struct Place {
  std::string date;
  std::string commit;
  std::string command;
  unsigned cores = 0;
  std::string cpu;
};

class Record {
 public:
  // `tiny`: the size says nothing about goals.
  Record(std::string name, std::string title, bool tiny = false)
      : name_(std::move(name)), title_(std::move(title)), tiny_(tiny) {}
  // Another name for the files: a bench that was asked for another task.
  void rename(std::string name, std::string title);
  void figure(std::string name, double value, std::string unit, std::optional<Goal> goal = std::nullopt);
  // The median with its interval, as three figures; the goal is the median's.
  void interval(const std::string& name, const MedianInterval& interval, const std::string& unit,
                std::optional<Goal> goal = std::nullopt);
  void hash(std::string what, std::uint64_t value);
  void table(Table table);
  // A sentence about how it was measured.
  void note(std::string sentence);
  // A result is wrong: the bench fails, nothing is recorded.
  void wrong(const std::string& sentence);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool right() const { return right_; }
  [[nodiscard]] std::size_t missed() const;
  [[nodiscard]] std::string json(const Place& place) const;
  [[nodiscard]] std::string markdown(const Place& place) const;

 private:
  std::string name_;
  std::string title_;
  bool tiny_;
  std::vector<Figure> figures_;
  std::vector<std::pair<std::string, std::uint64_t>> hashes_;
  std::vector<std::string> notes_;
  Table table_;
  bool right_ = true;
};

struct BenchSpec {
  std::string name;   // of the program and of the files
  std::string title;  // what it measures, for a heading
  std::vector<FlagRow> flags;
};
using BenchBody = std::function<Result<void>(const Request& request, Record& record)>;
// main() of a bench: the exit code.
[[nodiscard]] int run_bench(const BenchSpec& spec, int count, char** arguments, const BenchBody& body);

}  // namespace sp::bench

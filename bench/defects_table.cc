// links: planted
// The full table of planted defects: for each kind simulated runs with bad days, as many as give `--seeds` of them something in
// the truth log, and whether the checker counted exactly what that log says; two kinds at once; and honest runs, crashes
// included, that must pass without any finding.
//
//     defects_table [--seeds 200] [--two 200] [--honest 1000] [--from 1] [--each]
//
// --each prints every run with its time, for finding slow ones. A run that is not exact prints its seed and the command that
// repeats it. tests/simulation runs the same with fewer seeds.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/prng.h"
#include "driver/embedded/defects.h"
#include "record.h"
#include "simulation/defects.h"

namespace sp::bench {
namespace {

using driver::embedded::DefectKind;

// A run with an empty truth log does not count: the next seed is tried.
constexpr std::uint64_t kSeedsTriedMax = 5;

struct Row {
  std::string kind;
  std::uint64_t runs = 0;
  std::uint64_t planted_runs = 0;
  std::uint64_t planted = 0;  // what the truth logs say, in the units of the codes
  std::uint64_t exact = 0;
  std::uint64_t never_landed = 0;  // attempts of unknown outcome that nobody ever saw
  std::uint64_t landed = 0;        // ... that were seen after all
  std::uint64_t landed_late = 0;   // ... and of these those behind later sequences of their key
  double seconds = 0;
  double slowest = 0;
};

std::string joined(const std::vector<std::string>& defects) {
  std::string text;
  for (const auto& defect : defects) text += (text.empty() ? "" : " and ") + defect;
  return text.empty() ? "nothing planted" : text;
}

class Runner {
 public:
  Runner(bool each, Record& record) : each_(each), record_(record) {}

  void run(const std::vector<std::string>& defects, std::uint64_t seed, Row& row) {
    const MonotonicTime begin = clock_.now();
    const simulation::Outcome outcome = simulation::run_planted(defects, seed);
    const double seconds = std::chrono::duration<double>(clock_.now() - begin).count();
    ++row.runs;
    row.planted_runs += outcome.planted ? 1U : 0U;
    row.planted += outcome.truth_count;
    row.exact += outcome.exact() ? 1U : 0U;
    row.never_landed += outcome.unknown - outcome.landed;
    row.landed += outcome.landed;
    row.landed_late += outcome.landed_late;
    row.seconds += seconds;
    row.slowest = std::max(row.slowest, seconds);
    hash_ = mix64(hash_ ^ outcome.truth_count ^ (outcome.exact() ? 1U : 0U));
    if (each_) {
      fmt::print("  {:8.1f} ms  seed {} {}: {} planted, {} {}\n", seconds * 1e3, seed, joined(defects), outcome.truth_count,
                 outcome.status, outcome.reason);
    }
    if (defects.empty() && outcome.exact() && outcome.status != "passed") {
      record_.wrong(fmt::format("seed {}, honest: {}, {}", seed, outcome.status, outcome.reason));
    }
    if (outcome.exact()) return;
    std::string says = fmt::format("seed {} with {}: {} {}", seed, joined(defects), outcome.status, outcome.problem);
    for (const auto& difference : outcome.differences) says += "; " + difference;
    record_.wrong(says);
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  bool each_;
  Record& record_;
  SystemMonotonicClock clock_;
  std::uint64_t hash_ = 0;
};

std::vector<std::string> cells(const Row& row) {
  return {row.kind, std::to_string(row.runs), std::to_string(row.planted_runs), std::to_string(row.planted),
          std::to_string(row.exact)};
}

Result<void> body(const Request& request, Record& record) {
  const std::uint64_t from = request.number("from");
  Runner runner(request.on("each"), record);
  std::vector<Row> rows;
  const auto kinds = driver::embedded::defect_rows();
  for (const auto& kind : kinds) {
    Row row{.kind = std::string(kind.name)};
    const std::uint64_t wanted = request.number("seeds");
    for (std::uint64_t seed = from; row.planted_runs < wanted && seed < from + kSeedsTriedMax * wanted; ++seed) {
      runner.run({simulation::drawn_defect(kind.kind, seed)}, seed, row);
    }
    rows.push_back(row);
  }
  Row two{.kind = "two kinds at once"};
  for (std::uint64_t seed = from; two.planted_runs < request.number("two"); ++seed) {
    Prng chance = Prng(seed).fork("two kinds");
    const DefectKind a = kinds[chance.below(kinds.size())].kind;
    const DefectKind b = kinds[chance.below(kinds.size())].kind;
    if (a != b) runner.run({simulation::drawn_defect(a, seed), simulation::drawn_defect(b, seed + 1)}, seed, two);
  }
  rows.push_back(two);
  Row honest{.kind = "none (honest, with crashes)"};
  for (std::uint64_t seed = from; seed < from + request.number("honest"); ++seed) runner.run({}, seed, honest);
  rows.push_back(honest);
  Table table{{"kind", "runs", "with plants", "planted", "exact"}, {}};
  std::uint64_t runs = 0;
  double seconds = 0;
  double slowest = 0;
  for (const auto& row : rows) {
    table.rows.push_back(cells(row));
    runs += row.runs;
    seconds += row.seconds;
    slowest = std::max(slowest, row.slowest);
  }
  record.table(std::move(table));
  record.note("*planted* is what the truth logs add up to, in the unit of the kind's code; *exact* are the runs in which every "
              "code has exactly the truth's number. Bad days (rebalances, restarts, unknown outcomes) are drawn from the seed; "
              "crashes of workers in honest runs only.");
  record.note(fmt::format("Attempts of unknown outcome in the honest runs: {} never landed, {} landed, {} of these behind later "
                          "sequences of their key.",
                          honest.never_landed, honest.landed, honest.landed_late));
  record.figure("runs", static_cast<double>(runs), "");
  record.figure("runs a second", static_cast<double>(runs) / std::max(seconds, 1e-9), "1/s", at_least(10));
  record.figure("slowest run", slowest, "s");
  record.hash("truth and exactness", runner.hash());
  return {};
}

}  // namespace
}  // namespace sp::bench

int main(int count, char** arguments) {
  return sp::bench::run_bench({"defects",
                               "Planted defects, found and counted",
                               {{"seeds", 200, 2, "runs of each kind with something planted"},
                                {"two", 200, 10, "such runs with two kinds at once"},
                                {"honest", 1000, 20, "runs with nothing planted"},
                                {"from", 1, 1, "the first seed"},
                                {"each", 0, 0, "prints each run", true}}},
                              count, arguments, sp::bench::body);
}

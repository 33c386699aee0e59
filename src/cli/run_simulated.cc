#include "cli/run_simulated.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "cli/histories.h"
#include "cli/run_folder.h"
#include "cli/simulate.h"
#include "sys/files.h"

namespace sp::cli {
namespace {

// 1 failed is worse than 3 could not run, which is worse than 2 inconclusive, 4 slow, 0 passed.
int worse(int a, int b) {
  const auto rank = [](int code) {
    return code == 1 ? 4 : code == 3 ? 3 : code == 2 ? 2 : code == 4 ? 1 : 0;
  };
  return rank(b) > rank(a) ? b : a;
}

class Simulations {
 public:
  Simulations(const RunFlags& flags, const RunRequest& request, const Terminal& terminal)
      : flags_(flags), proof_(request.proof), terminal_(terminal) {}

  int run() {
    int code = kExitGood;
    for (std::uint64_t i = 0; i < runs(); ++i) code = worse(code, one(proof_.seed + i));
    if (flags_.json && runs() > 1) terminal_.print("[\n" + json_ + "]\n");
    if (!flags_.json && runs() > 1) {
      terminal_.print(
          fmt::format("{} of {} runs passed\n", grouped(passed_), grouped(runs())));
    }
    return code;
  }

 private:
  [[nodiscard]] std::uint64_t runs() const { return flags_.runs.value_or(1); }
  int one(std::uint64_t seed);
  int show(std::uint64_t seed, const SimulationResult& result);
  int keep(const SimulationResult& result) const;

  const RunFlags& flags_;
  proof::Proof proof_;
  const Terminal& terminal_;
  std::uint64_t passed_ = 0;
  std::uint64_t told_ = 0;  // runs that did not pass
  std::string json_;
};

int Simulations::one(std::uint64_t seed) {
  SimulationOptions options = drawn_options(seed, proof_);
  auto history = history_factory(flags_.history);
  if (!history) {
    terminal_.complain(history.error().message);
    return kExitCouldNotRun;
  }
  options.history = std::move(*history);
  auto result = simulate(proof_, seed, options);
  if (!result) {
    terminal_.complain(fmt::format("seed {}: {}", seed, result.error().message));
    return kExitCouldNotRun;
  }
  return show(seed, *result);
}

int Simulations::show(std::uint64_t seed, const SimulationResult& result) {
  const int code = report::exit_code(result.report);
  if (code == kExitGood) ++passed_;
  if (runs() == 1) {
    report::TextOptions text;
    text.colour = terminal_.colour;
    terminal_.print(flags_.json ? result.json : report::text_report(result.report, text));
    const auto why = why_hint(result.report, flags_.history);
    if (!why.empty() && !flags_.quiet) terminal_.complain(why);
    return worse(code, keep(result));
  }
  if (flags_.json) {
    json_ += (json_.empty() ? "" : ",") + result.json;
  } else if (code != kExitGood) {
    terminal_.print(fmt::format("seed {}: {}\n", seed, report::one_line(result.report)));
    if (++told_ == 1)
      terminal_.complain(fmt::format("again: the same command with --seed {} --runs 1", seed));
  }
  return code;
}

// Only where the person asked for a folder: a simulation can be had again at any time from its
// seed.
int Simulations::keep(const SimulationResult& result) const {
  if (flags_.out.empty()) return kExitGood;
  const RunFolder folder(result.report.run, flags_.out);
  auto kept = folder.open(proof::to_yaml(result.report.proof));
  if (kept) kept = folder.write(result.report);
  if (kept)
    kept = sys::write_atomically(folder.path() / "truth.jsonl",
                                 driver::embedded::truth_text(result.truth));
  if (kept) return kExitGood;
  terminal_.complain("the results could not be kept: " + kept.error().message);
  return kExitCouldNotRun;
}

}  // namespace

int run_simulated(const RunFlags& flags, const RunRequest& request, const Terminal& terminal) {
  return Simulations(flags, request, terminal).run();
}

}  // namespace sp::cli

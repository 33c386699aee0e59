// streaming-proof manual PAGE: for those who change a table and for the test that compares; users
// read docs/reference/, so the command is not listed.
#include "cli/manual.h"

#include <algorithm>
#include <array>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "api/api.h"
#include "api/metrics.h"
#include "base/text.h"
#include "cli/commands.h"
#include "core/contract.h"
#include "driver/embedded/defects.h"
#include "judge/judge.h"
#include "proof/fields.h"
#include "scenario/fault/chaos.h"

namespace sp::cli {
namespace {

struct ManualRow {
  std::string_view name;
  std::string (*make)(const CLI::App& program);
};

std::string made_by(std::string_view page, std::string_view from) {
  return fmt::format(
      "Made by `streaming-proof manual {}` from {}; change that and make it anew.\n\n", page, from);
}

// A cell of a table: a bar would end it.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out.empty() ? "–" : out;
}

std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.front() >= 'a' && out.front() <= 'z') {
    out.front() = static_cast<char>(out.front() - 'a' + 'A');
  }
  return out;
}

// Outside of code "<run>" would be taken for a tag.
std::string without_tags(std::string_view text) {
  std::string out;
  bool in_code = false;
  for (const char c : text) {
    if (c == '`') in_code = !in_code;
    if (c == '<' && !in_code) out += '\\';
    out += c;
  }
  return out;
}

// ── commands ──

std::string help_of(const CLI::App& command, const std::string& name) {
  std::string text = command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
  // The library leaves blanks at line ends and empty lines at the end.
  std::string out;
  for (const auto line : split(text, {.separator = '\n'})) {
    std::string_view kept = line;
    while (kept.ends_with(' ')) kept.remove_suffix(1);
    if (kept.empty() && (out.empty() || out.ends_with("\n\n"))) continue;
    out += kept;
    out += '\n';
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

void add_command(const CLI::App& command, const std::string& name, std::string& out) {
  out += fmt::format("\n## {}\n\n```text\n{}```\n", name, help_of(command, name));
  for (const CLI::App* part : command.get_subcommands([](const CLI::App* one) {
         return !one->get_group().empty();  // hidden ones have no group
       })) {
    add_command(*part, name + " " + part->get_name(), out);
  }
}

std::string commands_page(const CLI::App& program) {
  std::string out =
      "# Commands\n\nMade by `streaming-proof manual commands` from the program's own help.\n";
  add_command(program, program.get_name(), out);
  return out;
}

// ── proof ──

std::string proof_page(const CLI::App& /*program*/) {
  return "# The fields of a proof\n\n" + made_by("proof", "`src/proof/fields.cc`") +
         "A proof is a YAML (or JSON) file of these fields, `streaming-proof run PROOF.yaml`, or "
         "the flags of `run`, or both: a flag "
         "takes the\nplace of what the file says. Times take `120`, `120s` or `2m`. A set is "
         "written `[a, b]` in a file and `a,b` as a "
         "flag; a flag of a list is\ngiven once for each member, one of a map as `name=value`. "
         "Unknown names, impossible values and "
         "contradictions are refused together, each\nwith its place and remedy. `--dry-run` prints "
         "the proof as it would take "
         "effect.\n\n" +
         without_tags(proof::fields_markdown()) +
         "\n## topicExists\n\n"
         "| value | the topic is there already | it is not there |\n"
         "|---|---|---|\n"
         "| `fail` | the run could not start | it is made |\n"
         "| `reuse` | taken as it is, if it has the partitions asked for at least; it stays there "
         "| it is made, and stays there |\n"
         "| `recreate` | deleted and made anew, with everything in it | it is made |\n";
}

// ── findings ──

std::string_view yes(bool holds) { return holds ? "forbids" : ""; }

std::string forbids_table() {
  core::Contract none;
  core::Contract at_least_once;
  at_least_once.at_least_once = true;
  core::Contract ordering;
  ordering.ordering = true;
  core::Contract exactly_once;
  exactly_once.exactly_once = true;
  std::string out =
      "| code | any run | `at_least_once` | `ordering` | `exactly_once` |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    const bool always = none.forbids(code);
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", core::code_row(code).name, yes(always),
                       yes(!always && at_least_once.forbids(code)),
                       yes(!always && ordering.forbids(code)),
                       yes(!always && exactly_once.forbids(code)));
  }
  return out;
}

std::string findings_page(const CLI::App& /*program*/) {
  std::string out = "# Findings\n\n" + made_by("findings", "`src/core/code.cc`");
  out +=
      "A finding is a maximal range of records of one key with the same anomaly. Counts are exact; "
      "the list of findings has at most\n"
      "10,000 of a code.\n\n"
      "| code | elsewhere | counted | meaning | what to look at |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto& row = core::code_row(static_cast<core::Code>(i));
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, cell(row.alias), cell(row.unit),
                       cell(row.meaning), cell(row.look_at));
  }
  out +=
      "\n*elsewhere*: what Jepsen or driftlab call it. A record counts under at most one of lost, "
      "skip and reordered-delivery.\n\n"
      "## What forbids what\n\n"
      "An occurrence that the contract does not allow fails a run whose features forbid its code. "
      "`late` fails nothing by itself. No driver\n"
      "of this version can do transactions, so a proof with `exactly_once` is refused today; "
      "`maxDuplicates: 0` forbids duplicates.\n\n" +
      forbids_table() +
      "\n## What is allowed\n\n"
      "Counted in `counts` and in `allowed`, never in the verdict:\n\n"
      "* a `duplicate-delivery` by a later lineage of its partition, at or above the last commit "
      "with outcome ok of the latest earlier\n"
      "  lineage that has one: what was not committed is delivered again;\n"
      "* under individual acknowledgements, in the history of a lab: a `duplicate-delivery` of what "
      "was not acknowledged for good and whose\n"
      "  holder closed, lost its connection, refused it or kept it too long;\n"
      "* a `reordered-write` by an attempt of unknown outcome that landed late, unless the "
      "producer is idempotent.\n\n"
      "## Blame\n\n"
      "| blame of a loss | what it says |\n|---|---|\n"
      "| `log` | acknowledged, and not in the log: the broker lost it |\n"
      "| `client` | in the log, and the group passed over it: the consumer library |\n"
      "| `behind` | in the log, and the group never came that far: too slow, or the run too short "
      "|\n"
      "| `processor`, `producer` | for runs through a processor; no such run exists yet |\n"
      "| `unknown` | the log could not be read there |\n\n"
      "A record that was not received and is neither overdue nor shown to be lost is *undecided*, "
      "and the run inconclusive.\n";
  return out;
}

// ── errors ──

std::string errors_page(const CLI::App& /*program*/) {
  std::string out = "# Errors and exit codes\n\n" + made_by("errors", "`src/base/result.cc`");
  out +=
      "An error is a sentence that names the place and the remedy. Inside the program each has one "
      "of these codes.\n\n"
      "| code | meaning | what to do |\n|---|---|---|\n";
  const auto [rows, count] = error_rows();
  for (std::size_t i = 0; i < count; ++i) {
    out += fmt::format("| `{}` | {} | {} |\n", rows[i].name, cell(sentence(rows[i].meaning)),
                       cell(rows[i].remedy));
  }
  out += "\n## Exit codes\n\n| exit code | of `run` and `report` |\n|---|---|\n";
  for (int code = 0; code <= 4; ++code) {
    std::string names =
        code == kExitCouldNotRun ? "could not run, or could not keep its files" : "";
    for (const auto status :
         {judge::Status::kPassed, judge::Status::kFailed, judge::Status::kInconclusive,
          judge::Status::kStopped, judge::Status::kSlow}) {
      if (judge::exit_code(status) != code) continue;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", judge::status_name(status));
    }
    out += fmt::format("| {} | {} |\n", code, names);
  }
  out += fmt::format(
      "\nOther commands exit with 0 when they did what was asked and with {} when they could "
      "not.\n",
      kExitCouldNotRun);
  return out;
}

// ── defects ──

std::string_view unit_text(driver::embedded::DefectUnit unit) {
  using driver::embedded::DefectUnit;
  switch (unit) {
    case DefectUnit::kRecord:
      return "record stored";
    case DefectUnit::kKey:
      return "key";
    case DefectUnit::kPartition:
      return "partition";
    case DefectUnit::kDelivery:
      return "first hand-over of a record";
    case DefectUnit::kLineage:
      return "lineage";
    case DefectUnit::kBroker:
      return "record stored; hits the whole broker";
  }
  return "";
}

std::string defects_page(const CLI::App& /*program*/) {
  std::string out = "# Defects of the embedded broker\n\n" +
                    made_by("defects", "`src/driver/embedded/defects.cc`");
  out +=
      "`streaming-proof run --defect KIND:count=N` plants exactly N, spread over the run by the "
      "seed; `KIND:rate=p` gives each candidate "
      "that\nchance; neither is `count=1`. `--defect` may be given more than once. `lose-prefix` "
      "and `rewind` take `length=n` (at most that "
      "many records),\n`freeze` takes `for=3s`. What was really planted stands in `truth.jsonl` "
      "beside the report, a line each, and "
      "nothing of it is known to the\nside that judges.\n\n"
      "| kind | what is done | counted and drawn by | must be found as | blame "
      "|\n|---|---|---|---|---|\n";
  for (const auto& row : driver::embedded::defect_rows()) {
    std::string codes =
        row.code ? fmt::format("`{}`", core::code_row(*row.code).name) : "nothing: it is honest";
    if (row.also) codes += fmt::format(" and `{}`", core::code_row(*row.also).name);
    out += fmt::format(
        "| `{}` | {} | {} | {} | {} |\n", row.name, cell(row.what), unit_text(row.unit), codes,
        row.blame == core::Blame::kNone ? "–" : std::string(core::blame_name(row.blame)));
  }
  return out;
}

// ── faults ──

std::string faults_page(const CLI::App& /*program*/) {
  using scenario::fault::Action;
  std::string out =
      "# Faults of a local cluster\n\n" + made_by("faults", "`src/scenario/fault/chaos.cc`");
  out += fmt::format(
      "`streaming-proof run --cluster kafka --chaos KIND:name=value,…`, repeatable:\n\n"
      "| name | meaning |\n|---|---|\n"
      "| `at` | the first start, from the begin of the load; absent: one `every` after it |\n"
      "| `every` | from start to start, {} or more; absent: there is one fault |\n"
      "| `count` | so many at most |\n"
      "| `for`, `down` | how long a freeze, a kill or restart lasts; {} unless given |\n\n"
      "Times are `20`, `20s`, `1500ms`, `2m`, `1h`. None starts within its length and {} more of "
      "the end of the load. Victims are drawn by "
      "the seed.\n\n"
      "| kind | takes | what is done | its effect: what a client of its own must see "
      "|\n|---|---|---|---|\n",
      "1 s", human_duration(scenario::fault::kHoldDefault),
      human_duration(scenario::fault::kQuietEnd));
  for (const auto& row : scenario::fault::kind_rows()) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", row.name,
                       row.action == Action::kFreeze ? "for" : "down", cell(row.meaning),
                       cell(row.effect));
  }
  out +=
      "\nEach fault is listed in the report with its begin, its effect and its end. One that "
      "nobody saw has *no effect*; a kind none of "
      "whose\nfaults took effect makes the run inconclusive, for nothing was tested by it.\n";
  return out;
}

constexpr std::array kManual = {
    ManualRow{"commands", commands_page}, ManualRow{"proof", proof_page},
    ManualRow{"findings", findings_page}, ManualRow{"errors", errors_page},
    ManualRow{"defects", defects_page},   ManualRow{"faults", faults_page},
    ManualRow{"rest", [](const CLI::App&) { return api::rest_markdown(); }},
    ManualRow{"prometheus", [](const CLI::App&) { return api::prometheus_markdown(); }},
};

}  // namespace

std::vector<std::string_view> manual_pages() {
  std::vector<std::string_view> names;
  for (const auto& row : kManual) names.push_back(row.name);
  return names;
}

Result<std::string> manual_page(std::string_view name, const CLI::App& program) {
  const auto* const found = std::find_if(kManual.begin(), kManual.end(),
                                         [&](const ManualRow& row) { return row.name == name; });
  if (found != kManual.end()) return found->make(program);
  std::string names;
  for (const auto& row : kManual) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return fail(ErrorCode::kNotFound,
              fmt::format("the manual has no page '{}'; its pages are {}", name, names));
}

void add_manual(CLI::App& app, Session& session) {
  auto page =
      std::make_shared<std::string>();  // shared with the callback, which outlives this call
  CLI::App* command =
      app.add_subcommand("manual", "Prints a page of docs/reference/ as the code has it");
  command->group("");  // not listed
  command->footer("Example: streaming-proof manual findings > docs/reference/findings.md");
  command->add_option("PAGE", *page, "its name")->required();
  command->callback([page, &app, &session] {
    const auto text = manual_page(*page, app);
    if (text) {
      session.terminal.print(*text);
    } else {
      session.terminal.complain(text.error().message);
      session.exit_code = kExitCouldNotRun;
    }
  });
}

}  // namespace sp::cli

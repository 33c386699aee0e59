#include "record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/core.h>

#include "codec/json_writer.h"
#include "machine.h"
#include "sys/files.h"

namespace sp::bench {
namespace {

constexpr int kExitWrong = 1;
constexpr int kExitMissed = 4;

std::string usage(const std::vector<FlagRow>& rows) {
  std::string text = "flags: --smoke, --record";
  for (const auto& row : rows) {
    text += row.is_switch ? fmt::format(", --{} ({})", row.name, row.says)
                          : fmt::format(", --{} N ({}; {}, with --smoke {})", row.name, row.says, row.usual, row.smoke);
  }
  return text;
}

std::string number_text(double value) {
  if (value != 0 && std::abs(value) < 0.1) return fmt::format("{:.3g}", value);
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string goal_text(const Figure& figure) {
  if (!figure.goal) return "";
  return fmt::format("{} {}: {}", figure.goal->kind == Goal::Kind::kAtLeast ? "at least" : "at most",
                     number_text(figure.goal->bound), figure.goal->met(figure.value) ? "met" : "missed");
}

std::string row_text(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const auto& cell : cells) text += fmt::format(" {} |", cell);
  return text + "\n";
}

// Seen before anything is measured: a record that cannot be kept is not worth the wait.
Result<Place> place_of(const std::vector<std::string>& words) {
#ifndef __OPTIMIZE__
  static_cast<void>(words);
  return fail(ErrorCode::kInvalid, "--record: this build is not optimised; build the preset release and use that one");
#else
  auto source = look_at_source(SP_SOURCE_FOLDER);
  if (!source) return fail_up(std::move(source), "--record");
  if (!source->clean) {
    return fail(ErrorCode::kInvalid,
                "--record: the source tree has uncommitted changes, so nobody could measure this again; commit, build, "
                "and record then");
  }
  Place place;
  place.commit = source->commit;
  for (const auto& word : words) place.command += (place.command.empty() ? "" : " ") + word;
  place.cores = core_count();
  place.cpu = cpu_model();
  return place;
#endif
}

Result<void> keep(const Record& record, Place place) {
  place.date = to_iso8601(SystemWallClock().now());
  const std::filesystem::path folder = std::filesystem::path(SP_SOURCE_FOLDER) / "docs" / "results";
  if (auto made = sys::make_folders(folder); !made) return made;
  auto json = sys::write_atomically(folder / (record.name() + ".json"), record.json(place));
  if (!json) return json;
  return sys::write_atomically(folder / (record.name() + ".md"), record.markdown(place));
}

int complain(const std::string& name, const std::string& sentence) {
  fmt::print(stderr, "{}: {}\n", name, sentence);
  return kExitWrong;
}

}  // namespace

Result<Request> Request::read(const std::vector<FlagRow>& rows, const std::vector<std::string>& words) {
  Request request;
  request.smoke_ = std::find(words.begin(), words.end(), "--smoke") != words.end();
  for (const auto& row : rows) request.numbers_[std::string(row.name)] = request.smoke_ ? row.smoke : row.usual;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--smoke") continue;
    if (words[i] == "--record") {
      request.record_ = true;
      continue;
    }
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const FlagRow& one) { return words[i] == "--" + std::string(one.name); });
    if (row == rows.end()) {
      return fail(ErrorCode::kInvalid, fmt::format("there is no flag {}; {}", words[i], usage(rows)));
    }
    std::uint64_t number = 1;
    if (!row->is_switch) {
      const std::string text = i + 1 < words.size() ? words[++i] : "";
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc{} || end != text.data() + text.size()) {
        return fail(ErrorCode::kInvalid, fmt::format("--{} takes a whole number, not '{}'", row->name, text));
      }
    }
    request.numbers_[std::string(row->name)] = number;
  }
  if (request.smoke_ && request.record_) {
    return fail(ErrorCode::kInvalid, "--smoke is no measurement: record without it");
  }
  return request;
}

std::uint64_t Request::number(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? 0 : found->second;
}

void Record::rename(std::string name, std::string title) {
  name_ = std::move(name);
  title_ = std::move(title);
}

void Record::figure(std::string name, double value, std::string unit, std::optional<Goal> goal) {
  figures_.push_back({std::move(name), value, std::move(unit), goal});
  const Figure& made = figures_.back();
  const std::string goal_words = tiny_ ? "" : goal_text(made);  // a tiny run says nothing about goals
  fmt::print("{:<58} {:>10} {}{}\n", made.name, number_text(value), made.unit,
             goal_words.empty() ? "" : fmt::format("   ({})", goal_words));
  static_cast<void>(std::fflush(stdout));
}

void Record::interval(const std::string& name, const MedianInterval& interval, const std::string& unit,
                      std::optional<Goal> goal) {
  figure(name + ", median", interval.median, unit, goal);
  const std::string sure = fmt::format("{:.1f} % interval of {} pairs", 100 * interval.confidence, interval.count);
  figure(fmt::format("{}, low end of the {}", name, sure), interval.low, unit);
  figure(fmt::format("{}, high end of the {}", name, sure), interval.high, unit);
}

void Record::hash(std::string what, std::uint64_t value) {
  fmt::print("{:<58} hash {:016x}\n", what, value);
  hashes_.emplace_back(std::move(what), value);
}

void Record::table(Table table) {
  table_ = std::move(table);
  fmt::print("{}", row_text(table_.columns));
  for (const auto& row : table_.rows) fmt::print("{}", row_text(row));
}

void Record::note(std::string sentence) { notes_.push_back(std::move(sentence)); }

void Record::wrong(const std::string& sentence) {
  right_ = false;
  fmt::print("WRONG: {}\n", sentence);
}

std::size_t Record::missed() const {
  return static_cast<std::size_t>(std::count_if(figures_.begin(), figures_.end(), [](const Figure& figure) {
    return figure.goal && !figure.goal->met(figure.value);
  }));
}

std::string Record::json(const Place& place) const {
  codec::JsonWriter json({.indent = 2});
  json.begin_object().member("bench", name_).member("title", title_).member("date", place.date);
  json.member("commit", place.commit).member("dirty", false).member("command", place.command);
  json.member("cores", place.cores).member("cpu", place.cpu);
  json.key("figures").begin_array();
  for (const auto& figure : figures_) {
    json.begin_object().member("name", figure.name).member("value", figure.value).member("unit", figure.unit);
    if (figure.goal) {
      json.member(figure.goal->kind == Goal::Kind::kAtLeast ? "at_least" : "at_most", figure.goal->bound);
      json.member("met", figure.goal->met(figure.value));
    }
    json.end_object();
  }
  json.end_array().key("hashes").begin_object();
  for (const auto& [what, value] : hashes_) json.member(what, fmt::format("{:016x}", value));
  json.end_object().key("rows").begin_array();
  for (const auto& row : table_.rows) {
    json.begin_object();
    for (std::size_t i = 0; i < row.size(); ++i) json.member(table_.columns[i], row[i]);
    json.end_object();
  }
  json.end_array().key("notes").begin_array();
  for (const auto& note : notes_) json.value(note);
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string Record::markdown(const Place& place) const {
  std::string text = fmt::format("# {}\n\n", title_);
  text += fmt::format("`{}` on {} at commit {}: {} cores of {}.\n\n", place.command, place.date, place.commit.substr(0, 12),
                      place.cores, place.cpu);
  if (!figures_.empty()) {
    text += row_text({"figure", "value", "unit", "goal"}) + "|---|---:|---|---|\n";
    for (const auto& figure : figures_) {
      text += row_text({figure.name, number_text(figure.value), figure.unit, goal_text(figure)});
    }
    text += "\n";
  }
  if (!table_.rows.empty()) {
    text += row_text(table_.columns) + row_text(std::vector<std::string>(table_.columns.size(), "---"));
    for (const auto& row : table_.rows) text += row_text(row);
    text += "\n";
  }
  for (const auto& note : notes_) text += note + "\n\n";
  for (const auto& [what, value] : hashes_) text += fmt::format("Hash of {}: `{:016x}`.\n", what, value);
  if (text.ends_with("\n\n")) text.pop_back();
  return text;
}

int run_bench(const BenchSpec& spec, int count, char** arguments, const BenchBody& body) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  auto request = Request::read(spec.flags, words);
  if (!request) return complain(spec.name, request.error().message);
  Place place;
  if (request->record()) {
    words.insert(words.begin(), std::filesystem::path(arguments[0]).filename().string());
    auto found = place_of(words);
    if (!found) return complain(spec.name, found.error().message);
    place = std::move(*found);
  }
  Record record(spec.name, spec.title, request->smoke());
  auto done = body(*request, record);
  if (!done) return complain(spec.name, done.error().message);
  if (!record.right()) return complain(spec.name, "a result is wrong");
  if (request->record()) {
    if (auto kept = keep(record, place); !kept) return complain(spec.name, kept.error().message);
    fmt::print("kept in docs/results/{}.json and .md\n", record.name());
  }
  if (request->smoke() || record.missed() == 0) return 0;
  fmt::print("{} goals were missed\n", record.missed());
  return kExitMissed;
}

}  // namespace sp::bench

// links: check lab_story
// A history, judged: how many operations a second `check` takes in, of each form of file, and in how much memory.
//
//     one key      1 producer, 1 key in order, 1 consumer                     invoke, ok, deliver, read for each record
//     many keys    4 producers, 10,000 keys over 12 partitions, 4 consumers in a group
//
//     check_bench              both shapes, in each form; numbers with a hole of 2^63; ten million processes; the rival
//     check_bench --memory     100 million operations made as they are read: the memory of a clean history
//
// The rival is rivals/driftlab_go, the obvious program, on the same file; its answer must be ours. Others to hold against: what a replay
// through the ledger takes, and what a decompressor alone takes.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/prng.h"
#include "check/driftlab.h"
#include "check/lab_check.h"
#include "codec/zstd.h"
#include "history/binary.h"
#include "history/line.h"
#include "history/reader.h"
#include "lab_story.h"
#include "machine.h"
#include "record.h"
#include "replay.h"
#include "report/report.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/streams.h"

namespace sp::bench {
namespace {

constexpr double kMillion = 1e6;
constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kMebibytesMax = 64;
constexpr std::uint64_t kHole = std::uint64_t{1} << 63U;
constexpr std::uint32_t kKeysOfReplay = 1000;
constexpr std::chrono::minutes kRivalMax{30};
constexpr std::string_view kUnit = "M operations/s";

// A stretch of work: by the processor's time of all threads, which tells what one core can do also on a busy machine, or by the clock.
class Stretch {
 public:
  [[nodiscard]] double seconds(bool by_clock) const {
    const Nanoseconds span = by_clock ? SystemMonotonicClock().now() - start_ : cpu_time() - cpu_;
    return std::chrono::duration<double>(span).count();
  }

 private:
  Nanoseconds cpu_ = cpu_time();
  MonotonicTime start_ = SystemMonotonicClock().now();
};

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char letter : text) hash = mix64(hash ^ static_cast<unsigned char>(letter));
  return hash;
}

// ── one judgement ──

struct Judged {
  double seconds = 0;
  std::uint64_t operations = 0;
  double grown = 0;             // most memory in use, beyond what was before; MiB
  std::uint64_t hash = 0;       // of the report
  judge::Status status = judge::Status::kStopped;
  std::string says;             // the report in a line, or the error
};

using Judge = std::function<Result<report::Report>(const check::LabOptions& options)>;

Judged judged(const Judge& judge, bool threads) {
  Judged done;
  trim_memory();
  const double before = static_cast<double>(resident_bytes());
  reset_peak();
  const Stretch stretch;
  check::LabOptions options;
  options.threads = threads;
  auto report = judge(options);
  done.seconds = stretch.seconds(threads);
  done.grown = std::max(0.0, static_cast<double>(peak_resident_bytes()) - before) / kMebibyte;
  if (!report) {
    done.says = report.error().message;
    return done;
  }
  report->lab->file = {};  // the same answer, whatever the file is called
  done.operations = report->lab->operations;
  done.hash = hash_of(report::json_report(*report));
  done.status = report->judgement.status;
  done.says = report::one_line(*report);
  return done;
}

Judge judge_of(const std::filesystem::path& file) {
  return [file](const check::LabOptions& options) { return check::check_lab(file, options); };
}

Judge judge_of(LineSource::More lines) {
  return [lines = std::move(lines)](const check::LabOptions& options) -> Result<report::Report> {
    history::Vocabulary vocabulary;
    const auto reader =
        history::Reader::open(std::make_unique<LineSource>(lines), "made.jsonl", vocabulary, {.threads = options.threads});
    if (!reader) return tl::unexpected(reader.error());
    return check::check_lab(**reader, vocabulary, options);
  };
}

double rate(const Judged& done) { return static_cast<double>(done.operations) / done.seconds / kMillion; }

// ── files of each form ──

struct Files {
  std::filesystem::path text, zstd, binary;
  std::uint64_t operations = 0;
};

Result<Files> write_files(const std::filesystem::path& folder, const LabShape& shape, std::uint64_t records) {
  Files files{folder / "h.jsonl", folder / "h.jsonl.zst", folder / "h.sph", 0};
  auto text = sys::OutputFile::create(files.text);
  auto zstd = sys::OutputFile::create(files.zstd);
  auto binary = sys::OutputFile::create(files.binary);
  if (!text || !zstd || !binary) return fail(ErrorCode::kIo, "the bench's folder cannot be written");
  LabStory story(shape, records);
  history::BinaryEncoder encoder(story.meta(), story.vocabulary());
  codec::ZstdCompressor compressor(1);
  std::string lines;
  std::string packed;
  Result<void> done;
  append_meta(lines, story.meta());
  const auto flush = [&] {
    compressor.append(lines, packed);
    compressor.end_frame(packed);
    if (done) done = text->write(lines);
    if (done) done = zstd->write(packed);
    if (done) done = binary->write(encoder.take());
    lines.clear();
    packed.clear();
  };
  while (const history::Operation* operation = story.next()) {
    append_operation(lines, *operation, story.vocabulary(), shape.dialect);
    encoder.add(*operation);
    if (lines.size() > (std::size_t{1} << 20U)) flush();
  }
  encoder.finish();
  flush();
  if (!done) return tl::unexpected(std::move(done).error());
  files.operations = story.operations();
  return files;
}

double decompressed(const std::filesystem::path& path, std::uint64_t operations) {
  const auto packed = sys::read_file(path, SIZE_MAX);
  if (!packed) return 0;
  codec::ZstdSource source(std::make_unique<codec::TextSource>(*packed));
  std::string room(std::size_t{1} << 18U, '\0');
  const Stretch stretch;
  while (source.read(room).value_or(0) > 0) {
  }
  return static_cast<double>(operations) / stretch.seconds(true) / kMillion;
}

double replayed(std::uint64_t records, Record& record) {
  Order order(kKeysOfReplay, false);
  const Stretch stretch;
  Replay replay(order);
  replay.run(records);
  const auto judgement = replay.finish();
  if (judgement.status != judge::Status::kPassed) record.wrong("the replay of a clean stream did not pass");
  return static_cast<double>(2 * records) / stretch.seconds(false) / kMillion;
}

// Values of several measurements under one name: the best, which carries the goal, and the median.
class Several {
 public:
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] double best() const { return *std::ranges::max_element(values_); }
  void tell(Record& record, const std::string& name, std::string_view unit, std::optional<Goal> goal = std::nullopt) const {
    record.figure(name + fmt::format(", best of {}", values_.size()), best(), std::string(unit), goal);
    record.figure(name + ", median", median(values_), std::string(unit));
  }

 private:
  std::vector<double> values_;
};

struct Form {
  std::string name;
  std::filesystem::path file;
  bool threads = false;
  std::optional<Goal> goal;
  Several rates;
};

// Both shapes: each form of the file in turn, several times, because others of the machine take from it what they like.
Result<void> measure(const LabShape& shape, std::uint64_t records, std::uint64_t times, Record& record) {
  const auto folder = sys::TemporaryFolder::make("check-bench");
  if (!folder) return tl::unexpected(folder.error());
  const auto files = write_files(folder->path(), shape, records);
  if (!files) return tl::unexpected(files.error());
  std::vector<Form> forms{{"JSON Lines, one core", files->text, false, at_least(5), {}},
                          {"JSON Lines, two cores", files->text, true, at_least(9), {}},
                          {"binary, one core", files->binary, false, at_least(12), {}},
                          {"binary, two cores", files->binary, true, std::nullopt, {}},
                          {"zstd, one core", files->zstd, false, std::nullopt, {}},
                          {"zstd, two cores", files->zstd, true, std::nullopt, {}}};
  Several alone, replay;
  double grown = 0;
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < times; ++i) {
    for (Form& form : forms) {
      const Judged done = judged(judge_of(form.file), form.threads);
      const std::string what = shape.name + ", " + form.name;
      if (done.status != judge::Status::kClean) record.wrong(what + ": " + done.says);
      if (done.operations != files->operations) record.wrong(fmt::format("{}: {} operations judged", what, done.operations));
      if (hash != 0 && hash != done.hash) record.wrong(what + ": another answer than before");
      hash = done.hash;
      grown = std::max(grown, done.grown);
      form.rates.add(rate(done));
    }
    alone.add(decompressed(files->zstd, files->operations));
    replay.add(replayed(files->operations / 2, record));
  }
  for (const Form& form : forms) form.rates.tell(record, shape.name + ", " + form.name, kUnit, form.goal);
  alone.tell(record, shape.name + ", decompressor alone", kUnit);
  replay.tell(record, shape.name + ", ledger replay", "M observations/s");
  record.figure(shape.name + ", zstd on two cores to decompressor", forms.back().rates.best() / alone.best(), "of its speed",
                at_least(0.8));
  record.figure(shape.name + ", binary to ledger replay", forms[2].rates.best() / replay.best(), "of its speed", at_least(0.8));
  record.figure(shape.name + ", memory", grown, "MiB", at_most(kMebibytesMax));
  record.hash(shape.name, hash);
  return {};
}

// ── what is hostile ──

// Rates of two sizes tell whether the time is linear.
void hole(const LabShape& shape, std::uint64_t records, judge::Status expected, Record& record) {
  for (const std::uint64_t size : {records / 4, records}) {
    LabStory story(shape, size);
    const Judged done = judged(judge_of(lines_of(story)), false);
    const std::string what = fmt::format("{}, {} records", shape.name, size);
    record.figure(what, rate(done), std::string(kUnit));
    record.figure(what + ", memory", done.grown, "MiB", at_most(kMebibytesMax));
    if (done.status != expected) record.wrong(what + ": " + done.says);
    if (size == records) record.note(fmt::format("The answer to {}: {}.", shape.name, done.says));
  }
}

// Each process publishes once.
LineSource::More lines_of_processes(std::uint64_t processes) {
  return [processes, at = std::uint64_t{0}](std::string& lines) mutable {
    constexpr std::size_t kPiece = std::size_t{1} << 16U;
    if (at == 0) lines = "{\"type\":\"meta\",\"version\":1,\"client\":\"bench@1\",\"scenario\":\"processes\"}\n";
    for (; at < processes && lines.size() < kPiece; ++at) {
      constexpr std::string_view kHead = R"({{"index":{},"time_ns":{},"process":"p-{}","type":"{}","f":"publish","key":"k","value":{})";
      lines += fmt::format(fmt::runtime(kHead), 2 * at, 2000 * at, at, "invoke", at);
      lines += "}\n";
      lines += fmt::format(fmt::runtime(kHead), 2 * at + 1, 2000 * at + 1000, at, "ok", at);
      lines += fmt::format(",\"position\":{{\"partition\":0,\"offset\":{}}}}}\n", at);
    }
  };
}

void many_processes(std::uint64_t processes, Record& record) {
  const std::uint64_t allowed = std::min<std::uint64_t>(processes / 10, 1'000'000);
  const Judged some = judged(judge_of(lines_of_processes(allowed)), false);
  const std::string what = fmt::format("{} processes", allowed);
  record.figure(what, rate(some), std::string(kUnit));
  record.figure(what + ", memory", some.grown * kMebibyte / static_cast<double>(allowed), "bytes a process");
  if (some.status != judge::Status::kInvalid) record.wrong(what + ": " + some.says);
  const Judged all = judged(judge_of(lines_of_processes(processes)), false);
  const std::string too_many = fmt::format("{} processes", processes);
  record.figure(too_many + ", until refused", all.seconds, "s");
  record.figure(too_many + ", memory", all.grown, "MiB");
  record.note(fmt::format("The answer to {}: {}", too_many, all.says));
  const bool refused = all.operations == 0 && all.says.find("process") != std::string::npos;
  if (processes > 1'048'576 && !refused) record.wrong(too_many + ": " + all.says);
}

// ── the rival ──

struct RivalRun {
  std::string answer;
  double core_seconds = 0;
  double seconds = 0;
  double bytes = 0;
};

Result<RivalRun> run_rival(const std::filesystem::path& folder, const std::filesystem::path& file) {
  sys::SpawnSpec spec;
  spec.args = {SP_DRIFTLAB_GO, file.string()};
  spec.out = folder / "rival.out";
  spec.err = folder / "rival.err";
  std::filesystem::remove(spec.out);
  std::filesystem::remove(spec.err);
  const Nanoseconds before = cpu_time_of_children();
  const Stretch stretch;
  const auto ended = sys::run(spec, kRivalMax);
  RivalRun run;
  run.seconds = stretch.seconds(true);
  run.core_seconds = std::chrono::duration<double>(cpu_time_of_children() - before).count();
  if (!ended) return tl::unexpected(ended.error());
  auto out = sys::read_file(spec.out, SIZE_MAX);
  const auto err = sys::read_file(spec.err, SIZE_MAX);
  if (!out || !err) return fail(ErrorCode::kIo, "the rival's answer cannot be read");
  std::istringstream words(*err);
  std::string word;
  if (!(words >> word >> run.bytes) || word != "memory") return fail(ErrorCode::kUnavailable, "the rival says: " + *err);
  run.answer = std::move(*out);
  return run;
}

Result<std::string> own_answer(const std::filesystem::path& file) {
  history::Vocabulary vocabulary;
  const auto open = [&] { return history::Reader::open(file, vocabulary, {.threads = false}); };
  const auto result = check::check_driftlab(open, vocabulary, {});
  if (!result) return tl::unexpected(result.error());
  std::string answer;
  check::tell_driftlab(*result, vocabulary, [&](std::string_view line) { answer.append(line).push_back('\n'); });
  return answer;
}

// A history in which most goes wrong: lines of a clean one are left out and said twice.
Result<void> spoil(const std::filesystem::path& from, const std::filesystem::path& to) {
  const auto text = sys::read_file(from, SIZE_MAX);
  if (!text) return tl::unexpected(text.error());
  std::istringstream lines(*text);
  std::string spoilt;
  std::uint64_t index = 0;
  std::uint64_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    const std::size_t comma = line.find(',');
    const std::uint64_t chance = mix64(number) % 100;
    if (number == 0) spoilt += line + "\n";
    if (number == 0 || chance == 0) continue;
    for (int i = 0; i < (chance == 1 ? 2 : 1); ++i) spoilt += fmt::format("{{\"index\":{}{}\n", index++, line.substr(comma));
  }
  auto file = sys::OutputFile::create(to);
  if (!file) return tl::unexpected(file.error());
  return file->write(spoilt);
}

Result<void> compare(const std::filesystem::path& folder, const std::filesystem::path& file, const std::string& what, Record& record) {
  const auto rival = run_rival(folder, file);
  if (!rival) return tl::unexpected(rival.error());
  const auto own = own_answer(file);
  if (!own) return tl::unexpected(own.error());
  if (*own != rival->answer) record.wrong(fmt::format("{}: the rival says\n{}and we\n{}", what, rival->answer, *own));
  record.hash(what, hash_of(*own));
  return {};
}

Result<void> against_rival(std::uint64_t records, std::uint64_t times, Record& record) {
  const auto folder = sys::TemporaryFolder::make("check-bench");
  if (!folder) return tl::unexpected(folder.error());
  const LabShape shape{.name = "driftlab", .dialect = history::Dialect::kDriftlab};
  const auto files = write_files(folder->path(), shape, records);
  if (!files) return tl::unexpected(files.error());
  const auto operations = static_cast<double>(files->operations);
  Several driftlab, lab, rival, by_clock;
  double grown = 0;
  double rival_bytes = 0;
  const bool has_rival = std::string_view(SP_DRIFTLAB_GO) != "";
  for (std::uint64_t i = 0; i < times; ++i) {
    const Stretch stretch;
    if (const auto own = own_answer(files->text); !own) return tl::unexpected(own.error());
    driftlab.add(operations / stretch.seconds(false) / kMillion);
    const Judged done = judged(judge_of(files->text), false);
    if (done.status != judge::Status::kClean) record.wrong("driftlab: " + done.says);
    lab.add(rate(done));
    grown = std::max(grown, done.grown);
    if (!has_rival) continue;
    const auto run = run_rival(folder->path(), files->text);
    if (!run) return tl::unexpected(run.error());
    rival.add(operations / run->core_seconds / kMillion);
    by_clock.add(operations / run->seconds / kMillion);
    rival_bytes = std::max(rival_bytes, run->bytes);
  }
  driftlab.tell(record, "driftlab, check --format driftlab, one core", kUnit);
  lab.tell(record, "driftlab, check, one core", kUnit);
  record.figure("driftlab, check, memory", grown * kMebibyte / operations, "bytes an operation");
  if (!has_rival) {
    record.note("Go is missing here: the rival was not built and not measured.");
    return {};
  }
  rival.tell(record, "driftlab, rival, one core", kUnit);
  by_clock.tell(record, "driftlab, rival, by the clock", kUnit);
  record.figure("driftlab, rival, memory", rival_bytes / operations, "bytes an operation");
  record.figure("driftlab, check --format driftlab to rival", driftlab.best() / rival.best(), "times", at_least(20));
  record.figure("driftlab, check to rival", lab.best() / rival.best(), "times", at_least(20));
  if (auto same = compare(folder->path(), files->text, "driftlab, answer", record); !same) return same;
  const auto small = write_files(folder->path(), shape, std::min<std::uint64_t>(records, 2000));
  if (!small) return tl::unexpected(small.error());
  const auto spoilt = folder->path() / "spoilt.jsonl";
  if (auto done = spoil(small->text, spoilt); !done) return done;
  return compare(folder->path(), spoilt, "spoilt, answer", record);
}

// ── memory ──

void memory(const LabShape& shape, std::uint64_t operations, Record& record) {
  LabStory story(shape, operations / 4);
  const Judged done = judged(judge_of(lines_of(story)), false);
  record.figure(shape.name + ", memory", done.grown, "MiB", at_most(kMebibytesMax));
  record.figure(shape.name + ", took, with making the lines", done.seconds, "s");
  record.hash(shape.name, done.hash);
  if (done.status != judge::Status::kClean) record.wrong(shape.name + ": " + done.says);
}

Result<void> body(const Request& request, Record& record) {
  record.note("Each record is four operations: invoke, ok, deliver 16 records later, read. Figures of one core are by the processor time "
              "of the process, those of two cores by the clock. Files are read from the page cache. Memory is the most that was "
              "resident beyond what was before.");
  const std::uint64_t operations = request.number("operations");
  if (request.on("memory") || request.smoke()) {
    memory({.name = fmt::format("{} operations, one key", operations)}, operations, record);
    memory({.name = fmt::format("{} operations, 100,000 keys", operations), .keys = 100'000, .partitions = 12, .consumers = 4}, operations,
           record);
  }
  if (request.on("memory")) {
    record.rename("check_memory", "Memory of judging a long history");
    return {};
  }
  record.note("Ledger replay: 1,000 keys in order, see ledger_bench; its processor time.");
  const std::uint64_t records = request.number("thousand") * 1000;
  const std::uint64_t times = request.number("times");
  if (auto done = measure({.name = "one key"}, records, times, record); !done) return done;
  const LabShape many{.name = "many keys", .keys = 10'000, .partitions = 12, .consumers = 4};
  if (auto done = measure(many, records, times, record); !done) return done;
  hole({.name = "sequences that jump by 2^63", .sequences_jump = kHole}, records, judge::Status::kClean, record);
  hole({.name = "offsets that jump by 2^63", .offsets_jump = kHole}, records, judge::Status::kInvalid, record);
  many_processes(request.number("processes"), record);
  return against_rival(records, times, record);
}

}  // namespace
}  // namespace sp::bench

int main(int count, char** arguments) {
  return sp::bench::run_bench({"check_bench",
                               "Judging histories",
                               {{"thousand", 1000, 5, "thousands of records, four operations each"},
                                {"times", 5, 1, "how often each is measured"},
                                {"processes", 10'000'000, 20'000, "of the history with too many"},
                                {"memory", 0, 0, "the memory of long histories instead", true},
                                {"operations", 100'000'000, 100'000, "of the long histories"}}},
                              count, arguments, sp::bench::body);
}

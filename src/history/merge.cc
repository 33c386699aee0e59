#include "history/merge.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/core.h>

namespace sp::history {
namespace {

constexpr std::size_t kFilesWithThreads = 64;
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

auto order_of(const Merge::Source& source) {
  return std::tuple(source.meta.process == kCoordinator, std::string_view(source.meta.process), source.meta.incarnation);
}

}  // namespace

std::string source_name(std::string_view process, std::uint64_t incarnation) { return fmt::format("{}.{}", process, incarnation); }

struct Merge::Stream {
  Input input;
  std::unique_ptr<Reader> reader;
  std::span<const Operation> batch;
  std::uint64_t answered = 0;      // the last tick that was passed, of this or an earlier incarnation
  std::uint64_t next_index = 0;    // of the operation that comes next
  std::optional<std::uint64_t> limit;  // by seen: the last index that may be read now
  bool started = false;
  bool ended = false;
};

Merge::Merge(Options options) : options_(options) {}
Merge::~Merge() = default;

Result<std::unique_ptr<Merge>> Merge::open(const std::vector<std::filesystem::path>& files, Vocabulary& vocabulary, Options options) {
  std::vector<Input> inputs;
  for (const auto& path : files) {
    if (path == "-" && files.size() > 1) {
      return fail(ErrorCode::kInvalid, "standard input cannot be one of several files: write it to a file first");
    }
    inputs.push_back({name_of(path), [path, &vocabulary](Reader::Options how) { return Reader::open(path, vocabulary, how); }});
  }
  return open(std::move(inputs), options);
}

Result<std::unique_ptr<Merge>> Merge::open(std::vector<Input> inputs, Options options) {
  if (inputs.empty()) return fail(ErrorCode::kInvalid, "no history is named");
  if (inputs.size() > kFilesMax) return fail(ErrorCode::kFull, fmt::format("more than {} files", kFilesMax));
  if (inputs.size() > kFilesWithThreads) options.threads = false;
  std::unique_ptr<Merge> merge(new Merge(options));
  if (inputs.size() == 1) {  // read once, and as it comes: it may be a pipe
    auto reader = inputs.front().open({.accept_torn = options.salvage, .threads = options.threads, .bytes_read = options.bytes_read});
    if (!reader) return tl::unexpected(std::move(reader).error());
    Source& source = merge->sources_.emplace_back();
    source.file = inputs.front().name;
    source.meta = (*reader)->meta();
    Stream& stream = merge->streams_.emplace_back();
    stream.reader = std::move(*reader);
    stream.started = true;
    return merge;
  }
  if (auto looked = merge->look_at(std::move(inputs)); !looked) return tl::unexpected(std::move(looked).error());
  if (auto checked = merge->check_sources(); !checked) return tl::unexpected(std::move(checked).error());
  if (auto looked = merge->look_at_coordinator(); !looked) return tl::unexpected(std::move(looked).error());
  return merge;
}

// Reads the meta records, and puts the files into their order.
Result<void> Merge::look_at(std::vector<Input> inputs) {
  std::vector<std::pair<Source, Input>> found;
  for (Input& input : inputs) {
    auto reader = input.open({.accept_torn = true, .threads = false});
    if (!reader) return tl::unexpected(std::move(reader).error());
    Source source;
    source.file = input.name;
    source.meta = (*reader)->meta();
    found.emplace_back(std::move(source), std::move(input));
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) { return order_of(a.first) < order_of(b.first); });
  for (auto& [source, input] : found) {
    sources_.push_back(std::move(source));
    streams_.emplace_back().input = std::move(input);
  }
  return {};
}

Result<void> Merge::check_sources() const {
  const auto refuse = [](const Source& source, std::string_view what) {
    return Result<void>(fail(ErrorCode::kInvalid, fmt::format("{}: {}", source.file, what)));
  };
  if (sources_.size() == 1) return {};
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (source.meta.dialect == Dialect::kDriftlab) return refuse(source, "a driftlab file is a run of its own: judge it alone");
    if (source.meta.process.empty() || !source.meta.incarnation) {
      return refuse(source, "its meta record has no 'process' and 'incarnation', so it is a run of its own: judge it alone");
    }
    if (source.meta.run != sources_[0].meta.run) {
      return refuse(source, fmt::format("is of run '{}', and {} of run '{}': judge them one by one", source.meta.run,
                                        sources_[0].file, sources_[0].meta.run));
    }
    if (i == 0) continue;
    const Source& before = sources_[i - 1];
    if (order_of(source) == order_of(before)) {
      return refuse(source, fmt::format("is of the same process and incarnation as {}: name one of them", before.file));
    }
    if (source.meta.process == kCoordinator && before.meta.process == kCoordinator) {
      return refuse(source, fmt::format("is of a second coordinator, besides {}: a run has one", before.file));
    }
  }
  return {};
}

// What the coordinator had seen at its last tick, and whom it calls lost.
Result<void> Merge::look_at_coordinator() {
  if (sources_.back().meta.process != kCoordinator) return {};
  auto reader =
      streams_.back().input.open({.accept_torn = options_.salvage, .threads = options_.threads, .bytes_read = options_.bytes_read});
  if (!reader) return tl::unexpected(std::move(reader).error());
  for (std::uint32_t i = 0; i + 1 < sources_.size(); ++i) {
    by_name_.emplace(source_name(sources_[i].meta.process, *sources_[i].meta.incarnation), i);
  }
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) return tl::unexpected(batch.error());
    if (batch->empty()) break;
    for (const Operation& operation : *batch) {
      if (operation.function == Function::kTick && !operation.has(Member::kSeen)) {
        return fail(ErrorCode::kParse, fmt::format("{} line {}: a tick of the coordinator's needs 'seen' where there are other files: "
                                                   "what it had seen of each",
                                                   sources_.back().file, operation.line));
      }
      if (!operation.has(Member::kSeen)) continue;
      for (const auto& [name, index] : operation.details->seen) {
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) continue;
        std::optional<std::uint64_t>& last = sources_[found->second].last_seen;
        if (last && index < *last) {
          return fail(ErrorCode::kInvalid, fmt::format("{} line {}: had seen line index {} of {}, but {} before: what was seen stays seen",
                                                       sources_.back().file, operation.line, index, name, *last));
        }
        last = index;
      }
      if (!operation.has(Member::kLostIncarnations)) continue;
      for (const std::string& name : operation.details->lost_incarnations) {
        if (const auto found = by_name_.find(name); found != by_name_.end()) sources_[found->second].lost = true;
      }
    }
  }
  by_seen_ = true;
  for (std::size_t i = 0; i + 1 < sources_.size(); ++i) {
    if (sources_[i].last_seen || options_.all_evidence) continue;
    streams_[i].started = streams_[i].ended = true;  // nothing of it had been seen
    sources_[i].limited = true;
  }
  return {};
}

bool Merge::succeeds_another(std::uint32_t number) const {
  return number > 0 && sources_[number].meta.process == sources_[number - 1].meta.process && sources_.size() > 1;
}

Result<void> Merge::start(std::uint32_t number) {
  Stream& stream = streams_[number];
  stream.started = true;
  if (succeeds_another(number)) stream.answered = streams_[number - 1].answered;
  const bool torn = options_.salvage || sources_[number].lost;
  auto reader = stream.input.open({.accept_torn = torn, .threads = options_.threads, .bytes_read = options_.bytes_read});
  if (!reader) return tl::unexpected(std::move(reader).error());
  stream.reader = std::move(*reader);
  return {};
}

void Merge::end(std::uint32_t number) {
  Stream& stream = streams_[number];
  Source& source = sources_[number];
  stream.ended = true;
  source.torn_line = stream.reader->torn_line();
  source.short_of_seen = source.last_seen && stream.next_index <= *source.last_seen;
  if (sources_.size() > 1) stream.reader.reset();
}

// The next batch of that stream, if it has none. False: there is no more.
Result<bool> Merge::load(std::uint32_t number) {
  Stream& stream = streams_[number];
  if (!stream.batch.empty()) return true;
  auto batch = stream.reader->next();
  if (!batch) return tl::unexpected(std::move(batch).error());
  stream.batch = *batch;
  if (!batch->empty()) return true;
  end(number);
  return false;
}

bool Merge::may_pass(std::uint32_t number, const Operation& operation) const {
  const Stream& stream = streams_[number];
  if (by_seen_) return stream.limit && operation.index <= *stream.limit;
  return stream.answered < stage_;
}

Result<void> Merge::pass_tick(std::uint32_t number, const Operation& operation) {
  Stream& stream = streams_[number];
  if (operation.number > stream.answered) {
    stream.answered = operation.number;
    return {};
  }
  return fail(ErrorCode::kInvalid, fmt::format("{} line {}: tick {} follows tick {}: a process answers each once, in order, and an "
                                               "incarnation after the one before it",
                                               sources_[number].file, operation.line, operation.number, stream.answered));
}

Result<std::span<const Operation>> Merge::advance(std::uint32_t number) {
  constexpr std::span<const Operation> kNone;
  Stream& stream = streams_[number];
  Source& source = sources_[number];
  if (stream.ended || (by_seen_ ? !stream.limit : stream.answered >= stage_)) return kNone;
  if (!stream.started) {
    if (succeeds_another(number) && !by_seen_ && !streams_[number - 1].ended) return kNone;
    if (auto started = start(number); !started) return tl::unexpected(std::move(started).error());
  }
  if (by_seen_ && stream.next_index > *stream.limit) {
    const bool over = source.last_seen && !options_.all_evidence && stream.next_index > *source.last_seen;
    if (over) {
      source.limited = !stream.batch.empty();
      end(number);
    }
    return kNone;
  }
  const auto loaded = load(number);
  if (!loaded) return tl::unexpected(loaded.error());
  if (!*loaded) return kNone;
  std::size_t count = 0;
  while (count < stream.batch.size() && may_pass(number, stream.batch[count])) {
    const Operation& operation = stream.batch[count];
    ++count;
    if (operation.function != Function::kTick || streams_.size() == 1) continue;
    if (auto passed = pass_tick(number, operation); !passed) return tl::unexpected(std::move(passed).error());
  }
  const auto given = stream.batch.first(count);
  stream.batch = stream.batch.subspan(count);
  stream.next_index += count;
  return given;
}

Result<Merge::Run> Merge::next() { return by_seen_ ? next_by_seen() : next_by_tick(); }

Result<Merge::Run> Merge::next_by_tick() {
  while (true) {
    for (; turn_ < streams_.size(); ++turn_) {
      while (true) {
        auto given = advance(turn_);
        if (!given) return tl::unexpected(std::move(given).error());
        if (!given->empty()) return Run{turn_, *given};
        const Stream& stream = streams_[turn_];
        if (stream.ended || !stream.started || stream.answered >= stage_) break;
      }
    }
    turn_ = 0;
    // On to the next tick that anybody still has to pass.
    std::optional<std::uint64_t> lowest;
    for (const Stream& stream : streams_) {
      if (stream.started && !stream.ended) lowest = std::min(lowest.value_or(stream.answered), stream.answered);
    }
    if (!lowest) return Run{};
    stage_ = *lowest + 1;
  }
}

Result<Merge::Run> Merge::next_by_seen() {
  const auto coordinator = static_cast<std::uint32_t>(streams_.size() - 1);
  while (true) {
    for (; turn_ < coordinator; ++turn_) {
      auto given = advance(turn_);
      if (!given) return tl::unexpected(std::move(given).error());
      if (!given->empty()) return Run{turn_, *given};
    }
    auto run = coordinator_turn();
    if (!run || !run->operations.empty() || streams_.back().ended) return run;
    turn_ = 0;
  }
}

// The coordinator's next lines, up to one that had seen more; none: that has to be read first, or it is at its end.
Result<Merge::Run> Merge::coordinator_turn() {
  const auto number = static_cast<std::uint32_t>(streams_.size() - 1);
  Stream& stream = streams_.back();
  if (stream.ended) return Run{};
  if (!stream.started) {
    if (auto started = start(number); !started) return tl::unexpected(std::move(started).error());
  }
  const auto loaded = load(number);
  if (!loaded) return tl::unexpected(loaded.error());
  if (!*loaded) return Run{};
  std::size_t count = 0;
  for (; count < stream.batch.size(); ++count) {
    const Operation& operation = stream.batch[count];
    if (operation.has(Member::kSeen)) {
      if (count > 0) break;
      if (!barrier_open_) {
        open_barrier(operation);
        return Run{};
      }
      barrier_open_ = false;
    }
    if (operation.function != Function::kTick) continue;
    if (auto passed = pass_tick(number, operation); !passed) return tl::unexpected(std::move(passed).error());
  }
  const auto given = stream.batch.first(count);
  stream.batch = stream.batch.subspan(count);
  stream.next_index += count;
  return Run{number, given};
}

void Merge::open_barrier(const Operation& operation) {
  barrier_open_ = true;
  for (const auto& [name, index] : operation.details->seen) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) continue;
    const bool all = options_.all_evidence && index == sources_[found->second].last_seen;
    streams_[found->second].limit = all ? kUnlimited : index;
  }
  if (!options_.all_evidence) return;
  for (std::size_t i = 0; i + 1 < streams_.size(); ++i) {
    if (!sources_[i].last_seen) streams_[i].limit = kUnlimited;
  }
}

}  // namespace sp::history

#include "history/merge.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace sp::history {
namespace {

constexpr std::size_t kFilesWithThreads = 64;

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
    inputs.push_back({path.string(), [path, &vocabulary](Reader::Options how) { return Reader::open(path, vocabulary, how); }});
  }
  return open(std::move(inputs), options);
}

Result<std::unique_ptr<Merge>> Merge::open(std::vector<Input> inputs, Options options) {
  if (inputs.empty()) return fail(ErrorCode::kInvalid, "no history is named");
  if (inputs.size() > kFilesMax) return fail(ErrorCode::kFull, fmt::format("more than {} files", kFilesMax));
  if (inputs.size() > kFilesWithThreads) options.threads = false;
  std::unique_ptr<Merge> merge(new Merge(options));
  if (inputs.size() == 1) {  // read once, and as it comes: it may be a pipe
    auto reader = inputs.front().open({.accept_torn = options.salvage, .threads = options.threads});
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
  auto reader = streams_.back().input.open({.accept_torn = options_.salvage, .threads = options_.threads});
  if (!reader) return tl::unexpected(std::move(reader).error());
  std::map<std::string, Source*, std::less<>> by_name;
  for (Source& source : std::span(sources_).first(sources_.size() - 1)) {
    by_name.emplace(source_name(source.meta.process, *source.meta.incarnation), &source);
  }
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) return tl::unexpected(batch.error());
    if (batch->empty()) break;
    for (const Operation& operation : *batch) {
      if (operation.function != Function::kTick) continue;
      if (!operation.has(Member::kSeen)) {
        return fail(ErrorCode::kParse, fmt::format("{} line {}: a tick of the coordinator's needs 'seen' where there are other files: "
                                                   "what it had seen of each",
                                                   sources_.back().file, operation.line));
      }
      for (const auto& [name, index] : operation.details->seen) {
        if (const auto found = by_name.find(name); found != by_name.end()) found->second->last_seen = index;
      }
      if (!operation.has(Member::kLostIncarnations)) continue;
      for (const std::string& name : operation.details->lost_incarnations) {
        if (const auto found = by_name.find(name); found != by_name.end()) found->second->lost = true;
      }
    }
  }
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
  auto reader = stream.input.open({.accept_torn = torn, .threads = options_.threads});
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

Result<std::span<const Operation>> Merge::advance(std::uint32_t number) {
  Stream& stream = streams_[number];
  Source& source = sources_[number];
  if (stream.ended || stream.answered >= stage_) return std::span<const Operation>();
  if (!stream.started) {
    if (succeeds_another(number) && !streams_[number - 1].ended) return std::span<const Operation>();
    if (auto started = start(number); !started) return tl::unexpected(std::move(started).error());
  }
  const bool limited = source.last_seen && !options_.all_evidence;
  if (limited && stream.next_index > *source.last_seen) {
    source.limited = !stream.batch.empty();
    end(number);
    return std::span<const Operation>();
  }
  if (stream.batch.empty()) {
    auto batch = stream.reader->next();
    if (!batch) return tl::unexpected(std::move(batch).error());
    stream.batch = *batch;
    if (batch->empty()) {
      end(number);
      return std::span<const Operation>();
    }
  }
  std::size_t count = 0;
  while (count < stream.batch.size() && stream.answered < stage_) {
    const Operation& operation = stream.batch[count];
    if (limited && operation.index > *source.last_seen) break;
    ++count;
    if (operation.function != Function::kTick || streams_.size() == 1) continue;
    if (operation.number <= stream.answered) {
      return fail(ErrorCode::kInvalid, fmt::format("{} line {}: tick {} follows tick {}: a process answers each once, in order, and an "
                                                   "incarnation after the one before it",
                                                   source.file, operation.line, operation.number, stream.answered));
    }
    stream.answered = operation.number;
  }
  const auto given = stream.batch.first(count);
  stream.batch = stream.batch.subspan(count);
  stream.next_index += count;
  return given;
}

Result<Merge::Run> Merge::next() {
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

}  // namespace sp::history

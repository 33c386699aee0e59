#include "check/story.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "codec/json_tree.h"

namespace sp::check {
namespace {

using history::Function;
using history::Member;
using history::Operation;
using history::Type;

constexpr std::size_t kErrorsMax = 8;
// So long before the first of its own lines they are of interest.
constexpr Nanoseconds kErrorsBefore = std::chrono::seconds(5);
constexpr Nanoseconds kFaultsBefore = std::chrono::seconds(60);

using Place = std::pair<std::uint32_t, std::uint64_t>;  // partition and offset

// Of a number line without partitions there is one.
std::string place_text(const Operation& operation) {
  const history::Position& position = operation.position;
  return position.kind == history::Position::Kind::kSequence ? fmt::format("position {} of the stream", position.offset)
                                                             : fmt::format("partition {} offset {}", position.partition, position.offset);
}

std::string error_of(const Operation& operation) {
  if (!operation.has(Member::kError) || operation.details->error.empty()) return "";
  return ": " + printable(operation.details->error);
}

// What is looked for.
struct Subject {
  std::string key;                  // "" and not nameless: positions only
  bool nameless = false;            // records without a key
  std::uint64_t first = 0;
  std::uint64_t last = ~std::uint64_t{0};
  bool whole_key = false;
  std::set<Place> places;
  std::set<std::string> transactions;
};

// One possession of a partition by a consumer, as far as it is told.
struct Holding {
  StoryLine opened;
  bool told = false;
  std::set<Place> handed;           // of the places looked for
  std::set<Place> passed;
};

class Teller {
 public:
  Teller(const history::Merge& merge, const history::Vocabulary& vocabulary, Subject subject, MonotonicTime begin, StoryOptions options)
      : merge_(merge), vocabulary_(vocabulary), subject_(std::move(subject)), begin_(begin), options_(std::move(options)) {}

  void hear(std::uint32_t source, const Operation& operation);
  Story take(Story story);
  [[nodiscard]] bool found() const { return found_; }

 private:
  using Holder = std::pair<std::uint64_t, std::uint32_t>;  // source and process, partition

  StoryLine line(const Operation& operation, std::string what) const;
  void say(const Operation& operation, std::string what);
  void say(StoryLine line);
  void own(const Operation& operation, std::string what);
  [[nodiscard]] bool is_mine(const Operation& operation) const;
  void watch(const Place& place);
  [[nodiscard]] bool watches(std::uint32_t partition) const;
  void attempt(const Operation& operation);
  void possession(const Operation& operation);
  void delivery(const Operation& operation);
  void pass(const Operation& operation, Holding& holding);
  void commit(const Operation& operation);
  void transaction(const Operation& operation);
  void read(const Operation& operation);
  void read_end(const Operation& operation);
  void trouble(const Operation& operation);
  void fault(const Operation& operation);
  void given_up(const Operation& operation);
  [[nodiscard]] Holder holder(std::uint32_t process, std::uint32_t partition) const {
    return {std::uint64_t{source_} << 32U | process, partition};
  }
  [[nodiscard]] std::string within_text(const Operation& operation) const {
    return operation.has(Member::kTxn) ? " within transaction " + printable(txn_of(operation)) : "";
  }
  [[nodiscard]] std::string_view txn_of(const Operation& operation) const { return vocabulary_.words.text(operation.txn); }
  [[nodiscard]] std::string sequence_text(const Operation& operation) const;
  [[nodiscard]] std::string other_text(const Operation& operation) const;

  const history::Merge& merge_;
  const history::Vocabulary& vocabulary_;
  Subject subject_;
  MonotonicTime begin_;
  StoryOptions options_;
  std::uint32_t source_ = 0;
  std::map<Holder, Holding> holdings_;
  std::map<std::uint64_t, std::uint64_t> deliveries_;  // of its sequences, how often
  std::set<Place> read_;                               // by the final read
  std::set<std::pair<std::uint64_t, Place>> committed_past_;
  std::set<std::string> given_up_;
  std::vector<StoryLine> errors_before_;               // the first of its own lines
  std::vector<StoryLine> faults_before_;
  std::optional<Nanoseconds> own_first_;
  std::size_t errors_ = 0;
  bool found_ = false;
  Story story_;
};

StoryLine Teller::line(const Operation& operation, std::string what) const {
  const auto& file = merge_.sources()[source_];
  StoryLine line;
  if (operation.has(Member::kTime)) line.time = MonotonicTime(Nanoseconds(operation.time_ns)) - begin_;
  const std::string_view process = vocabulary_.processes.text(operation.process);
  line.who = file.meta.process == history::kCoordinator || file.meta.process.empty()
                 ? std::string(process)
                 : fmt::format("{} {}", history::source_name(file.meta.process, file.meta.incarnation.value_or(0)), process);
  line.what = std::move(what);
  line.where = fmt::format("{}:{}", std::filesystem::path(file.file).filename().string(), operation.line);
  return line;
}

void Teller::say(StoryLine line) {
  if (story_.lines.size() >= options_.lines_max) {
    ++story_.left_out;
    return;
  }
  story_.lines.push_back(std::move(line));
}

void Teller::say(const Operation& operation, std::string what) { say(line(operation, std::move(what))); }

// A line about the subject itself.
void Teller::own(const Operation& operation, std::string what) {
  StoryLine told = line(operation, std::move(what));
  if (!found_) own_first_ = told.time;
  found_ = true;
  say(std::move(told));
}

bool Teller::is_mine(const Operation& operation) const {
  if (operation.has(Member::kKey) == subject_.nameless) return false;
  if (!subject_.nameless && (subject_.key.empty() || vocabulary_.keys.text(operation.key) != subject_.key)) return false;
  return subject_.whole_key || (operation.has(Member::kValue) && operation.value >= subject_.first && operation.value <= subject_.last);
}

std::string Teller::sequence_text(const Operation& operation) const {
  if (!operation.has(Member::kValue)) return "a record that cannot be read";
  return fmt::format("{} {}", operation.has(Member::kKey) ? "sequence" : "value", operation.value);
}

// Of a record that is not the subject.
std::string Teller::other_text(const Operation& operation) const {
  const bool named = operation.has(Member::kKey) && operation.has(Member::kValue);
  return named ? fmt::format("{} {}", printable(vocabulary_.keys.text(operation.key)), sequence_text(operation)) : sequence_text(operation);
}

// From now on everybody who goes past that place is told, and first who holds the partition.
void Teller::watch(const Place& place) {
  if (!subject_.places.insert(place).second || subject_.whole_key) return;
  for (auto& [holder, holding] : holdings_) {
    if (holder.second == place.first && !std::exchange(holding.told, true)) say(holding.opened);
  }
}

bool Teller::watches(std::uint32_t partition) const {
  const auto at = subject_.places.lower_bound({partition, 0});
  return at != subject_.places.end() && at->first == partition;
}

void Teller::hear(std::uint32_t source, const Operation& operation) {
  source_ = source;
  const Function f = operation.function;
  if (f == Function::kPublish) attempt(operation);
  if (f == Function::kAssign || f == Function::kRevoke) possession(operation);
  if (f == Function::kDeliver) delivery(operation);
  if (f == Function::kCommit) commit(operation);
  if (f == Function::kBegin || f == Function::kAbort || (f == Function::kCommit && !operation.has(Member::kPosition))) {
    transaction(operation);
  }
  if (f == Function::kRead) read(operation);
  if (f == Function::kReadEnd) read_end(operation);
  if (f == Function::kClientError || f == Function::kDisconnect || f == Function::kReconnect) trouble(operation);
  if (f == Function::kFault) fault(operation);
  if (f == Function::kTick || f == Function::kStage) given_up(operation);
}

void Teller::attempt(const Operation& operation) {
  const Place place{operation.position.partition, operation.position.offset};
  if (!is_mine(operation)) {
    const bool of_cycle = operation.has(Member::kTxn) && subject_.transactions.contains(std::string(txn_of(operation)));
    if (of_cycle && operation.has(Member::kPosition) && subject_.places.contains(place)) {
      own(operation, fmt::format("{} acknowledged at {} in transaction {}", other_text(operation), place_text(operation),
                                 printable(txn_of(operation))));
    }
    return;
  }
  const std::string sequence = sequence_text(operation);
  std::string within;
  if (operation.has(Member::kTxn) && operation.type == Type::kInvoke) {
    within = fmt::format(" in transaction {}", printable(txn_of(operation)));
    if (!subject_.whole_key) subject_.transactions.emplace(txn_of(operation));
  }
  switch (operation.type) {
    case Type::kInvoke: own(operation, sequence + " sent" + within); break;
    case Type::kOk:
      own(operation, operation.has(Member::kPosition) ? fmt::format("{} acknowledged at {}", sequence, place_text(operation))
                                                      : sequence + " acknowledged, without a position");
      if (operation.has(Member::kPosition)) watch(place);
      break;
    case Type::kFail: own(operation, sequence + " failed" + error_of(operation)); break;
    case Type::kInfo: own(operation, sequence + ": nobody knows whether it was stored" + error_of(operation)); break;
  }
}

// How the transactions that the subject is about, or was sent in, went on.
void Teller::transaction(const Operation& operation) {
  const std::string name(txn_of(operation));
  if (!operation.has(Member::kTxn) || !subject_.transactions.contains(name)) return;
  const bool commits = operation.function == Function::kCommit;
  if (operation.function == Function::kBegin) {
    if (operation.type == Type::kInvoke) own(operation, fmt::format("transaction {} begins", printable(name)));
    return;
  }
  const std::string_view asked = commits ? "commit" : "abort";
  std::string what;
  switch (operation.type) {
    case Type::kInvoke: what = fmt::format("asks for the {} of transaction {}", asked, printable(name)); break;
    case Type::kOk: what = fmt::format("transaction {} {}", printable(name), commits ? "committed" : "aborted"); break;
    case Type::kFail: what = fmt::format("transaction {}: the {} failed", printable(name), asked); break;
    case Type::kInfo: what = fmt::format("transaction {}: nobody knows how the {} ended", printable(name), asked); break;
  }
  own(operation, what + error_of(operation));
}

void Teller::possession(const Operation& operation) {
  const bool opens = operation.function == Function::kAssign;
  const std::string how = operation.is(Member::kLost) ? "lost" : operation.is(Member::kClosed) ? "closed" : "gave back";
  for (const std::uint32_t partition : operation.details->partitions) {
    std::string what = fmt::format("{} partition {}", opens ? "was assigned" : how, partition);
    if (operation.has(Member::kGeneration)) what += fmt::format(" in generation {}", operation.generation);
    if (opens && operation.has(Member::kStarts)) {
      for (const auto& start : operation.details->starts) {
        if (start.partition == partition) what += fmt::format(", from offset {}", start.offset);
      }
    }
    const bool told = watches(partition) && !subject_.whole_key;
    if (told) say(operation, what);
    const Holder id = holder(operation.process, partition);
    holdings_.erase(id);
    if (opens) holdings_[id] = Holding{line(operation, std::move(what)), told, {}, {}};
  }
}

void Teller::delivery(const Operation& operation) {
  if (!operation.has(Member::kPosition)) {
    if (is_mine(operation)) own(operation, sequence_text(operation) + " handed over");
    return;
  }
  const Place place{operation.position.partition, operation.position.offset};
  Holding& holding = holdings_[holder(operation.process, place.first)];
  if (is_mine(operation)) {
    watch(place);
    const std::uint64_t times = ++deliveries_[operation.value];
    holding.handed.insert(place);
    own(operation, fmt::format("{} handed over from {}{}{}{}", sequence_text(operation), place_text(operation), within_text(operation),
                               times > 1 ? fmt::format(", for the {}. time", times) : "", operation.is_damaged() ? ", damaged" : ""));
    return;
  }
  if (subject_.whole_key) return;
  if (subject_.places.contains(place)) {
    holding.handed.insert(place);
    own(operation, fmt::format("{} was handed over from {}{}", other_text(operation), place_text(operation), within_text(operation)));
    return;
  }
  pass(operation, holding);
}

// Whoever is given a higher position goes past the lower ones.
void Teller::pass(const Operation& operation, Holding& holding) {
  const auto [partition, offset] = Place{operation.position.partition, operation.position.offset};
  for (auto at = subject_.places.lower_bound({partition, 0}); at != subject_.places.end() && *at < Place{partition, offset}; ++at) {
    if (holding.handed.contains(*at) || !holding.passed.insert(*at).second) continue;
    say(operation, fmt::format("was given {}, and not {}", place_text(operation), at->second));
  }
}

void Teller::commit(const Operation& operation) {
  if (operation.type != Type::kOk || subject_.whole_key || !operation.has(Member::kPosition)) return;
  const auto [partition, next] = Place{operation.position.partition, operation.position.offset};
  const std::uint64_t who = holder(operation.process, 0).first;
  for (auto at = subject_.places.lower_bound({partition, 0}); at != subject_.places.end() && *at < Place{partition, next}; ++at) {
    if (!committed_past_.insert({who, *at}).second) continue;
    say(operation, fmt::format("committed partition {} up to offset {}: {} is behind the group", partition, next, at->second));
  }
}

void Teller::read(const Operation& operation) {
  const Place place{operation.position.partition, operation.position.offset};
  const bool mine = is_mine(operation);
  if (!mine && (subject_.whole_key || !subject_.places.contains(place))) return;
  read_.insert(place);
  own(operation, fmt::format("{} found in the log at {}", mine ? sequence_text(operation) : other_text(operation), place_text(operation)));
}

void Teller::read_end(const Operation& operation) {
  if (subject_.whole_key) return;
  for (const auto& target : operation.details->target) {
    for (auto at = subject_.places.lower_bound({target.partition, target.start});
         at != subject_.places.end() && *at < Place{target.partition, target.end}; ++at) {
      if (read_.contains(*at)) continue;
      say(operation, target.reached.value_or(false)
                         ? fmt::format("partition {} was read from {} to {}: offset {} is not in it", target.partition, target.start,
                                       target.end, at->second)
                         : fmt::format("partition {} was to be read from {} to {}, and was not read to its end", target.partition,
                                       target.start, target.end));
    }
  }
}

void Teller::trouble(const Operation& operation) {
  const std::string_view what = operation.function == Function::kDisconnect  ? "lost its connection"
                                : operation.function == Function::kReconnect ? "is connected again"
                                                                             : "reported an error";
  StoryLine told = line(operation, std::string(what) + error_of(operation));
  if (!found_) {
    errors_before_.push_back(std::move(told));
    if (errors_before_.size() > kErrorsMax) errors_before_.erase(errors_before_.begin());
    return;
  }
  if (++errors_ <= kErrorsMax) say(std::move(told));
  if (errors_ == kErrorsMax + 1) say(operation, "more errors are in the file");
}

void Teller::fault(const Operation& operation) {
  std::string what = operation.type == Type::kInvoke ? "fault begins: " : operation.type == Type::kInfo ? "its effect: " : "fault ends: ";
  what += vocabulary_.words.text(operation.name);
  if (operation.has(Member::kDetail)) {
    codec::JsonTree tree;
    if (!tree.parse(operation.details->detail)) {
      for (const auto& node : tree.nodes()) {
        const bool told = node.name == "target" || node.name == "effect";
        if (told && !node.text.empty()) what += fmt::format(", {}", printable(node.text));
      }
    }
  }
  StoryLine told = line(operation, std::move(what));
  if (found_) return say(std::move(told));
  faults_before_.push_back(std::move(told));
}

void Teller::given_up(const Operation& operation) {
  if (!operation.has(Member::kLostIncarnations)) return;
  for (const auto& name : operation.details->lost_incarnations) {
    if (given_up_.insert(name).second) say(operation, name + " was given up: what it did after its last report is not known");
  }
}

// In the order of time as far as it is known; what was there before its own lines only if it is near.
Story Teller::take(Story story) {
  const auto earlier = [](const StoryLine& a, const StoryLine& b) { return a.time && b.time && *a.time < *b.time; };
  for (auto* early : {&errors_before_, &faults_before_}) {
    const Nanoseconds near = early == &errors_before_ ? kErrorsBefore : kFaultsBefore;
    for (auto& line : *early) {
      if (!own_first_ || !line.time || *own_first_ - *line.time <= near) story.lines.push_back(std::move(line));
    }
  }
  story.lines.insert(story.lines.end(), std::make_move_iterator(story_.lines.begin()), std::make_move_iterator(story_.lines.end()));
  std::ranges::stable_sort(story.lines, earlier);
  story.left_out = story_.left_out;
  // The same from the same, again and again: once, with its number.
  std::vector<StoryLine> lines;
  for (auto& line : story.lines) {
    if (!lines.empty() && lines.back().who == line.who && lines.back().what == line.what) {
      ++lines.back().times;
    } else {
      lines.push_back(std::move(line));
    }
  }
  story.lines = std::move(lines);
  return story;
}

std::string range_text(const judge::Finding& finding) {
  const std::string_view what = finding.nameless ? "value" : "sequence";
  return finding.first == finding.last ? fmt::format("{} {}", what, finding.first)
                                       : fmt::format("{}s {} to {}", what, finding.first, finding.last);
}

Result<Subject> subject_of(const report::Report& report, const StoryOptions& options, Story& story) {
  Subject subject;
  if (options.finding == 0) {
    subject.key = options.key;
    subject.whole_key = true;
    story.title = "key " + options.key;
    return subject;
  }
  const auto& findings = report.judgement.findings;
  if (options.finding > findings.size()) {
    return fail(ErrorCode::kNotFound, findings.empty() ? "there is no finding to explain"
                                                       : fmt::format("there is no finding {}: they are numbered from 1 to {}, in the order "
                                                                     "of the JSON result",
                                                                     options.finding, findings.size()));
  }
  const judge::Finding& finding = findings[options.finding - 1];
  const bool keyed = finding.nameless || !finding.key.empty();
  subject.key = finding.key;
  subject.nameless = finding.nameless;
  subject.first = subject.last = finding.first;
  if (!keyed || finding.records == 1) {  // else they are of several records
    for (const auto& position : finding.positions) subject.places.emplace(position.partition.value(), position.offset.value());
  }
  subject.transactions.insert(finding.transactions.begin(), finding.transactions.end());
  story.title = fmt::format("finding {} of {}, {}", options.finding, findings.size(), core::code_row(finding.code).name);
  if (keyed) story.title += fmt::format(": {}{}{}", finding.key, finding.key.empty() ? "" : " ", range_text(finding));
  if (!finding.group.empty()) story.title += ", group " + finding.group;
  story.says = finding.says;
  if (!keyed && !finding.consumer.empty()) story.title += ", consumer " + finding.consumer;
  if (keyed && finding.last > finding.first) story.says += fmt::format("; told of the first, {}", finding.first);
  return subject;
}

}  // namespace

Result<Story> tell(const std::vector<std::filesystem::path>& files, const report::Report& report, const StoryOptions& options) {
  Story story;
  auto subject = subject_of(report, options, story);
  if (!subject) return tl::unexpected(std::move(subject).error());
  history::Vocabulary vocabulary;
  auto merge = history::Merge::open(files, vocabulary, options.merge);
  if (!merge) return tl::unexpected(std::move(merge).error());
  const MonotonicTime begin = report.facts.times ? report.facts.times->begin : MonotonicTime{};
  Teller teller(**merge, vocabulary, std::move(*subject), begin, options);
  while (true) {
    const auto run = (*merge)->next();
    if (!run) return tl::unexpected(run.error());
    if (run->operations.empty()) break;
    for (const Operation& operation : run->operations) teller.hear(run->source, operation);
  }
  if (options.finding == 0 && !teller.found()) {
    return fail(ErrorCode::kNotFound, fmt::format("key '{}' is in none of the files", printable(options.key)));
  }
  return teller.take(std::move(story));
}

std::string story_text(const Story& story) {
  constexpr std::size_t kColumnMax = 90;
  std::size_t who = 0;
  std::size_t what = 0;
  std::vector<std::string> whats;
  for (const auto& line : story.lines) {
    whats.push_back(line.times > 1 ? fmt::format("{} ({} times)", line.what, line.times) : line.what);
    who = std::max(who, line.who.size());
    what = std::max(what, std::min(kColumnMax, whats.back().size()));
  }
  std::string text = story.title + "\n";
  if (!story.says.empty()) text += "  " + story.says + "\n";
  text += "\n";
  for (std::size_t i = 0; i < story.lines.size(); ++i) {
    const auto& line = story.lines[i];
    const std::string time = line.time ? fmt::format("{:.3f} s", std::chrono::duration<double>(*line.time).count()) : "";
    text += fmt::format("  {:>11}  {:<{}}  {:<{}}  {}\n", time, line.who, who, whats[i], what, line.where);
  }
  if (story.left_out > 0) text += fmt::format("  … and {} more lines\n", grouped(story.left_out));
  return text;
}

}  // namespace sp::check

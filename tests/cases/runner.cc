#include "cases/runner.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/core.h>

#include "model/builder.h"

namespace sp::cases {
namespace {

using model::Builder;

// One open or closed lineage of the file, by its name.
struct NamedLineage {
  model::Consumer consumer;
  bool open = false;
};

// A line that is not understood ends the reading; caught in make_scene, never seen outside.
struct Misunderstood {
  std::string why;
};

template <typename T>
T must(Result<T> result) {
  if (!result) throw Misunderstood{result.error().message};
  return std::move(*result);
}

class Reader {
 public:
  Scene read(const CaseFile& file) {
    auto& contract = world_.history.contract;
    contract.at_least_once = true;
    contract.ordering = true;
    contract.timeout = std::chrono::seconds(30);
    for (const auto& line : file.lines) {
      try {
        take(line);
      } catch (const Misunderstood& misunderstood) {
        throw Misunderstood{
            fmt::format("{}.case line {}: {}", file.id, line.number, misunderstood.why)};
      }
    }
    if (!ended_) throw Misunderstood{fmt::format("{}.case: 'end' is missing", file.id)};
    scene_.history = std::move(world_.history);
    return std::move(scene_);
  }

 private:
  using Handler = void (Reader::*)(const Line&);

  void take(const Line& line) {
    static const std::map<std::string, Handler> kVerbs = {{"contract", &Reader::contract},
                                                          {"workers", &Reader::workers},
                                                          {"groups", &Reader::groups},
                                                          {"key", &Reader::key_line},
                                                          {"acked", &Reader::acked},
                                                          {"acked-only", &Reader::acked_only},
                                                          {"stored", &Reader::stored},
                                                          {"issued", &Reader::issued},
                                                          {"unknown", &Reader::unknown},
                                                          {"failed", &Reader::failed},
                                                          {"gone", &Reader::gone},
                                                          {"open", &Reader::open},
                                                          {"deliver", &Reader::deliver},
                                                          {"commit", &Reader::commit},
                                                          {"commit-begin", &Reader::commit_begin},
                                                          {"commit-end", &Reader::commit_end},
                                                          {"close", &Reader::close},
                                                          {"tick", &Reader::tick},
                                                          {"answer", &Reader::answer},
                                                          {"complete", &Reader::complete},
                                                          {"wait", &Reader::wait},
                                                          {"clock", &Reader::clock},
                                                          {"join", &Reader::life},
                                                          {"hold", &Reader::life},
                                                          {"release", &Reader::life},
                                                          {"die", &Reader::life},
                                                          {"away", &Reader::life},
                                                          {"log-begin", &Reader::log_bound},
                                                          {"log-end", &Reader::log_bound},
                                                          {"raw", &Reader::raw},
                                                          {"facts", &Reader::facts},
                                                          {"close-load", &Reader::close_load},
                                                          {"end", &Reader::end},
                                                          {"expect", &Reader::expect},
                                                          {"reference", &Reader::reference}};
    const auto verb = kVerbs.find(line.words[0]);
    if (verb == kVerbs.end()) throw Misunderstood{fmt::format("unknown verb '{}'", line.words[0])};
    static const std::set<std::string> kBeforeWorkers = {"contract", "workers", "groups",   "facts",
                                                         "raw",      "expect",  "reference"};
    if (!kBeforeWorkers.contains(line.words[0]) && !joined_) join_workers({core::SourceId{0, 1}});
    (this->*verb->second)(line);
  }

  [[nodiscard]] static const std::string& word(const Line& line, std::size_t index) {
    if (index >= line.words.size())
      throw Misunderstood{fmt::format("'{}' wants more words", line.words[0])};
    return line.words[index];
  }
  [[nodiscard]] static std::optional<std::uint64_t> option_number(const Line& line,
                                                                  const std::string& name) {
    const std::string* text = line.option(name);
    if (text == nullptr) return std::nullopt;
    return must(parse_number(*text));
  }
  [[nodiscard]] static core::PartitionId partition_of(const Line& line) {
    for (const auto& text : line.words) {
      if (text.size() > 1 && text[0] == 'p' && text[1] >= '0' && text[1] <= '9') {
        return core::PartitionId{
            static_cast<std::uint32_t>(must(parse_number(std::string_view(text).substr(1))))};
      }
    }
    return core::PartitionId{0};
  }
  [[nodiscard]] static std::optional<std::vector<std::uint64_t>> offsets_of(const Line& line) {
    for (const auto& text : line.words) {
      if (text[0] == '@') return must(parse_numbers(std::string_view(text).substr(1)));
    }
    return std::nullopt;
  }
  [[nodiscard]] static core::SourceId source_of(std::string_view text) {
    if (text.size() < 2 || text[0] != 'w')
      throw Misunderstood{fmt::format("'{}' is no worker (w0, w1.2)", text)};
    const auto dot = text.find('.');
    const auto worker =
        must(parse_number(text.substr(1, dot == std::string_view::npos ? dot : dot - 1)));
    const auto life = dot == std::string_view::npos ? 1 : must(parse_number(text.substr(dot + 1)));
    return {static_cast<std::uint32_t>(worker), static_cast<std::uint32_t>(life)};
  }
  [[nodiscard]] core::GroupIndex group_of(const std::string& name) const {
    const auto& names = world_.history.groups;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw Misunderstood{fmt::format("no group '{}'", name)};
    return core::GroupIndex{static_cast<std::uint32_t>(found - names.begin())};
  }

  void join_workers(const std::vector<core::SourceId>& sources) {
    joined_ = true;
    for (const auto& source : sources) world_.join(source);
    first_ = sources.front();
    world_.history.reader = sources.front();
  }

  // ---- keys and records

  const model::Key& key(const std::string& name) {
    const auto found = keys_.find(name);
    if (found != keys_.end()) return found->second;
    if (name[0] == '!') {
      model::Key foreign;
      foreign.foreign = "other-run." + name.substr(1);
      return keys_.emplace(name, std::move(foreign)).first->second;
    }
    return make_key(name, {first_, 0});
  }
  const model::Key& make_key(const std::string& name, const core::KeyBlock& owner) {
    model::Key made;
    made.block = owner;
    made.index = world_.history.key_counts[owner]++;
    scene_.key_names[name] = model::key_text(world_.history.run, made);
    return keys_.emplace(name, std::move(made)).first->second;
  }
  void key_line(const Line& line) {
    const std::string* owner = line.option("owner");
    const core::SourceId source = owner == nullptr ? first_ : source_of(*owner);
    const auto producer = static_cast<std::uint32_t>(option_number(line, "producer").value_or(0));
    for (std::size_t i = 1; i < line.words.size(); ++i) make_key(line.words[i], {source, producer});
  }
  [[nodiscard]] model::Stored record_of(const Line& line, std::uint64_t sequence) {
    model::Stored record;
    record.key = key(word(line, 1));
    record.sequence = sequence;
    if (word(line, 1)[0] == '!') record.content = core::Content::kOtherRun;
    if (line.has("damaged")) record.content = core::Content::kDamaged;
    if (line.has("unchecked")) record.content = core::Content::kUnchecked;
    if (const auto asked = option_number(line, "asked"))
      record.asked = static_cast<std::uint32_t>(*asked);
    return record;
  }
  // Calls `act` with each sequence of the line and its offset, if the line gives one.
  void each(const Line& line,
            const std::function<void(std::uint64_t, std::optional<core::Offset>)>& act) {
    const auto offsets = offsets_of(line);
    std::uint64_t count = 0;
    for (const auto sequence : must(parse_numbers(word(line, 2)))) {
      std::optional<core::Offset> offset;
      if (offsets) offset = core::Offset{offsets->front() + count};
      ++count;
      act(sequence, offset);
    }
  }
  void begin_attempt(const model::Key& of, std::uint64_t sequence) {
    if (issued_.insert({of, sequence}).second) world_.issue(of.block.source, of, sequence);
  }
  void acked(const Line& line) {
    each(line, [&](std::uint64_t sequence, std::optional<core::Offset> offset) {
      const model::Stored record = record_of(line, sequence);
      begin_attempt(record.key, sequence);
      const auto position = world_.store(partition_of(line), record, offset);
      world_.ack(record.key.block.source, record.key, sequence,
                 line.has("nopos") ? std::nullopt : std::optional(position));
    });
  }
  void acked_only(const Line& line) {
    each(line, [&](std::uint64_t sequence, std::optional<core::Offset> offset) {
      const model::Key of = key(word(line, 1));
      begin_attempt(of, sequence);
      std::optional<core::Position> position;
      if (offset) position = core::Position{partition_of(line), *offset};
      world_.ack(of.block.source, of, sequence, position);
    });
  }
  void stored(const Line& line) {
    each(line, [&](std::uint64_t sequence, std::optional<core::Offset> offset) {
      world_.store(partition_of(line), record_of(line, sequence), offset);
    });
  }
  void issued(const Line& line) {
    each(line, [&](std::uint64_t sequence, std::optional<core::Offset>) {
      begin_attempt(key(word(line, 1)), sequence);
    });
  }
  void unknown(const Line& line) {
    each(line, [&](std::uint64_t sequence, std::optional<core::Offset>) {
      begin_attempt(key(word(line, 1)), sequence);
      world_.lose_track(key(word(line, 1)).block.source, key(word(line, 1)), sequence);
    });
  }
  void failed(const Line& line) {
    each(line, [&](std::uint64_t sequence, std::optional<core::Offset>) {
      begin_attempt(key(word(line, 1)), sequence);
      world_.refuse(key(word(line, 1)).block.source, key(word(line, 1)), sequence);
    });
  }
  void gone(const Line& line) {
    const model::Key of = key(word(line, 1));
    each(line, [&](std::uint64_t sequence, std::optional<core::Offset>) {
      for (auto& [partition, records] : world_.logs()) {
        std::erase_if(records, [&](const auto& at) {
          return at.second.key == of && at.second.sequence == sequence;
        });
      }
    });
  }

  // ---- lineages

  NamedLineage& lineage(const Line& line) {
    const auto found = lineages_.find(word(line, 1));
    if (found == lineages_.end())
      throw Misunderstood{fmt::format("no lineage '{}'", word(line, 1))};
    return found->second;
  }
  void open(const Line& line) {
    NamedLineage made;
    made.open = true;
    made.consumer.source = source_of(word(line, 2));
    made.consumer.process =
        static_cast<std::uint32_t>(must(parse_number(std::string_view(word(line, 3)).substr(1))));
    made.consumer.partition = partition_of(line);
    if (const auto* group = line.option("group")) made.consumer.group = group_of(*group);
    model::Opening opening;
    opening.generation = option_number(line, "gen");
    opening.start = option_number(line, "start");
    opening.classic = !line.has("new-protocol");
    opening.member = fmt::format("{}-{}", word(line, 2), word(line, 3));
    if (const auto* member = line.option("member")) opening.member = *member;
    if (const auto* instance = line.option("instance")) opening.instance = *instance;
    world_.open(made.consumer, opening);
    lineages_[word(line, 1)] = made;
    world_.logs()[made.consumer.partition];  // a partition that is read has bounds
  }
  void close(const Line& line) {
    NamedLineage& closed = lineage(line);
    auto how = core::LineageClose::kRevoked;
    if (line.has("lost")) how = core::LineageClose::kLost;
    if (line.has("closed")) how = core::LineageClose::kClosed;
    world_.close(closed.consumer, how);
    closed.open = false;
  }
  void deliver(const Line& line) {
    const auto consumer = lineage(line).consumer;
    const auto& log = world_.log(consumer.partition);
    if (word(line, 2)[0] == '@') {
      const auto offsets = offsets_of(line);
      for (const auto offset : *offsets) {
        const auto found = log.find(offset);
        if (found != log.end()) world_.deliver(consumer, found->second, core::Offset{offset});
      }
      return;
    }
    Line shifted = line;  // the record's words stand one further to the right than in acked
    shifted.words.erase(shifted.words.begin() + 1);
    each(shifted, [&](std::uint64_t sequence, std::optional<core::Offset> offset) {
      const model::Stored record = record_of(shifted, sequence);
      if (!offset && !line.has("nopos")) {
        for (const auto& [at, stored] : log) {
          if (!offset && stored.key == record.key && stored.sequence == sequence)
            offset = core::Offset{at};
        }
        if (!offset)
          throw Misunderstood{fmt::format("the log does not hold {} {}; say @offset or nopos",
                                          word(shifted, 1), sequence)};
      }
      world_.deliver(consumer, record, line.has("nopos") ? std::nullopt : offset);
    });
  }
  static track::CommitOutcome outcome_of(const Line& line) {
    if (line.has("fail")) return track::CommitOutcome::kFail;
    if (line.has("info")) return track::CommitOutcome::kInfo;
    if (!line.has("ok")) throw Misunderstood{"a commit ends ok, fail or info"};
    return track::CommitOutcome::kOk;
  }
  void commit(const Line& line) {
    commit_begin(line);
    commit_end(line);
  }
  void commit_begin(const Line& line) {
    world_.commit_begin(lineage(line).consumer, must(parse_number(word(line, 2))));
  }
  void commit_end(const Line& line) {
    world_.commit_end(lineage(line).consumer, must(parse_number(word(line, 2))), outcome_of(line));
  }

  // ---- time and life

  void tick(const Line& line) {
    const auto* every = line.option("every");
    const Nanoseconds step =
        every == nullptr ? std::chrono::seconds(1) : must(parse_duration(*every));
    const std::uint64_t count = line.words.size() > 1 ? must(parse_number(line.words[1])) : 1;
    for (std::uint64_t i = 0; i < count; ++i) world_.tick(step);
  }
  void answer(const Line& line) {
    for (std::size_t i = 1; i < line.words.size(); ++i) world_.answer(source_of(line.words[i]));
  }
  void complete(const Line& line) {
    const auto* after = line.option("after");
    world_.complete(after == nullptr ? std::chrono::seconds(1) : must(parse_duration(*after)));
  }
  void wait(const Line& line) { world_.now += must(parse_duration(word(line, 1))); }
  void clock(const Line& line) {
    const auto* back = line.option("back");
    world_.clocks_back[source_of(word(line, 1))] =
        back == nullptr ? Nanoseconds{} : must(parse_duration(*back));
  }
  void life(const Line& line) {
    const core::SourceId source = source_of(word(line, 1));
    if (line.words[0] == "join") world_.join(source);
    if (line.words[0] == "hold") world_.hold(source);
    if (line.words[0] == "release") world_.release(source);
    if (line.words[0] == "away") world_.away(source);
    if (line.words[0] == "die") world_.die(source);
    if (line.words[0] != "die" && line.words[0] != "away") return;
    for (auto& [name, held] : lineages_) {
      if (held.consumer.source == source) held.open = false;  // nobody is there to close it
    }
  }

  // ---- set-up

  void workers(const Line& line) {
    std::vector<core::SourceId> sources;
    for (std::size_t i = 1; i < line.words.size(); ++i) sources.push_back(source_of(line.words[i]));
    join_workers(sources);
  }
  void groups(const Line& line) {
    world_.history.groups.assign(line.words.begin() + 1, line.words.end());
  }
  void contract(const Line& line) {
    auto& made = world_.history.contract;
    made.at_least_once = line.has("at_least_once");
    made.ordering = line.has("ordering");
    made.exactly_once = line.has("exactly_once");
    if (!made.at_least_once && !made.ordering && !made.exactly_once && !line.has("none")) {
      made.at_least_once = made.ordering = true;
    }
    made.idempotent = line.has("idempotent");
    made.topic_created = !line.has("reused");
    made.partition_change = line.has("partition-change");
    made.shared = line.has("shared");
    if (made.shared) made.acknowledgement = core::Acknowledgement::kIndividual;
    for (const auto& [name, value] : line.options) contract_option(name, value);
  }
  void contract_option(const std::string& name, const std::string& value) {
    auto& made = world_.history.contract;
    if (name == "timeout") made.timeout = must(parse_duration(value));
    if (name == "order") {
      made.order = value == "none"        ? core::Order::kNone
                   : value == "partition" ? core::Order::kPartition
                                          : core::Order::kKey;
      if (made.order == core::Order::kNone) made.ordering = false;
    }
    if (name == "raw") {
      made.raw_read = value == "full"   ? core::RawReadScope::kFull
                      : value == "none" ? core::RawReadScope::kNone
                                        : core::RawReadScope::kHoles;
    }
    if (name == "gaps") (value == "compaction" ? made.gaps_compaction : made.gaps_retention) = true;
    if (name == "stall") made.thresholds.stall_seconds_max = must(parse_number(value));
    if (name == "duplicates") made.thresholds.duplicates_max = must(parse_number(value));
    if (name == "errors") made.thresholds.errors_max = must(parse_number(value));
    if (name == "timeouts") made.thresholds.timeouts_max = must(parse_number(value));
    if (name == "rate") made.thresholds.rate_min = static_cast<double>(must(parse_number(value)));
  }
  void log_bound(const Line& line) {
    auto& bounds = line.words[0] == "log-begin" ? begins_ : ends_;
    bounds[partition_of(line)] = must(parse_number(word(line, 2)));
  }
  void raw(const Line& line) {
    if (line.has("fails")) world_.history.log.outcome = model::RawOutcome::kFails;
    if (line.has("unavailable")) world_.history.log.outcome = model::RawOutcome::kUnavailable;
  }
  void facts(const Line& line) {
    world_.history.facts.stopped = line.has("stopped");
    scene_.stopped_after_end = line.has("stopped-after-end");
    if (const auto rate = option_number(line, "rate"))
      world_.history.facts.rate = static_cast<double>(*rate);
    if (const auto* lost = line.option("lost")) world_.history.facts.workers_lost.push_back(*lost);
    if (const auto* refused = line.option("refused"))
      world_.history.facts.refused[*refused] = "needs READ";
    world_.history.facts.raw_read_refused = line.has("raw-refused");
  }
  void reference(const Line&) { scene_.reference = false; }

  // ---- the end

  void close_load(const Line&) {
    world_.close_load();
    load_closed_ = true;
  }
  void end(const Line& line) {
    if (!line.has("no-tick")) world_.tick(std::chrono::seconds(1));
    if (!load_closed_) world_.close_load();
    const auto* age = line.option("age");
    world_.now += age == nullptr ? world_.history.contract.timeout + std::chrono::seconds(1)
                                 : must(parse_duration(*age));
    for (auto& [name, held] : lineages_) {
      if (held.open) world_.close(held.consumer, core::LineageClose::kClosed);
    }
    world_.close_consumers();
    world_.write_log(begins_, ends_);
    ended_ = true;
  }

  void expect(const Line& line) {
    Expectation& expected = scene_.expected;
    const std::string& what = word(line, 1);
    if (what == "verdict") {
      expected.verdict = word(line, 2);
    } else if (what == "exit") {
      expected.exit = static_cast<int>(must(parse_number(word(line, 2))));
    } else if (what == "undecided") {
      expected.undecided = must(parse_number(word(line, 2)));
    } else if (what == "coverage" || what == "not-checked") {
      auto& items = what == "coverage" ? expected.coverage : expected.not_checked;
      for (const auto& [name, value] : line.options) items[name] = must(parse_number(value));
    } else if (what == "reason") {
      expected.reasons.push_back(word(line, 2));
    } else if (what == "no-alarms") {
      expected.no_alarms = true;
    } else if (what == "verified") {
      expected.verified = must(parse_number(word(line, 2)));
    } else if (what == "timeouts") {
      expected.timeouts = must(parse_number(word(line, 2)));
    } else if (what == "stall") {
      expected.stall_seconds = must(parse_number(word(line, 2)));
    } else if (what == "finding") {
      expect_finding(line);
    } else {
      const auto code = core::find_code(what);
      if (!code) throw Misunderstood{fmt::format("nothing to expect is called '{}'", what)};
      expected.counts[*code] = must(parse_number(word(line, 2)));
      if (const auto allowed = option_number(line, "allowed")) expected.allowed[*code] = *allowed;
    }
  }
  void expect_finding(const Line& line) {
    ExpectedFinding finding;
    const auto code = core::find_code(word(line, 2));
    if (!code) throw Misunderstood{fmt::format("no code '{}'", word(line, 2))};
    finding.code = *code;
    finding.key = word(line, 3);
    if (finding.key != "-") {
      const auto range = must(parse_numbers(word(line, 4)));
      finding.first = range.front();
      finding.last = range.back();
    }
    if (const auto* blame = line.option("blame")) finding.blame = *blame;
    if (const auto* group = line.option("group")) finding.group = *group;
    for (std::size_t i = finding.key == "-" ? 4 : 5; i < line.words.size(); ++i)
      finding.says.push_back(line.words[i]);
    scene_.expected.findings.push_back(std::move(finding));
  }

  Builder world_;
  Scene scene_;
  core::SourceId first_{0, 1};
  bool joined_ = false;
  bool load_closed_ = false;
  bool ended_ = false;
  std::map<std::string, model::Key> keys_;
  std::map<std::string, NamedLineage> lineages_;
  std::set<std::pair<model::Key, std::uint64_t>> issued_;
  std::map<core::PartitionId, std::uint64_t> begins_;
  std::map<core::PartitionId, std::uint64_t> ends_;
};

}  // namespace

Result<Scene> make_scene(const CaseFile& file) {
  try {
    return Reader().read(file);
  } catch (const Misunderstood& misunderstood) {
    return fail(ErrorCode::kParse, misunderstood.why);
  }
}

}  // namespace sp::cases

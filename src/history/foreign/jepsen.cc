#include "history/foreign/jepsen.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "codec/json_writer.h"

namespace sp::history {
namespace {

using Edn = codec::EdnNode::Kind;

constexpr std::string_view kGroup = "jepsen";
constexpr std::array<std::string_view, 7> kJepsenFunctions = {"send",   "poll",  "txn", "subscribe",
                                                              "assign", "crash", "debug-topic-partitions"};
constexpr std::string_view kJepsenFunctionsNamed = ":send, :poll, :txn, :subscribe, :assign, :crash, :debug-topic-partitions";

bool is_mops(std::string_view f) { return f == "send" || f == "poll" || f == "txn"; }
bool is_sequence(const codec::EdnNode& node) { return node.kind == Edn::kVector || node.kind == Edn::kList; }
std::string producer_name(std::int64_t process) { return fmt::format("producer-{}", process); }
std::string consumer_name(std::int64_t process) { return fmt::format("consumer-{}", process); }

}  // namespace

Result<Meta> JepsenHistory::survey() {
  if (inputs_.size() != 1) {
    return fail(ErrorCode::kInvalid, fmt::format("{} files are given: a Jepsen history is one file, history.edn", inputs_.size()));
  }
  Vocabulary vocabulary;
  Told nowhere(vocabulary, [](const Operation&) { return Result<void>(); });
  if (auto all = run(nowhere); !all) return tl::unexpected(std::move(all).error());
  Meta meta;
  meta.driver = "jepsen";
  meta.client = "jepsen.tests.kafka";
  meta.scenario = "jepsen";
  // With subscribe the group moves partitions unseen between two polls; the workload too allows skips and repeats then.
  meta.contract = subscribes_ ? R"({"delivery":"at-least-once","order":"none","redelivery":"any"})"
                              : R"({"delivery":"at-least-once","order":"partition","redelivery":"any"})";
  meta.raw_read = false;
  return meta;
}

Result<void> JepsenHistory::tell(Told& told) { return run(told); }

Result<void> JepsenHistory::run(Told& told) {
  auto source = inputs_[0].open();
  if (!source) return tl::unexpected(std::move(source).error());
  reader_.emplace(std::move(*source), inputs_[0].name, codec::EdnReader::Options{.accept_torn = options_.salvage});
  notes_.clear();
  open_.clear();
  consumers_.clear();
  nemesis_open_.clear();
  text_keys_.reset();
  last_time_.reset();
  transactions_ = 0;
  while (true) {
    const auto form = reader_->next();
    if (!form) return tl::unexpected(form.error());
    if (form->empty()) break;
    nodes_ = *form;
    const auto line = read_line();
    if (!line) return tl::unexpected(line.error());
    if (line->time_ns) last_time_ = line->time_ns;
    auto done = line->nemesis                 ? nemesis(*line, told)
                : line->type == Type::kInvoke ? invoke(*line, told)
                                              : complete(*line, told);
    if (!done) return done;
  }
  return close_all(told);
}

tl::unexpected<Error> JepsenHistory::refuse(std::size_t at, std::string_view says) const {
  return tl::unexpected<Error>(reader_->error_at(node(at), says));
}

Result<JepsenHistory::Line> JepsenHistory::read_line() {
  std::size_t root = 0;
  if (node(0).kind == Edn::kTagged && node(0).text == "jepsen.history.Op") root = 1;
  if (node(root).kind != Edn::kMap) return refuse(root, "an operation is a map, {:type :invoke, :f :send, …}: is this a history.edn?");
  Line line;
  std::set<std::string_view> seen;
  std::optional<std::size_t> type;
  bool has_process = false;
  for (std::size_t at = root + 1; at < node(root).end;) {
    const std::size_t name = at;
    const std::size_t member = node(name).end;
    at = node(member).end;
    if (node(name).kind != Edn::kKeyword) continue;
    if (!seen.insert(node(name).text).second) return refuse(name, fmt::format("member :{} stands twice: leave one", node(name).text));
    if (node(name).text == "type") type = member;
    has_process = has_process || node(name).text == "process";
    if (auto read = read_member(line, node(name).text, member); !read) return tl::unexpected(std::move(read).error());
  }
  if (!has_process) return refuse(root, "member :process is missing: a number or :nemesis");
  if (!type) return refuse(root, "member :type is missing: :invoke, :ok, :fail or :info");
  if (line.f.empty()) return refuse(root, "member :f is missing: what the operation does, a keyword");
  if (!line.nemesis && std::ranges::find(kJepsenFunctions, line.f) == kJepsenFunctions.end()) {
    return refuse(root, fmt::format("operation :{} is none of the Kafka workload ({}): only its histories can be converted", line.f,
                                    kJepsenFunctionsNamed));
  }
  return line;
}

Result<void> JepsenHistory::read_member(Line& line, std::string_view name, std::size_t value) {
  const auto& what = node(value);
  if (name == "type") {
    const auto type = what.kind == Edn::kKeyword ? find_type(what.text) : std::nullopt;
    if (!type) return refuse(value, ":type is :invoke, :ok, :fail or :info");
    line.type = *type;
  } else if (name == "f") {
    if (what.kind != Edn::kKeyword) return refuse(value, ":f is a keyword: what the operation does");
    line.f = what.text;
  } else if (name == "process") {
    return read_process(line, value);
  } else if (name == "time") {
    if (what.kind == Edn::kNil) return {};
    if (what.kind != Edn::kInteger) return refuse(value, ":time is a whole number of nanoseconds");
    line.time_ns = what.number;
  } else if (name == "value" && what.kind != Edn::kNil) {
    line.value = value;
  } else if (name == "error" && what.kind != Edn::kNil) {
    line.error = value;
  } else if (name == "rebalance-log" && what.kind != Edn::kNil) {
    line.rebalances = value;
  } else if (name == "seek-to-beginning?") {
    line.seeks = what.kind == Edn::kBool && what.yes;
  } else if (name == "end-process?") {
    line.ends_process = what.kind == Edn::kBool && what.yes;
  }
  return {};
}

Result<void> JepsenHistory::read_process(Line& line, std::size_t value) {
  const auto& what = node(value);
  if (is_keyword(value, "nemesis")) {
    line.nemesis = true;
    return {};
  }
  if (what.kind != Edn::kInteger || what.number < 0) return refuse(value, ":process is a whole number from 0 or :nemesis");
  line.process = what.number;
  return {};
}

// The nemesis says :info twice: when it is asked to do something, and when it has done it.
Result<void> JepsenHistory::nemesis(const Line& line, Told& told) {
  Type type = line.type;
  if (type == Type::kOk) type = Type::kInfo;
  if (line.type == Type::kInfo) type = nemesis_open_ == line.f ? Type::kInfo : Type::kInvoke;
  nemesis_open_ = type == Type::kInvoke ? std::string(line.f) : std::string();
  told.begin(Function::kFault, type, "nemesis", line.time_ns).name(line.f).error(error_text(line));
  if (line.value) {
    std::string json;
    codec::append_json_string(json, reader_->text(node(*line.value)));
    told.detail(json);
  }
  return told.write();
}

Result<void> JepsenHistory::invoke(const Line& line, Told& told) {
  const auto [at, fresh] = open_.try_emplace(line.process);
  if (!fresh) {
    return refuse(0, fmt::format("process {} invokes :{} while its :{} has no completion: a process does one thing at a time",
                                 line.process, line.f, at->second.f));
  }
  Open& open = at->second;
  open.f = line.f;
  if (line.f == "subscribe") subscribes_ = true;
  if (!is_mops(line.f)) return {};
  const auto all = mops(line);
  if (!all) return tl::unexpected(all.error());
  const std::string producer = producer_name(line.process);
  if (line.f == "txn") {
    open.txn = fmt::format("txn-{}", ++transactions_);
    if (auto begun = told.begin(Function::kBegin, Type::kInvoke, producer, line.time_ns).txn(open.txn).write(); !begun) return begun;
  }
  for (const std::size_t mop : *all) {
    if (is_poll(mop)) continue;
    const auto send = sent(mop);
    if (!send) return tl::unexpected(send.error());
    open.sends.push_back(send->record);
    told.begin(Function::kPublish, Type::kInvoke, producer, line.time_ns).key(std::to_string(send->record.key));
    told.value(send->record.value - 1);
    if (!open.txn.empty()) told.txn(open.txn);
    if (auto written = told.write(); !written) return written;
  }
  // When it was asked for is not said: from here on it may have been.
  return open.txn.empty() ? Result<void>() : told.begin(Function::kCommit, Type::kInvoke, producer, line.time_ns).txn(open.txn).write();
}

Result<void> JepsenHistory::complete(const Line& line, Told& told) {
  const auto at = open_.find(line.process);
  if (at == open_.end() || at->second.f != line.f) {
    return refuse(0, fmt::format("process {} completes a :{} that it has not invoked: the history lacks its beginning",
                                 line.process, line.f));
  }
  const Open open = std::move(at->second);
  open_.erase(at);
  Result<void> done;
  if (is_mops(line.f)) done = complete_mops(line, open, told);
  if (line.f == "subscribe") done = subscribe(line, told);
  if (line.f == "assign") done = assign(line, told);
  if (line.f == "debug-topic-partitions") notes_.count("operations :debug-topic-partitions are left out: they say nothing of a record");
  if (!done) return done;
  // Jepsen gives up a process of which it does not know what it did: its clients are closed, and another process takes its place.
  return line.type == Type::kInfo || line.ends_process ? retire(line, told) : Result<void>();
}

Result<void> JepsenHistory::complete_mops(const Line& line, const Open& open, Told& told) {
  std::vector<std::size_t> all;
  if (line.value) {
    auto read = mops(line);
    if (!read) return tl::unexpected(std::move(read).error());
    all = std::move(*read);
  }
  if (!line.value && line.type == Type::kOk) return refuse(0, "an operation that is :ok has a :value");
  if (!open.txn.empty()) {
    const Type begun = line.type == Type::kOk ? Type::kOk : Type::kInfo;
    told.begin(Function::kBegin, begun, producer_name(line.process), line.time_ns).txn(open.txn);
    if (auto written = told.write(); !written) return written;
  }
  const auto polls = std::ranges::count_if(all, [&](std::size_t mop) { return is_poll(mop); });
  std::size_t sends = 0;
  for (const std::size_t mop : all) {
    if (is_poll(mop)) {
      if (polls == 1) {
        if (auto moved = rebalance(line, told); !moved) return moved;
      }
      if (auto delivered = deliver(line, open, mop, told); !delivered) return delivered;
      continue;
    }
    const auto send = sent(mop);
    if (!send) return tl::unexpected(send.error());
    if (sends == open.sends.size() || !(open.sends[sends] == send->record)) {
      return refuse(mop, "this send is not the one that was invoked: a completion has the sends of its invocation, in their order");
    }
    ++sends;
    if (auto written = publish_outcome(line, open, *send, told); !written) return written;
  }
  if (line.value && sends != open.sends.size()) return refuse(*line.value, "the completion lacks a send that was invoked");
  for (; sends < open.sends.size(); ++sends) {
    if (auto written = publish_outcome(line, open, {open.sends[sends], std::nullopt}, told); !written) return written;
  }
  if (auto committed = commit_outcome(line, open, told); !committed) return committed;
  if (polls == 1 || !line.rebalances) return {};
  notes_.count(
      "operations moved partitions during several polls, or none: that is told behind their records, but may have come between them");
  return rebalance(line, told);
}

Result<void> JepsenHistory::publish_outcome(const Line& line, const Open& open, const Sent& sent, Told& told) {
  told.begin(Function::kPublish, line.type, producer_name(line.process), line.time_ns).key(std::to_string(sent.record.key));
  told.value(sent.record.value - 1);
  if (sent.offset && line.type != Type::kFail) told.position(sent.record.key, *sent.offset);
  if (!open.txn.empty()) told.txn(open.txn);
  if (line.type != Type::kOk) told.error(error_text(line));
  return told.write();
}

Result<void> JepsenHistory::commit_outcome(const Line& line, const Open& open, Told& told) {
  if (open.txn.empty()) return {};
  return told.begin(Function::kCommit, line.type, producer_name(line.process), line.time_ns).txn(open.txn).error(error_text(line)).write();
}

Result<void> JepsenHistory::deliver(const Line& line, const Open& open, std::size_t poll, Told& told) {
  const std::size_t first = node(poll + 1).end;   // behind :poll
  if (first >= node(poll).end) return {};         // [:poll]: it was not answered
  const auto& map = node(first);
  if (map.kind == Edn::kNil) return {};
  if (map.kind != Edn::kMap) return refuse(first, "a poll is answered by a map, {key [[offset value] …]}");
  for (std::size_t at = first + 1; at < map.end;) {
    const std::size_t pairs_at = node(at).end;
    const auto partition = key(at);
    if (!partition) return tl::unexpected(partition.error());
    const auto pairs = items(pairs_at, "what a poll found of a key is a vector, [[offset value] …]");
    if (!pairs) return tl::unexpected(pairs.error());
    at = node(pairs_at).end;
    if (line.type != Type::kOk) {
      notes_.count("records of polls that did not succeed are left out: whether the consumer went on from there is not said",
                   pairs->size());
      continue;
    }
    for (const std::size_t pair : *pairs) {
      if (auto delivered = deliver_pair(line, open, *partition, pair, told); !delivered) return delivered;
    }
  }
  return {};
}

Result<void> JepsenHistory::deliver_pair(const Line& line, const Open& open, std::uint32_t key, std::size_t pair, Told& told) {
  const auto parts = items(pair, "a record that was polled is [offset value]");
  if (!parts) return tl::unexpected(parts.error());
  if (parts->size() != 2) return refuse(pair, "a record that was polled is [offset value]");
  const auto place = offset((*parts)[0]);
  if (!place) return tl::unexpected(place.error());
  const auto number = value((*parts)[1]);
  if (!number) return tl::unexpected(number.error());
  if (auto opened = open_consumer(line, "committed", told); !opened) return opened;
  told.begin(Function::kDeliver, Type::kOk, consumer_name(line.process), line.time_ns).key(std::to_string(key)).value(*number - 1);
  if (*place) told.position(key, **place);
  if (!open.txn.empty()) told.txn(open.txn);
  return told.write();
}

Result<void> JepsenHistory::open_consumer(const Line& line, std::string_view start, Told& told) {
  Consumer& consumer = consumers_[line.process];
  if (consumer.subscribed) return {};
  consumer.subscribed = true;
  return told.begin(Function::kSubscribe, Type::kOk, consumer_name(line.process), line.time_ns).start(start).group(kGroup).write();
}

Result<void> JepsenHistory::subscribe(const Line& line, Told& told) {
  if (line.type == Type::kOk) return open_consumer(line, "committed", told);
  told.begin(Function::kSubscribe, line.type, consumer_name(line.process), line.time_ns).group(kGroup);
  return told.error(error_text(line)).write();
}

Result<void> JepsenHistory::assign(const Line& line, Told& told) {
  if (line.type != Type::kOk) return subscribe(line, told);
  if (!line.value) return refuse(0, "an :assign that is :ok has a :value, the keys");
  const auto wanted = keys(*line.value);
  if (!wanted) return tl::unexpected(wanted.error());
  Consumer& consumer = consumers_[line.process];
  const std::set<std::uint32_t> now(wanted->begin(), wanted->end());
  std::vector<std::uint32_t> left;
  std::vector<std::uint32_t> entered;
  for (const std::uint32_t partition : consumer.held) {
    if (line.seeks || !now.contains(partition)) left.push_back(partition);
  }
  for (const std::uint32_t partition : now) {
    if (line.seeks || !consumer.held.contains(partition)) entered.push_back(partition);
  }
  if (auto revoked = lineages(line, Function::kRevoke, left, told); !revoked) return revoked;
  if (line.seeks) consumer.subscribed = false;
  if (auto opened = open_consumer(line, line.seeks ? "earliest" : "committed", told); !opened) return opened;
  return lineages(line, Function::kAssign, entered, told);
}

Result<void> JepsenHistory::lineages(const Line& line, Function function, const std::vector<std::uint32_t>& partitions, Told& told) {
  if (partitions.empty()) return {};
  auto& held = consumers_[line.process].held;
  for (const std::uint32_t partition : partitions) {
    if (function == Function::kAssign) {
      held.insert(partition);
    } else {
      held.erase(partition);
    }
  }
  return told.begin(function, Type::kOk, consumer_name(line.process), line.time_ns).partitions(partitions).write();
}

Result<void> JepsenHistory::rebalance(const Line& line, Told& told) {
  if (!line.rebalances) return {};
  if (!is_sequence(node(*line.rebalances))) {
    notes_.count("rebalance logs are left out: they are no list of events");
    return {};
  }
  const auto events = items(*line.rebalances, "");
  if (!events) return tl::unexpected(events.error());
  for (const std::size_t event : *events) {
    if (auto moved = rebalance_event(line, event, told); !moved) return moved;
  }
  return {};
}

Result<void> JepsenHistory::rebalance_event(const Line& line, std::size_t event, Told& told) {
  std::optional<std::size_t> type;
  std::optional<std::size_t> partitions;
  if (node(event).kind == Edn::kMap) {
    for (std::size_t at = event + 1; at < node(event).end; at = node(node(at).end).end) {
      if (is_keyword(at, "type")) type = node(at).end;
      if (is_keyword(at, "keys")) partitions = node(at).end;
    }
  }
  const bool assigned = type && is_keyword(*type, "assigned");
  const bool lost = type && is_keyword(*type, "lost");
  if (!partitions || !(assigned || lost || (type && is_keyword(*type, "revoked")))) {
    notes_.count("rebalance events are left out: they lack :keys or a :type that is :assigned, :revoked or :lost");
    return {};
  }
  const auto read = keys(*partitions);
  if (!read) return tl::unexpected(read.error());
  if (auto opened = open_consumer(line, "committed", told); !opened) return opened;
  const auto& held = consumers_[line.process].held;
  std::set<std::uint32_t> concerned;
  for (const std::uint32_t partition : *read) {
    if (held.contains(partition) != assigned) concerned.insert(partition);
    if (!assigned && !held.contains(partition)) notes_.count("revocations are left out: the history lacks the assignment before them");
  }
  const std::vector<std::uint32_t> moved(concerned.begin(), concerned.end());
  if (!lost || moved.empty()) return lineages(line, assigned ? Function::kAssign : Function::kRevoke, moved, told);
  for (const std::uint32_t partition : moved) consumers_[line.process].held.erase(partition);
  return told.begin(Function::kRevoke, Type::kOk, consumer_name(line.process), line.time_ns).partitions(moved).lost().write();
}

Result<void> JepsenHistory::retire(const Line& line, Told& told) {
  const auto at = consumers_.find(line.process);
  if (at == consumers_.end()) return {};
  const std::vector<std::uint32_t> held(at->second.held.begin(), at->second.held.end());
  const bool subscribed = at->second.subscribed;
  consumers_.erase(at);
  const std::string consumer = consumer_name(line.process);
  if (!held.empty()) {
    told.begin(Function::kRevoke, Type::kOk, consumer, line.time_ns).partitions(held).closed();
    if (auto left = told.write(); !left) return left;
  }
  if (!subscribed) return {};
  return told.begin(Function::kUnsubscribe, Type::kOk, consumer, line.time_ns).write();
}

// What has no completion by the end of the file is unknown.
Result<void> JepsenHistory::close_all(Told& told) {
  constexpr std::string_view kWhy = "no completion in the history";
  for (const auto& [process, open] : open_) {
    const std::string producer = producer_name(process);
    if (!open.txn.empty()) {
      told.begin(Function::kBegin, Type::kInfo, producer, last_time_).txn(open.txn).error(kWhy);
      if (auto begun = told.write(); !begun) return begun;
    }
    for (const Record& record : open.sends) {
      told.begin(Function::kPublish, Type::kInfo, producer, last_time_).key(std::to_string(record.key));
      told.value(record.value - 1).error(kWhy);
      if (!open.txn.empty()) told.txn(open.txn);
      if (auto written = told.write(); !written) return written;
    }
    notes_.count("operations have no completion in the history: what they sent is of unknown outcome");
  }
  if (reader_->torn_line() != 0) {
    notes_.say(fmt::format("{}: line {} is cut off and left out", inputs_[0].name, reader_->torn_line()));
    return {};
  }
  return told.begin(Function::kEnd, Type::kOk, "jepsen", last_time_).reason("done").write();
}

}  // namespace sp::history

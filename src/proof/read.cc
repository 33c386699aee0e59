#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/text.h"
#include "codec/utf8.h"
#include "proof/check.h"
#include "proof/fields.h"
#include "proof/visit.h"

namespace sp::proof {
namespace {

using std::chrono::seconds;

constexpr std::size_t kNameBytesMax = 200;  // of a setting; a YAML name may not be longer than 1024

// Fields of the REST interface that this program knows and does not read, and what to do instead.
struct ForeignField {
  std::string_view name;
  std::string_view remedy;
};
constexpr std::array kForeignFields = {
    ForeignField{"id", "remove it; each run gets its own"},
    ForeignField{"startTime", "remove it; it is set when the proof starts"},
    ForeignField{"drivers",
                 "name one system with 'driver'; separate systems for producers and consumers are "
                 "not supported yet"},
    ForeignField{"webhookConfig", "remove it; the exit code and result.json say how a run ended"},
    ForeignField{"pulsar", "remove it; there is no driver for Pulsar yet"},
};

// What stands for one value, in a file or in a flag: the text, or why there is none.
struct Words {
  std::string place;
  std::string text;
};

std::string number_range(const Field& field) {
  if (field.last == UINT64_MAX)
    return fmt::format("write a whole number of {} or more", field.first);
  return fmt::format("write a number from {} to {}", field.first, grouped(field.last));
}

Result<std::uint64_t> read_number(const Field& field, std::string_view text) {
  auto number = parse_unsigned(text);
  if (!number) return number;
  if (*number < field.first || *number > field.last) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is out of range", *number));
  }
  return number;
}

Result<seconds> read_seconds(const Field& field, std::string_view text) {
  if (field.below_first_is_first && text.starts_with('-') && parse_signed(text))
    return seconds{field.first};
  const auto duration = parse_duration(text);
  if (!duration) return tl::unexpected(duration.error());
  const auto whole = std::chrono::duration_cast<seconds>(*duration);
  if (whole != *duration)
    return fail(ErrorCode::kInvalid, fmt::format("'{}' is not a whole number of seconds", text));
  const auto number = static_cast<std::uint64_t>(whole.count());
  if (number < field.first || number > field.last) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is out of range", human_duration(whole)));
  }
  return whole;
}

template <typename Rows>
std::string all_names(const Rows& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == rows.size() ? " or " : ", ", rows[i].name);
  }
  return text;
}

// Reads one proof: the file first, then the flags over it, collecting what is wrong.
class ProofReader {
 public:
  explicit ProofReader(Proof defaults) { reading_.proof = std::move(defaults); }

  void file(const codec::Node& root, std::string_view name);
  void flag(const Flag& flag);
  void fault(Fault fault) { reading_.faults.push_back(std::move(fault)); }
  void check(std::span<const DriverFacts> drivers);
  [[nodiscard]] ProofReading take() { return std::move(reading_); }

 private:
  void member(std::string_view prefix, const codec::Member& member);
  void unknown(const std::string& place, std::string_view name, bool is_flag);
  void node(const Field& field, const codec::Node& node);
  void list(const Field& field, const codec::Node& node);
  void map(const Field& field, const codec::Node& node);
  void entry(const Field& field, const std::string& place, std::string_view name,
             std::string_view value);
  void words(const Field& field, const Words& words);
  void set(const Field& field, std::span<const SetName> names, const Words& words);
  Result<void> scalar(const Field& field, std::string_view text);
  void refuse(const Field& field, const std::string& place, Error error);
  [[nodiscard]] std::string remedy(const Field& field) const;
  [[nodiscard]] std::string place(codec::Place at) const {
    return codec::place_text(file_name_, at);
  }
  [[nodiscard]] Proof& proof() { return reading_.proof; }

  std::string file_name_;
  ProofReading reading_;
  std::map<const Field*, std::string> given_;  // where each field was said
  std::set<const Field*> wrong_;               // no contradiction is looked for in these
  std::set<const Field*> flagged_;             // said by a flag
};

void ProofReader::file(const codec::Node& root, std::string_view name) {
  file_name_ = name;
  if (root.kind == codec::Node::Kind::kNothing) return;
  if (root.kind != codec::Node::Kind::kMap) {
    fault({ErrorCode::kParse, place(root.place), "a proof is a map of fields",
           "write lines like 'msgRate: 1000'"});
    return;
  }
  for (const codec::Member& each : root.members) {
    if (each.name == "kafka" && each.value.kind == codec::Node::Kind::kMap) {
      for (const codec::Member& inner : each.value.members) member("kafka.", inner);
    } else {
      member("", each);
    }
  }
}

void ProofReader::member(std::string_view prefix, const codec::Member& member) {
  const std::string name = std::string(prefix) + member.name;
  const bool absent = member.value.kind == codec::Node::Kind::kNothing;
  const auto* const foreign =
      std::find_if(kForeignFields.begin(), kForeignFields.end(),
                   [&](const ForeignField& row) { return row.name == name; });
  if (foreign != kForeignFields.end()) {
    if (!absent) {
      fault({ErrorCode::kUnsupported, place(member.place),
             fmt::format("'{}' is not read here", name), std::string(foreign->remedy)});
    }
    return;
  }
  if (name == "kafka" && absent) return;
  const Field* const field = find_field(name);
  if (field == nullptr) {
    unknown(place(member.place), name, false);
    return;
  }
  if (given_.contains(field)) {  // kafka.topicConfig and kafka: {topicConfig: …}
    fault({ErrorCode::kInvalid, place(member.place), fmt::format("'{}' is given twice", name),
           "keep one of them"});
    return;
  }
  if (absent) return;
  given_[field] = place(member.place);
  node(*field, member.value);
}

void ProofReader::unknown(const std::string& place, std::string_view name, bool is_flag) {
  std::vector<std::string> names;
  for (const Field& field : fields())
    names.push_back(is_flag ? flag_name(field) : std::string(field.name));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto near = nearest(name, candidates);
  fault({ErrorCode::kInvalid, place,
         fmt::format("unknown {} '{}'", is_flag ? "flag" : "field", printable(name, 60)),
         near ? fmt::format("did you mean '{}{}'?", is_flag ? "--" : "", *near)
              : "the manual lists all fields of a proof"});
}

std::string ProofReader::remedy(const Field& field) const {
  return std::visit(
      Overloaded{
          [](bool Proof::*) { return std::string("write true or false"); },
          [&](seconds Proof::*) {
            return fmt::format("write a time from {} s to {}", field.first,
                               human_duration(seconds{field.last}));
          },
          [&](std::optional<seconds> Proof::*) {
            return fmt::format("write a time of {} s or more", field.first);
          },
          [](std::vector<std::string> Proof::*) { return std::string("write a list of text"); },
          [](std::map<std::string, std::string> Proof::*) {
            return std::string("write name: value for each, with a name of 1 to 200 bytes");
          },
          [](std::string Proof::*) { return std::string("write a text"); },
          [](std::span<const SetName> names) {
            return fmt::format("choose from {}", all_names(names));
          },
          [](const Choice& choice) { return fmt::format("choose {}", all_names(choice.names)); },
          [&](auto) { return number_range(field); },
      },
      field.member);
}

void ProofReader::refuse(const Field& field, const std::string& place, Error error) {
  wrong_.insert(&field);
  fault({error.code, place, fmt::format("{}: {}", field.name, error.message), remedy(field)});
}

void ProofReader::node(const Field& field, const codec::Node& node) {
  if (std::holds_alternative<std::map<std::string, std::string> Proof::*>(field.member)) {
    map(field, node);
  } else if (node.kind == codec::Node::Kind::kScalar) {
    words(field, {place(node.place), node.text});
  } else {
    list(field, node);
  }
}

void ProofReader::list(const Field& field, const codec::Node& node) {
  const bool takes_lists =
      std::holds_alternative<std::vector<std::string> Proof::*>(field.member) ||
      std::holds_alternative<std::span<const SetName>>(field.member);
  if (!takes_lists || node.kind != codec::Node::Kind::kList) {
    refuse(
        field, place(node.place),
        {ErrorCode::kInvalid, fmt::format("a {} is no value for it",
                                          node.kind == codec::Node::Kind::kMap ? "map" : "list")});
    return;
  }
  for (const codec::Node& item : node.items) {
    if (item.kind == codec::Node::Kind::kScalar) {
      words(field, {place(item.place), item.text});
    } else {
      refuse(field, place(item.place), {ErrorCode::kInvalid, "this item is not text"});
    }
  }
}

void ProofReader::map(const Field& field, const codec::Node& node) {
  if (node.kind != codec::Node::Kind::kMap) {
    refuse(field, place(node.place), {ErrorCode::kInvalid, "it is a map"});
    return;
  }
  for (const codec::Member& each : node.members) {
    if (each.value.kind == codec::Node::Kind::kScalar) {
      entry(field, place(each.place), each.name, each.value.text);
    } else {
      refuse(field, place(each.place),
             {ErrorCode::kInvalid,
              fmt::format("'{}' has no text as its value", printable(each.name, 60))});
    }
  }
}

void ProofReader::entry(const Field& field, const std::string& place, std::string_view name,
                        std::string_view value) {
  if (name.empty() || name.size() > kNameBytesMax) {
    refuse(field, place,
           {ErrorCode::kInvalid, fmt::format("'{}' is no name", printable(name, 60))});
    return;
  }
  if (value == kHidden) {
    wrong_.insert(&field);
    fault({ErrorCode::kInvalid, place,
           fmt::format("'{}' was hidden when this proof was printed", name),
           fmt::format("give it again: --{} {}=…", flag_name(field), name)});
    return;
  }
  auto& entries = proof().*std::get<std::map<std::string, std::string> Proof::*>(field.member);
  entries.insert_or_assign(std::string(name), std::string(value));
}

void ProofReader::set(const Field& field, std::span<const SetName> names, const Words& words) {
  for (const std::string_view piece : split(words.text)) {
    const std::string_view name = trim(piece);
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const SetName& row) { return row.name == name; });
    if (found == names.end()) {
      refuse(field, words.place,
             {ErrorCode::kInvalid, fmt::format("there is no '{}'", printable(name, 60))});
    } else {
      proof().*found->member = true;
    }
  }
}

void ProofReader::words(const Field& field, const Words& words) {
  if (const auto* names = std::get_if<std::span<const SetName>>(&field.member)) {
    set(field, *names, words);
    return;
  }
  auto done = scalar(field, words.text);
  if (!done) refuse(field, words.place, std::move(done).error());
}

Result<void> ProofReader::scalar(const Field& field, std::string_view text) {
  Proof& into = proof();
  const auto store = [](auto& place, auto result) -> Result<void> {
    if (!result) return tl::unexpected(std::move(result).error());
    place = static_cast<std::remove_reference_t<decltype(place)>>(*std::move(result));
    return {};
  };
  return std::visit(
      Overloaded{
          [&](std::string Proof::*member) -> Result<void> {
            return into.*member = text, Result<void>{};
          },
          [&](bool Proof::*member) { return store(into.*member, parse_bool(text)); },
          [&](std::uint32_t Proof::*member) {
            return store(into.*member, read_number(field, text));
          },
          [&](std::uint64_t Proof::*member) {
            return store(into.*member, read_number(field, text));
          },
          [&](seconds Proof::*member) { return store(into.*member, read_seconds(field, text)); },
          [&](std::optional<seconds> Proof::*member) {
            return store(into.*member, read_seconds(field, text));
          },
          [&](std::vector<std::string> Proof::*member) -> Result<void> {
            if (text.empty()) return fail(ErrorCode::kInvalid, "an empty text is no item");
            return (into.*member).emplace_back(text), Result<void>{};
          },
          [&](std::optional<std::uint64_t> core::Thresholds::*member) -> Result<void> {
            auto number = read_number(field, text);
            if (!number) {  // thresholds in seconds take times as well
              if (field.unit != "seconds") return tl::unexpected(std::move(number).error());
              const auto time = read_seconds(field, text);
              if (!time) return tl::unexpected(time.error());
              number = static_cast<std::uint64_t>(time->count());
            }
            into.thresholds.*member =
                field.zero_is_absent && *number == 0 ? std::nullopt : std::optional(*number);
            return {};
          },
          [&](std::optional<double> core::Thresholds::*member) -> Result<void> {
            const auto number = parse_double(text);
            if (!number) return tl::unexpected(number.error());
            if (*number < static_cast<double>(field.first) ||
                *number > static_cast<double>(field.last)) {
              return fail(ErrorCode::kInvalid, fmt::format("{} is out of range", *number));
            }
            into.thresholds.*member = *number;
            return {};
          },
          [&](const Choice& choice) -> Result<void> {
            const auto found =
                std::find_if(choice.names.begin(), choice.names.end(),
                             [&](const ChoiceName& row) { return row.name == text; });
            if (found == choice.names.end())
              return fail(ErrorCode::kInvalid,
                          fmt::format("there is no '{}'", printable(text, 60)));
            set_choice(choice, into, found->value);
            return {};
          },
          [](auto) -> Result<void> { return fail(ErrorCode::kInvalid, "it is a map"); },
      },
      field.member);
}

void ProofReader::flag(const Flag& flag) {
  std::string_view name = flag.name;
  while (name.starts_with('-')) name.remove_prefix(1);
  const std::string place = fmt::format("--{}", printable(name, 60));
  const Field* const field = find_flag(name);
  if (field == nullptr) {
    unknown(place, name, true);
    return;
  }
  const bool first = flagged_.insert(field).second;
  if (!first && !repeatable(*field)) {
    fault({ErrorCode::kInvalid, place, "this flag is given twice", "keep one of them"});
    return;
  }
  given_[field] = place;
  if (codec::utf8_find_invalid(flag.value) != std::string_view::npos ||
      flag.value.find('\0') != std::string::npos) {
    refuse(*field, place, {ErrorCode::kParse, "the value is not UTF-8 text"});
    return;
  }
  if (first) {
    wrong_.erase(field);  // what the file said of it counts no more
    if (const auto* names = std::get_if<std::span<const SetName>>(&field->member)) {
      for (const SetName& row : *names) proof().*row.member = false;
    }
    if (const auto* list = std::get_if<std::vector<std::string> Proof::*>(&field->member))
      (proof().**list).clear();
  }
  if (std::holds_alternative<std::map<std::string, std::string> Proof::*>(field->member)) {
    const auto pieces = split(flag.value, {.separator = '=', .pieces_max = 2});
    if (pieces.size() == 2) {
      entry(*field, place, trim(pieces[0]), pieces[1]);
    } else {
      refuse(
          *field, place,
          {ErrorCode::kInvalid, fmt::format("'{}' is not name=value", printable(flag.value, 60))});
    }
    return;
  }
  const bool is_bool = std::holds_alternative<bool Proof::*>(field->member);
  words(*field, {place, is_bool && flag.value.empty() ? "true" : flag.value});
}

void ProofReader::check(std::span<const DriverFacts> drivers) {
  const auto given = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = given_.find(find_field(name));
    return found == given_.end() ? std::nullopt : std::optional(found->second);
  };
  const auto wrong = [&](std::string_view name) { return wrong_.contains(find_field(name)); };
  const std::string elsewhere = file_name_.empty() ? "defaults" : file_name_;
  for (Fault& found : find_contradictions({proof(), drivers, given, wrong, elsewhere}))
    fault(std::move(found));
  // A topic that was there before is never deleted; the proof says so as it takes effect.
  if (proof().topic_exists == TopicExists::kReuse && !given("keepTopic")) proof().keep_topic = true;
}

}  // namespace

ProofReading read_proof(const ProofSource& source) {
  ProofReader reader(source.file_text || source.file_fault ? Proof{} : run_defaults());
  if (source.file_fault) {
    reader.fault(*source.file_fault);
    for (const Flag& flag : source.flags) reader.flag(flag);
    return reader.take();
  }
  if (source.file_text) {
    auto root = codec::parse_document(*source.file_text, {.name = source.file_name});
    if (!root) {
      // Without the tree the rest of the file is unknown, so contradictions would be guesses.
      reader.fault({root.error().code, "", root.error().message, "mend the named place"});
      for (const Flag& flag : source.flags) reader.flag(flag);
      return reader.take();
    }
    reader.file(*root, source.file_name);
  }
  for (const Flag& flag : source.flags) reader.flag(flag);
  reader.check(source.drivers);
  return reader.take();
}

ProofReading read_proof(const codec::Node& file, std::string_view file_name,
                        std::span<const DriverFacts> drivers) {
  ProofReader reader(Proof{});
  reader.file(file, file_name);
  reader.check(drivers);
  return reader.take();
}

std::string Fault::text() const {
  std::string text = place.empty() ? message : fmt::format("{}: {}", place, message);
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

Error to_error(std::span<const Fault> faults) {
  Error error{faults.empty() ? ErrorCode::kInternal : faults.front().code, ""};
  for (const Fault& fault : faults) {
    if (!error.message.empty()) error.message += '\n';
    error.message += fault.text();
  }
  return error;
}

}  // namespace sp::proof

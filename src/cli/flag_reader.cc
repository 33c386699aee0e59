#include "cli/flag_reader.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/text.h"

namespace sp::cli {
namespace {

// So many values of one flag, which is more than a command line holds: the library counts none, we do.
constexpr int kValuesMax = CLI::detail::expected_max_vector_size / 8;
constexpr std::size_t kShownMax = 60;

bool is_long(std::string_view word) { return word.size() > 2 && word.starts_with("--"); }
bool is_short(std::string_view word) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return word.size() > 1 && word[0] == '-' && letter(word[1]);
}

// The option that a word names: --out, --out=…, -X, -X…; null if it names none.
const CLI::Option* named(const CLI::App& command, std::string_view word) {
  if (!is_long(word) && !is_short(word)) return nullptr;
  const std::string_view name = is_long(word) ? word.substr(0, word.find('=')) : word.substr(0, 2);
  return command.get_option_no_throw(std::string(name));
}

const CLI::App* subcommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

}  // namespace

std::vector<std::string> split_words(const CLI::App& app, const std::vector<std::string>& words,
                                     std::vector<proof::Fault>& faults) {
  std::vector<std::string> out;
  const CLI::App* command = &app;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
      break;
    }
    const CLI::Option* option = named(*command, word);
    if (option == nullptr) {
      if (const CLI::App* sub = subcommand(*command, word)) command = sub;
      out.push_back(word);
      continue;
    }
    const std::size_t equals = is_long(word) ? word.find('=') : std::string::npos;
    const bool alone = is_long(word) ? equals == std::string::npos : word.size() == 2;
    if (option->get_items_expected_max() == 0 || (!alone && equals + 1 != word.size())) {
      out.push_back(word);
    } else if (!alone) {  // --name= is an empty value, which the library would look for in the next word
      out.push_back(word.substr(0, equals));
      out.emplace_back();
    } else if (at + 1 == words.size() || is_long(words[at + 1]) || named(*command, words[at + 1]) != nullptr) {
      faults.push_back({ErrorCode::kInvalid, word, "its value is missing",
                        at + 1 == words.size() ? "write it behind the flag"
                        : is_long(word) ? fmt::format("if '{}' is meant, write {}={}", printable(words[at + 1], kShownMax), word,
                                                      printable(words[at + 1], kShownMax))
                                        : "write it behind the flag"});
    } else {
      out.push_back(word);
      out.push_back(words[++at]);
    }
  }
  return out;
}

std::string command_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : command_name(*parent) + " " + command.get_name();
}

FlagReader::FlagReader(CLI::App& command, Session& session) : command_(command), session_(session) {
  command_.allow_extras();  // so that unknown flags and spare words are told together with all else
  session_.readers[&command] = this;
}

void FlagReader::add(std::string_view names, std::string_view type, std::string_view help, bool repeatable, Take take) {
  CLI::Option* option = nullptr;
  if (type.empty()) {
    const std::string words(help);
    option = command_.add_flag(std::string(names), words);
  } else {
    option = command_.add_option(std::string(names), [](const CLI::results_t&) { return true; }, std::string(help));
    option->type_name(std::string(type))->type_size(1);
    option->expected(1, repeatable ? CLI::detail::expected_max_vector_size : kValuesMax)->allow_extra_args(false);
  }
  option->group(group_);
  flags_.push_back({option, repeatable, std::move(take)});
}

void FlagReader::text(std::string_view names, std::string& into, std::string_view help) {
  add(names, "TEXT", help, false, [&into](FlagReader&, const std::string&, const std::string& value) { into = value; });
}

void FlagReader::texts(std::string_view names, std::vector<std::string>& into, std::string_view help) {
  add(names, "TEXT", help, true,
      [&into](FlagReader&, const std::string&, const std::string& value) { into.push_back(value); });
}

void FlagReader::number(std::string_view names, std::optional<std::uint64_t>& into, Range range, std::string_view help) {
  add(names, "UINT", help, false, [&into, range](FlagReader& own, const std::string& place, const std::string& value) {
    const auto number = parse_unsigned(value);
    if (number && *number >= range.first && *number <= range.last) {
      into = *number;
      return;
    }
    own.fault(place, number ? fmt::format("{} is out of range", *number)
                            : fmt::format("'{}' is not a whole number of 0 or more", printable(value, kShownMax)),
              fmt::format("write a number from {} to {}", grouped(range.first), grouped(range.last)));
  });
}

void FlagReader::yes(std::string_view names, bool& into, std::string_view help) {
  // Said twice it still says yes.
  add(names, "", help, true, [&into](FlagReader& own, const std::string& place, const std::string& value) {
    const auto yes = parse_bool(value);
    if (yes) into = *yes;
    if (!yes) own.fault(place, fmt::format("'{}' is neither true nor false", printable(value, kShownMax)), "write the flag alone");
  });
}

void FlagReader::raw(std::string_view names, std::vector<std::string>& into, Raw raw, std::string_view help) {
  add(names, raw.takes_value ? raw.type : "", help, raw.repeatable,
      [&into](FlagReader&, const std::string&, const std::string& value) { into.push_back(value); });
  flags_.back().repeatable = true;  // whoever understands the values tells if there are too many
}

void FlagReader::word(std::string_view name, std::string& into, Word word, std::string_view help) {
  word_ = command_.add_option(std::string(name), [](const CLI::results_t&) { return true; }, std::string(help));
  word_->type_name("TEXT")->type_size(1)->expected(1)->required(word.required);
  word_into_ = &into;
  word_asked_ = word;
}

void FlagReader::words(std::string_view name, std::vector<std::string>& into, std::string_view help) {
  word_ = command_.add_option(std::string(name), [](const CLI::results_t&) { return true; }, std::string(help));
  word_->type_name("TEXT")->type_size(1)->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(true)->required();
  words_into_ = &into;
  word_asked_ = {.required = true, .spare = ""};
}

void FlagReader::fault(std::string place, std::string message, std::string remedy) {
  faults_.push_back({ErrorCode::kInvalid, std::move(place), std::move(message), std::move(remedy)});
}

// What the library could not place: flags that nobody knows, and words too many.
void FlagReader::spare_words() {
  std::vector<std::string> known;
  for (const CLI::Option* option : command_.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back(name);
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  bool flag_before = false;  // the word behind an unknown flag may be its value
  for (const auto& word : command_.remaining()) {
    if (word.size() > 1 && word.front() == '-') {
      const std::string flag = word.substr(0, word.find('='));
      const auto name = std::string_view(flag).substr(std::min(flag.find_first_not_of('-'), flag.size()));
      const auto near = nearest(name, candidates);
      fault(printable(flag, kShownMax), fmt::format("unknown flag '{}'", printable(name, kShownMax)),
            near ? fmt::format("did you mean '--{}'?", *near) : "the help lists all flags");
      flag_before = true;
    } else if (!flag_before) {
      fault("", fmt::format("'{}': {}", printable(word, kShownMax), word_asked_.spare), "");
    }
  }
}

std::vector<proof::Fault> FlagReader::read() {
  faults_ = session_.faults;
  for (const Flag& flag : flags_) {
    const std::string place = long_name(*flag.option);
    const auto& values = flag.option->results();
    if (values.size() > 1 && !flag.repeatable) {
      fault(place, "this flag is given twice", "keep one of them");
      continue;
    }
    for (const auto& value : values) flag.take(*this, place, value);
  }
  for (const auto& [flag, other] : rivals_) {
    if (command_.count(flag) > 0 && command_.count(other) > 0)
      fault(flag, fmt::format("{} is there too", other), "take one of them away");
  }
  if (word_into_ != nullptr && !word_->results().empty()) *word_into_ = word_->results().front();
  if (words_into_ != nullptr) *words_into_ = word_->results();
  spare_words();
  if (word_ != nullptr && word_asked_.required && word_->results().empty()) {
    fault("", fmt::format("{} is missing", word_->get_name()), fmt::format("write {}", word_->get_description()));
  }
  return std::exchange(faults_, {});
}

int FlagReader::refuse(const Error& faults) const {
  session_.terminal.complain(fmt::format("{}\nSee: {} --help", faults.message, command_name(command_)));
  return kExitCouldNotRun;
}

}  // namespace sp::cli

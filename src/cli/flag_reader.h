// Reads the flags and words of one command, so that everything that is wrong with them is told at once, each with its place and
// its remedy; a library that stops at the first would make a person run it five times.
//
//     split_words   gives each flag its value ─► library sorts ─► FlagReader::read()   texts, numbers, yes or no
//          └─────────── flags without a value ─────────────────────────► faults ◄┘   wrong values, unknown flags, spare words
//
// A value that looks like a flag is none: --out --quiet lacks the folder. --out=--quiet names one.
//
// Errors:   faults, in the order in which the flags were declared.
// Threads:  one owner.
// Source:   docs/reference/commands.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "proof/fields.h"

namespace CLI {
class Option;
}  // namespace CLI

namespace sp::cli {

// The words as the library may have them: no flag without its value is among them, each of these is a fault.
[[nodiscard]] std::vector<std::string> split_words(const CLI::App& app, const std::vector<std::string>& words,
                                                   std::vector<proof::Fault>& faults);
// "streaming-proof cluster up".
[[nodiscard]] std::string command_name(const CLI::App& command);

class FlagReader {
 public:
  // `command` and `session` outlive this; so does everything that a flag is read into.
  FlagReader(CLI::App& command, Session& session);

  // The flags that follow stand under this title of the help.
  void group(std::string title) { group_ = std::move(title); }
  void text(std::string_view names, std::string& into, std::string_view help);
  void texts(std::string_view names, std::vector<std::string>& into, std::string_view help);  // repeatable
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  void number(std::string_view names, std::optional<std::uint64_t>& into, Range range, std::string_view help);
  void yes(std::string_view names, bool& into, std::string_view help);
  // A flag whose values somebody else understands; `type` stands in the help.
  struct Raw {
    std::string_view type;
    bool takes_value = true;
    bool repeatable = false;
  };
  void raw(std::string_view names, std::vector<std::string>& into, Raw raw, std::string_view help);
  // The one word of the command that is no flag.
  struct Word {
    bool required = false;
    std::string_view spare;  // what a second one is told
  };
  void word(std::string_view name, std::string& into, Word word, std::string_view help);
  // Instead: any number of them, at least one.
  void words(std::string_view name, std::vector<std::string>& into, std::string_view help);

  // The two contradict each other.
  void not_both(std::string flag, std::string other) { rivals_.emplace_back(std::move(flag), std::move(other)); }

  // Once the library has sorted the words: fills in what was given, and tells what is wrong, flags without a value first.
  [[nodiscard]] std::vector<proof::Fault> read();
  // Tells the faults and the way to the help; the exit code.
  [[nodiscard]] int refuse(const Error& faults) const;

 private:
  using Take = std::function<void(FlagReader&, const std::string& place, const std::string& value)>;
  struct Flag {
    CLI::Option* option = nullptr;
    bool repeatable = false;
    Take take;
  };
  void add(std::string_view names, std::string_view type, std::string_view help, bool repeatable, Take take);
  void fault(std::string place, std::string message, std::string remedy);
  void spare_words();

  CLI::App& command_;
  Session& session_;
  std::string group_ = "Options";
  std::vector<Flag> flags_;
  std::vector<std::pair<std::string, std::string>> rivals_;
  CLI::Option* word_ = nullptr;
  std::string* word_into_ = nullptr;
  std::vector<std::string>* words_into_ = nullptr;
  Word word_asked_;
  std::vector<proof::Fault> faults_;
};

}  // namespace sp::cli

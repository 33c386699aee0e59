// The fields of a proof: one table of names, types, limits, defaults and meanings, and everything
// that is made from it – reading a file, reading flags, printing, the manual.
//
//     file     name: value            YAML or JSON; the names of the REST interface
//     flags    --msg-rate 5000        the same names in kebab case, `kafka.` included
//              --features a,b         of a set: names with commas
//              --chaos X --chaos Y    of a list: once for each
//              --settings acks=all    of a map: name=value, once for each
//     times    120   120s   2m        whole seconds
//
// With a file the defaults are those of Proof{}, without one run_defaults().
//
// A flag takes the place of what the file says; for a map, of the member of that name.
//
// Cost:     a table of some 40 rows; reading is a few microseconds.   Limits: those of codec::parse_document.
// Errors:   everything that is wrong is found in one pass and told together: Fault.
// Threads:  pure functions.   Source: docs/reference/proof.md (made by fields_markdown()).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codec/document.h"
#include "proof/proof.h"

namespace sp::proof {

// A member of Proof that is a set of names: which name switches on what.
struct SetName {
  std::string_view name;
  bool Proof::*member;
};
// A member of Proof that is one of several names; `value` is that of the enumeration.
struct ChoiceName {
  std::string_view name;
  std::uint8_t value;
};
using ChoiceMember = std::variant<CommitMode Proof::*, TopicExists Proof::*,
                                  core::RawReadScope Proof::*, core::Order Proof::*>;
struct Choice {
  ChoiceMember member;
  std::span<const ChoiceName> names;
};

// Where a field's value is kept; what is kept there is its type.
using FieldMember =
    std::variant<std::string Proof::*, bool Proof::*, std::uint32_t Proof::*,
                 std::uint64_t Proof::*, std::chrono::seconds Proof::*,
                 std::optional<std::chrono::seconds> Proof::*, std::vector<std::string> Proof::*,
                 std::map<std::string, std::string> Proof::*,
                 std::optional<std::uint64_t> core::Thresholds::*,
                 std::optional<double> core::Thresholds::*, std::span<const SetName>, Choice>;

struct Field {
  std::string_view name;  // in files and REST: "msgRate", "kafka.topicConfig"
  FieldMember member;
  std::string_view unit = "";  // "bytes", "attempts a second", …
  std::uint64_t first = 0;     // numbers and seconds: the lowest and the highest that is possible
  std::uint64_t last = 0;
  std::string_view meaning;  // one sentence
  bool below_first_is_first = false;  // duration: 0 or less is without end
  bool zero_is_absent = false;        // maxStallSeconds: 0 is no limit
  std::string_view absent = "";       // what an absent value means: "no limit"
};

[[nodiscard]] std::span<const Field> fields();
[[nodiscard]] const Field* find_field(std::string_view name);
[[nodiscard]] const Field* find_flag(std::string_view flag);  // with or without the leading dashes
// "msg-rate", "kafka-topic-config".
[[nodiscard]] std::string flag_name(const Field& field);
// "whole number", "seconds", "list of text", …
[[nodiscard]] std::string_view type_name(const Field& field);
// True if the flag may stand more than once.
[[nodiscard]] bool repeatable(const Field& field);
// As a file would say it: "1000", "[at_least_once, ordering]"; nothing when absent or empty.
[[nodiscard]] std::string value_text(const Field& field, const Proof& proof);

// What `run` starts from without a file. With one it starts from Proof{}.
[[nodiscard]] Proof run_defaults();

// One thing that is wrong.
struct Fault {
  ErrorCode code = ErrorCode::kInvalid;
  std::string place;    // "proof.yaml line 3 column 5", "--msg-rate", "defaults"
  std::string message;  // "unknown field 'mgsRate'"
  std::string remedy;   // "did you mean 'msgRate'?"
  [[nodiscard]] std::string text() const;
};

struct Flag {
  std::string name;   // "--msg-rate" or "msg-rate"
  std::string value;  // "" for a bool means true
};

// What a driver can do, as far as a proof can contradict it. From whoever knows the drivers.
struct DriverFacts {
  std::string_view name;
  bool transactions = false;
  bool planted_defects = false;
  bool chaos = false;
};
inline constexpr std::array kKnownDrivers = {
    DriverFacts{.name = "embedded", .planted_defects = true},
    DriverFacts{.name = "kafka", .chaos = true},
};

struct ProofSource {
  std::string_view file_name = "proof";                      // for places
  std::optional<std::string_view> file_text = std::nullopt;  // absent: no file
  // There is a file but it could not be read: like one that cannot be parsed, what it says is unknown.
  std::optional<Fault> file_fault = std::nullopt;
  std::span<const Flag> flags = {};
  std::span<const DriverFacts> drivers = kKnownDrivers;
};

struct ProofReading {
  Proof proof;
  std::vector<Fault> faults;  // by file and then flags; empty: the proof can be run
};
[[nodiscard]] ProofReading read_proof(const ProofSource& source);
// The same for a file that is a tree already (the body of a request).
[[nodiscard]] ProofReading read_proof(const codec::Node& file, std::string_view file_name,
                                      std::span<const DriverFacts> drivers = kKnownDrivers);
// All faults as one error: its code is the first one's, its message has a line for each.
[[nodiscard]] Error to_error(std::span<const Fault> faults);

// What must not be shown is printed as this; reading it is a fault.
inline constexpr std::string_view kHidden = "(hidden)";
struct PrintOptions {
  bool secrets = false;   // false: passwords, keys and tokens among the settings are kHidden
  bool one_line = false;  // to_json: no line breaks
};
// The proof as it takes effect: every field that has a value. Reads back to the same proof, given secrets.
[[nodiscard]] std::string to_yaml(const Proof& proof, PrintOptions options = {});
[[nodiscard]] std::string to_json(const Proof& proof, PrintOptions options = {});
// True if a setting of that name holds something that must not be shown.
[[nodiscard]] bool is_secret(std::string_view setting);

// The table of all fields for the manual.
[[nodiscard]] std::string fields_markdown();

}  // namespace sp::proof

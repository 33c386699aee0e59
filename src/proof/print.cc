#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/text.h"
#include "codec/json_writer.h"
#include "proof/fields.h"
#include "proof/visit.h"

namespace sp::proof {
namespace {

using std::chrono::seconds;

std::string shortest(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

// Text that YAML takes for itself without quotes; anything else is written as a JSON string, which
// is YAML too.
std::string yaml_text(std::string_view text) {
  constexpr std::array<std::string_view, 9> kReserved = {"true", "false", "yes", "no", "null",
                                                         "on",   "off",   "y",   "n"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool plain =
      !text.empty() && is_letter(text.front()) &&
      std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
      });
  if (plain && std::find(kReserved.begin(), kReserved.end(), lower(text)) == kReserved.end())
    return std::string(text);
  std::string quoted;
  codec::append_json_string(quoted, text);
  return quoted;
}

std::vector<std::string_view> names_on(std::span<const SetName> names, const Proof& proof) {
  std::vector<std::string_view> on;
  for (const SetName& row : names) {
    if (proof.*row.member) on.push_back(row.name);
  }
  return on;
}

std::string_view choice_name(const Choice& choice, const Proof& proof) {
  const std::uint8_t value = choice_value(choice, proof);
  const auto found = std::find_if(choice.names.begin(), choice.names.end(),
                                  [&](const ChoiceName& row) { return row.value == value; });
  return found == choice.names.end() ? std::string_view{} : found->name;
}

std::string_view shown(const std::string& name, const std::string& value, PrintOptions options) {
  return !options.secrets && is_secret(name) ? kHidden : std::string_view(value);
}

// A field of the printed proof: "kafka.topicConfig" stands as topicConfig within kafka.
struct FieldName {
  std::string_view group;
  std::string_view name;
};
FieldName name_of(const Field& field) {
  const auto dot = field.name.find('.');
  if (dot == std::string_view::npos) return {{}, field.name};
  return {field.name.substr(0, dot), field.name.substr(dot + 1)};
}

bool is_map(const Field& field) {
  return std::holds_alternative<std::map<std::string, std::string> Proof::*>(field.member);
}
bool is_list(const Field& field) {
  return std::holds_alternative<std::vector<std::string> Proof::*>(field.member);
}

const std::map<std::string, std::string>& map_of(const Field& field, const Proof& proof) {
  return proof.*std::get<std::map<std::string, std::string> Proof::*>(field.member);
}
const std::vector<std::string>& list_of(const Field& field, const Proof& proof) {
  return proof.*std::get<std::vector<std::string> Proof::*>(field.member);
}

bool has_value(const Field& field, const Proof& proof) {
  if (is_map(field)) return !map_of(field, proof).empty();
  if (is_list(field)) return !list_of(field, proof).empty();
  return !value_text(field, proof).empty();
}

// For the reader of a file: what 28800 is.
std::string time_comment(const Field& field, const Proof& proof) {
  if (type_name(field) != "time") return "";
  const auto count = parse_unsigned(value_text(field, proof));
  if (!count || *count < 100) return "";
  return fmt::format("  # {}", human_duration(seconds{*count}));
}

void put_json(codec::JsonWriter& json, const Field& field, const Proof& proof,
              PrintOptions options) {
  std::visit(Overloaded{
                 [&](std::map<std::string, std::string> Proof::*member) {
                   json.begin_object();
                   for (const auto& [name, value] : proof.*member)
                     json.member(name, shown(name, value, options));
                   json.end_object();
                 },
                 [&](std::vector<std::string> Proof::*member) {
                   json.begin_array();
                   for (const std::string& item : proof.*member) json.value(item);
                   json.end_array();
                 },
                 [&](std::span<const SetName> names) {
                   json.begin_array();
                   for (const std::string_view name : names_on(names, proof)) json.value(name);
                   json.end_array();
                 },
                 [&](const Choice& choice) { json.value(choice_name(choice, proof)); },
                 [&](std::string Proof::*member) { json.value(proof.*member); },
                 [&](bool Proof::*member) { json.value(proof.*member); },
                 [&](auto /*number or time*/) { json.raw(value_text(field, proof)); },
             },
             field.member);
}

}  // namespace

std::string value_text(const Field& field, const Proof& proof) {
  return std::visit(
      Overloaded{
          [&](std::string Proof::*member) {
            return (proof.*member).empty() ? std::string() : yaml_text(proof.*member);
          },
          [&](bool Proof::*member) { return std::string(proof.*member ? "true" : "false"); },
          [&](std::uint32_t Proof::*member) { return fmt::format("{}", proof.*member); },
          [&](std::uint64_t Proof::*member) { return fmt::format("{}", proof.*member); },
          [&](seconds Proof::*member) { return fmt::format("{}", (proof.*member).count()); },
          [&](std::optional<seconds> Proof::*member) {
            return proof.*member ? fmt::format("{}", (proof.*member)->count()) : std::string();
          },
          [&](std::optional<std::uint64_t> core::Thresholds::*member) {
            return proof.thresholds.*member ? fmt::format("{}", *(proof.thresholds.*member))
                                            : std::string();
          },
          [&](std::optional<double> core::Thresholds::*member) {
            return proof.thresholds.*member ? shortest(*(proof.thresholds.*member)) : std::string();
          },
          [&](std::span<const SetName> names) {
            const auto on = names_on(names, proof);
            return on.empty() ? std::string() : fmt::format("[{}]", fmt::join(on, ", "));
          },
          [&](const Choice& choice) { return std::string(choice_name(choice, proof)); },
          [](auto /*list or map*/) { return std::string(); },
      },
      field.member);
}

bool is_secret(std::string_view setting) {
  constexpr std::array<std::string_view, 9> kFragments = {
      "password",     "passphrase",        "secret", "jaas", "token", "credential", "key.pem",
      "keystore.key", "oauthbearer.config"};
  constexpr std::array<std::string_view, 3> kHarmlessEnds = {".url", ".location", ".method"};
  const std::string name = lower(setting);
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  if (std::any_of(kHarmlessEnds.begin(), kHarmlessEnds.end(), ends)) return false;
  return std::any_of(kFragments.begin(), kFragments.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

std::string to_yaml(const Proof& proof, PrintOptions options) {
  std::string text;
  std::string_view open_group;
  for (const Field& field : fields()) {
    if (!has_value(field, proof)) continue;
    const auto [group, name] = name_of(field);
    if (!group.empty() && group != open_group) text += fmt::format("{}:\n", group);
    open_group = group;
    const std::string_view indent = group.empty() ? "" : "  ";
    if (is_map(field)) {
      text += fmt::format("{}{}:\n", indent, name);
      for (const auto& [key, value] : map_of(field, proof)) {
        text += fmt::format("{}  {}: {}\n", indent, yaml_text(key),
                            yaml_text(shown(key, value, options)));
      }
    } else if (is_list(field)) {
      text += fmt::format("{}{}:\n", indent, name);
      for (const std::string& item : list_of(field, proof))
        text += fmt::format("{}  - {}\n", indent, yaml_text(item));
    } else {
      text += fmt::format("{}{}: {}{}\n", indent, name, value_text(field, proof),
                          time_comment(field, proof));
    }
  }
  return text;
}

std::string to_json(const Proof& proof, PrintOptions options) {
  codec::JsonWriter json({.indent = options.one_line ? 0U : 2U});
  json.begin_object();
  std::string_view open_group;
  for (const Field& field : fields()) {
    if (!has_value(field, proof)) continue;
    const auto [group, name] = name_of(field);
    if (group != open_group) {
      if (!open_group.empty()) json.end_object();
      if (!group.empty()) json.key(group).begin_object();
      open_group = group;
    }
    json.key(name);
    put_json(json, field, proof, options);
  }
  if (!open_group.empty()) json.end_object();
  return json.end_object().take();
}

}  // namespace sp::proof

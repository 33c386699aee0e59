// What a coordinator is told of its world: workers by URL, drivers by name, settings of its reports.
//
//     PUT     merges: a name that is there takes the new value, others stay
//     DELETE  takes away the names that it has; their values mean nothing
//
// Two layers: what the configuration folder says and what the interface was told. They live side by side: where both have a
// name, the interface's word counts; a folder that is read again replaces only its own layer (docs/decisions/0016).
//
// Shape:    names in the order in which they came first. Values that are passed on are kept as the JSON that they were.
// Cost:     O(names).   Limits: kConfigNamesMax names of a kind.
// Errors:   kInvalid, kFull with the place.   Threads: a value.   Source: docs/reference/rest.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/document.h"
#include "proof/fields.h"

namespace sp::coordinator {

constexpr std::size_t kConfigNamesMax = 10'000;

struct JsonMember {
  std::string name;
  std::string json;  // one value, valid and compact
  bool operator==(const JsonMember&) const = default;
};

struct NamedWorker {
  std::string name;
  std::string url;  // "http://worker:8088"
  bool operator==(const NamedWorker&) const = default;
};

struct NamedDriver {
  std::string name;
  std::string type;                     // "kafka", "embedded", …
  std::vector<JsonMember> settings;     // driverConfigs
  std::optional<std::string> metadata;  // a JSON object; only shown
  bool operator==(const NamedDriver&) const = default;
};

struct Configs {
  std::vector<NamedWorker> workers;
  std::vector<NamedDriver> drivers;
  std::optional<std::vector<JsonMember>> report;
  bool operator==(const Configs&) const = default;

  [[nodiscard]] const NamedDriver* driver(std::string_view name) const;
  [[nodiscard]] const NamedWorker* worker(std::string_view name) const;
  // Names of `other` are added or replaced.
  void merge(const Configs& other);
  // Names of `other` go.
  void erase(const Configs& other);
};

struct ConfigsReading {
  Configs configs;
  std::vector<proof::Fault> faults;  // empty: it can be used
};
// `file_name` for places. `names_only`: a DELETE, whose values mean nothing.
[[nodiscard]] ConfigsReading read_configs(const codec::Node& body, std::string_view file_name, bool names_only = false);

struct ConfigsPrint {
  bool secrets = false;  // false: passwords, keys and tokens among the settings are hidden
};
// {"workers":{…},"drivers":{"k1":{"driverType":"kafka","driverConfigs":{…}}},"report":null}
[[nodiscard]] std::string configs_json(const Configs& configs, ConfigsPrint print = {});

// The value as compact JSON: what was written as a number, true or false stays that.
[[nodiscard]] std::string json_of(const codec::Node& node);
// The text that a client setting of that JSON value has: strings without their quotes, others as they stand.
[[nodiscard]] std::string setting_text(std::string_view json);

}  // namespace sp::coordinator

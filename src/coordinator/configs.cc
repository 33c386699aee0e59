#include "coordinator/configs.h"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "base/text.h"
#include "codec/json_tree.h"
#include "codec/json_writer.h"
#include "proof/fields.h"

namespace sp::coordinator {
namespace {

using codec::Node;

// A scalar that stands without quotes and is a JSON number, true, false or null means that; every other one is text.
bool is_json_literal(std::string_view text) {
  if (text == "true" || text == "false" || text == "null") return true;
  if (text.empty() || !(text.front() == '-' || (text.front() >= '0' && text.front() <= '9'))) return false;
  codec::JsonTree tree;
  return !tree.parse(text).has_value();
}

void put(codec::JsonWriter& json, const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNothing:
      json.null();
      break;
    case Node::Kind::kScalar:
      if (!node.quoted && is_json_literal(node.text)) {
        json.raw(node.text);
      } else {
        json.value(node.text);
      }
      break;
    case Node::Kind::kList:
      json.begin_array();
      for (const Node& item : node.items) put(json, item);
      json.end_array();
      break;
    case Node::Kind::kMap:
      json.begin_object();
      for (const codec::Member& member : node.members) {
        json.key(member.name);
        put(json, member.value);
      }
      json.end_object();
      break;
  }
}

class ConfigsReader {
 public:
  ConfigsReader(std::string_view file_name, bool names_only) : file_name_(file_name), names_only_(names_only) {}

  void read(const Node& body);
  ConfigsReading take() { return std::move(reading_); }

 private:
  void fault(codec::Place at, std::string message, std::string remedy) {
    reading_.faults.push_back({ErrorCode::kInvalid, codec::place_text(file_name_, at), std::move(message), std::move(remedy)});
  }
  // The members of a map; an absent map has none. Anything else is a fault.
  const std::vector<codec::Member>* members(const codec::Member& of);
  void worker(const codec::Member& member);
  void driver(const codec::Member& member);

  std::string_view file_name_;
  bool names_only_;
  ConfigsReading reading_;
};

const std::vector<codec::Member>* ConfigsReader::members(const codec::Member& of) {
  static const std::vector<codec::Member> kNone;
  if (of.value.kind == Node::Kind::kNothing) return &kNone;
  if (of.value.kind != Node::Kind::kMap) {
    fault(of.place, fmt::format("'{}' is a map of names", of.name), "write {\"name\": …}");
    return nullptr;
  }
  if (of.value.members.size() > kConfigNamesMax) {
    fault(of.place, fmt::format("'{}' has {} names, {} are the most", of.name, of.value.members.size(), kConfigNamesMax),
          "take those away that are not used");
    return nullptr;
  }
  return &of.value.members;
}

void ConfigsReader::worker(const codec::Member& member) {
  NamedWorker worker{member.name, member.value.text};
  if (!names_only_) {
    const bool http = worker.url.starts_with("http://") || worker.url.starts_with("https://");
    if (member.value.kind != Node::Kind::kScalar || !http) {
      fault(member.place, fmt::format("worker '{}' has no URL", printable(member.name, 60)),
            "write where its REST interface is: \"http://worker:8088\"");
      return;
    }
    while (worker.url.ends_with('/')) worker.url.pop_back();
  }
  reading_.configs.workers.push_back(std::move(worker));
}

void ConfigsReader::driver(const codec::Member& member) {
  NamedDriver driver;
  driver.name = member.name;
  if (names_only_) {
    reading_.configs.drivers.push_back(std::move(driver));
    return;
  }
  if (member.value.kind != Node::Kind::kMap) {
    fault(member.place, fmt::format("driver '{}' is a map", printable(member.name, 60)),
          "write {\"driverType\": …, \"driverConfigs\": {…}}");
    return;
  }
  for (const codec::Member& each : member.value.members) {
    if (each.name == "driverType" && each.value.kind == Node::Kind::kScalar) {
      driver.type = each.value.text;
    } else if (each.name == "driverConfigs") {
      const auto* settings = members(each);
      for (std::size_t i = 0; settings != nullptr && i < settings->size(); ++i) {
        driver.settings.push_back({(*settings)[i].name, json_of((*settings)[i].value)});
      }
    } else if (each.name == "metadata") {
      if (each.value.kind == Node::Kind::kMap) driver.metadata = json_of(each.value);
    } else {
      fault(each.place, fmt::format("unknown field '{}' of driver '{}'", printable(each.name, 60), printable(member.name, 60)),
            "a driver has driverType, driverConfigs and metadata");
    }
  }
  if (driver.type.empty()) {
    fault(member.place, fmt::format("driver '{}' has no driverType", printable(member.name, 60)),
          "write \"driverType\": \"kafka\" or another that the manual lists");
  }
  reading_.configs.drivers.push_back(std::move(driver));
}

void ConfigsReader::read(const Node& body) {
  if (body.kind == Node::Kind::kNothing) return;
  if (body.kind != Node::Kind::kMap) {
    return fault(body.place, "configurations are a map", "write {\"workers\": {…}, \"drivers\": {…}}");
  }
  for (const codec::Member& member : body.members) {
    const bool known = member.name == "workers" || member.name == "drivers" || member.name == "report";
    if (!known) {
      fault(member.place, fmt::format("unknown field '{}'", printable(member.name, 60)), "there are workers, drivers and report");
      continue;
    }
    const auto* names = members(member);
    if (names == nullptr) continue;
    if (member.name == "report" && member.value.kind == Node::Kind::kMap) reading_.configs.report.emplace();
    for (const codec::Member& each : *names) {
      if (member.name == "workers") {
        worker(each);
      } else if (member.name == "drivers") {
        driver(each);
      } else {
        reading_.configs.report->push_back({each.name, json_of(each.value)});
      }
    }
  }
}

template <typename Item>
void merge_into(std::vector<Item>& into, const std::vector<Item>& from) {
  for (const Item& item : from) {
    const auto found = std::find_if(into.begin(), into.end(), [&](const Item& there) { return there.name == item.name; });
    if (found == into.end()) {
      into.push_back(item);
    } else {
      *found = item;
    }
  }
}

template <typename Item>
void erase_from(std::vector<Item>& from, const std::vector<Item>& names) {
  std::erase_if(from, [&](const Item& item) {
    return std::any_of(names.begin(), names.end(), [&](const Item& named) { return named.name == item.name; });
  });
}

template <typename Item>
const Item* find_in(const std::vector<Item>& items, std::string_view name) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

void put_members(codec::JsonWriter& json, const std::vector<JsonMember>& members, ConfigsPrint print) {
  json.begin_object();
  for (const JsonMember& member : members) {
    json.key(member.name);
    if (!print.secrets && proof::is_secret(member.name)) {
      json.value(proof::kHidden);
    } else {
      json.raw(member.json);
    }
  }
  json.end_object();
}

}  // namespace

const NamedDriver* Configs::driver(std::string_view name) const { return find_in(drivers, name); }
const NamedWorker* Configs::worker(std::string_view name) const { return find_in(workers, name); }

void Configs::merge(const Configs& other) {
  merge_into(workers, other.workers);
  merge_into(drivers, other.drivers);
  if (!other.report) return;
  if (!report) report.emplace();
  merge_into(*report, *other.report);
}

void Configs::erase(const Configs& other) {
  erase_from(workers, other.workers);
  erase_from(drivers, other.drivers);
  if (report && other.report) erase_from(*report, *other.report);
}

ConfigsReading read_configs(const Node& body, std::string_view file_name, bool names_only) {
  ConfigsReader reader(file_name, names_only);
  reader.read(body);
  return reader.take();
}

std::string configs_json(const Configs& configs, ConfigsPrint print) {
  codec::JsonWriter json;
  json.begin_object().key("workers").begin_object();
  for (const NamedWorker& worker : configs.workers) json.member(worker.name, worker.url);
  json.end_object().key("drivers").begin_object();
  for (const NamedDriver& driver : configs.drivers) {
    json.key(driver.name).begin_object().member("driverType", driver.type).key("driverConfigs");
    put_members(json, driver.settings, print);
    if (driver.metadata) json.key("metadata").raw(*driver.metadata);
    json.end_object();
  }
  json.end_object().key("report");
  if (configs.report) {
    put_members(json, *configs.report, print);
  } else {
    json.null();
  }
  return json.end_object().take();
}

std::string json_of(const Node& node) {
  codec::JsonWriter json;
  put(json, node);
  return json.take();
}

std::string setting_text(std::string_view json) {
  codec::JsonTree tree;
  if (json.empty() || json.front() != '"' || tree.parse(json)) return std::string(json);
  return std::string(tree.nodes().front().text);
}

}  // namespace sp::coordinator

#include "driver/kafka/settings.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "driver/kafka/handle.h"
#include "driver/kafka/java_names.h"

namespace sp::driver::kafka {
namespace {

struct DefaultRow {
  std::string_view name;
  std::string_view value;
};
constexpr std::array kDefaults = {
    DefaultRow{"acks", "all"},
    DefaultRow{"enable.idempotence", "true"},
    DefaultRow{"max.in.flight.requests.per.connection", "5"},
    DefaultRow{"partitioner", "murmur2_random"},
    DefaultRow{"auto.offset.reset", "earliest"},
    DefaultRow{"enable.auto.commit", "false"},
    DefaultRow{"enable.auto.offset.store", "false"},
    DefaultRow{"isolation.level", "read_uncommitted"},
    DefaultRow{"partition.assignment.strategy", "cooperative-sticky"},
    DefaultRow{"topic.metadata.refresh.interval.ms", "5000"},
    DefaultRow{"allow.auto.create.topics", "false"},
};

// Settings with which this driver could not tell the truth, or does not know what to do.
struct RefusedRow {
  std::string_view name;
  std::string_view value;  // only this value; empty: any
  std::string_view why;
};
constexpr std::array kRefused = {
    RefusedRow{"transactional.id", "", "transactions are not driven yet; remove it"},
    RefusedRow{"delivery.report.only.error", "true", "every success would stay unknown; remove it"},
    RefusedRow{"log.queue", "true", "nobody would read that queue; remove it"},
    RefusedRow{"produce.offset.report", "false", "positions of records would be hidden; remove it"},
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::optional<long> number(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  if (found == settings.end()) return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(found->second.c_str(), &end, 10);
  if (found->second.empty() || *end != '\0') return std::nullopt;
  return value;
}

class Planner {
 public:
  Planner(const Library& library, const Settings& user)
      : library_(library), translation_(translate_java(library, user)) {}

  Result<Plan> run() {
    faults_ = std::move(translation_.faults);
    plan_.notes = std::move(translation_.notes);
    for (const auto& [name, value] : translation_.settings) resolve(name, value);
    if (settings_.find(canonical("bootstrap.servers")) == settings_.end()) {
      faults_.push_back("bootstrap.servers is missing; give HOST:PORT[,HOST:PORT…]");
    }
    withdraw_defaults();
    for (const auto& row : kDefaults) {
      const auto name = canonical(row.name);
      if (library_.find(name) != nullptr && !withdrawn(row.name))
        settings_.emplace(name, row.value);
    }
    try_values();
    if (!faults_.empty()) return refused();
    divide();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] std::string canonical(std::string_view name) const {
    const auto* property = library_.find(name);
    return property == nullptr ? std::string(name) : property->canonical;
  }

  void resolve(const std::string& name, const std::string& value) {
    const auto* property = library_.find(name);
    if (property == nullptr) {
      const auto nearest = nearest_name(library_, name);
      faults_.push_back(
          fmt::format("librdkafka {} knows no setting '{}'{}", library_.version(), name,
                      nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
      return;
    }
    if (!property->settable) {
      faults_.push_back(fmt::format("'{}' can be set by a program only; remove it", name));
      return;
    }
    for (const auto& row : kRefused) {
      if (name == row.name && (row.value.empty() || row.value == value)) {
        faults_.push_back(fmt::format("{}={}: {}", name, value, row.why));
        return;
      }
    }
    const auto [at, fresh] = settings_.emplace(property->canonical, value);
    if (!fresh && at->second != value) {
      faults_.push_back(fmt::format("{} and {} are one setting with two values; remove one",
                                    property->canonical, name));
    }
  }

  // Where the user's choice and one of our defaults exclude each other, the user's holds.
  void withdraw_defaults() {
    if (!settings_.contains("enable.idempotence")) withdraw_idempotence();
    if (value_of("enable.auto.commit") == "true" &&
        !settings_.contains("enable.auto.offset.store")) {
      withdraw("enable.auto.offset.store",
               "enable.auto.commit=true commits what the library stores");
    }
    if (value_of("group.protocol") == "consumer") {
      withdraw("partition.assignment.strategy",
               "group.protocol=consumer leaves the assignment to the broker");
    }
    if (settings_.contains("group.id"))
      plan_.notes.push_back("group.id: consumers of a run use the run's own group");
    const auto instance = value_of("group.instance.id");
    if (!instance.empty() && instance.find("{consumer}") == std::string::npos) {
      plan_.notes.push_back(
          "group.instance.id: one name for all consumers lets them fence each other; write "
          "{consumer} "
          "in it where each consumer's name shall stand");
    }
  }

  void withdraw_idempotence() {
    const auto acks = value_of(canonical("acks"));
    std::string why;
    if (!acks.empty() && acks != "all" && acks != "-1") why = "acks=" + acks;
    const auto in_flight = number(settings_, canonical("max.in.flight.requests.per.connection"));
    if (in_flight.value_or(0) > 5)
      why = fmt::format("max.in.flight.requests.per.connection={}", *in_flight);
    if (number(settings_, canonical("retries")) == 0) why = "retries=0";
    if (value_of("queuing.strategy") == "lifo") why = "queuing.strategy=lifo";
    if (!why.empty()) withdraw("enable.idempotence", why + " excludes it");
  }

  void withdraw(std::string_view name, std::string_view why) {
    withdrawn_.emplace_back(name);
    plan_.notes.push_back(fmt::format("{}: our default is not set, {}", name, why));
  }
  [[nodiscard]] bool withdrawn(std::string_view name) const {
    return std::find(withdrawn_.begin(), withdrawn_.end(), name) != withdrawn_.end();
  }

  [[nodiscard]] std::string value_of(const std::string& name) const {
    return setting(settings_, name);
  }

  void try_values() {
    for (const auto& [name, value] : settings_) {
      const Settings alone{{name, value}};
      if (auto conf = make_conf(alone); !conf) faults_.push_back(conf.error().message);
    }
  }

  void divide() {
    for (const auto& [name, value] : settings_) {
      const auto side = library_.find(name)->side;
      if (side != Side::kConsumer) plan_.producer.emplace(name, value);
      if (side != Side::kProducer) plan_.consumer.emplace(name, value);
      if (side == Side::kBoth) plan_.admin.emplace(name, value);
    }
    // Its bounds are those that a reader of this run would see.
    if (const auto level = settings_.find("isolation.level"); level != settings_.end())
      plan_.admin.insert(*level);
  }

  Result<Plan> refused() {
    std::string all;
    for (const auto& fault : faults_) all += (all.empty() ? "" : "; ") + fault;
    return fail(ErrorCode::kInvalid, std::move(all));
  }

  const Library& library_;
  Translation translation_;
  Settings settings_;
  Plan plan_;
  std::vector<std::string> faults_;
  std::vector<std::string> withdrawn_;
};

// The names by which people know properties whose own name is older.
constexpr std::array<std::string_view, 8> kKnownAs = {
    "acks",      "bootstrap.servers",   "compression.type",
    "linger.ms", "delivery.timeout.ms", "max.partition.fetch.bytes",
    "retries",   "sasl.mechanism"};

std::string known_as(const Library& library, const std::string& name) {
  for (const auto alias : kKnownAs) {
    if (const auto* property = library.find(alias);
        property != nullptr && property->canonical == name) {
      return std::string(alias);
    }
  }
  return name;
}

// Adds what that client would use, as its own configuration says.
Result<void> probe_one(const Library& library, rd_kafka_type_t type, Settings settings,
                       Settings& effective) {
  for (const auto* servers : {"bootstrap.servers", "metadata.broker.list"}) settings.erase(servers);
  auto conf = make_conf(settings);
  if (!conf) return tl::unexpected(std::move(conf).error());
  auto handle = make_handle(type, std::move(*conf));
  if (!handle) return tl::unexpected(std::move(handle).error());
  const auto unwanted = type == RD_KAFKA_PRODUCER ? Side::kConsumer : Side::kProducer;
  for (const auto& [name, property] : library.properties()) {
    if (property.side == unwanted || property.canonical != name || !property.settable) continue;
    std::array<char, 4096> value{};
    std::size_t size = value.size();
    if (rd_kafka_conf_get(rd_kafka_conf(handle->get()), name.c_str(), value.data(), &size) !=
        RD_KAFKA_CONF_OK)
      continue;
    if (size <= 1 || size > value.size()) continue;
    const auto shown = known_as(library, name);
    std::string text(value.data(), size - 1);
    if (shown == "acks" && text == "-1") text = "all";
    effective.insert_or_assign(shown, is_secret(name) ? "***" : std::move(text));
  }
  return {};
}

}  // namespace

std::string setting(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::string() : found->second;
}

bool is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 7> kParts = {
      "password",    "secret",          "passphrase",        "sasl.jaas.config",
      "ssl.key.pem", "private.key.pem", "oauthbearer.config"};
  return name == "ssl.keystore.key" ||
         std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
}

std::string nearest_name(const Library& library, std::string_view name) {
  std::size_t best = std::max<std::size_t>(2, name.size() / 4) + 1;
  std::string nearest;
  const auto try_name = [&](std::string_view known) {
    const auto distance = edit_distance(name, known);
    if (distance < best) {
      best = distance;
      nearest = std::string(known);
    }
  };
  for (const auto& [known, property] : library.properties()) {
    if (property.settable) try_name(known);
  }
  for (const auto& row : java_rows()) try_name(row.name);
  return nearest;
}

Result<Plan> plan_settings(const Library& library, const Settings& user) {
  return Planner(library, user).run();
}

Result<Settings> probe(const Library& library, const Plan& plan) {
  Settings effective;
  if (auto done = probe_one(library, RD_KAFKA_CONSUMER, plan.consumer, effective); !done) {
    return fail_up(std::move(done), "consumer settings");
  }
  if (auto done = probe_one(library, RD_KAFKA_PRODUCER, plan.producer, effective); !done) {
    return fail_up(std::move(done), "producer settings");
  }
  for (const auto* servers : {"bootstrap.servers", "metadata.broker.list"}) {
    const auto found = plan.admin.find(servers);
    if (found != plan.admin.end()) effective.insert_or_assign("bootstrap.servers", found->second);
  }
  return effective;
}

Result<void> apply_consumer_spec(const ConsumerSpec& spec, Settings& settings) {
  settings.emplace("client.id", spec.name);
  if (!spec.group_name.empty()) settings.insert_or_assign("group.id", spec.group_name);
  if (!settings.contains("group.id")) {
    return fail(ErrorCode::kInvalid,
                fmt::format("consumer '{}' has no group; set group.id", spec.name));
  }
  if (auto found = settings.find("group.instance.id"); found != settings.end()) {
    constexpr std::string_view kPlace = "{consumer}";
    if (const auto at = found->second.find(kPlace); at != std::string::npos) {
      found->second.replace(at, kPlace.size(), spec.name);
    }
  }
  if (spec.commit_each) {
    settings.insert_or_assign("enable.auto.commit", "true");
    settings.insert_or_assign("enable.auto.offset.store", "true");
  }
  return {};
}

}  // namespace sp::driver::kafka

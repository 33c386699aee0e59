#include "driver/kafka/java_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace sp::driver::kafka {
namespace {

constexpr auto kRename = JavaAction::kRename;
constexpr auto kIgnore = JavaAction::kIgnore;
constexpr auto kSpecial = JavaAction::kSpecial;

constexpr std::string_view kOpenSsl = "OpenSSL decides this here";
constexpr std::string_view kNoMetrics = "librdkafka has no such metrics or plug-ins";
constexpr std::string_view kRawBytes = "records are bytes here, nothing is serialised";
constexpr std::string_view kJvm = "a class of the Java client cannot be loaded here";

constexpr std::array kJavaRows = {
    JavaRow{"auto.include.jmx.reporter", kIgnore, {}, kNoMetrics},
    JavaRow{
        "buffer.memory", kIgnore, {}, "the local queue is bounded by queue.buffering.max.kbytes"},
    JavaRow{"config.providers", kIgnore, {}, kJvm},
    JavaRow{
        "default.api.timeout.ms", kIgnore, {}, "calls of this program carry their own time limits"},
    JavaRow{"enable.metrics.push", kIgnore, {}, kNoMetrics},
    JavaRow{"exclude.internal.topics", kIgnore, {}, "topics are subscribed by name"},
    JavaRow{"fetch.max.wait.ms", kRename, "fetch.wait.max.ms", {}},
    JavaRow{"interceptor.classes", kIgnore, {}, kJvm},
    JavaRow{"key.deserializer", kIgnore, {}, kRawBytes},
    JavaRow{"key.serializer", kIgnore, {}, kRawBytes},
    JavaRow{"max.block.ms",
            kIgnore,
            {},
            "a full local queue is waited for by the workload, not by the client"},
    JavaRow{"max.poll.records",
            kIgnore,
            {},
            "how many records are taken at once is the workload's choice"},
    JavaRow{"max.request.size", kRename, "message.max.bytes", {}},
    JavaRow{"metadata.max.idle.ms", kIgnore, {}, "librdkafka keeps the metadata of topics in use"},
    JavaRow{"metric.reporters", kIgnore, {}, kNoMetrics},
    JavaRow{"metrics.num.samples", kIgnore, {}, kNoMetrics},
    JavaRow{"metrics.recording.level", kIgnore, {}, kNoMetrics},
    JavaRow{"metrics.sample.window.ms", kIgnore, {}, kNoMetrics},
    JavaRow{"partitioner.adaptive.partitioning.enable",
            kIgnore,
            {},
            "every record has a key, so its partition is fixed"},
    JavaRow{"partitioner.availability.timeout.ms",
            kIgnore,
            {},
            "every record has a key, so its partition is fixed"},
    JavaRow{"partitioner.class",
            kIgnore,
            {},
            "the Java client's default for keyed records (murmur2) is used"},
    JavaRow{"partitioner.ignore.keys",
            kSpecial,
            {},
            "false is accepted; true would take the keys' partitions away"},
    JavaRow{"receive.buffer.bytes", kRename, "socket.receive.buffer.bytes", {}},
    JavaRow{"sasl.client.callback.handler.class", kIgnore, {}, kJvm},
    JavaRow{"sasl.jaas.config", kSpecial, "sasl.username, sasl.password …",
            "user, password, keytab, principal and client are taken out of it"},
    JavaRow{"sasl.login.callback.handler.class", kIgnore, {}, kJvm},
    JavaRow{"sasl.login.class", kIgnore, {}, kJvm},
    JavaRow{"security.providers", kIgnore, {}, kJvm},
    JavaRow{"send.buffer.bytes", kRename, "socket.send.buffer.bytes", {}},
    JavaRow{"socket.connection.setup.timeout.max.ms",
            kIgnore,
            {},
            "socket.connection.setup.timeout.ms is the only limit"},
    JavaRow{"ssl.enabled.protocols", kIgnore, {}, kOpenSsl},
    JavaRow{"ssl.keymanager.algorithm", kIgnore, {}, kOpenSsl},
    JavaRow{"ssl.keystore.certificate.chain", kRename, "ssl.certificate.pem", {}},
    JavaRow{"ssl.keystore.key", kRename, "ssl.key.pem", {}},
    JavaRow{"ssl.keystore.type",
            kSpecial,
            {},
            "PEM: ssl.keystore.location becomes ssl.certificate.location and ssl.key.location; "
            "PKCS12 stays; JKS is refused"},
    JavaRow{"ssl.protocol", kIgnore, {}, kOpenSsl},
    JavaRow{"ssl.provider", kIgnore, {}, kOpenSsl},
    JavaRow{"ssl.secure.random.implementation", kIgnore, {}, kOpenSsl},
    JavaRow{"ssl.trustmanager.algorithm", kIgnore, {}, kOpenSsl},
    JavaRow{"ssl.truststore.certificates", kRename, "ssl.ca.pem", {}},
    JavaRow{"ssl.truststore.location", kSpecial, "ssl.ca.location", "a PEM file only"},
    JavaRow{"ssl.truststore.password", kIgnore, {}, "a PEM truststore has none"},
    JavaRow{"ssl.truststore.type", kIgnore, {}, "the file's own content decides"},
    JavaRow{"transaction.two.phase.commit.enable", kIgnore, {}, "librdkafka has no such mode"},
    JavaRow{"value.deserializer", kIgnore, {}, kRawBytes},
    JavaRow{"value.serializer", kIgnore, {}, kRawBytes},
};

enum class StoreKind : std::uint8_t { kPem, kPkcs12, kJks };

// What kind of key or trust store the file holds, from its first bytes.
Result<StoreKind> store_kind(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(4096, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (head.empty()) return fail(ErrorCode::kIo, fmt::format("cannot read '{}'", path));
  if (head.starts_with("\xFE\xED\xFE\xED")) return StoreKind::kJks;
  if (head.find("-----BEGIN") != std::string::npos) return StoreKind::kPem;
  return StoreKind::kPkcs12;
}

class Translator {
 public:
  Translator(const Library& library, const Settings& user) : library_(library), user_(user) {}

  Translation run() {
    for (const auto& [name, value] : user_) one(name, value);
    return std::move(out_);
  }

 private:
  void one(const std::string& name, const std::string& value) {
    if (name == "ssl.keystore.location") return keystore(value);
    const auto* row = find_java(name);
    if (row == nullptr || (library_.find(name) != nullptr && row->action != kSpecial))
      return keep(name, value);
    switch (row->action) {
      case kRename:
        return put(std::string(row->target), value, name);
      case kIgnore:
        return note(name, row->why);
      case kSpecial:
        break;
    }
    if (name == "sasl.jaas.config") return jaas(value);
    if (name == "ssl.truststore.location") return truststore(value);
    if (name == "partitioner.ignore.keys" && value != "false") {
      out_.faults.push_back(
          "partitioner.ignore.keys=true would take the order of a key away; remove it");
    }
  }

  // A name that both clients know; the value may differ.
  void keep(const std::string& name, const std::string& value) {
    if (name == "auto.offset.reset" && value == "none") return put(name, "error", name);
    if (name == "ssl.endpoint.identification.algorithm" && value.empty())
      return put(name, "none", name);
    if (name == "partition.assignment.strategy") return assignors(value);
    put(name, value, name);
  }

  void assignors(const std::string& value) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kClasses = {{
        {"org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "cooperative-sticky"},
        {"org.apache.kafka.clients.consumer.RangeAssignor", "range"},
        {"org.apache.kafka.clients.consumer.RoundRobinAssignor", "roundrobin"},
    }};
    std::string translated = value;
    for (const auto& [from, to] : kClasses) {
      for (auto at = translated.find(from); at != std::string::npos; at = translated.find(from)) {
        translated.replace(at, from.size(), to);
      }
    }
    if (translated.find("StickyAssignor") != std::string::npos) {
      out_.faults.push_back(
          "partition.assignment.strategy: librdkafka has no eager sticky assignor; use "
          "cooperative-sticky");
      return;
    }
    put("partition.assignment.strategy", translated, "partition.assignment.strategy");
  }

  void truststore(const std::string& path) {
    const auto kind = store_kind(path);
    if (!kind) {
      out_.faults.push_back("ssl.truststore.location: " + kind.error().message);
    } else if (*kind != StoreKind::kPem) {
      out_.faults.push_back(
          fmt::format("ssl.truststore.location: '{}' is a {} file, only PEM can be read here; make "
                      "one with keytool -list -rfc "
                      "-keystore '{}' > ca.pem and set ssl.ca.location=ca.pem",
                      path, *kind == StoreKind::kJks ? "JKS" : "PKCS#12", path));
    } else {
      put("ssl.ca.location", path, "ssl.truststore.location");
    }
  }

  void keystore(const std::string& path) {
    const auto kind = store_kind(path);
    if (!kind) {
      out_.faults.push_back("ssl.keystore.location: " + kind.error().message);
    } else if (*kind == StoreKind::kJks) {
      out_.faults.push_back(fmt::format(
          "ssl.keystore.location: '{}' is a JKS file; convert it with keytool -importkeystore "
          "-srckeystore '{}' -destkeystore client.p12 -deststoretype PKCS12",
          path, path));
    } else if (*kind == StoreKind::kPem) {
      put("ssl.certificate.location", path, "ssl.keystore.location");
      put("ssl.key.location", path, "ssl.keystore.location");
    } else {
      put("ssl.keystore.location", path, "ssl.keystore.location");
    }
  }

  void jaas(const std::string& line) {
    auto options = parse_jaas(line);
    if (!options) {
      out_.faults.push_back("sasl.jaas.config: " + options.error().message);
      return;
    }
    const std::string& module = (*options)["module"];
    const auto is = [&module](std::string_view name) { return module.ends_with(name); };
    if (is("PlainLoginModule") || is("ScramLoginModule")) {
      take(*options, {{"username", "sasl.username"}, {"password", "sasl.password"}});
      if (is("PlainLoginModule") && !user_sets("sasl.mechanism"))
        put("sasl.mechanisms", "PLAIN", "sasl.jaas.config");
      if (is("ScramLoginModule") && !user_sets("sasl.mechanism")) {
        out_.faults.push_back(
            "sasl.jaas.config: a ScramLoginModule needs sasl.mechanism=SCRAM-SHA-256 or "
            "SCRAM-SHA-512");
      }
    } else if (is("OAuthBearerLoginModule")) {
      take(*options, {{"clientId", "sasl.oauthbearer.client.id"},
                      {"clientSecret", "sasl.oauthbearer.client.secret"}});
      if (!user_sets("sasl.oauthbearer.method"))
        put("sasl.oauthbearer.method", "oidc", "sasl.jaas.config");
    } else if (is("Krb5LoginModule")) {
      take(*options,
           {{"principal", "sasl.kerberos.principal"}, {"keyTab", "sasl.kerberos.keytab"}});
    } else {
      out_.faults.push_back(fmt::format(
          "sasl.jaas.config: login module '{}' has no counterpart here; give librdkafka's "
          "own sasl.* settings instead",
          module));
    }
  }

  [[nodiscard]] bool user_sets(const std::string& name) const {
    return user_.contains(name) || (name == "sasl.mechanism" && user_.contains("sasl.mechanisms"));
  }

  void take(const Settings& options,
            std::initializer_list<std::pair<const char*, const char*>> pairs) {
    for (const auto& [from, to] : pairs) {
      if (const auto found = options.find(from); found != options.end()) {
        put(to, found->second, "sasl.jaas.config");
      } else {
        out_.faults.push_back(fmt::format("sasl.jaas.config: option {} is missing", from));
      }
    }
  }

  void put(const std::string& name, const std::string& value, std::string_view from) {
    const auto [at, fresh] = out_.settings.emplace(name, value);
    if (!fresh && at->second != value) {
      out_.faults.push_back(
          fmt::format("{} and {} set the same property to two values; remove one", from, name));
    }
  }

  void note(const std::string& name, std::string_view why) {
    out_.notes.push_back(fmt::format("{}: {}", name, why));
  }

  const Library& library_;
  const Settings& user_;
  Translation out_;
};

// The next word of a JAAS line: quoted with " and backslash escapes, or up to a space, '=' or ';'.
Result<std::string> jaas_word(std::string_view line, std::size_t& at) {
  std::string word;
  if (at < line.size() && line[at] == '"') {
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && at + 1 < line.size()) ++at;
      word += line[at];
    }
    if (at >= line.size()) return fail(ErrorCode::kParse, "a quote is not closed");
    ++at;
    return word;
  }
  while (at < line.size() && std::string_view(" \t\r\n=;").find(line[at]) == std::string_view::npos)
    word += line[at++];
  return word;
}

void skip_space(std::string_view line, std::size_t& at) {
  while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at])) != 0) ++at;
}

}  // namespace

std::span<const JavaRow> java_rows() { return kJavaRows; }

const JavaRow* find_java(std::string_view name) {
  const auto* found = std::find_if(kJavaRows.begin(), kJavaRows.end(),
                                   [&](const JavaRow& row) { return row.name == name; });
  return found == kJavaRows.end() ? nullptr : found;
}

std::string java_table() {
  std::string table =
      "# Settings of the Java client\n\n"
      "librdkafka's own names go through unchanged. These are the Java client's that librdkafka "
      "does "
      "not know; any other name is refused.\nMade from `src/driver/kafka/java_names.cc`.\n\n"
      "| Java client | here |\n|---|---|\n";
  for (const auto& row : kJavaRows) {
    switch (row.action) {
      case JavaAction::kRename:
        table += fmt::format("| `{}` | `{}` |\n", row.name, row.target);
        break;
      case JavaAction::kIgnore:
        table += fmt::format("| `{}` | noted: {} |\n", row.name, row.why);
        break;
      case JavaAction::kSpecial:
        table += row.target.empty()
                     ? fmt::format("| `{}` | {} |\n", row.name, row.why)
                     : fmt::format("| `{}` | `{}`: {} |\n", row.name, row.target, row.why);
        break;
    }
  }
  return table;
}

Translation translate_java(const Library& library, const Settings& user) {
  return Translator(library, user).run();
}

// module flag { name = value } ";"
Result<Settings> parse_jaas(std::string_view line) {
  Settings options;
  std::size_t at = 0;
  skip_space(line, at);
  auto module = jaas_word(line, at);
  if (!module) return tl::unexpected(std::move(module).error());
  if (module->empty())
    return fail(ErrorCode::kParse, "it is empty; expected: MODULE required name=\"value\" …;");
  options["module"] = std::move(*module);
  skip_space(line, at);
  auto flag = jaas_word(line, at);
  if (!flag) return tl::unexpected(std::move(flag).error());
  for (skip_space(line, at); at < line.size() && line[at] != ';'; skip_space(line, at)) {
    auto name = jaas_word(line, at);
    if (!name) return tl::unexpected(std::move(name).error());
    skip_space(line, at);
    if (name->empty() || at >= line.size() || line[at] != '=') {
      return fail(ErrorCode::kParse,
                  fmt::format("expected name=\"value\" at character {}", at + 1));
    }
    ++at;
    skip_space(line, at);
    auto value = jaas_word(line, at);
    if (!value) return tl::unexpected(std::move(value).error());
    options[std::move(*name)] = std::move(*value);
  }
  if (at >= line.size()) return fail(ErrorCode::kParse, "the closing ';' is missing");
  return options;
}

}  // namespace sp::driver::kafka

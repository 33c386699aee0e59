// The Java client's settings in librdkafka's words.
//
//     fetch.max.wait.ms=500              fetch.wait.max.ms=500
//     ssl.truststore.location=ca.pem     ssl.ca.location=ca.pem
//     sasl.jaas.config=… username="u" …  sasl.username=u …
//     buffer.memory=1000000              a note: it has no counterpart here
//
// Only names that the library does not know itself are translated; a few values differ under one
// name (auto.offset.reset none, an empty ssl.endpoint.identification.algorithm, assignor classes).
//
// Errors:  kInvalid, all of them at once, none showing a secret.
// Threads: functions of their arguments and of the certificate files that they name.
// Source:  docs/reference/kafka-settings.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"
#include "driver/kafka/library.h"

namespace sp::driver::kafka {

enum class JavaAction : std::uint8_t {
  kRename,   // to `target`, the value unchanged
  kIgnore,   // accepted and noted: `why`
  kSpecial,  // its value is read; `why` says what becomes of it
};

struct JavaRow {
  std::string_view name;
  JavaAction action = JavaAction::kIgnore;
  std::string_view target;
  std::string_view why;
};
[[nodiscard]] std::span<const JavaRow> java_rows();
// docs/reference/kafka-settings.md.
[[nodiscard]] std::string java_table();
[[nodiscard]] const JavaRow* find_java(std::string_view name);

struct Translation {
  Settings settings;  // by the library's names, aliases not yet resolved
  std::vector<std::string> notes;
  std::vector<std::string> faults;  // what is wrong, one sentence each
};

// Unknown names stay as they are: the caller refuses them.
[[nodiscard]] Translation translate_java(const Library& library, const Settings& user);

// The options of the first entry of a JAAS line, and the login module's class under "module".
[[nodiscard]] Result<Settings> parse_jaas(std::string_view line);

}  // namespace sp::driver::kafka

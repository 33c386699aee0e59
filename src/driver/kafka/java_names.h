// The Java client's settings in librdkafka's words.
//
//     sasl.jaas.config=…PlainLoginModule required username="u" password="p";   sasl.username=u
//     sasl.password=p ssl.truststore.location=ca.pem ssl.ca.location=ca.pem fetch.max.wait.ms=500
//     fetch.wait.max.ms=500 buffer.memory=1000000 a note: has no counterpart here
//
// Only names that the library does not know itself are translated; a few values differ under one
// name (auto.offset.reset none, an empty ssl.endpoint.identification.algorithm, assignor classes).
//
// Errors:  kInvalid, all of them at once, none showing a secret; kIo for a certificate file that
// cannot be read. Threads: functions of their arguments and the named files.   Source:
// docs/reference/kafka-settings.md (made from java_rows).
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

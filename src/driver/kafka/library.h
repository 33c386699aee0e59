// The librdkafka this process runs on: its version, the properties it knows, and the functions that
// the headers we compile against do not declare.
//
// The property table is read from the library itself (rd_kafka_conf_properties_show), so a newer
// library's settings work without a change here, and a name it lacks is unknown.
//
// Cost:    the table is parsed once for each process.
// Errors:  kUnsupported: the library cannot tell the generation of a consumer group.
// Threads: constant after get().   Source: docs/decisions/0002-librdkafka.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "base/result.h"

namespace sp::driver::kafka {

enum class Side : std::uint8_t { kBoth, kProducer, kConsumer };

struct Property {
  Side side = Side::kBoth;
  std::string canonical;  // the property's own name; another one for an alias
  bool settable = true;   // false: a callback or pointer, no text can be its value
};

class Library {
 public:
  using GenerationOf = std::int32_t (*)(const rd_kafka_consumer_group_metadata_t*);
  using MemberOf = const char* (*)(const rd_kafka_consumer_group_metadata_t*);
  using Lookup = std::function<void*(const char*)>;

  // The library of this process.
  [[nodiscard]] static const Result<Library>& get();
  // The library whose functions `lookup` finds by name (null: it lacks that one).
  [[nodiscard]] static Result<Library> load(const Lookup& lookup);

  [[nodiscard]] const std::string& version() const { return version_; }
  // Null if the library does not know the name.
  [[nodiscard]] const Property* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, Property, std::less<>>& properties() const {
    return properties_;
  }
  [[nodiscard]] GenerationOf generation_of() const { return generation_of_; }
  [[nodiscard]] MemberOf member_of() const { return member_of_; }

 private:
  std::string version_;
  std::map<std::string, Property, std::less<>> properties_;
  GenerationOf generation_of_ = nullptr;
  MemberOf member_of_ = nullptr;
};

// The rows of a property table as rd_kafka_conf_properties_show prints it; the first row of a name
// counts.
[[nodiscard]] std::map<std::string, Property, std::less<>> parse_property_table(
    std::string_view table);

}  // namespace sp::driver::kafka

#include "driver/kafka/library.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <dlfcn.h>
#include <fmt/core.h>

namespace sp::driver::kafka {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// The text that the library prints of its properties.
std::string property_table() {
  char* text = nullptr;
  std::size_t bytes = 0;
  FILE* stream = open_memstream(&text, &bytes);
  if (stream == nullptr) return {};
  rd_kafka_conf_properties_show(stream);
  std::fclose(stream);
  std::string table(text, bytes);
  std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): open_memstream hands over such memory
  return table;
}

}  // namespace

std::map<std::string, Property, std::less<>> parse_property_table(std::string_view table) {
  // name | C, P or * | range | default | importance | description
  constexpr std::string_view kAlias = "Alias for `";
  std::map<std::string, Property, std::less<>> properties;
  while (!table.empty()) {
    const auto line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    const auto name_end = line.find('|');
    if (name_end == std::string_view::npos) continue;
    const auto side_end = line.find('|', name_end + 1);
    if (side_end == std::string_view::npos) continue;
    const auto name = trimmed(line.substr(0, name_end));
    const auto side = trimmed(line.substr(name_end + 1, side_end - name_end - 1));
    if (name.empty() || side.size() != 1 ||
        std::string_view("CP*").find(side[0]) == std::string_view::npos)
      continue;
    Property property;
    property.side = side == "*" ? Side::kBoth : side == "P" ? Side::kProducer : Side::kConsumer;
    property.canonical = std::string(name);
    const auto rest = line.substr(side_end);
    if (const auto alias = rest.find(kAlias); alias != std::string_view::npos) {
      const auto target = rest.substr(alias + kAlias.size());
      property.canonical = std::string(target.substr(0, target.find('`')));
    }
    property.settable =
        rest.find("see dedicated API") == std::string_view::npos && name != "enabled_events";
    properties.emplace(std::string(name), std::move(property));
  }
  return properties;
}

Result<Library> Library::load(const Lookup& lookup) {
  Library library;
  library.version_ = rd_kafka_version_str();
  library.generation_of_ =
      reinterpret_cast<GenerationOf>(lookup("rd_kafka_consumer_group_metadata_generation_id"));
  library.member_of_ =
      reinterpret_cast<MemberOf>(lookup("rd_kafka_consumer_group_metadata_member_id"));
  if (library.generation_of_ == nullptr || library.member_of_ == nullptr) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format(
            "librdkafka {} cannot tell the generation of a consumer group, which the checks need; "
            "run "
            "tools/fetch-librdkafka for the pinned one, or point LD_LIBRARY_PATH to a folder with "
            "a newer librdkafka.so.1",
            library.version_));
  }
  library.properties_ = parse_property_table(property_table());
  if (library.properties_.find("bootstrap.servers") == library.properties_.end()) {
    return fail(
        ErrorCode::kInternal,
        fmt::format("librdkafka {} prints its properties in an unknown form", library.version_));
  }
  return library;
}

const Result<Library>& Library::get() {
  static const Result<Library> library =
      load([](const char* name) { return dlsym(RTLD_DEFAULT, name); });
  return library;
}

const Property* Library::find(std::string_view name) const {
  const auto found = properties_.find(name);
  return found == properties_.end() ? nullptr : &found->second;
}

}  // namespace sp::driver::kafka

#include "coordinator/config_layers.h"

#include <algorithm>
#include <system_error>

#include <fmt/core.h>

#include "codec/json_writer.h"
#include "sys/files.h"

namespace sp::coordinator {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{16} << 20U;

std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    if (at->path().extension() == ".yaml") files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<Configs> read_file(const std::filesystem::path& file) {
  auto text = sys::read_file(file, kFileBytesMax);
  if (!text) return tl::unexpected(std::move(text).error());
  const std::string name = file.filename().string();
  auto document = codec::parse_document(*text, {.name = name, .bytes_max = kFileBytesMax});
  if (!document) return tl::unexpected(std::move(document).error());
  ConfigsReading read = read_configs(*document, name);
  if (!read.faults.empty()) return tl::unexpected(proof::to_error(read.faults));
  return std::move(read.configs);
}

}  // namespace

std::optional<Configs> ConfigLayers::together() const {
  if (!told_ && !folder_) return std::nullopt;
  Configs all = folder_.value_or(Configs{});
  all.erase(removed_);
  all.merge(put_);
  return all;
}

void ConfigLayers::put(const Configs& configs) {
  told_ = true;
  removed_.erase(configs);
  put_.merge(configs);
}

void ConfigLayers::take_away(const Configs& names) {
  told_ = true;
  put_.erase(names);
  removed_.merge(names);
}

std::string ConfigLayers::told_json() const {
  codec::JsonWriter json;
  json.begin_object().key("put").raw(configs_json(put_, {.secrets = true}));
  return json.key("removed").raw(configs_json(removed_, {.secrets = true})).end_object().take();
}

Result<void> ConfigLayers::read_told(std::string_view json) {
  auto root = codec::parse_document(json, {.name = "state", .bytes_max = kFileBytesMax, .nodes_max = 1'000'000});
  if (!root) return tl::unexpected(std::move(root).error());
  const codec::Node* const put = root->find("put");
  const codec::Node* const removed = root->find("removed");
  if (put == nullptr || removed == nullptr) return fail(ErrorCode::kParse, "state: its configuration has no put or removed");
  ConfigsReading read = read_configs(*put, "state");
  if (!read.faults.empty()) return tl::unexpected(proof::to_error(read.faults));
  put_ = std::move(read.configs);
  removed_ = read_configs(*removed, "state", true).configs;
  told_ = true;
  return {};
}

FolderReading read_config_folder(const std::filesystem::path& folder) {
  FolderReading reading;
  for (const auto& file : yaml_files(folder)) {
    auto read = read_file(file);
    if (read) {
      reading.configs.merge(*read);
    } else {
      reading.problems.push_back(read.error().message);
    }
  }
  return reading;
}

std::string config_folder_mark(const std::filesystem::path& folder) {
  std::error_code problem;
  if (!std::filesystem::is_directory(folder, problem)) return {};
  std::string mark = "folder";
  for (const auto& file : yaml_files(folder)) {
    const auto bytes = std::filesystem::file_size(file, problem);
    const auto changed = std::filesystem::last_write_time(file, problem).time_since_epoch().count();
    mark += fmt::format("\n{} {} {}", file.filename().string(), bytes, changed);
  }
  return mark;
}

}  // namespace sp::coordinator

// The two layers of a coordinator's configuration, and what they are together.
//
//     folder   what the files of the configuration folder say; replaced as a whole when one of them changes
//     told     what the interface was told: names that it put, names that it took away
//     together = folder, without what was taken away, and over it what was put
//
// So a change of a file never forgets what the interface was told, and what the interface deleted does not come back with the next
// change of a file; it comes back when somebody puts it.
//
// Shape:    as Configs.   Cost: O(names).   Limits: those of Configs.
// Errors:   kParse of read_layers().   Threads: a value.   Source: docs/decisions/0016.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coordinator/configs.h"

namespace sp::coordinator {

class ConfigLayers {
 public:
  // Absent: nothing was ever configured.
  [[nodiscard]] std::optional<Configs> together() const;
  void put(const Configs& configs);
  void take_away(const Configs& names);
  void set_folder(std::optional<Configs> folder) { folder_ = std::move(folder); }

  // What was told, for the state file, and back.
  [[nodiscard]] std::string told_json() const;
  Result<void> read_told(std::string_view json);

 private:
  std::optional<Configs> folder_;
  Configs put_;
  Configs removed_;  // names only
  bool told_ = false;
};

// All `*.yaml` files of the folder, by name, merged. What is wrong with any of them is told with its file; the others count.
struct FolderReading {
  Configs configs;
  std::vector<std::string> problems;
};
[[nodiscard]] FolderReading read_config_folder(const std::filesystem::path& folder);
// Changes when a file of the folder is made, changed or deleted. Empty: there is no such folder.
[[nodiscard]] std::string config_folder_mark(const std::filesystem::path& folder);

}  // namespace sp::coordinator

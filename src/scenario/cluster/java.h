// The Java command lines of the cluster: formatting a data folder and running a server.
//
// Cost:    format 1 s; start returns at once.   Errors: kUnavailable with the last lines of what Java said.
// Threads: any.   Source: scenario/cluster/artefacts.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scenario/cluster/artefacts.h"
#include "sys/process.h"

namespace sp::scenario::cluster {

struct JavaCommand {
  KafkaArtefacts kafka;
  std::filesystem::path log_settings;
  std::uint32_t heap_megabytes = 256;
  std::string archive_option;  // how the class archive is used; empty: use it if it is there
};

// Formats the data folder named in `properties` for the cluster of that id; what Java says goes to `out`.
[[nodiscard]] Result<void> format_storage(const JavaCommand& command, std::string_view cluster_id,
                                          const std::filesystem::path& properties,
                                          const std::filesystem::path& out);
// Starts a server and returns at once; what it says is appended to `out`.
[[nodiscard]] Result<sys::ProcessId> start_server(const JavaCommand& command,
                                                  const std::filesystem::path& properties,
                                                  const std::filesystem::path& folder,
                                                  const std::filesystem::path& out);
// The end of what Java wrote to `log`, without the frames of stack traces.
[[nodiscard]] std::string last_words(const std::filesystem::path& log);

}  // namespace sp::scenario::cluster

#include "scenario/cluster/java.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "sys/files.h"

namespace sp::scenario::cluster {
namespace {

constexpr auto kFormatWait = std::chrono::seconds(60);

std::vector<std::string> java_args(const JavaCommand& command, std::string_view archive) {
  std::vector<std::string> args = {
      command.kafka.java.string(), fmt::format("-Xmx{}m", command.heap_megabytes),
      "-XX:+UseSerialGC",          "-XX:TieredStopAtLevel=1",
      "-XX:-UsePerfData",          "-Djava.awt.headless=true"};
  if (!archive.empty()) args.emplace_back(archive);
  args.push_back(fmt::format("-Dlog4j2.configurationFile={}", command.log_settings.string()));
  args.emplace_back("-cp");
  args.push_back(command.kafka.class_path());
  return args;
}

// The JVM ignores an archive that does not fit it; -Xshare:auto (the default) then goes on without.
std::string archive_use(const JavaCommand& command) {
  if (!command.archive_option.empty()) return command.archive_option;
  std::error_code error;
  if (!std::filesystem::exists(command.kafka.archive(), error)) return "";
  return fmt::format("-XX:SharedArchiveFile={}", command.kafka.archive().string());
}

}  // namespace

std::string last_words(const std::filesystem::path& log) {
  constexpr std::size_t kLinesRead = 200;
  constexpr std::size_t kLinesShown = 15;
  constexpr std::size_t kBytesRead = 65536;
  const std::string text = sys::last_lines(log, kLinesRead, kBytesRead);
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    if (!line.starts_with("\tat ") && !line.starts_with("\t... ")) lines.push_back(line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  std::string words;
  for (std::size_t i = lines.size() > kLinesShown ? lines.size() - kLinesShown : 0; i < lines.size(); ++i) {
    words += fmt::format("{}  {}", words.empty() ? "" : "\n", lines[i]);
  }
  return words.empty() ? "  (nothing)" : words;
}

Result<void> format_storage(const JavaCommand& command, std::string_view cluster_id,
                            const std::filesystem::path& properties, const std::filesystem::path& out) {
  sys::SpawnSpec spec;
  spec.args = java_args(command, command.archive_option.empty() ? archive_use(command) : "");
  for (const char* arg : {"kafka.tools.StorageTool", "format", "-t"}) spec.args.emplace_back(arg);
  spec.args.emplace_back(cluster_id);
  spec.args.emplace_back("-c");
  spec.args.push_back(properties.string());
  spec.out = out;
  spec.err = out;
  const auto exit = sys::run(spec, kFormatWait);
  if (!exit) return tl::unexpected<Error>(exit.error());
  if (!exit->signalled && exit->code == 0) return {};
  return fail(ErrorCode::kUnavailable,
              fmt::format("Kafka could not format its data folder ({}); {} ends with:\n{}", exit->text(),
                          out.string(), last_words(out)));
}

Result<sys::ProcessId> start_server(const JavaCommand& command, const std::filesystem::path& properties,
                                    const std::filesystem::path& folder, const std::filesystem::path& out) {
  sys::SpawnSpec spec;
  spec.args = java_args(command, archive_use(command));
  spec.args.emplace_back("kafka.Kafka");
  spec.args.push_back(properties.string());
  spec.folder = folder;
  spec.out = out;
  spec.err = out;
  return sys::spawn(spec);
}

}  // namespace sp::scenario::cluster

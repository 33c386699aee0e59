#include "sys/paths.h"

#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace sp::sys {

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

Result<std::filesystem::path> cache_folder() {
  if (const auto cache = environment("XDG_CACHE_HOME");
      cache && std::filesystem::path(*cache).is_absolute()) {
    return std::filesystem::path(*cache) / "streaming-proof";
  }
  if (const auto home = environment("HOME"))
    return std::filesystem::path(*home) / ".cache" / "streaming-proof";
  return fail(ErrorCode::kNotFound,
              "no place for the cache: set HOME, or XDG_CACHE_HOME to an absolute folder");
}

std::optional<std::filesystem::path> find_program_in(std::string_view search, std::string_view name) {
  while (true) {
    const auto colon = search.find(':');
    const auto folder = search.substr(0, colon);
    std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0)
      return candidate;
    if (colon == std::string_view::npos) return std::nullopt;
    search.remove_prefix(colon + 1);
  }
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  const auto search = environment("PATH");
  return search ? find_program_in(*search, name) : std::nullopt;
}

}  // namespace sp::sys

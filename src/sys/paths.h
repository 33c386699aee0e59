// Where things are on this machine: the cache folder of this program, and programs in PATH.
//
//     $XDG_CACHE_HOME/streaming-proof     if set and absolute, else     ~/.cache/streaming-proof
//
// Errors: kNotFound without a home, saying what to set.   Threads: any, while nobody changes the environment.
// Source: XDG Base Directory Specification 0.8.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sp::sys {

// The value of an environment variable; nullopt if unset or empty.
[[nodiscard]] std::optional<std::string> environment(const std::string& name);
// Not made; its name only.
[[nodiscard]] Result<std::filesystem::path> cache_folder();
// The first executable file `name` in the folders of `search`, written as PATH is.
[[nodiscard]] std::optional<std::filesystem::path> find_program_in(std::string_view search,
                                                                   std::string_view name);
// ... of $PATH.
[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace sp::sys

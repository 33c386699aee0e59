// Pages of the manual, made from the tables of the code, so that they cannot say anything else.
//
//     page        made from
//     commands    the application itself: what --help says, command by command
//     proof       proof/fields.cc
//     findings    core/code.cc: the codes, the blames, what forbids what
//     errors      base/result.cc: the errors, and what exit codes mean
//     defects     driver/embedded/defects.cc
//     faults      scenario/fault/chaos.cc
//
//     streaming-proof manual NAME > docs/reference/NAME.md           makes a page anew
//
// Cost:     a page is a few milliseconds.
// Limits:   –.
// Errors:   kNotFound lists the pages.
// Threads:  pure functions.
// Source:   CONTRIBUTING.md, "Documents".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}  // namespace CLI

namespace sp::cli {

[[nodiscard]] std::vector<std::string_view> manual_pages();
// The whole file docs/reference/NAME.md. `program` has all its commands.
[[nodiscard]] Result<std::string> manual_page(std::string_view name, const CLI::App& program);

}  // namespace sp::cli

#include "base/result.h"

#include <array>

#include "base/check.h"

namespace sp {
namespace {

constexpr std::array kRows = {
    ErrorRow{ErrorCode::kParse, "parse", "the text does not follow its grammar",
             "mend the named place"},
    ErrorRow{ErrorCode::kInvalid, "invalid", "the request contradicts itself or asks for the impossible",
             "change the named field"},
    ErrorRow{ErrorCode::kNotFound, "not-found", "the named thing does not exist", "check the name"},
    ErrorRow{ErrorCode::kExists, "exists", "the named thing exists already",
             "choose another name, or say that it may be reused"},
    ErrorRow{ErrorCode::kUnsupported, "unsupported", "this driver or library cannot do that",
             "choose another driver, version or feature"},
    ErrorRow{ErrorCode::kUnavailable, "unavailable", "the system under test does not answer",
             "check that it runs and that the address is right"},
    ErrorRow{ErrorCode::kDenied, "denied", "the system under test refuses for want of a right",
             "grant the named right"},
    ErrorRow{ErrorCode::kIo, "io", "the operating system refused", "see the named file"},
    ErrorRow{ErrorCode::kMissingTool, "missing-tool", "a program that is needed is not installed",
             "run the printed command"},
    ErrorRow{ErrorCode::kFull, "full", "a stated limit is reached", "raise the limit or ask for less"},
    ErrorRow{ErrorCode::kTimeout, "timeout", "gave up waiting", "see the named limit"},
    ErrorRow{ErrorCode::kInternal, "internal", "a library answered what its manual excludes",
             "report it with the message"},
};

}  // namespace

const ErrorRow& error_row(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  CHECK(index < kRows.size() && kRows[index].code == code, "every error code has its row, in order");
  return kRows[index];
}

std::pair<const ErrorRow*, std::size_t> error_rows() { return {kRows.data(), kRows.size()}; }

Error Error::in(std::string_view context) && {
  return Error{code, std::string(context) + ": " + std::move(message)};
}

}  // namespace sp

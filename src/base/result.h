// The result of an operation of ours that can fail.
//
//     Result<int> parsed = parse(text);
//     if (!parsed) return fail_up(std::move(parsed), "in field msgRate");
//
// Error is a code (a row of kErrorCodes), a sentence for a person, and the context added on the way up, outermost first.
// What the *system under test* answered is never an Error but data; a bug of ours is a CHECK (base/check.h).
//
// Cost: a Result is the value or two words and a string.   Errors: –.   Threads: a value.   Source: STYLE.md 5.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace sp {

enum class ErrorCode : std::uint8_t {
  kParse,         // text that is not what its grammar says
  kInvalid,       // a well-formed request that contradicts itself or asks for the impossible
  kNotFound,      // a file, proof, cluster or topic that is not there
  kExists,        // something that is already there and must not be
  kUnsupported,   // the driver or library cannot do that
  kUnavailable,   // the system under test does not answer
  kDenied,        // the system under test refuses for want of a right
  kIo,            // the operating system refused
  kMissingTool,   // java, maven or another program of the machine is absent
  kFull,          // a stated limit is reached
  kTimeout,       // ours: we gave up waiting
  kInternal,      // a library answered what its manual excludes
};

// What a code means and what a reader should do; the manual and the exit status are made from this table.
struct ErrorRow {
  ErrorCode code;
  std::string_view name;
  std::string_view meaning;
  std::string_view remedy;
};
[[nodiscard]] const ErrorRow& error_row(ErrorCode code);
// All rows, in the order of the enumeration.
[[nodiscard]] std::pair<const ErrorRow*, std::size_t> error_rows();

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  // The same error, told from one level further up: "in proof.yaml line 3: unknown field 'x'".
  [[nodiscard]] Error in(std::string_view context) &&;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// The error of `failed`, with `context` in front.
template <typename T>
[[nodiscard]] tl::unexpected<Error> fail_up(Result<T>&& failed, std::string_view context) {
  return tl::unexpected<Error>(std::move(failed).error().in(context));
}

}  // namespace sp

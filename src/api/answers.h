// Responses in the shapes that endpoints share, and what of a request they share: its body, its query.
//
// Cost:     O(bytes).   Limits: codec::DocumentOptions for bodies.
// Errors:   as faults, all of a request together.   Threads: pure functions; a QueryReader has one owner.
// Source:   section 1.1 of the reference; docs/reference/rest.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/document.h"
#include "coordinator/service.h"
#include "http/message.h"
#include "proof/fields.h"

namespace sp::api {

[[nodiscard]] http::Response json_answer(std::string json, int status = 200);
[[nodiscard]] http::Response text_answer(std::string text, int status = 200);
[[nodiscard]] http::Response empty_answer();
// error_json() with the status that belongs to the code.
[[nodiscard]] http::Response error_answer(const Error& error, std::span<const proof::Fault> faults = {});
[[nodiscard]] http::Response refusal_answer(const coordinator::Refusal& refusal);
// All that is wrong with a request.
[[nodiscard]] http::Response faults_answer(const std::vector<proof::Fault>& faults);
[[nodiscard]] int status_of(ErrorCode code);

// Whatever its content type says. Errors: a refusal with the place.
[[nodiscard]] coordinator::Answer<codec::Node> read_body(const http::Request& request);

// Values of a query by name; what is wrong with them is gathered. Absent values are nothing.
class QueryReader {
 public:
  explicit QueryReader(const http::Request& request) : request_(request) {}

  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  struct Bounds {
    std::uint64_t first = 0;
    std::uint64_t last = UINT64_MAX;
  };
  [[nodiscard]] std::optional<std::uint64_t> integer(std::string_view name, Bounds bounds);
  [[nodiscard]] std::optional<bool> boolean(std::string_view name);
  [[nodiscard]] std::optional<Nanoseconds> duration(std::string_view name);
  [[nodiscard]] std::optional<core::Code> code(std::string_view name);
  [[nodiscard]] const std::vector<proof::Fault>& faults() const { return faults_; }

 private:
  void fault(std::string_view name, std::string message, std::string remedy);
  const http::Request& request_;
  std::vector<proof::Fault> faults_;
};

}  // namespace sp::api

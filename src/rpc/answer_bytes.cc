#include "rpc/answer_bytes.h"

#include <limits>

#include <fmt/core.h>

#include "rpc/detail/messages.h"

namespace sp::rpc {
namespace {

namespace v1 = ::streaming_proof::v1;

template <typename Answer, typename T>
std::string written(const Result<T>& value) {
  Answer answer;
  detail::put(value, answer);
  return answer.SerializeAsString();
}

template <typename T, typename Answer>
Result<Result<T>> read(std::string_view bytes) {
  Answer answer;
  const bool fits = bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (!fits || !answer.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::kParse, fmt::format("{} bytes that are no answer of a worker: they were damaged where they were kept",
                                               bytes.size()));
  }
  return detail::outcome_of(answer);
}

}  // namespace

std::string to_bytes(const Result<control::WorkerHello>& answer) { return written<v1::HelloAnswer>(answer); }
std::string to_bytes(const Result<std::uint32_t>& partitions) { return written<v1::PartitionsAnswer>(partitions); }
std::string to_bytes(const Result<std::vector<control::LogBounds>>& answer) { return written<v1::LogBoundsAnswer>(answer); }
std::string to_bytes(const Result<void>& answer) { return written<v1::VoidAnswer>(answer); }
std::string to_bytes(const Result<control::WorkerReport>& answer) {
  v1::ReportAnswer message;
  detail::put(answer, message, std::numeric_limits<std::size_t>::max());
  return message.SerializeAsString();
}

Result<Result<control::WorkerHello>> hello_from_bytes(std::string_view bytes) {
  return read<control::WorkerHello, v1::HelloAnswer>(bytes);
}
Result<Result<std::uint32_t>> partitions_from_bytes(std::string_view bytes) {
  return read<std::uint32_t, v1::PartitionsAnswer>(bytes);
}
Result<Result<control::WorkerReport>> report_from_bytes(std::string_view bytes) {
  return read<control::WorkerReport, v1::ReportAnswer>(bytes);
}
Result<Result<std::vector<control::LogBounds>>> log_bounds_from_bytes(std::string_view bytes) {
  return read<std::vector<control::LogBounds>, v1::LogBoundsAnswer>(bytes);
}
Result<Result<void>> void_from_bytes(std::string_view bytes) { return read<void, v1::VoidAnswer>(bytes); }

}  // namespace sp::rpc

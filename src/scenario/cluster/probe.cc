#include "scenario/cluster/probe.h"

#include <string>
#include <string_view>

#include <fmt/core.h>

#include "sys/net.h"

namespace sp::scenario::cluster {
namespace {

constexpr std::string_view kClient = "streaming-proof";
constexpr std::string_view kCorrelation("\x53\x50\x30\x31", 4);
constexpr std::size_t kAnswerHead = 10;  // length, correlation, error code

}  // namespace

Result<void> broker_answers(std::uint16_t port, Nanoseconds wait) {
  std::string body("\x00\x12\x00\x00", 4);
  body += kCorrelation;
  body += std::string{'\0', static_cast<char>(kClient.size())};
  body += kClient;
  std::string request{'\0', '\0', '\0', static_cast<char>(body.size())};
  request += body;
  auto answer = sys::ask(port, request, kAnswerHead, wait);
  if (!answer) return tl::unexpected<Error>(std::move(answer).error());
  if (answer->substr(4, 4) == kCorrelation && answer->substr(8, 2) == std::string_view("\0\0", 2)) return {};
  return fail(ErrorCode::kUnavailable, fmt::format("what answers on 127.0.0.1:{} is no Kafka broker", port));
}

}  // namespace sp::scenario::cluster

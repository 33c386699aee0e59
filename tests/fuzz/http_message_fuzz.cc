// Any bytes at all are a message or a fault with a status; limits hold; it does not matter where the bytes are cut.
//
// links: http
#include "fuzz/bytes.h"
#include "http/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using sp::http::MessageReader;
using State = MessageReader::State;

constexpr sp::http::MessageLimits kLimits{
    .target_bytes_max = 200, .head_bytes_max = 1000, .headers_max = 10, .body_bytes_max = 500};

// What becomes of the bytes, one message after the other.
std::string story(MessageReader::Kind kind, std::string_view bytes, std::size_t piece) {
  MessageReader reader(kind, kLimits);
  std::string told;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const std::string_view next = rest.substr(0, piece);
    const std::size_t used = reader.feed(next);
    sp::fuzz::demand(used <= next.size(), "no more is used than was there");
    rest.remove_prefix(used);
    if (reader.state() == State::kBad) {
      sp::fuzz::demand(reader.fault().status >= 400 && !reader.fault().message.empty(), "a fault says what it is");
      return told + "bad";  // of two things that are wrong, the cut decides which is found first
    }
    if (reader.state() != State::kWhole) continue;
    auto message = reader.take();
    sp::fuzz::demand(message.body.size() <= kLimits.body_bytes_max, "a body keeps to its limit");
    sp::fuzz::demand(message.headers.size() <= kLimits.headers_max, "headers keep to their number");
    told += message.method + " " + message.target + " " + std::to_string(message.status) + " " + message.body + "\n";
    for (const auto& [name, value] : message.headers) told += name + "=" + value + "\n";
    if (kind == MessageReader::Kind::kRequest) {
      const auto request = sp::http::to_request(std::move(message));
      sp::fuzz::demand(!request || request->path.starts_with('/'), "a request has a path");
    }
  }
  reader.end();
  return told + std::to_string(static_cast<int>(reader.state()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{static_cast<const char*>(static_cast<const void*>(data)), size};
  for (const auto kind : {MessageReader::Kind::kRequest, MessageReader::Kind::kAnswer}) {
    const std::string whole = story(kind, text, size + 1);
    sp::fuzz::demand(whole == story(kind, text, 1), "it does not matter where the bytes are cut");
    sp::fuzz::demand(whole == story(kind, text, 7), "it does not matter where the bytes are cut");
  }
  sp::http::EventReader events(100);
  std::vector<sp::http::Event> out;
  static_cast<void>(events.feed(text, out));
  return 0;
}

// Messages out of bytes, wherever they are cut: one request after the other, or one answer.
//
//     MessageReader reader(MessageReader::Kind::kRequest, limits);
//     bytes left = reader.feed(bytes) ─► reader.state():  kHead ─► kBody ─► kWhole │ kBad
//     reader.take() ─► the message; then the next one may be fed
//
// Shape:    a request that is whole is well-formed; nothing behind it has been looked at.
// Cost:     some 5 ns a byte.
// Limits:   MessageLimits; past one the state is kBad, and the fault says which status and which sentence it deserves.
// Errors:   a Fault; never anything else, whatever the bytes are.   Threads: one owner.   Source: RFC 9112.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace sp::http {

struct MessageLimits {
  std::size_t target_bytes_max = 8 * 1024;
  std::size_t head_bytes_max = 32 * 1024;  // names and values of all headers, and the target; at most 64 kB
  std::size_t headers_max = 100;
  std::size_t body_bytes_max = 1'000'000;
};

struct Message {
  std::string method;  // requests
  std::string target;
  int status = 0;      // answers
  Headers headers;
  std::string body;
  bool keep_alive = false;
};

class MessageReader {
 public:
  enum class Kind : std::uint8_t { kRequest, kAnswer, kAnswerWithoutBody };
  enum class State : std::uint8_t { kHead, kBody, kWhole, kBad };
  struct Fault {
    int status = 400;
    std::string message;
  };

  MessageReader(Kind kind, MessageLimits limits);
  ~MessageReader();
  MessageReader(MessageReader&&) noexcept;
  MessageReader& operator=(MessageReader&&) noexcept;

  // How many of `bytes` belong to the message; fewer than all once it is whole or bad.
  std::size_t feed(std::string_view bytes);
  // The other side has ended: an answer without a length is whole then.
  void end();

  [[nodiscard]] State state() const;
  // True before the first byte of a message.
  [[nodiscard]] bool untouched() const;
  // True once, when the head of a request is there whose sender waits for "100 Continue".
  [[nodiscard]] bool take_expectation();
  // Valid in kBad.
  [[nodiscard]] const Fault& fault() const;
  // Valid from kBody on.
  [[nodiscard]] const Message& message() const;
  // What of the body is there, which is no longer kept here: for an answer that is a stream.
  [[nodiscard]] std::string take_body();
  // The message; the next one begins.
  [[nodiscard]] Message take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A request as a handler sees it, without parameters. Errors: kParse: the target is no path.
[[nodiscard]] Result<Request> to_request(Message message);

}  // namespace sp::http

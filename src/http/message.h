// What is asked and what is answered over HTTP, as values.
//
//     Request   GET /proofs/aB3dE?wait=false      path "/proofs/aB3dE", parameters {id: aB3dE}, query {wait: false}
//     Response  200, application/json, {…}        or an event stream, which goes on until its source is over
//
//     stream  =  { ["id: " id LF] ["event: " type LF] {"data: " line LF} LF | ":" LF LF }
//
// Shape:    header names are in lower case; path, parameters and query are decoded.
// Limits:   those of the server and the client.   Errors: none.   Threads: values; a source belongs to the server.
// Source:   RFC 9110, RFC 9112; the HTML standard, "Server-sent events".
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sp::http {

// A header that comes twice is one, its values joined by ", ".
using Headers = std::map<std::string, std::string>;

struct Request {
  std::string method;
  std::string path;                               // begins with '/'
  std::map<std::string, std::string> parameters;  // by name in the route's pattern
  std::map<std::string, std::string> query;       // of a name that comes twice the last value
  Headers headers;
  std::string body;

  // "" where it is absent.
  [[nodiscard]] std::string_view header(std::string_view lower_name) const;
  [[nodiscard]] std::string_view parameter(std::string_view name) const;
};

struct Event {
  std::string id;
  std::string type;
  std::string data;
  bool operator==(const Event&) const = default;
};

// Where the events of a stream come from. The server calls it from one thread, every ServerOptions::stream_period.
class EventSource {
 public:
  struct Pulled {
    std::vector<Event> events;
    bool over = false;  // these were the last ones
  };
  virtual ~EventSource() = default;
  // What there is now, at most `most`; does not wait.
  virtual Pulled pull(std::size_t most) = 0;
};

struct Response {
  int status = 200;
  std::string content_type;  // "": none
  std::string body;
  Headers headers;                      // besides; control characters in them become spaces
  std::unique_ptr<EventSource> stream;  // set: there is no body
};

// As a stream has it.
[[nodiscard]] std::string to_text(const Event& event);

// Events out of the bytes of a stream, wherever they are cut.
class EventReader {
 public:
  explicit EventReader(std::size_t event_bytes_max) : event_bytes_max_(event_bytes_max) {}
  // Appends what is whole by now. Errors: kFull: an event is longer than the limit.
  Result<void> feed(std::string_view bytes, std::vector<Event>& out);

 private:
  void take_line(std::string_view line, std::vector<Event>& out);

  std::size_t event_bytes_max_;
  std::string line_;
  Event event_;
  bool has_data_ = false;
  bool after_cr_ = false;
};

// "OK", "Not Found", …
[[nodiscard]] std::string_view reason_phrase(int status);
// With %XX for all that is not a letter, a digit or one of "-._~": a segment of a path, a value of a query.
[[nodiscard]] std::string escape(std::string_view text);
// The reverse. Errors: kParse: a '%' without two digits behind it, or a byte 0.
[[nodiscard]] Result<std::string> unescape(std::string_view text, bool plus_is_space = false);

}  // namespace sp::http

// Which handler a request is for.
//
//     /proofs/{id}/keys/{key}      each {name} stands for one segment; its text is decoded after the path was cut at '/'
//     /ui/{path*}                  the last one may stand for all that is left, "" included
//
// Shape:    of several patterns that fit the first registered one counts. A '/' at the end of a path means nothing.
// Cost:     O(routes × segments).   Limits: –.
// Errors:   404 no such path; 405 with the methods that there are; 400 a segment that cannot be decoded.
// Threads:  const calls from any.   Source: RFC 3986, 9110.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/message.h"

namespace sp::http {

using Handler = std::function<Response(const Request&)>;

// On which threads a handler runs: those that wait for something take none from those that do not.
enum class Lane : std::uint8_t { kQuick, kWaiting };

struct Route {
  std::string method;
  std::string pattern;
  Handler handler;
  Lane lane = Lane::kQuick;
};

class Routes {
 public:
  struct Miss {
    int status = 404;
    std::string message;
    std::string allowed;  // 405: "GET, POST"
  };

  void add(Route route);
  // All methods of all routes: "GET, POST".
  [[nodiscard]] std::string methods() const;
  // The route, with the request's parameters filled in; HEAD finds GET. The pointer lives as long as this.
  [[nodiscard]] std::variant<const Route*, Miss> find(Request& request) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> segments;
  };
  std::vector<Entry> entries_;
};

}  // namespace sp::http

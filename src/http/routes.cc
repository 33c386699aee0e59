#include "http/routes.h"

#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"

namespace sp::http {
namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments = split(path, {.separator = '/'});
  if (segments.size() > 1 && segments.back().empty()) segments.pop_back();
  return segments;
}

bool is_name(std::string_view segment) { return segment.starts_with('{') && segment.ends_with('}'); }
bool is_rest(std::string_view segment) { return segment.ends_with("*}"); }

void add_method(std::string& list, const std::string& method) {
  if (list.find(method) == std::string::npos) list += (list.empty() ? "" : ", ") + method;
}

enum class Fit : std::uint8_t { kNo, kYes, kUndecodable };

Fit fit(const std::vector<std::string>& pattern, const std::vector<std::string_view>& path,
        std::map<std::string, std::string>& parameters) {
  parameters.clear();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string& wanted = pattern[i];
    if (is_rest(wanted)) {
      std::string rest;
      for (std::size_t k = i; k < path.size(); ++k) rest.append(k == i ? "" : "/").append(path[k]);
      auto text = unescape(rest);
      if (!text) return Fit::kUndecodable;
      parameters[wanted.substr(1, wanted.size() - 3)] = *std::move(text);
      return Fit::kYes;
    }
    if (i >= path.size()) return Fit::kNo;
    auto text = unescape(path[i]);
    if (!text) return Fit::kUndecodable;
    if (is_name(wanted)) {
      if (text->empty()) return Fit::kNo;
      parameters[wanted.substr(1, wanted.size() - 2)] = *std::move(text);
    } else if (*text != wanted) {
      return Fit::kNo;
    }
  }
  return pattern.size() == path.size() ? Fit::kYes : Fit::kNo;
}

}  // namespace

void Routes::add(Route route) {
  CHECK(route.pattern.starts_with('/') && route.handler, "a route has a path and a handler");
  std::vector<std::string> segments;
  for (const std::string_view segment : segments_of(route.pattern)) segments.emplace_back(segment);
  entries_.push_back({std::move(route), std::move(segments)});
}

std::string Routes::methods() const {
  std::string all;
  for (const Entry& entry : entries_) add_method(all, entry.route.method);
  return all;
}

std::variant<const Route*, Routes::Miss> Routes::find(Request& request) const {
  const std::vector<std::string_view> path = segments_of(request.path);
  const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : request.method;
  std::string allowed;
  for (const Entry& entry : entries_) {
    std::map<std::string, std::string> parameters;
    const Fit fits = fit(entry.segments, path, parameters);
    if (fits == Fit::kUndecodable) return Miss{400, "the path cannot be decoded: a '%' stands before two hexadecimal digits", ""};
    if (fits == Fit::kNo) continue;
    if (entry.route.method == method) {
      request.parameters = std::move(parameters);
      return &entry.route;
    }
    add_method(allowed, entry.route.method);
  }
  if (allowed.empty()) return Miss{404, fmt::format("there is nothing at {}", printable(request.path)), ""};
  return Miss{405, fmt::format("{} is not possible here; {} is", request.method, allowed), allowed};
}

}  // namespace sp::http

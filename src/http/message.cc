#include "http/message.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace sp::http {
namespace {

std::string_view value_of(const std::map<std::string, std::string>& map, std::string_view name) {
  const auto found = map.find(std::string(name));
  return found == map.end() ? std::string_view{} : std::string_view(found->second);
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A line of a stream ends at any line end, so a name that holds one would begin a line of its own.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return line;
}

struct Phrase {
  int status;
  std::string_view text;
};
constexpr std::array kPhrases = {
    Phrase{200, "OK"},
    Phrase{201, "Created"},
    Phrase{202, "Accepted"},
    Phrase{204, "No Content"},
    Phrase{302, "Found"},
    Phrase{304, "Not Modified"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{413, "Content Too Large"},
    Phrase{414, "URI Too Long"},
    Phrase{422, "Unprocessable Content"},
    Phrase{429, "Too Many Requests"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{503, "Service Unavailable"},
    Phrase{504, "Gateway Timeout"},
    Phrase{505, "HTTP Version Not Supported"},
};

}  // namespace

std::string_view Request::header(std::string_view lower_name) const { return value_of(headers, lower_name); }
std::string_view Request::parameter(std::string_view name) const { return value_of(parameters, name); }

std::string to_text(const Event& event) {
  std::string text;
  if (!event.id.empty()) text += "id: " + one_line(event.id) + "\n";
  if (!event.type.empty()) text += "event: " + one_line(event.type) + "\n";
  std::string_view rest = event.data;
  while (true) {
    const std::size_t end = rest.find('\n');
    text.append("data: ").append(rest.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return text + "\n";
}

Result<void> EventReader::feed(std::string_view bytes, std::vector<Event>& out) {
  for (const char c : bytes) {
    const bool second_half = after_cr_ && c == '\n';
    after_cr_ = c == '\r';
    if (second_half) continue;
    if (c == '\n' || c == '\r') {
      take_line(line_, out);
      line_.clear();
      continue;
    }
    if (line_.size() + event_.data.size() >= event_bytes_max_)
      return fail(ErrorCode::kFull, fmt::format("an event of the stream has more than {} bytes", event_bytes_max_));
    line_ += c;
  }
  return {};
}

void EventReader::take_line(std::string_view line, std::vector<Event>& out) {
  if (line.empty()) {
    if (has_data_) out.push_back(event_);
    event_.type.clear();  // an id holds until the next one
    event_.data.clear();
    has_data_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "id") {
    event_.id = value;
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
}

std::string_view reason_phrase(int status) {
  const auto* const found =
      std::find_if(kPhrases.begin(), kPhrases.end(), [&](const Phrase& row) { return row.status == status; });
  return found == kPhrases.end() ? std::string_view("Status") : found->text;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Result<std::string> unescape(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0))
      return fail(ErrorCode::kParse, "a '%' in the address stands before two hexadecimal digits, and not before 00");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace sp::http

#include "workload/stats.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace sp::workload {

void Stats::say(std::string_view what, std::string_view text) {
  const auto same = [&](const Message& message) { return message.what == what && message.text == text; };
  const auto found = std::find_if(messages_.begin(), messages_.end(), same);
  if (found != messages_.end()) {
    ++found->times;
  } else if (messages_.size() < kMessagesMax) {
    messages_.push_back({what, std::string(text), 1});
  } else {
    ++messages_left_out_;
  }
}

void Stats::add_to(core::Counters& total, Histogram& publish, Histogram& end_to_end) {
  const std::lock_guard lock(mutex_);
  total += counts;
  publish.merge(publish_latency);
  end_to_end.merge(end_to_end_latency);
}

void Stats::take_messages(std::vector<std::string>& out) {
  const std::lock_guard lock(mutex_);
  for (const Message& message : messages_) {
    std::string line = fmt::format("{}: {}", who_, message.what);
    if (!message.text.empty()) line += ": " + printable(message.text);
    if (message.times > 1) line += fmt::format(" ({} times)", message.times);
    out.push_back(std::move(line));
  }
  if (messages_left_out_ > 0) out.push_back(fmt::format("{}: {} more messages, left out", who_, messages_left_out_));
  messages_.clear();
  messages_left_out_ = 0;
}

}  // namespace sp::workload

#include "cli/notifier.h"

#include <utility>

#include <fmt/core.h>

#include "http/sign.h"
#include "sys/sockets.h"

namespace sp::cli {

Notifier::Notifier(MonotonicClock& clock, NotifierOptions options)
    : clock_(clock), options_(std::move(options)), client_({}, clock), thread_([this](const std::stop_token& quit) { work(quit); }) {}

Notifier::~Notifier() {
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Notifier::post(const coordinator::Webhook& webhook, std::string body) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= kQueueMax) {
    if (options_.say) options_.say(fmt::format("webhook {}: not posted, {} others wait", webhook.url, queue_.size()));
    return;
  }
  queue_.push_back({webhook.url, webhook.secret, std::move(body)});
  changed_.notify_all();
}

void Notifier::work(const std::stop_token& quit) {
  for (;;) {
    Letter letter;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return quit.stop_requested() || !queue_.empty(); });
      if (quit.stop_requested()) return;
      letter = std::move(queue_.front());
      queue_.pop_front();
    }
    deliver(letter, quit);
  }
}

void Notifier::deliver(const Letter& letter, const std::stop_token& quit) {
  Nanoseconds pause = options_.first_pause;
  for (std::size_t round = 1;; ++round, pause *= 2) {
    auto done = try_once(letter);
    if (done) return;
    const bool last = round >= options_.tries || done.error().code == ErrorCode::kInvalid || done.error().code == ErrorCode::kDenied;
    if (last && options_.say) options_.say(fmt::format("webhook {}: given up: {}", letter.url, done.error().message));
    if (last) return;
    std::unique_lock lock(mutex_);
    const MonotonicTime until = clock_.now() + pause;
    while (!quit.stop_requested() && clock_.now() < until) clock_.wait_until(lock, changed_, until);
    if (quit.stop_requested()) return;
  }
}

Result<void> Notifier::try_once(const Letter& letter) const {
  auto url = http::parse_url(letter.url);
  if (!url) return tl::unexpected(std::move(url).error());
  if (!options_.private_addresses) {
    auto open = sys::is_public(url->host);
    if (!open) return tl::unexpected(std::move(open).error());
    if (!*open) {
      return fail(ErrorCode::kDenied,
                  fmt::format("{} is an address of this machine or of a private network; --private-webhooks allows these", url->host));
    }
  }
  http::Call call;
  call.method = "POST";
  call.url = letter.url;
  call.headers["content-type"] = "application/json";
  if (!letter.secret.empty()) call.headers["x-streaming-proof-signature"] = "sha256=" + http::hmac_sha256(letter.secret, letter.body);
  call.body = letter.body;
  call.wait = std::chrono::seconds(10);
  auto answer = client_.call(call);
  if (!answer) return tl::unexpected(std::move(answer).error());
  if (answer->status >= 200 && answer->status < 300) return {};
  return fail(ErrorCode::kUnavailable, fmt::format("status {}", answer->status));
}

}  // namespace sp::cli

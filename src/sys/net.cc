#include "sys/net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fmt/core.h>

#include "base/prng.h"
#include "sys/descriptor.h"
#include "sys/files.h"

namespace sp::sys {
namespace {

constexpr std::uint16_t kPortFirst = 10'000;  // below live the well-known ones
constexpr std::uint16_t kEphemeralFirstUsual = 32'768;
constexpr std::size_t kAnswerBytesMax = 65'536;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

const sockaddr* plain(const sockaddr_in& address) { return std::bit_cast<const sockaddr*>(&address); }

// The first port that the kernel gives to outgoing connections.
std::uint16_t ephemeral_first() {
  const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range", 256);
  std::uint16_t first = 0;
  if (!text) return kEphemeralFirstUsual;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), first);
  return error == std::errc{} ? first : kEphemeralFirstUsual;
}

// A socket bound to that port of 127.0.0.1, invalid if it is taken.
Descriptor bind_port(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return socket;
  const sockaddr_in address = loopback(port);
  if (bind(socket.get(), plain(address), sizeof address) != 0) socket.reset();
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (getsockname(socket.get(), std::bit_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.sin_port);
}

// What is left of a wait is measured by poll itself: each call gets a slice, a slice that passes in vain is used up.
class Patience {
 public:
  explicit Patience(Nanoseconds wait)
      : left_(std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(wait).count(), 0)) {}
  // True if `events` came before the wait was over.
  bool wait_for(const Descriptor& socket, short events) {
    pollfd watched{socket.get(), events, 0};
    while (true) {
      const auto slice = std::min<std::int64_t>(left_, kSlice);
      const int ready = poll(&watched, 1, static_cast<int>(slice));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
      left_ -= std::max<std::int64_t>(slice, 1);
      if (left_ <= 0) return false;
    }
  }

 private:
  static constexpr std::int64_t kSlice = 10;  // milliseconds
  std::int64_t left_;
};

tl::unexpected<Error> unavailable(std::uint16_t port, std::string_view why) {
  return fail(ErrorCode::kUnavailable, fmt::format("nobody answers on 127.0.0.1:{}: {}", port, why));
}

Result<Descriptor> connect_to(std::uint16_t port, Patience& patience) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid())
    return fail(ErrorCode::kIo, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  const sockaddr_in address = loopback(port);
  if (connect(socket.get(), plain(address), sizeof address) == 0) return socket;
  if (errno != EINPROGRESS) return unavailable(port, std::strerror(errno));
  if (!patience.wait_for(socket, POLLOUT)) return unavailable(port, "no connection in time");
  int number = 0;
  socklen_t length = sizeof number;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &number, &length) != 0) number = errno;
  if (number != 0) return unavailable(port, std::strerror(number));
  return socket;
}

}  // namespace

Result<std::vector<std::uint16_t>> free_ports(std::size_t count) {
  static std::atomic<std::uint64_t> calls{0};
  Prng chance(mix64(static_cast<std::uint64_t>(getpid())) +
              calls.fetch_add(1));  // spreads processes; no verdict sees it
  const std::uint16_t first_ephemeral = ephemeral_first();
  const std::uint64_t choices = first_ephemeral > kPortFirst ? first_ephemeral - kPortFirst : 0U;
  std::vector<Descriptor> held;  // until all are found, so that none comes twice
  std::vector<std::uint16_t> ports;
  for (std::size_t tries = 0; choices != 0 && ports.size() < count && tries < count * 64; ++tries) {
    const auto port = static_cast<std::uint16_t>(kPortFirst + chance.below(choices));
    Descriptor socket = bind_port(port);
    if (!socket.valid()) continue;
    ports.push_back(port);
    held.push_back(std::move(socket));
  }
  while (ports.size() < count) {
    Descriptor socket = bind_port(0);
    const std::uint16_t port = socket.valid() ? port_of(socket) : std::uint16_t{0};
    if (port == 0)
      return fail(ErrorCode::kIo, fmt::format("no free port on 127.0.0.1: {}", std::strerror(errno)));
    ports.push_back(port);
    held.push_back(std::move(socket));
  }
  return ports;
}

Result<std::string> ask(std::uint16_t port, std::string_view request, std::size_t bytes_min,
                        Nanoseconds wait) {
  Patience patience(wait);
  auto socket = connect_to(port, patience);
  if (!socket) return tl::unexpected<Error>(std::move(socket).error());
  while (!request.empty()) {
    const ssize_t sent = send(socket->get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      request.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return unavailable(port, std::strerror(errno));
    } else if (!patience.wait_for(*socket, POLLOUT)) {
      return unavailable(port, "the request was not taken in time");
    }
  }
  std::string answer;
  char block[4096];
  while (answer.size() < bytes_min) {
    const ssize_t got = recv(socket->get(), block, sizeof block, 0);
    if (got == 0) return unavailable(port, "the connection was closed");
    if (got > 0) {
      answer.append(block, static_cast<std::size_t>(got));
      if (answer.size() > kAnswerBytesMax) return unavailable(port, "the answer is too long");
    } else if (errno != EAGAIN && errno != EINTR) {
      return unavailable(port, std::strerror(errno));
    } else if (!patience.wait_for(*socket, POLLIN)) {
      return unavailable(port, "no answer in time");
    }
  }
  return answer;
}

}  // namespace sp::sys

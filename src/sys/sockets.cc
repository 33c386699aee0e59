#include "sys/sockets.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/core.h>

#include "base/check.h"

namespace sp::sys {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  Addresses addresses(list);
  if (code != 0 || !addresses)
    return fail(ErrorCode::kInvalid, fmt::format("'{}' is no address: {}", host, gai_strerror(code)));
  return addresses;
}

std::uint16_t bound_port(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(socket.get(), std::bit_cast<sockaddr*>(&address), &length) != 0) return 0;
  static_assert(offsetof(sockaddr_in6, sin6_port) == offsetof(sockaddr_in, sin_port));  // so the family does not matter
  return ntohs(std::bit_cast<const sockaddr_in*>(&address)->sin_port);
}

void switch_on(const Descriptor& socket, int level, int option) {
  const int yes = 1;
  // A socket without it works too, only worse.
  static_cast<void>(setsockopt(socket.get(), level, option, &yes, sizeof yes));
}

ErrorCode code_of(int number) {
  if (number == EADDRINUSE) return ErrorCode::kExists;
  if (number == EACCES || number == EPERM) return ErrorCode::kDenied;
  if (number == EADDRNOTAVAIL) return ErrorCode::kInvalid;
  return ErrorCode::kIo;
}

static_assert(EAGAIN == EWOULDBLOCK);
bool may_go_on(int number) { return number == EAGAIN || number == EINTR; }

Transfer moved(ssize_t count) {
  if (count > 0) return {Transfer::State::kMoved, static_cast<std::size_t>(count)};
  if (count < 0 && may_go_on(errno)) return {Transfer::State::kWait, 0};
  return {Transfer::State::kEnd, 0};
}

// 0, or why there is no connection.
int finish_connect(const Descriptor& socket, MonotonicClock& clock, MonotonicTime deadline) {
  std::vector<Watch> watch{{.number = socket.get(), .write = true}};
  while (!watch.front().writable) {
    const Nanoseconds left = deadline - clock.now();
    if (left <= Nanoseconds::zero()) return ETIMEDOUT;
    wait_ready(watch, left);
  }
  int number = 0;
  socklen_t length = sizeof number;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &number, &length) != 0) return errno;
  return number;
}

}  // namespace

bool is_loopback(std::string_view address) {
  const std::string text(address);
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24U) == 127U;
  in6_addr six{};
  return inet_pton(AF_INET6, text.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

namespace {

bool is_public_four(std::uint32_t address) {
  struct Block {
    std::uint32_t begin;
    unsigned bits;
  };
  // RFC 6890: this network, private, shared, loopback, link-local, protocol assignments, benchmarks, groups and what is reserved.
  constexpr std::array kClosed = {Block{0x00000000, 8},  Block{0x0A000000, 8},  Block{0x64400000, 10}, Block{0x7F000000, 8},
                                  Block{0xA9FE0000, 16}, Block{0xAC100000, 12}, Block{0xC0000000, 24}, Block{0xC0A80000, 16},
                                  Block{0xC6120000, 15}, Block{0xE0000000, 3}};
  const auto within = [&](const Block& block) { return (address ^ block.begin) >> (32U - block.bits) == 0; };
  return std::none_of(kClosed.begin(), kClosed.end(), within);
}

bool is_public_address(const addrinfo& address) {
  if (address.ai_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, address.ai_addr, sizeof four);
    return is_public_four(ntohl(four.sin_addr.s_addr));
  }
  if (address.ai_family != AF_INET6) return false;
  sockaddr_in6 six{};
  std::memcpy(&six, address.ai_addr, sizeof six);
  const auto* const bytes = six.sin6_addr.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    std::uint32_t inner = 0;
    std::memcpy(&inner, bytes + 12, sizeof inner);
    return is_public_four(ntohl(inner));
  }
  return (bytes[0] & 0xE0U) == 0x20U;  // 2000::/3, all that is given out
}

}  // namespace

Result<bool> is_public(const std::string& host) {
  auto addresses = look_up(host, 0, 0);
  if (!addresses) return tl::unexpected(std::move(addresses).error());
  for (const addrinfo* each = addresses->get(); each != nullptr; each = each->ai_next) {
    if (!is_public_address(*each)) return false;
  }
  return true;
}

Result<Listener> Listener::open(const ListenOptions& options) {
  auto addresses = look_up(options.address, options.port, AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE);
  if (!addresses) return fail_up(std::move(addresses), "the address to listen on is a number such as 127.0.0.1 or ::1");
  const addrinfo& address = **addresses;
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return fail(ErrorCode::kIo, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  switch_on(socket, SOL_SOCKET, SO_REUSEADDR);
  if (bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0 || listen(socket.get(), options.waiting_max) != 0) {
    const int number = errno;
    return fail(code_of(number), fmt::format("cannot listen on {} port {}: {}; choose another port, or 0 for a free one",
                                             options.address, options.port, std::strerror(number)));
  }
  const std::uint16_t port = bound_port(socket);
  return Listener(std::move(socket), port);
}

Listener::Accepted Listener::accept(Descriptor& connection) {
  const int number = accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (number >= 0) {
    connection = Descriptor(number);
    switch_on(connection, IPPROTO_TCP, TCP_NODELAY);
    return Accepted::kTaken;
  }
  const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
  return exhausted ? Accepted::kExhausted : Accepted::kNone;
}

Result<Descriptor> connect_tcp(const std::string& host, std::uint16_t port, MonotonicClock& clock,
                               MonotonicTime deadline) {
  auto addresses = look_up(host, port, AI_NUMERICSERV);
  if (!addresses) return tl::unexpected<Error>(std::move(addresses).error());
  int why = 0;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    Descriptor socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.valid()) {
      why = errno;
      continue;
    }
    why = connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (why == EINPROGRESS) why = finish_connect(socket, clock, deadline);
    if (why == 0) {
      switch_on(socket, IPPROTO_TCP, TCP_NODELAY);
      return socket;
    }
  }
  if (why == ETIMEDOUT) return fail(ErrorCode::kTimeout, fmt::format("{}:{} did not take a connection in time", host, port));
  return fail(ErrorCode::kUnavailable, fmt::format("nobody answers on {}:{}: {}", host, port, std::strerror(why)));
}

Transfer receive(const Descriptor& socket, std::span<char> into) {
  return moved(recv(socket.get(), into.data(), into.size(), MSG_DONTWAIT));
}

Transfer transmit(const Descriptor& socket, std::string_view bytes) {
  return moved(send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

void end_sending(const Descriptor& socket) {
  static_cast<void>(shutdown(socket.get(), SHUT_WR));  // fails when the other side is gone, which is as well
}

void wait_ready(std::span<Watch> watches, Nanoseconds at_most) {
  std::vector<pollfd> polled;
  polled.reserve(watches.size());
  for (const Watch& watch : watches) {
    const int events = (watch.read ? POLLIN : 0) | (watch.write ? POLLOUT : 0);
    polled.push_back({watch.number, static_cast<short>(events), 0});
  }
  const auto wait = std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(at_most).count(), 0, 60'000);
  const int ready = poll(polled.data(), polled.size(), static_cast<int>(wait));
  for (std::size_t i = 0; i < polled.size(); ++i) {
    const int seen = ready > 0 ? polled[i].revents : 0;
    const bool broken = (seen & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    watches[i].readable = broken || (seen & POLLIN) != 0;
    watches[i].writable = broken || (seen & POLLOUT) != 0;
  }
}

Waker::Waker() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(event_.valid(), "the system gives an eventfd");
}

void Waker::wake() const {
  const std::uint64_t one = 1;
  const auto written = write(event_.get(), &one, sizeof one);
  static_cast<void>(written);  // it fails only when it is full: then it wakes anyway
}

void Waker::drain() const {
  std::uint64_t count = 0;
  const auto taken = read(event_.get(), &count, sizeof count);
  static_cast<void>(taken);  // nothing: nobody woke it
}

}  // namespace sp::sys

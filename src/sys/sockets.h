// TCP sockets that never block: to listen, to connect, to move bytes, to wait for many at once.
//
//     Listener::open({.address = "127.0.0.1", .port = 0})  ─► port()    accept() … ─► Descriptor
//     connect_tcp("worker.1", 8088, deadline)              ─► Descriptor
//     receive / transmit                                   ─► bytes, and whether to wait or to give up
//     wait_ready(watches, at most)                         ─► which of them can go on;   Waker ends the wait from elsewhere
//
// Cost:     one system call each; wait_ready is O(watches).
// Limits:   whatever the system has of descriptors: accept() then says kExhausted.
// Errors:   kInvalid an address or name that is none; kDenied and kExists a port that is not to be had; kUnavailable nobody
//           answers; kTimeout; kIo.
// Threads:  any; one owner each. Waker::wake from any at once.
// Waiting:  wait_ready and connect_tcp, as long as they are told; looking a name up takes as long as the system takes for it.
// Source:   tcp(7), poll(2), eventfd(2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "sys/descriptor.h"

namespace sp::sys {

struct ListenOptions {
  std::string address = "127.0.0.1";  // a number, of either version
  std::uint16_t port = 0;             // 0: a free one
  int waiting_max = 512;              // connections that the system holds until they are accepted
};

// True for 127.0.0.0/8 and ::1: nobody on another machine can come.
[[nodiscard]] bool is_loopback(std::string_view address);

// True if every address of that name is one of the public internet: not of this machine, a link, a private network or a group.
// Errors: kInvalid a name that is none. Waits as long as the system takes for the name.
[[nodiscard]] Result<bool> is_public(const std::string& host);

class Listener {
 public:
  enum class Accepted : std::uint8_t { kTaken, kNone, kExhausted };

  [[nodiscard]] static Result<Listener> open(const ListenOptions& options);
  // Into `connection`, if one waits.
  [[nodiscard]] Accepted accept(Descriptor& connection);
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int number() const { return socket_.get(); }
  void close() { socket_.reset(); }

 private:
  Listener(Descriptor socket, std::uint16_t port) : socket_(std::move(socket)), port_(port) {}
  Descriptor socket_;
  std::uint16_t port_;
};

[[nodiscard]] Result<Descriptor> connect_tcp(const std::string& host, std::uint16_t port, MonotonicClock& clock,
                                             MonotonicTime deadline);

struct Transfer {
  enum class State : std::uint8_t { kMoved, kWait, kEnd };
  State state = State::kEnd;  // kEnd: the other side has ended, or the connection is broken
  std::size_t bytes = 0;      // kMoved: above 0
};
[[nodiscard]] Transfer receive(const Descriptor& socket, std::span<char> into);
[[nodiscard]] Transfer transmit(const Descriptor& socket, std::string_view bytes);
// Nothing more will be sent; what the other side sends can still be received.
void end_sending(const Descriptor& socket);

struct Watch {
  int number = -1;
  bool read = false;
  bool write = false;
  bool readable = false;  // set by wait_ready; also when the connection is broken
  bool writable = false;
};
// Returns when one of them is ready, or after `at_most`.
void wait_ready(std::span<Watch> watches, Nanoseconds at_most);

// Makes a wait_ready that watches number() for reading return.
class Waker {
 public:
  Waker();
  void wake() const;
  void drain() const;
  [[nodiscard]] int number() const { return event_.get(); }

 private:
  Descriptor event_;
};

}  // namespace sp::sys

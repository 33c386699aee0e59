#include "sys/sockets.h"

#include <vector>

#include <gtest/gtest.h>

namespace sp::sys {
namespace {

TEST(IsPublicTest, NamesTheInternetAndNothingElse) {
  for (const char* yes : {"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.63.255.255", "192.167.1.1", "2606:4700::1111", "::ffff:8.8.8.8"}) {
    EXPECT_TRUE(is_public(yes).value()) << yes;
  }
  for (const char* no : {"127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1",
                         "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1",
                         "ff02::1", "localhost"}) {
    EXPECT_FALSE(is_public(no).value()) << no;
  }
  EXPECT_EQ(is_public("no such name.invalid").error().code, ErrorCode::kInvalid);
}

TEST(SocketsTest, KnowsLoopback) {
  for (const char* yes : {"127.0.0.1", "127.8.9.1", "::1"}) EXPECT_TRUE(is_loopback(yes)) << yes;
  for (const char* no : {"0.0.0.0", "::", "10.0.0.1", "localhost", "", "127.0.0.1.evil", "::ffff:1.2.3.4"})
    EXPECT_FALSE(is_loopback(no)) << no;
}

TEST(SocketsTest, BytesGoFromOneToTheOther) {
  SystemMonotonicClock clock;
  for (const char* address : {"127.0.0.1", "::1"}) {
    auto listener = Listener::open({.address = address});
    if (!listener && std::string_view(address) == "::1") continue;  // a machine without IPv6
    ASSERT_TRUE(listener.has_value());
    Descriptor there;
    EXPECT_EQ(listener->accept(there), Listener::Accepted::kNone);
    auto here = connect_tcp(address, listener->port(), clock, clock.now() + std::chrono::seconds(10));
    ASSERT_TRUE(here.has_value());
    std::vector<Watch> watch{{.number = listener->number(), .read = true}};
    wait_ready(watch, std::chrono::seconds(10));
    ASSERT_EQ(listener->accept(there), Listener::Accepted::kTaken);
    EXPECT_EQ(transmit(*here, "hello").bytes, 5U);
    watch = {{.number = there.get(), .read = true}};
    wait_ready(watch, std::chrono::seconds(10));
    char block[16];
    EXPECT_EQ(receive(there, block).bytes, 5U);
    EXPECT_EQ(receive(there, block).state, Transfer::State::kWait);
    here->reset();
    wait_ready(watch, std::chrono::seconds(10));
    EXPECT_EQ(receive(there, block).state, Transfer::State::kEnd);
  }
}

TEST(SocketsTest, SaysWhyItCannotListen) {
  const auto first = Listener::open({});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(Listener::open({.port = first->port()}).error().code, ErrorCode::kExists);
  EXPECT_EQ(Listener::open({.address = "example.org"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Listener::open({.address = "203.0.113.7"}).error().code, ErrorCode::kInvalid);
}

TEST(SocketsTest, AWakerEndsTheWait) {
  SystemMonotonicClock clock;
  const Waker waker;
  waker.wake();
  waker.wake();
  std::vector<Watch> watch{{.number = waker.number(), .read = true}};
  wait_ready(watch, std::chrono::seconds(30));
  EXPECT_TRUE(watch[0].readable);
  waker.drain();
  wait_ready(watch, Nanoseconds::zero());
  EXPECT_FALSE(watch[0].readable);
}

}  // namespace
}  // namespace sp::sys

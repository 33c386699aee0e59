// Ports, signals and paths.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <bit>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sys/descriptor.h"
#include "sys/files.h"
#include "sys/net.h"
#include "sys/paths.h"
#include "sys/signals.h"

namespace sp::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Listens on a free port and never answers; the kernel completes connections by itself.
Descriptor listen_on(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(socket.get(), std::bit_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(socket.get(), 4), 0);
  return socket;
}

TEST(NetTest, FreePortsAreDifferentAndCanBeBound) {
  const auto ports = free_ports(6);
  ASSERT_TRUE(ports.has_value());
  EXPECT_EQ(std::set<std::uint16_t>(ports->begin(), ports->end()).size(), 6U);
  for (const auto port : *ports) EXPECT_TRUE(listen_on(port).valid());
}

TEST(NetTest, NobodyAnswersOnAFreePortAndTheErrorNamesIt) {
  const std::uint16_t port = free_ports(1).value().front();
  const auto answer = ask(port, "hello", 1, seconds(5));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().message.find("127.0.0.1:" + std::to_string(port)), std::string::npos);
}

TEST(NetTest, OpenPortThatSaysNothingIsNoAnswer) {
  const std::uint16_t port = free_ports(1).value().front();
  const Descriptor server = listen_on(port);
  const auto answer = ask(port, "hello", 1, milliseconds(30));
  ASSERT_FALSE(answer.has_value());
  EXPECT_NE(answer.error().message.find("no answer in time"), std::string::npos) << answer.error().message;
}

TEST(StopSignalsTest, InterruptAndTerminateAreCountedAndWakeTheWaiter) {
  const StopSignals stops;
  EXPECT_EQ(stops.count(), 0);
  EXPECT_FALSE(stops.wait(0, milliseconds(1)));
  ASSERT_EQ(raise(SIGINT), 0);
  EXPECT_TRUE(stops.wait(0, seconds(5)));
  EXPECT_EQ(stops.count(), 1);
  ASSERT_EQ(raise(SIGTERM), 0);
  EXPECT_TRUE(stops.wait(1, seconds(5)));
  EXPECT_EQ(stops.count(), 2);
}

TEST(StopSignalsTest, FormerBehaviourIsBackAtTheEnd) {
  struct sigaction before{};
  struct sigaction after{};
  sigaction(SIGINT, nullptr, &before);
  {
    const StopSignals stops;
  }
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

class PathsTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const auto& [name, value] : former_) {
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    }
  }
  void set(const std::string& name, const char* value) {
    former_.emplace(name, environment(name));
    if (value != nullptr)
      setenv(name.c_str(), value, 1);
    else
      unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> former_;
};

TEST_F(PathsTest, CacheFolderFollowsXdgThenHome) {
  set("HOME", "/home/ann");
  set("XDG_CACHE_HOME", "/var/cache/ann");
  EXPECT_EQ(cache_folder().value().string(), "/var/cache/ann/streaming-proof");
  set("XDG_CACHE_HOME", "relative/is/ignored");
  EXPECT_EQ(cache_folder().value().string(), "/home/ann/.cache/streaming-proof");
  set("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(cache_folder().value().string(), "/home/ann/.cache/streaming-proof");
  set("HOME", nullptr);
  const auto none = cache_folder();
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("set HOME"), std::string::npos);
}

TEST_F(PathsTest, ProgramIsTheFirstExecutableFileOfThatName) {
  const auto folder = TemporaryFolder::make().value();
  ASSERT_TRUE(make_folders(folder.path() / "a/tool").has_value());  // a folder is no program
  for (const char* name : {"b", "c", "d"}) {
    ASSERT_TRUE(make_folders(folder.path() / name).has_value());
    ASSERT_TRUE(write_atomically(folder.path() / name / "tool", "#!/bin/sh\n").has_value());
  }
  using std::filesystem::perms;
  std::filesystem::permissions(folder.path() / "c/tool", perms::owner_all);
  std::filesystem::permissions(folder.path() / "d/tool", perms::owner_all);
  const std::string root = folder.path().string();
  const std::string search = root + "/a:" + root + "/none:" + root + "/b:" + root + "/c:" + root + "/d";
  EXPECT_EQ(find_program_in(search, "tool"), folder.path() / "c/tool");
  EXPECT_EQ(find_program_in(root + "/a", "tool"), std::nullopt);
  set("PATH", (root + "/d").c_str());
  EXPECT_EQ(find_program("tool"), folder.path() / "d/tool");
  set("PATH", nullptr);
  EXPECT_EQ(find_program("tool"), std::nullopt);
}

}  // namespace
}  // namespace sp::sys

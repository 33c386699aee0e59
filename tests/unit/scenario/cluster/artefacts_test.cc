#include "scenario/cluster/artefacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/cluster/kafka_files.h"
#include "sys/files.h"

namespace sp::scenario::cluster {
namespace {

using testing::HasSubstr;

// A machine whose programs are scripts in a folder.
class ArtefactsTest : public testing::Test {
 protected:
  ArtefactsTest() : folder_(sys::TemporaryFolder::make().value()) {
    EXPECT_TRUE(sys::make_folders(folder_.path() / "bin").has_value());
    options_.cache = folder_.path() / "cache";
    options_.search = (folder_.path() / "bin").string();
    options_.archive = false;
  }
  void program(const std::string& name, const std::string& script) {
    const auto path = folder_.path() / "bin" / name;
    EXPECT_TRUE(sys::write_atomically(path, "#!/bin/sh\n" + script).has_value());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  Result<KafkaArtefacts> fetch() {
    return fetch_kafka(options_, [this](std::string_view line) { said_ += std::string(line) + "\n"; });
  }
  [[nodiscard]] std::filesystem::path kafka() const { return options_.cache / "kafka-4.4.0"; }
  sys::TemporaryFolder folder_;
  FetchOptions options_;
  std::string said_;
};

constexpr const char* kMavenThatWorks =
    "grep -q 4.4.0 pom.xml || exit 9\nmkdir jars\necho bb > jars/b.jar\necho a > jars/a.jar\necho no > "
    "jars/readme.txt\n";

TEST_F(ArtefactsTest, WithoutJavaTheLineToRunIsPrinted) {
  program("mvn", kMavenThatWorks);
  const auto got = fetch();
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kMissingTool);
  EXPECT_EQ(got.error().message,
            "a local Kafka cluster needs 'java', which is not in PATH; install it with: "
            "apt-get install -y openjdk-17-jre-headless maven");
}

TEST_F(ArtefactsTest, WithoutMavenTheLineToRunIsPrintedUnlessAllIsThere) {
  program("java", "");
  const auto got = fetch();
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kMissingTool);
  EXPECT_THAT(got.error().message, HasSubstr("'mvn'"));
  program("mvn", kMavenThatWorks);
  ASSERT_TRUE(fetch().has_value());
  std::filesystem::remove(folder_.path() / "bin/mvn");
  EXPECT_TRUE(fetch().has_value()) << "what was fetched is enough";
}

TEST_F(ArtefactsTest, JarsAreFetchedOnceAndSorted) {
  program("java", "");
  program("mvn", kMavenThatWorks);
  const auto first = fetch();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->class_path(), (kafka() / "jars/a.jar").string() + ":" + (kafka() / "jars/b.jar").string());
  EXPECT_THAT(said_, HasSubstr("fetching Kafka 4.4.0"));
  said_.clear();
  ASSERT_TRUE(fetch().has_value());
  EXPECT_EQ(said_, "");
}

TEST_F(ArtefactsTest, ADamagedOrHalfFolderIsFetchedAgain) {
  program("java", "");
  program("mvn", kMavenThatWorks);
  ASSERT_TRUE(fetch().has_value());
  ASSERT_TRUE(sys::write_atomically(kafka() / "jars/a.jar", "longer than it was").has_value());
  EXPECT_FALSE(find_kafka(kafka(), "java").has_value());
  ASSERT_TRUE(fetch().has_value());
  std::filesystem::remove(kafka() / "complete");
  EXPECT_FALSE(find_kafka(kafka(), "java").has_value());
  ASSERT_TRUE(fetch().has_value());
  EXPECT_EQ(find_kafka(kafka(), "java").value().jars, (std::vector<std::string>{"a.jar", "b.jar"}));
}

TEST_F(ArtefactsTest, WhatMavenSaidIsShownWhenItFails) {
  program("java", "");
  program("mvn", "echo 'the registry does not answer'\nexit 1\n");
  const auto got = fetch();
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(got.error().message, HasSubstr("the registry does not answer"));
  EXPECT_THAT(got.error().message, HasSubstr("maven.log"));
  EXPECT_FALSE(std::filesystem::exists(kafka())) << "nothing half is left";
}

TEST_F(ArtefactsTest, AMissingArchiveIsNoError) {
  program("java", "exit 1\n");
  program("mvn", kMavenThatWorks);
  options_.archive = true;
  ASSERT_TRUE(fetch().has_value());
  EXPECT_THAT(said_, HasSubstr("no class archive"));
}

}  // namespace
}  // namespace sp::scenario::cluster

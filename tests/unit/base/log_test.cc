#include "base/log.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace sp {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = testing::TempDir() + "log_test_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void TearDown() override {
    EXPECT_TRUE(log_open({}));
    std::filesystem::remove(file_);
  }
  void log_to_file(LogLevel lowest) { ASSERT_TRUE(log_open({.lowest = lowest, .file = file_})); }
  std::string written() {
    std::ifstream in(file_);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string file_;
};

TEST_F(LogTest, WritesWhatIsAtOrAboveTheLevel) {
  log_to_file(LogLevel::kWarn);
  log_info("not this");
  log_warn("node {} is slow", 2);
  log_error("node {} is gone", 3);
  const std::string text = written();
  EXPECT_EQ(text.find("not this"), std::string::npos);
  EXPECT_NE(text.find("warning: node 2 is slow\n"), std::string::npos) << text;
  EXPECT_NE(text.find("error: node 3 is gone\n"), std::string::npos) << text;
}

TEST_F(LogTest, ControlCharactersAndBracesOfAMessageAreHarmless) {
  log_to_file(LogLevel::kInfo);
  log_write(LogLevel::kInfo, "{} \x1b[2J\nsecond");
  EXPECT_NE(written().find("info: {} \\x1b[2J\\nsecond\n"), std::string::npos) << written();
}

TEST_F(LogTest, IsQuietBelowAWarningUnlessTold) {
  EXPECT_TRUE(log_open({}));
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
  EXPECT_TRUE(log_enabled(LogLevel::kWarn));
  EXPECT_FALSE(log_enabled(LogLevel::kSilent));
}

TEST_F(LogTest, AFileThatCannotBeWrittenIsNamed) {
  const auto opened = log_open({.lowest = LogLevel::kWarn, .file = "/proc/no/such/place"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kIo);
  EXPECT_NE(opened.error().message.find("/proc/no/such/place"), std::string::npos);
}

}  // namespace
}  // namespace sp

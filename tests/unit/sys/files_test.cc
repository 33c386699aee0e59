#include "sys/files.h"

#include <sys/resource.h>

#include <csignal>

#include <gtest/gtest.h>

namespace sp::sys {
namespace {

class FilesTest : public testing::Test {
 protected:
  FilesTest() : folder_(TemporaryFolder::make().value()) {}
  [[nodiscard]] std::filesystem::path in(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) ++count;
    return count;
  }
  TemporaryFolder folder_;
};

TEST_F(FilesTest, WrittenFileIsReadBackAndNothingElseIsLeft) {
  ASSERT_TRUE(write_atomically(in("a"), "one").has_value());
  ASSERT_TRUE(write_atomically(in("a"), "two\n").has_value());
  EXPECT_EQ(read_file(in("a"), 100).value(), "two\n");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FilesTest, FailedWriteNamesTheFileAndLeavesTheOldOne) {
  ASSERT_TRUE(make_folders(in("taken/x")).has_value());
  const auto written = write_atomically(in("taken"), "text");  // a folder cannot be replaced by a file
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find(in("taken").string()), std::string::npos) << written.error().message;
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FilesTest, WriteThatBreaksOffLeavesTheOldContentAndNoRubbish) {
  ASSERT_TRUE(write_atomically(in("a"), "old").has_value());
  rlimit former{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &former), 0);
  const rlimit small{1000, former.rlim_max};  // as a full disk: the write fails in the middle
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = write_atomically(in("a"), std::string(5000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &former), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("File too large"), std::string::npos) << written.error().message;
  EXPECT_EQ(read_file(in("a"), 100).value(), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FilesTest, WriteIntoAMissingFolderNamesTheFile) {
  const auto written = write_atomically(in("missing/file"), "text");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kNotFound);
  EXPECT_NE(written.error().message.find("missing/file"), std::string::npos);
}

TEST_F(FilesTest, FileAboveTheLimitIsRefusedNotCut) {
  ASSERT_TRUE(write_atomically(in("a"), std::string(40'000, 'x')).has_value());
  EXPECT_EQ(read_file(in("a"), 40'000).value().size(), 40'000U);
  const auto read = read_file(in("a"), 39'999);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kFull);
}

TEST_F(FilesTest, AbsentFileIsNotFoundAndNamed) {
  const auto read = read_file(in("nothing"), 10);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_NE(read.error().message.find("nothing"), std::string::npos);
}

TEST_F(FilesTest, LastLinesAreCutAtLinesAndBytes) {
  ASSERT_TRUE(write_atomically(in("log"), "first\nsecond\nthird\n\n").has_value());
  EXPECT_EQ(last_lines(in("log"), 1), "third");
  EXPECT_EQ(last_lines(in("log"), 2), "second\nthird");
  EXPECT_EQ(last_lines(in("log"), 9), "first\nsecond\nthird");
  EXPECT_EQ(last_lines(in("log"), 9, 8), "third");
  EXPECT_EQ(last_lines(in("no log"), 9), "");
}

TEST_F(FilesTest, FolderWhereAFileStandsIsRefused) {
  ASSERT_TRUE(write_atomically(in("a"), "x").has_value());
  EXPECT_FALSE(make_folders(in("a")).has_value());
  EXPECT_TRUE(make_folders(in("b/c/d")).has_value());
  EXPECT_TRUE(make_folders(in("b/c/d")).has_value());
}

TEST_F(FilesTest, LockIsFreeAgainAfterItsOwnerEnds) {
  {
    const auto first = FileLock::take(in("lock"));
    ASSERT_TRUE(first.has_value());
  }
  EXPECT_TRUE(FileLock::take(in("lock")).has_value());
  EXPECT_FALSE(FileLock::take(in("missing/lock")).has_value());
}

TEST(TemporaryFolderTest, IsRemovedWithItsContent) {
  std::filesystem::path path;
  {
    auto folder = TemporaryFolder::make("sp-test");
    ASSERT_TRUE(folder.has_value());
    path = folder->path();
    ASSERT_TRUE(make_folders(path / "deep/er").has_value());
    const TemporaryFolder moved = std::move(*folder);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace sp::sys

#include "sys/streams.h"

#include <gtest/gtest.h>

#include "sys/files.h"

namespace sp::sys {
namespace {

std::string read_whole(InputFile& file, std::size_t piece) {
  std::string all;
  std::string room(piece, '\0');
  while (const std::size_t got = file.read(room).value_or(0)) all.append(room, 0, got);
  return all;
}

TEST(StreamsTest, WhatWasWrittenInPiecesIsReadInPieces) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "a";
  auto out = OutputFile::create(path);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->write("one "));
  EXPECT_TRUE(out->write(""));
  EXPECT_TRUE(out->write("two"));
  EXPECT_TRUE(out->finish());
  auto in = InputFile::open(path);
  ASSERT_TRUE(in);
  EXPECT_EQ(in->name(), path.string());
  EXPECT_EQ(read_whole(*in, 3), "one two");
  char one = 0;
  EXPECT_EQ(in->read({&one, 1}).value_or(9), 0U);
}

TEST(StreamsTest, AnOldFileIsEmptied) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "a";
  ASSERT_TRUE(write_atomically(path, "a long content"));
  auto out = OutputFile::create(path);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->write("b"));
  EXPECT_TRUE(out->finish());
  EXPECT_EQ(read_file(path, 100).value_or(""), "b");
}

TEST(StreamsTest, ErrorsNameTheFileAndWhatTheSystemSaid) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto missing = InputFile::open(folder->path() / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("missing"), std::string::npos);
  const auto no_file = InputFile::open(folder->path());
  ASSERT_FALSE(no_file);
  EXPECT_NE(no_file.error().message.find("Is a directory"), std::string::npos);
  EXPECT_FALSE(OutputFile::create(folder->path() / "no" / "such"));
  auto full = OutputFile::create("/dev/full");
  ASSERT_TRUE(full);
  const auto refused = full->write("x");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace sp::sys

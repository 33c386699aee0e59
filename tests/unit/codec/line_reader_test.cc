#include "codec/line_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::codec {
namespace {

// Gives its text in pieces of the given sizes, the last size again and again.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string text, std::vector<std::size_t> sizes) : text_(std::move(text)), sizes_(std::move(sizes)) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = sizes_.empty() ? into.size() : sizes_[std::min(turn_++, sizes_.size() - 1)];
    const std::size_t taken = std::min({std::max<std::size_t>(size, 1), into.size(), text_.size() - at_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), taken, into.begin());
    at_ += taken;
    return taken;
  }

 private:
  std::string text_;
  std::vector<std::size_t> sizes_;
  std::size_t turn_ = 0;
  std::size_t at_ = 0;
};

std::vector<std::string> blocks_of(const std::string& text, std::vector<std::size_t> sizes, std::size_t block_bytes) {
  LineReader reader(std::make_unique<Pieces>(text, std::move(sizes)), {.block_bytes = block_bytes});
  std::vector<std::string> blocks;
  while (true) {
    const auto block = reader.next();
    EXPECT_TRUE(block);
    if (!block || block->empty()) return blocks;
    blocks.emplace_back(*block);
  }
}

TEST(LineReaderTest, ABlockHoldsWholeLines) {
  EXPECT_EQ(blocks_of("one\ntwo\nthree", {6}, 100), (std::vector<std::string>{"one\n", "two\n", "three"}));
  EXPECT_EQ(blocks_of("", {}, 100), std::vector<std::string>{});
  EXPECT_EQ(blocks_of("\n", {}, 100), std::vector<std::string>{"\n"});
}

TEST(LineReaderTest, ALineLongerThanABlockIsGivenWhole) {
  const std::string line(1000, 'x');
  EXPECT_EQ(blocks_of("a\n" + line + "\nb\n", {}, 16), (std::vector<std::string>{"a\n", line + "\nb\n"}));
}

TEST(LineReaderTest, ALineBeyondTheLimitIsRefusedAfterThoseBeforeIt) {
  LineReader reader(std::make_unique<Pieces>("a\n" + std::string(1000, 'x') + "\n", std::vector<std::size_t>{2, 7}),
                    {.block_bytes = 64, .line_bytes_max = 100});
  EXPECT_EQ(reader.next().value(), "a\n");
  const auto refused = reader.next();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFull);
  EXPECT_EQ(reader.next().value(), "");
}

RC_GTEST_PROP(LineReaderProperty, TheBlocksAreTheTextHoweverItComes, (const std::vector<std::uint8_t>& sizes)) {
  std::string text;
  for (const std::uint8_t length : *rc::gen::arbitrary<std::vector<std::uint8_t>>()) text += std::string(length, 'a') + "\n";
  text.resize(text.size() - std::min<std::size_t>(text.size(), *rc::gen::inRange<std::size_t>(0, 3)));
  const std::size_t block_bytes = *rc::gen::inRange<std::size_t>(1, 300);
  std::string all;
  const auto blocks = blocks_of(text, {sizes.begin(), sizes.end()}, block_bytes);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    RC_ASSERT(i + 1 == blocks.size() || blocks[i].back() == '\n');
    all += blocks[i];
  }
  RC_ASSERT(all == text);
}

}  // namespace
}  // namespace sp::codec

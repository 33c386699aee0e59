// Zstandard: streams of frames, and blocks of a known size.
//
//     ZstdCompressor     append … append … end_frame        each frame can be read without those after it
//     ZstdSource         frame frame frame ─► bytes         what stands before a cut is given, then torn()
//
// Cost:     level 1: 3 ns a byte in, 1 ns a byte out; level 3: 6 ns a byte in.
// Limits:   a frame may ask for a window of 128 MiB; one that asks for more is an error.
// Errors:   kParse: bytes that are no zstd frame, or a checksum that does not agree.
// Threads:  one owner each.   Source: RFC 8878.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/byte_source.h"

namespace sp::codec {

// True if `bytes` begin as a zstd frame does.
[[nodiscard]] bool is_zstd(std::string_view bytes);

class ZstdCompressor {
 public:
  explicit ZstdCompressor(int level);
  ~ZstdCompressor();
  ZstdCompressor(const ZstdCompressor&) = delete;
  ZstdCompressor& operator=(const ZstdCompressor&) = delete;

  // Compresses `bytes` into the open frame; what is ready is appended to `out`.
  void append(std::string_view bytes, std::string& out);
  // Ends the open frame: all that was appended can be read back from `out`. Nothing appended: nothing happens.
  void end_frame(std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> compressed);
  ~ZstdSource() override;
  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override;
  [[nodiscard]] bool torn() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One block, for whoever keeps its size elsewhere.
[[nodiscard]] std::string zstd_block(std::string_view bytes, int level);
// The block of exactly into.size() bytes. Errors: kParse.
[[nodiscard]] Result<void> zstd_unblock(std::string_view compressed, std::span<char> into);

}  // namespace sp::codec

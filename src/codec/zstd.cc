#include "codec/zstd.h"

#include <zstd.h>


#include <fmt/core.h>

#include "base/check.h"

namespace sp::codec {
namespace {

constexpr std::size_t kInputBytes = std::size_t{1} << 17U;
constexpr int kWindowLogMax = 27;

}  // namespace

bool is_zstd(std::string_view bytes) {
  constexpr std::string_view kFrame = "\x28\xB5\x2F\xFD";
  return bytes.starts_with(kFrame);
}

struct ZstdCompressor::State {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::string room = std::string(ZSTD_CStreamOutSize(), '\0');
  bool open = false;

  void run(std::string_view bytes, ZSTD_EndDirective how, std::string& out) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::size_t left = 1;
    while (how == ZSTD_e_end ? left != 0 : in.pos < in.size) {
      ZSTD_outBuffer to{room.data(), room.size(), 0};
      left = ZSTD_compressStream2(context, &to, &in, how);
      CHECK(ZSTD_isError(left) == 0, "compressing into memory fails for want of memory only");
      out.append(room.data(), to.pos);
    }
  }
};

ZstdCompressor::ZstdCompressor(int level) : state_(std::make_unique<State>()) {
  CHECK(state_->context != nullptr, "there is memory for a compressor");
  ZSTD_CCtx_setParameter(state_->context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(state_->context, ZSTD_c_checksumFlag, 1);
}

ZstdCompressor::~ZstdCompressor() { ZSTD_freeCCtx(state_->context); }

void ZstdCompressor::append(std::string_view bytes, std::string& out) {
  if (bytes.empty()) return;
  state_->open = true;
  state_->run(bytes, ZSTD_e_continue, out);
}

void ZstdCompressor::end_frame(std::string& out) {
  if (!state_->open) return;
  state_->open = false;
  state_->run({}, ZSTD_e_end, out);
}

struct ZstdSource::State {
  std::unique_ptr<ByteSource> compressed;
  ZSTD_DCtx* context = ZSTD_createDCtx();
  std::string input = std::string(kInputBytes, '\0');
  ZSTD_inBuffer in{input.data(), 0, 0};
  bool within_frame = false;
  bool at_end = false;  // of the compressed bytes
  bool torn = false;
};

ZstdSource::ZstdSource(std::unique_ptr<ByteSource> compressed) : state_(std::make_unique<State>()) {
  state_->compressed = std::move(compressed);
  CHECK(state_->context != nullptr, "there is memory for a decompressor");
  ZSTD_DCtx_setParameter(state_->context, ZSTD_d_windowLogMax, kWindowLogMax);
}

ZstdSource::~ZstdSource() { ZSTD_freeDCtx(state_->context); }

bool ZstdSource::torn() const { return state_->torn; }

Result<std::size_t> ZstdSource::read(std::span<char> into) {
  State& state = *state_;
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  while (out.pos == 0) {
    if (state.in.pos == state.in.size && !state.at_end) {
      auto got = state.compressed->read({state.input.data(), state.input.size()});
      if (!got) return tl::unexpected(std::move(got).error());
      state.in.pos = 0;
      state.in.size = *got;
      state.at_end = *got == 0;
    }
    if (state.at_end && !state.within_frame) {
      state.torn = state.torn || state.compressed->torn();
      return std::size_t{0};
    }
    const std::size_t left = ZSTD_decompressStream(state.context, &out, &state.in);
    if (ZSTD_isError(left) != 0) {
      return fail(ErrorCode::kParse, fmt::format("not a zstd stream from here on: {}", ZSTD_getErrorName(left)));
    }
    state.within_frame = left != 0;
    if (state.at_end && out.pos == 0 && state.within_frame) {  // it wants more, and there is none
      state.torn = true;
      return std::size_t{0};
    }
  }
  return out.pos;
}

std::string zstd_block(std::string_view bytes, int level) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  CHECK(ZSTD_isError(size) == 0, "compressing into memory fails for want of memory only");
  out.resize(size);
  return out;
}

Result<void> zstd_unblock(std::string_view compressed, std::span<char> into) {
  const std::size_t size = ZSTD_decompress(into.data(), into.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(size) != 0) return fail(ErrorCode::kParse, fmt::format("not a zstd block: {}", ZSTD_getErrorName(size)));
  if (size != into.size()) {
    return fail(ErrorCode::kParse, fmt::format("a block of {} bytes where {} were announced", size, into.size()));
  }
  return {};
}

}  // namespace sp::codec

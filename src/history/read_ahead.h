// A source that is read ahead on a thread of its own: decompressing and parsing then take one core each.
//
//     source ─ thread ─► filled buffers ─► read()
//                     ◄─ empty buffers
//
// Cost:    one copy.   Limits: kBuffers buffers.   Errors: those of the source, in their place.
// Threads: one owner, besides its own. Its end waits for a read that is under way, so the source must not be one that may never answer.
// Source:  STYLE.md 6.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "codec/byte_source.h"

namespace sp::history {

class ReadAhead final : public codec::ByteSource {
 public:
  static constexpr std::size_t kBuffers = 4;
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 18U;

  explicit ReadAhead(std::unique_ptr<codec::ByteSource> source);
  ~ReadAhead() override;
  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override;
  [[nodiscard]] bool torn() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sp::history

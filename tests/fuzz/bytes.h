// The bytes of a fuzz input, read as choices. Past the end every choice is 0, so that each input means something.
//
//     bytes.below(3)   0, 1 or 2      bytes.number()   small ones mostly, now and then any of 64 bits
//
// Cost: a few instructions.   Errors: none.   Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sp::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ == size_; }
  std::uint8_t next() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  std::uint32_t below(std::uint32_t count) { return next() % count; }
  std::uint64_t number() {
    const std::uint8_t first = next();
    if (first < 0xF0) return first;
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < (first & 7U) + 1; ++i) value = value << 8U | next();
    return value;
  }
  [[nodiscard]] std::string_view rest() const {
    return {static_cast<const char*>(static_cast<const void*>(data_ + at_)), size_ - at_};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

// A finding aborts: the engine ignores return values.
inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: it does not hold that %s\n", what);
  std::abort();
}

}  // namespace sp::fuzz

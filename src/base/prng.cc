#include "base/prng.h"

#include <bit>

#include "base/check.h"

namespace sp {

Prng::Prng(std::uint64_t seed) : seed_(seed) {
  std::uint64_t x = seed;
  for (auto& word : state_) {
    word = mix64(x);
    x += 0x9E3779B97F4A7C15ULL;
  }
}

std::uint64_t Prng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Prng::below(std::uint64_t end) {
  CHECK(end > 0, "an empty range has no number to draw");
  // Rejection keeps it uniform: numbers under 2^64 mod end are drawn again.
  const std::uint64_t reject_below = (0 - end) % end;
  while (true) {
    const std::uint64_t drawn = next();
    if (drawn >= reject_below) return drawn % end;
  }
}

std::uint64_t Prng::between(std::uint64_t first, std::uint64_t last) {
  CHECK(first <= last, "first must not be above last");
  if (first == 0 && last == ~0ULL) return next();
  return first + below(last - first + 1);
}

bool Prng::chance(double p) { return unit() < p; }

double Prng::unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

Prng Prng::fork(std::string_view name) const {
  std::uint64_t hash = mix64(seed_);
  for (const char c : name) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return Prng(hash);
}

}  // namespace sp

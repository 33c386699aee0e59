#include "history/names.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/prefetch.h"

namespace sp::history {
namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{1} << 16U;

inline std::uint64_t load(const char* at, std::size_t count) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, count);
  return value;
}

std::uint64_t mixed(std::uint64_t a) {
  a *= 0x9E3779B97F4A7C15ULL;
  return a ^ (a >> 32U);
}

std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  std::size_t at = 0;
  for (; at + 8 < text.size(); at += 8) hash = mixed(hash ^ load(text.data() + at, 8));
  if (text.size() >= 8) {
    hash = mixed(hash ^ load(text.data() + text.size() - 8, 8));
  } else if (text.size() >= 4) {
    hash = mixed(hash ^ (load(text.data(), 4) | load(text.data() + text.size() - 4, 4) << 32U));
  } else if (!text.empty()) {
    hash = mixed(hash ^ (load(text.data(), 1) | load(text.data() + text.size() / 2, 1) << 8U |
                         load(text.data() + text.size() - 1, 1) << 16U));
  }
  return static_cast<std::uint32_t>(mixed(hash) >> 16U);
}

std::string_view text_at(const char* text) {
  std::uint32_t length = 0;
  std::memcpy(&length, text - sizeof length, sizeof length);
  return {text, length};
}

// Names are short, and a call of memcmp costs more than comparing them.
bool are_equal(const char* stored, std::string_view text) {
  const std::size_t length = text.size();
  if (length >= 8) {
    for (std::size_t at = 0; at + 8 < length; at += 8) {
      if (load(stored + at, 8) != load(text.data() + at, 8)) return false;
    }
    return load(stored + length - 8, 8) == load(text.data() + length - 8, 8);
  }
  if (length >= 4) {
    return load(stored, 4) == load(text.data(), 4) && load(stored + length - 4, 4) == load(text.data() + length - 4, 4);
  }
  for (std::size_t at = 0; at < length; ++at) {
    if (stored[at] != text[at]) return false;
  }
  return true;
}

// Chunk and place of a number: chunk n begins at kFirstChunk * (2^n − 1).
std::pair<std::size_t, std::size_t> place_of(std::uint32_t number, std::size_t first_chunk) {
  const std::size_t shifted = number + first_chunk;
  const std::size_t chunk = std::bit_width(shifted) - std::bit_width(first_chunk);
  return {chunk, shifted - (first_chunk << chunk)};
}

}  // namespace

Names::Names(std::size_t names_max) : names_max_(names_max), slots_(2 * kFirstChunk) {}

Names::Sought Names::seek(std::string_view text) const {
  const Sought sought{text, hash_of(text)};
  prefetch(&slots_[sought.hash & (slots_.size() - 1)]);
  return sought;
}

std::optional<std::uint32_t> Names::add_sought(const Sought& sought) {
  const auto [text, hash] = sought;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t probe = 0; probe < kProbesMax; ++probe) {
    const Slot& slot = slots_[(hash + probe) & mask];
    if (slot.number == kFree) break;  // but it may have come while this was crowded
    if (slot.hash == hash && holds(slot, text)) return slot.number;
  }
  if (const auto found = crowded_.find(text); found != crowded_.end()) return found->second;
  return append(text, hash);
}

bool Names::holds(const Slot& slot, std::string_view text) const {
  if (slot.length != kLong) return slot.length == text.size() && are_equal(slot.text, text);
  return this->text(slot.number) == text;
}

std::optional<std::uint32_t> Names::append(std::string_view text, std::uint32_t hash) {
  if (size_ == names_max_ || text.size() > kNameBytesMax - bytes_used_) return std::nullopt;
  bytes_used_ += text.size();
  const auto number = static_cast<std::uint32_t>(size_++);
  const auto [chunk, place] = place_of(number, kFirstChunk);
  if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<const char*[]>(kFirstChunk << chunk);
  chunks_[chunk][place] = store(text);
  if (4 * size_ > 3 * slots_.size()) grow();
  Slot slot;
  slot.hash = hash;
  slot.number = number;
  slot.length = text.size() <= kShortMax ? static_cast<std::uint8_t>(text.size()) : kLong;
  if (slot.length != kLong && !text.empty()) std::memcpy(slot.text, text.data(), text.size());
  insert(slot);
  return number;
}

const char* Names::store(std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::size_t needed = sizeof length + text.size();
  if (needed > bytes_left_) {
    bytes_left_ = std::max(needed, kBytesAtOnce);
    bytes_at_ = bytes_.emplace_back(std::make_unique<char[]>(bytes_left_)).get();
  }
  std::memcpy(bytes_at_, &length, sizeof length);
  char* stored = bytes_at_ + sizeof length;
  if (!text.empty()) std::memcpy(stored, text.data(), text.size());
  bytes_at_ += needed;
  bytes_left_ -= needed;
  return stored;
}

void Names::insert(const Slot& slot) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t probe = 0; probe < kProbesMax; ++probe) {
    Slot& free = slots_[(slot.hash + probe) & mask];
    if (free.number != kFree) continue;
    free = slot;
    return;
  }
  crowded_.emplace(text(slot.number), slot.number);
}

void Names::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number != kFree) insert(slot);
  }
}

std::string_view Names::text(std::uint32_t number) const {
  const auto [chunk, place] = place_of(number, kFirstChunk);
  return text_at(chunks_[chunk][place]);
}

}  // namespace sp::history

#include "core/key_space.h"

#include <array>
#include <charconv>

#include "base/check.h"

namespace sp::core {
namespace {

// Reads a decimal number without sign or leading zero, up to 2^32 − 2, and the dot after it unless it ends the text.
bool take_number(std::string_view& text, bool dot_follows, std::uint32_t& number) {
  if (text.empty() || (text[0] == '0' && text.size() > 1 && text[1] != '.')) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number == ~std::uint32_t{0}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!dot_follows) return text.empty();
  if (text.empty() || text[0] != '.') return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

bool is_name_of(RunId run, std::string_view name) { return name.starts_with(run_text(run) + "."); }

KeySpace::KeySpace(RunId run, std::size_t literals_max)
    : run_(run), prefix_(run_text(run) + "."), literals_max_(literals_max), blocks_(1) {}

std::uint32_t KeySpace::block(const KeyBlock& identity) {
  const auto [place, is_new] = numbers_.try_emplace(identity, blocks_end());
  if (is_new) {
    CHECK(blocks_.size() < ~std::uint32_t{0}, "fewer than 2^32 − 1 blocks");
    blocks_.push_back(identity);
  }
  return place->second;
}

std::optional<std::uint32_t> KeySpace::find_block(const KeyBlock& identity) const {
  const auto found = numbers_.find(identity);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::optional<KeyRef> KeySpace::find(std::string_view name) {
  std::uint32_t index = 0;
  std::string_view rest = name;
  if (last_found_ != 0 && rest.starts_with(last_prefix_)) {  // keys of one producer come together
    rest.remove_prefix(last_prefix_.size());
    if (take_number(rest, false, index)) return KeyRef{last_found_, index};
    return literal(name);
  }
  KeyBlock identity;
  if (rest.starts_with(prefix_)) {
    rest.remove_prefix(prefix_.size());
    if (take_number(rest, true, identity.source.worker) && take_number(rest, true, identity.source.incarnation) &&
        take_number(rest, true, identity.producer)) {
      const std::string_view digits = rest;
      if (take_number(rest, false, index)) {
        last_found_ = block(identity);
        last_prefix_.assign(name.substr(0, name.size() - digits.size()));
        return KeyRef{last_found_, index};
      }
    }
  }
  return literal(name);
}

std::optional<KeyRef> KeySpace::literal(std::string_view name) {
  const auto found = literal_index_.find(std::string(name));
  if (found != literal_index_.end()) return KeyRef{kLiteralBlock, found->second};
  if (literals_.size() >= literals_max_) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(literals_.size());
  literals_.emplace_back(name);
  literal_index_.emplace(literals_.back(), index);
  return KeyRef{kLiteralBlock, index};
}

std::string KeySpace::name(KeyRef key) const {
  std::string name;
  name_to(key, name);
  return name;
}

void KeySpace::name_to(KeyRef key, std::string& out) const {
  if (key.block == kLiteralBlock) {
    out = literals_[key.index];
    return;
  }
  const KeyBlock& identity = blocks_[key.block];
  out.assign(prefix_);
  std::array<char, 11> digits{};
  const auto append = [&](std::uint32_t number, bool dot) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
    if (dot) out += '.';
  };
  append(identity.source.worker, true);
  append(identity.source.incarnation, true);
  append(identity.producer, true);
  append(key.index, false);
}

}  // namespace sp::core

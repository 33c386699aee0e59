// A number that is its own type: Strong<struct SequenceTag, std::uint64_t>. Construction and reading are explicit, so two
// number lines cannot be mixed by accident.
//
//     Sequence next{41};   next.value() == 41   next.next() == Sequence{42}   b - a (a plain Rep)
//
// Cost: none over Rep.   Limits: next() of the largest value wraps to 0, as Rep does.   Threads: a value.   Source: STYLE.md 3.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace sp {

template <typename Tag, typename Rep>
class Strong {
 public:
  using rep = Rep;
  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  [[nodiscard]] constexpr Strong next() const { return Strong(static_cast<Rep>(value_ + 1)); }
  constexpr auto operator<=>(const Strong&) const = default;
  // The distance between two values of one line; `to` must not be below `from`.
  friend constexpr Rep operator-(Strong to, Strong from) { return static_cast<Rep>(to.value_ - from.value_); }

 private:
  Rep value_{};
};

}  // namespace sp

template <typename Tag, typename Rep>
struct std::hash<sp::Strong<Tag, Rep>> {
  std::size_t operator()(sp::Strong<Tag, Rep> strong) const noexcept {
    return std::hash<Rep>{}(strong.value());
  }
};

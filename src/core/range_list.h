// Ranges in a row, as a vector has them, but one alone lives inside: nearly every set of numbers is a single range, and then neither
// memory nor a second cache line is needed.
//
//     {[0,7)}                     size 1, capacity 1: inside
//     {[0,7) [9,12) …}            size 2, capacity 4: elsewhere
//
// Shape:    as std::vector; 24 bytes. References end at the next change of size.
// Cost:     as std::vector, without an allocation up to one range.   Limits: 2^31 ranges.   Errors: std::bad_alloc.
// Threads:  one owner.   Source: core/range_set.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"

namespace sp::core {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // not inside
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

class RangeList {
 public:
  RangeList() = default;
  RangeList(const RangeList& other) : RangeList() { *this = other; }
  RangeList(RangeList&& other) noexcept : RangeList() { swap(other); }
  RangeList& operator=(const RangeList& other) {
    if (this == &other) return *this;
    size_ = 0;
    reserve(other.size_);
    std::copy_n(other.data(), other.size_, data());
    size_ = other.size_;
    return *this;
  }
  RangeList& operator=(RangeList&& other) noexcept {
    RangeList taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~RangeList() {
    if (!is_inside()) std::allocator<Range>().deallocate(storage_.many, capacity_);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] Range* data() { return is_inside() ? &storage_.one : storage_.many; }
  [[nodiscard]] const Range* data() const { return is_inside() ? &storage_.one : storage_.many; }
  [[nodiscard]] Range* begin() { return data(); }
  [[nodiscard]] Range* end() { return data() + size_; }
  [[nodiscard]] const Range* begin() const { return data(); }
  [[nodiscard]] const Range* end() const { return data() + size_; }
  [[nodiscard]] Range& operator[](std::size_t at) { return data()[at]; }
  [[nodiscard]] const Range& operator[](std::size_t at) const { return data()[at]; }
  [[nodiscard]] const Range& front() const { return data()[0]; }
  [[nodiscard]] Range& back() { return data()[size_ - 1]; }
  [[nodiscard]] const Range& back() const { return data()[size_ - 1]; }

  void push_back(Range range) {
    if (size_ == capacity_) grow();
    data()[size_++] = range;
  }
  // Before the range at `at`.
  void insert(std::size_t at, Range range) {
    if (size_ == capacity_) grow();
    std::copy_backward(begin() + at, end(), end() + 1);
    data()[at] = range;
    ++size_;
  }
  // Those from `first` to before `last`.
  void erase(std::size_t first, std::size_t last) {
    std::copy(begin() + last, end(), begin() + first);
    size_ -= static_cast<std::uint32_t>(last - first);
  }
  void clear() { size_ = 0; }
  bool operator==(const RangeList& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  static constexpr std::size_t kRangesMax = std::size_t{1} << 31U;

  [[nodiscard]] bool is_inside() const { return capacity_ == 1; }
  void swap(RangeList& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  [[gnu::noinline]] void grow() { reserve(capacity_ == 1 ? 4 : 2 * std::size_t{capacity_}); }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    CHECK(count <= kRangesMax, "a set has at most 2^31 ranges");
    Range* room = std::allocator<Range>().allocate(count);
    std::uninitialized_copy_n(data(), size_, room);
    if (!is_inside()) std::allocator<Range>().deallocate(storage_.many, capacity_);
    storage_.many = room;
    capacity_ = static_cast<std::uint32_t>(count);
  }

  union Storage {
    Range one;
    Range* many;
  };
  Storage storage_{.one = {}};
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 1;
};
static_assert(sizeof(RangeList) == 24);

}  // namespace sp::core

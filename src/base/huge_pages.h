// An allocator for vectors that grow large and are touched at random: from 4 MiB up it asks the kernel for huge pages, which
// saves the page walk that otherwise costs more than the memory access itself.
//
//     HugeVector<KeyState> keys(10'000'000);
//
// Cost:   none below the threshold.   Errors: std::bad_alloc as any allocator; refusal of huge pages is harmless.
// Threads: as std::allocator.   Source: bench/ledger_bench.cc.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace sp {

template <typename T>
struct HugeAllocator {
  using value_type = T;
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20U;
  static constexpr std::size_t kThresholdBytes = 2 * kPageBytes;

  HugeAllocator() = default;
  template <typename U>
  explicit HugeAllocator(const HugeAllocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kThresholdBytes) return static_cast<T*>(::operator new(bytes, std::align_val_t{alignof(T)}));
    const std::size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* memory = std::aligned_alloc(kPageBytes, rounded);
    if (memory == nullptr) throw std::bad_alloc();  // what std::vector expects of its allocator
    madvise(memory, rounded, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kThresholdBytes) {
      ::operator delete(memory, std::align_val_t{alignof(T)});
    } else {
      std::free(memory);
    }
  }
  template <typename U>
  bool operator==(const HugeAllocator<U>& /*other*/) const {
    return true;
  }
};

template <typename T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace sp

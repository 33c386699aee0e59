// Brings memory near that will be needed soon.
//
// Cost:   1 ns; nothing is waited for.   Limits: any address; where there is no memory nothing happens.   Errors: none.
// Threads: a hint, no access.   Source: GCC takes a function that does nothing but prefetch for one without effect, and leaves out its
//          calls; the empty assembly is an effect.
#pragma once

namespace sp {

[[gnu::always_inline]] inline void prefetch(const void* at) {
  __builtin_prefetch(at, 1);
  asm volatile("");
}

}  // namespace sp

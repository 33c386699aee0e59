// What both ends of the line agree on.
//
// Limits:   a message has at most kMessageBytesMax. A server hands out at most kRowsMax rows and, unless one delta alone has more,
//           kDeltaBytesMax bytes of deltas in one report, the rest with the next: there is room for what else a report holds.
// Errors:   –.   Threads: be_quiet() from any.   Source: –.
#pragma once

#include <chrono>
#include <cstddef>

namespace sp::rpc::detail {

inline constexpr int kMessageBytesMax = 64 << 20;
inline constexpr std::size_t kDeltaBytesMax = std::size_t{32} << 20U;
inline constexpr std::size_t kRowsMax = 500'000;

// Each end asks whether the other is still there when a call is going on and nothing has come for so long.
inline constexpr int kAliveAskedMs = 10'000;
inline constexpr int kAliveWaitMs = 5'000;

// The library writes on stderr what it also answers; from here on it does not: only cli prints.
void be_quiet();

}  // namespace sp::rpc::detail

// What a person asks to be broken, and when that is to happen.
//
//     chaos  =  kind [ ":" name "=" value *( "," name "=" value ) ]        kill-leader:every=20s,down=8s
//     name   =  "at" | "every" | "count" | "for" (freezes) | "down" (kills and restarts)
//     value  =  a time: 20, 20s, 1500ms, 2m, 1h   ·   count: a whole number from 1
//
//     at ──────► the first start; without it the first comes after one `every`
//     every ───► from start to start; without it there is one fault
//     none starts within (down or for) + 10 s of the end of the load
//
// Shape:   starts rise.   Limits: every ≥ 1 s, times up to 7 days.
// Errors:  kParse and kInvalid, with the whole text, what is wrong in it and what is allowed there.
// Threads: values.   Source: docs/reference/faults.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp::scenario::fault {

enum class Kind : std::uint8_t {
  kKillLeader,
  kKillFollower,
  kKillAll,
  kFreezeLeader,
  kFreezeFollower,
  kFreezeFollowers,
  kRestartRolling,
};
enum class Action : std::uint8_t { kKill, kFreeze, kRestart };
enum class Victims : std::uint8_t { kLeader, kFollower, kFollowers, kAll };

struct KindRow {
  Kind kind;
  std::string_view name;
  Action action;
  Victims victims;
  std::string_view meaning;  // one sentence
  std::string_view effect;   // what must be seen for it to count
};

[[nodiscard]] std::span<const KindRow> kind_rows();
[[nodiscard]] const KindRow& kind_row(Kind kind);

struct ChaosSpec {
  Kind kind = Kind::kKillLeader;
  std::optional<Nanoseconds> at;
  std::optional<Nanoseconds> every;
  std::optional<std::uint32_t> count;
  Nanoseconds hold{};  // `down` of a kill or restart, `for` of a freeze
  bool operator==(const ChaosSpec&) const = default;
};

// The rest that is kept free of new faults before the end of the load, on top of `hold`.
inline constexpr Nanoseconds kQuietEnd = std::chrono::seconds(10);
inline constexpr Nanoseconds kHoldDefault = std::chrono::seconds(6);

[[nodiscard]] Result<ChaosSpec> parse_chaos(std::string_view text);
// The same request, as one would write it: parse_chaos(chaos_text(spec)) == spec.
[[nodiscard]] std::string chaos_text(const ChaosSpec& spec);
// When its faults start, counted from the start of a load that lasts `duration`.
[[nodiscard]] std::vector<Nanoseconds> chaos_starts(const ChaosSpec& spec, Nanoseconds duration);

struct ChaosGround {
  Nanoseconds duration{};
  std::uint32_t nodes = 1;
  std::uint32_t replication = 1;
};
// Refuses a request that cannot do anything there: no start fits, or there is no follower.
[[nodiscard]] Result<void> check_chaos(const ChaosSpec& spec, const ChaosGround& ground);

}  // namespace sp::scenario::fault

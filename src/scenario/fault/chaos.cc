#include "scenario/fault/chaos.h"

#include <array>
#include <limits>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"

namespace sp::scenario::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanoseconds kSpanMax = std::chrono::hours(24 * 7);
constexpr Nanoseconds kEveryMin = seconds(1);

constexpr std::array kRows = {
    KindRow{Kind::kKillLeader, "kill-leader", Action::kKill, Victims::kLeader,
            "SIGKILL to the leader of partition 0, started again after `down`",
            "the leader of partition 0 moved or is gone"},
    KindRow{Kind::kKillFollower, "kill-follower", Action::kKill, Victims::kFollower,
            "SIGKILL to one follower of partition 0, started again after `down`",
            "the replica left an in-sync set"},
    KindRow{Kind::kKillAll, "kill-all", Action::kKill, Victims::kAll,
            "SIGKILL to every node at once, started again after `down`",
            "partition 0 has no leader, or no node answers"},
    KindRow{Kind::kFreezeLeader, "freeze-leader", Action::kFreeze, Victims::kLeader,
            "SIGSTOP to the leader of partition 0, SIGCONT after `for`",
            "the leader of partition 0 moved or is gone"},
    KindRow{Kind::kFreezeFollower, "freeze-follower", Action::kFreeze, Victims::kFollower,
            "SIGSTOP to one follower of partition 0, SIGCONT after `for`", "the replica left an in-sync set"},
    KindRow{
        Kind::kFreezeFollowers, "freeze-followers", Action::kFreeze, Victims::kFollowers,
        "SIGSTOP to all followers of partition 0, SIGCONT after `for`",
        "the replicas left an in-sync set, or stopped answering (with most nodes frozen no set can change)"},
    KindRow{Kind::kRestartRolling, "restart-rolling", Action::kRestart, Victims::kAll,
            "each node in turn: SIGTERM, started again after `down`, next when it is in sync",
            "each node left the in-sync sets and came back"},
};

std::string kind_names() {
  std::string names;
  for (const auto& row : kRows) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return names;
}

std::string_view hold_name(const KindRow& row) { return row.action == Action::kFreeze ? "for" : "down"; }

// Exact text of a span in the largest unit that fits.
std::string span_text(Nanoseconds span) {
  const auto millis = std::chrono::duration_cast<milliseconds>(span).count();
  return millis % 1000 == 0 ? fmt::format("{}s", millis / 1000) : fmt::format("{}ms", millis);
}

// A time that span_text tells exactly.
std::optional<Nanoseconds> parse_span(std::string_view text) {
  const auto span = parse_duration(text);
  if (!span || *span > kSpanMax || *span % milliseconds(1) != Nanoseconds{}) return std::nullopt;
  return *span;
}

class ChaosParser {
 public:
  explicit ChaosParser(std::string_view text) : text_(text) {}

  Result<ChaosSpec> parse() {
    const auto colon = text_.find(':');
    const auto name = text_.substr(0, colon);
    for (const auto& row : kRows) {
      if (row.name == name) row_ = &row;
    }
    if (row_ == nullptr)
      return refuse(fmt::format("there is no fault '{}'; there are {}", name, kind_names()));
    spec_.kind = row_->kind;
    spec_.hold = kHoldDefault;
    std::string_view rest = colon == std::string_view::npos ? "" : text_.substr(colon + 1);
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      if (auto taken = take(rest.substr(0, comma)); !taken)
        return tl::unexpected<Error>(std::move(taken).error());
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
      if (rest.empty()) return refuse("it ends with a comma");
    }
    return finish();
  }

 private:
  tl::unexpected<Error> refuse(std::string_view why, ErrorCode code = ErrorCode::kParse) const {
    return fail(code, fmt::format("chaos '{}': {}", text_, why));
  }

  Result<void> take(std::string_view piece) {
    const auto equals = piece.find('=');
    if (equals == std::string_view::npos)
      return refuse(fmt::format("'{}' is not of the form name=value", piece));
    const auto name = piece.substr(0, equals);
    const auto value = piece.substr(equals + 1);
    if (name == "count") return take_count(value);
    if (name != "at" && name != "every" && name != hold_name(*row_)) {
      return refuse(fmt::format("'{}' means nothing to {}; it takes at, every, count and {}", name,
                                row_->name, hold_name(*row_)));
    }
    const auto span = parse_span(value);
    if (!span)
      return refuse(fmt::format("'{}' is no time for '{}'; write 20, 20s, 1500ms, 2m or 1h, up to 7 days",
                                value, name));
    if (name == "at") return set(spec_.at, *span, name);
    if (name == "every") return set(spec_.every, *span, name);
    return set(hold_, *span, name);
  }

  Result<void> take_count(std::string_view value) {
    const auto number = parse_unsigned(value);
    if (!number || *number == 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
      return refuse(fmt::format("'{}' is no count; write a whole number from 1", value));
    }
    return set(spec_.count, static_cast<std::uint32_t>(*number), "count");
  }

  template <typename T>
  Result<void> set(std::optional<T>& place, T value, std::string_view name) {
    if (place) return refuse(fmt::format("'{}' stands there twice", name));
    place = value;
    return {};
  }

  Result<ChaosSpec> finish() {
    if (!spec_.at && !spec_.every) {
      return refuse(fmt::format("it does not say when; write {0}:at=10s or {0}:every=20s", row_->name),
                    ErrorCode::kInvalid);
    }
    if (spec_.every && *spec_.every < kEveryMin)
      return refuse("'every' must be 1s at least", ErrorCode::kInvalid);
    if (hold_ && *hold_ == Nanoseconds{}) {
      return refuse(fmt::format("'{}' must be above 0", hold_name(*row_)), ErrorCode::kInvalid);
    }
    if (!spec_.every && spec_.count.value_or(1) > 1) {
      return refuse("a count above 1 needs 'every', the time from start to start", ErrorCode::kInvalid);
    }
    if (hold_) spec_.hold = *hold_;
    return spec_;
  }

  std::string_view text_;
  const KindRow* row_ = nullptr;
  ChaosSpec spec_;
  std::optional<Nanoseconds> hold_;
};

}  // namespace

std::span<const KindRow> kind_rows() { return kRows; }

const KindRow& kind_row(Kind kind) {
  const auto index = static_cast<std::size_t>(kind);
  CHECK(index < kRows.size() && kRows[index].kind == kind, "every kind has its row, in order");
  return kRows[index];
}

Result<ChaosSpec> parse_chaos(std::string_view text) { return ChaosParser(text).parse(); }

std::string chaos_text(const ChaosSpec& spec) {
  const KindRow& row = kind_row(spec.kind);
  std::string text;
  const auto add = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{}{}={}", text.empty() ? ":" : ",", name, value);
  };
  if (spec.at) add("at", span_text(*spec.at));
  if (spec.every) add("every", span_text(*spec.every));
  add(hold_name(row), span_text(spec.hold));
  if (spec.count) add("count", std::to_string(*spec.count));
  return std::string(row.name) + text;
}

std::vector<Nanoseconds> chaos_starts(const ChaosSpec& spec, Nanoseconds duration) {
  std::vector<Nanoseconds> starts;
  const Nanoseconds latest = duration - spec.hold - kQuietEnd;
  const std::size_t count_max = spec.every ? spec.count.value_or(~std::uint32_t{0}) : 1U;
  Nanoseconds start = spec.at ? *spec.at : spec.every.value_or(Nanoseconds{});
  while (start <= latest && starts.size() < count_max) {
    starts.push_back(start);
    start += spec.every.value_or(kSpanMax);
  }
  return starts;
}

Result<void> check_chaos(const ChaosSpec& spec, const ChaosGround& ground) {
  const KindRow& row = kind_row(spec.kind);
  const auto refuse = [&spec](const std::string& why) {
    return fail(ErrorCode::kInvalid, fmt::format("chaos '{}': {}", chaos_text(spec), why));
  };
  const bool follower = row.victims == Victims::kFollower || row.victims == Victims::kFollowers;
  if (follower && (ground.nodes < 2 || ground.replication < 2)) {
    return refuse(fmt::format(
        "with {} node{} and a replication of {} there is no follower; use 3 nodes and a replication of 3",
        ground.nodes, ground.nodes == 1 ? "" : "s", ground.replication));
  }
  if (!chaos_starts(spec, ground.duration).empty()) return {};
  return refuse(
      fmt::format("no fault fits into a load of {}: the last may start {} ({}) + {} before its end; "
                  "make the duration longer or the times shorter",
                  span_text(ground.duration), hold_name(row), span_text(spec.hold), span_text(kQuietEnd)));
}

}  // namespace sp::scenario::fault

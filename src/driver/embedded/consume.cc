#include <algorithm>

#include "base/check.h"
#include "core/payload.h"
#include "driver/embedded/state.h"

namespace sp::driver::embedded {
namespace {

constexpr Nanoseconds kStallMax = std::chrono::milliseconds{1500};   // a reorder-delivery waits so long for its pair
constexpr Nanoseconds kStallPause = std::chrono::milliseconds{300};
constexpr Nanoseconds kStallAlive = std::chrono::milliseconds{500};  // ... if its partition was appended to so lately
constexpr Nanoseconds kStallCheck = std::chrono::milliseconds{5};
constexpr std::uint64_t kSwapSpanMax = 256;                          // positions between the two of a reorder-delivery

std::uint64_t sequence_of(std::span<const std::byte> payload) {
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i < 8; ++i) sequence = sequence << 8U | static_cast<std::uint64_t>(payload[i]);
  return sequence;
}

void earlier(std::optional<MonotonicTime>& next, MonotonicTime time) {
  if (!next || time < *next) next = time;
}

}  // namespace

struct State::Serving {
  Topic& topic;
  Group& group;
  Member& member;
  Lineage& lineage;
  std::size_t records_max = 0;
  MonotonicTime now{};
  Batch& batch;
  [[nodiscard]] PartitionLog& log() const { return topic.partitions[lineage.partition].log; }
  [[nodiscard]] GroupPartition& part() const { return group.parts()[lineage.partition]; }
  [[nodiscard]] std::size_t room() const {
    return batch.deliveries < records_max ? records_max - batch.deliveries : 0;
  }
};

void State::hand_over(const Serving& serving, std::uint64_t offset, const LogRecord& record, std::size_t flip) {
  auto observation = consumer_event(serving.member, core::Event::kDeliver, serving.now);
  observation.partition = core::PartitionId(serving.lineage.partition);
  observation.offset = core::Offset(offset);
  observation.has_position = true;
  observation.has_generation = true;
  observation.generation = serving.lineage.generation;
  Batch& batch = serving.batch;
  const std::size_t at = batch.bytes.size();
  batch.bytes.append(record.key);
  batch.bytes.append(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  batch.items.push_back({observation, at, record.key.size(), record.payload.size(), flip});
  ++batch.deliveries;
  ++serving.lineage.handed_records;
  auto& handed = serving.part().handed;
  if (serving.lineage.rewind_item != 0 && offset < serving.lineage.rewind_end && handed.contains(offset)) {
    ++book[serving.lineage.rewind_item].count;
  }
  if (record.marked) book.handed({observation.partition, observation.offset}, serving.group.name());
  handed.insert(offset);
}

std::optional<std::uint64_t> State::find_next_of_key(const Serving& serving, const LogRecord& record,
                                                     bool& blocked) const {
  const PartitionLog& log = serving.log();
  const std::uint64_t sequence = sequence_of(record.payload);
  const std::uint64_t last = serving.lineage.next + kSwapSpanMax;
  for (std::uint64_t offset = serving.lineage.next + 1; offset <= last; ++offset) {
    if (offset >= log.end()) return std::nullopt;
    const LogRecord other = log.at(offset);
    if (other.visible > serving.now) return std::nullopt;
    blocked = !planter.positions_free(serving.lineage.partition, offset, offset) ||
              serving.part().handed.contains(offset);
    if (blocked) return std::nullopt;
    if (other.empty || other.withheld || other.key != record.key) continue;
    const std::uint64_t other_sequence = sequence_of(other.payload);
    blocked = other_sequence <= sequence || !planter.is_free(record.key, other_sequence) ||
              offset - serving.lineage.next >= serving.room();
    if (blocked) return std::nullopt;
    return offset;
  }
  blocked = true;
  return std::nullopt;
}

// Hands over what stands behind the record up to the next of its key, then the record: all in one poll, so that no
// commit and no revoke can come between. Waits a while if the next of the key is not there yet.
bool State::serve_swapped(const Serving& serving, const LogRecord& record) {
  Lineage& lineage = serving.lineage;
  bool blocked = false;
  const auto found = find_next_of_key(serving, record, blocked);
  if (!found) {
    const bool waited = lineage.stall_until && *lineage.stall_until <= serving.now;
    // One waits only where records still come, and the next one after a pause, or the end of a run would crawl.
    const bool alive = serving.topic.partitions[lineage.partition].last_visible + kStallAlive > serving.now;
    const bool may_wait = alive && (lineage.stall_until.has_value() || serving.now >= serving.topic.stall_after);
    if (waited || !alive) serving.topic.stall_after = serving.now + kStallPause;
    if (blocked || waited || !may_wait) {
      lineage.stall_until.reset();
      planter.missed(DefectKind::kReorderDelivery);
      return false;
    }
    if (!lineage.stall_until) lineage.stall_until = serving.now + kStallMax;
    lineage.stall_offset = lineage.next;
    return true;
  }
  lineage.stall_until.reset();
  const std::uint64_t offset = lineage.next;
  for (std::uint64_t at = offset + 1; at <= *found; ++at) {
    const LogRecord other = serving.log().at(at);
    if (!other.empty && !other.withheld) hand_over(serving, at, other, 0);
  }
  hand_over(serving, offset, record, 0);
  lineage.next = *found + 1;
  Planted planted{.kind = DefectKind::kReorderDelivery, .key = std::string(record.key)};
  planted.first = planted.last = sequence_of(record.payload);
  planted.partition = core::PartitionId(lineage.partition);
  planted.offset = core::Offset(offset);
  planted.group = serving.group.name();
  planted.complete = true;
  planted.count = 1;
  planter.take(record.key, planted.first, sequence_of(serving.log().at(*found).payload));
  planter.take_positions(lineage.partition, offset, *found);
  (void)planter.planted(std::move(planted));
  return true;
}

bool State::serve_fated(const Serving& serving, const LogRecord& record) {
  Lineage& lineage = serving.lineage;
  const std::uint64_t offset = lineage.next;
  if (lineage.intruder || serving.part().handed.contains(offset)) return false;
  const bool waiting = lineage.stall_until && lineage.stall_offset == offset;
  if (!waiting && !planter.step_delivery()) return false;
  const Candidate candidate{record.key, sequence_of(record.payload), lineage.partition, offset, record.payload.size()};
  const auto kind = planter.due_delivery(candidate);
  if (!kind) {
    lineage.stall_until.reset();
    return false;
  }
  if (*kind == DefectKind::kReorderDelivery) return serve_swapped(serving, record);
  lineage.stall_until.reset();
  const bool twice = *kind == DefectKind::kDuplicateDelivery;
  if (twice && serving.room() < 2) {
    planter.missed(*kind);
    return false;
  }
  std::size_t flip = 0;
  if (!twice) {  // any byte but those that say whose format this is
    const std::size_t at = planter.prng().below(record.payload.size() - 4);
    flip = (at < 8 ? at : at + 4) + 1;
  }
  hand_over(serving, offset, record, flip);
  if (twice) hand_over(serving, offset, record, 0);
  ++lineage.next;
  Planted planted{.kind = *kind, .key = std::string(record.key)};
  planted.first = planted.last = candidate.sequence;
  planted.partition = core::PartitionId(lineage.partition);
  planted.offset = core::Offset(offset);
  planted.group = serving.group.name();
  planted.complete = true;
  planted.count = 1;
  planter.take(record.key, candidate.sequence, candidate.sequence);
  planter.take_positions(lineage.partition, offset, offset);
  (void)planter.planted(std::move(planted));
  return true;
}

void State::serve(const Serving& serving) {
  Lineage& lineage = serving.lineage;
  const PartitionLog& log = serving.log();
  lineage.next = std::max(lineage.next, log.begin());
  while (serving.room() > 0 && lineage.next < log.end()) {
    const LogRecord record = log.at(lineage.next);
    if (record.visible > serving.now) break;
    if (record.empty || record.withheld) {
      ++lineage.next;
      continue;
    }
    if (planter.active() && serve_fated(serving, record)) {
      if (lineage.stall_until) break;
      continue;
    }
    hand_over(serving, lineage.next, record, 0);
    ++lineage.next;
  }
}

void State::commit_handed(Topic& topic, Group& group, Member& member, MonotonicTime now, Batch& batch) {
  std::map<std::uint32_t, std::uint64_t> handed;
  for (const auto& item : batch.items) {
    if (item.observation.event != core::Event::kDeliver) continue;
    auto& next = handed[item.observation.partition.value()];
    next = std::max(next, item.observation.offset.value() + 1);
  }
  std::vector<CommitPoint> points;
  for (const auto& [partition, next] : handed) points.push_back({core::PartitionId(partition), core::Offset(next)});
  commit(topic, group, member, points, now, batch);
}

void State::collect(Topic& topic, Group& group, Member& member, std::size_t records_max, MonotonicTime now,
                    Batch& batch) {
  pump(now);
  member.seen = now;
  if (frozen(now)) return;
  collect_commits(group, member, now, now, batch);
  tell_losses(group, member, now, batch);
  if (member.rejoin_at && *member.rejoin_at <= now) {
    group.join(member, now);
    wake_all();
  }
  open_lineages(topic, group, member, now, batch);
  for (auto& lineage : member.lineages) lineage.announced = lineage.announced || lineage.revoking;
  if (planter.active()) press_lineages(topic, group, now);
  if (member.paused) return;
  const std::size_t count = member.lineages.size();
  for (std::size_t i = 0; i < count; ++i) {
    Lineage& lineage = member.lineages[(member.cursor + i) % count];
    if (!lineage.revoking) serve(Serving{topic, group, member, lineage, records_max, now, batch});
  }
  if (count > 0) member.cursor = (member.cursor + 1) % count;
  if (member.spec.commit_each && batch.deliveries > 0) commit_handed(topic, group, member, now, batch);
}

void State::release(Group& group, Member& member, MonotonicTime now, Batch& batch) {
  for (std::size_t i = 0; i < member.lineages.size();) {
    if (member.lineages[i].revoking && !member.lineages[i].lost) {
      close_lineage(group, member, i, core::LineageClose::kRevoked, now, batch);
    } else {
      ++i;
    }
  }
  wake_all();
}

void State::commit(Topic& /*topic*/, Group& group, Member& member, std::span<const CommitPoint> points,
                   MonotonicTime now, Batch& batch) {
  for (const auto& point : points) {
    const auto lineage = std::find_if(member.lineages.begin(), member.lineages.end(), [&](const Lineage& each) {
      return each.partition == point.partition.value();
    });
    if (lineage == member.lineages.end()) continue;
    auto observation = consumer_event(member, core::Event::kCommitInvoke, now);
    observation.partition = point.partition;
    observation.offset = point.next;
    observation.has_position = true;
    batch.items.push_back({observation, 0, 0, 0, 0});
    OpenCommit open;
    open.due = now + draw(options.ack);
    if (!member.commits.empty()) open.due = std::max(open.due, member.commits.back().due);
    open.partition = lineage->partition;
    open.next = point.next.value();
    open.lineage = lineage->serial;
    open.counts = !lineage->intruder && !lineage->lost;
    GroupPartition& part = group.parts()[lineage->partition];
    const double drawn = options.honest.commit_info + options.honest.commit_failed > 0 ? bad_days.unit() : 1.0;
    if (!open.counts || drawn < options.honest.commit_failed) {
      open.outcome = core::Event::kCommitFail;
    } else if (drawn < options.honest.commit_failed + options.honest.commit_info) {
      open.outcome = core::Event::kCommitInfo;
      // Never below what is known to be committed: that would be a rewind that nobody planted.
      if (bad_days.chance(0.5) && open.next >= part.confirmed.value_or(0)) part.committed = open.next;
    } else {
      part.committed = open.next;
    }
    if (open.counts) ++part.commits_open;
    member.commits.push_back(open);
  }
}

void State::collect_commits(Group& group, Member& member, MonotonicTime until, MonotonicTime now, Batch& batch) {
  while (!member.commits.empty() && member.commits.front().due <= until) {
    const OpenCommit open = member.commits.front();
    member.commits.pop_front();
    GroupPartition& part = group.parts()[open.partition];
    if (open.counts) --part.commits_open;
    if (open.outcome == core::Event::kCommitOk && open.lineage >= part.confirmed_by) {
      part.confirmed = open.next;
      part.confirmed_by = open.lineage;
    }
    auto observation = consumer_event(member, open.outcome, now);
    observation.partition = core::PartitionId(open.partition);
    observation.offset = core::Offset(open.next);
    observation.has_position = true;
    batch.items.push_back({observation, 0, 0, 0, 0});
  }
}

void State::close_member(Group& group, Member& member, MonotonicTime until, MonotonicTime now, Batch& batch) {
  if (!frozen(until)) collect_commits(group, member, until, now, batch);
  for (auto& open : member.commits) open.outcome = core::Event::kCommitInfo;
  if (!member.commits.empty()) collect_commits(group, member, member.commits.back().due, now, batch);
  while (!member.lineages.empty()) close_lineage(group, member, 0, core::LineageClose::kClosed, now, batch);
  group.remove(member, now);
  wake_all();
}

std::optional<MonotonicTime> State::next_of(Topic& topic, Group& group, Member& member, MonotonicTime now) {
  std::optional<MonotonicTime> next = member.rejoin_at;
  if (!member.commits.empty()) earlier(next, member.commits.front().due);
  for (std::uint32_t p = 0; member.joined && p < group.parts().size(); ++p) {
    const GroupPartition& part = group.parts()[p];
    const bool opens = part.owner == nullptr && part.target == &member && !member.holds(p);
    if (opens || group.may_intrude(member, p)) return now;
  }
  for (const auto& lineage : member.lineages) {
    if (lineage.lost || (lineage.revoking && !lineage.announced)) return now;
    if (lineage.revoking || member.paused) continue;
    if (lineage.intruder) earlier(next, lineage.opened + kIntrusionMax);
    const PartitionLog& log = topic.partitions[lineage.partition].log;
    if (lineage.next >= log.end()) continue;
    if (lineage.stall_until) {
      earlier(next, std::min(*lineage.stall_until, now + kStallCheck));
    } else if (lineage.next >= log.begin()) {
      earlier(next, log.at(lineage.next).visible);
    } else {
      return now;
    }
  }
  return next;
}

}  // namespace sp::driver::embedded

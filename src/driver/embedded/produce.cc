#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "core/payload.h"
#include "driver/embedded/murmur2.h"
#include "driver/embedded/state.h"

namespace sp::driver::embedded {
namespace {

constexpr Nanoseconds kHoldMax = std::chrono::seconds{2};  // a reorder-write waits so long for the next of its key
constexpr Delay kLandingDelay{std::chrono::milliseconds{20}, std::chrono::milliseconds{500}};
constexpr std::uint64_t kPhantomAhead = 1'000'000'000;     // sequences above what the key has
constexpr std::uint32_t kCopySkipMax = 4;                  // records between a record and its second copy, at most

OwnRecord own(std::string_view key, std::span<const std::byte> payload) {
  return OwnRecord{std::string(key), std::vector<std::byte>(payload.begin(), payload.end())};
}

core::Position position_at(std::uint32_t partition, std::uint64_t offset) {
  return core::Position{core::PartitionId(partition), core::Offset(offset)};
}

}  // namespace

struct State::Sending {
  ProducerCore& producer;
  Topic& topic;
  const core::Envelope& envelope;
  core::KeyRef key;
  std::uint32_t partition = 0;
  MonotonicTime now{};
  Fate fate;
};

std::uint64_t State::store(Topic& topic, std::uint32_t partition, LogRecord record, MonotonicTime now) {
  Partition& into = topic.partitions[partition];
  into.last_visible = std::max(into.last_visible, now + draw(options.delivery));
  record.visible = into.last_visible;
  const std::uint64_t offset = into.log.append(record);
  for (auto& [name, group] : topic.groups) {
    for (const auto& member : group.members()) {
      if (!member->waiting) continue;
      const bool has_it = std::any_of(member->lineages.begin(), member->lineages.end(),
                                      [&](const Lineage& lineage) { return lineage.partition == partition; });
      if (has_it) member->condition.notify_all();
    }
  }
  return offset;
}

void State::stand(Topic& topic, std::uint32_t partition, std::uint64_t offset, TruthBook::Item item, bool second) {
  topic.partitions[partition].log.mark(offset);
  book.stand(position_at(partition, offset), item, second);
  planter.take_positions(partition, offset, offset);
}

// Called before an honest record is stored: what was deferred goes in front of it, or waits for a later one.
void State::store_deferred(Topic& topic, std::uint32_t partition, MonotonicTime now) {
  auto& deferred = topic.partitions[partition].deferred;
  for (std::size_t i = 0; i < deferred.size();) {
    if (deferred[i].skip > 0) {
      --deferred[i].skip;
      ++i;
      continue;
    }
    const std::uint64_t offset = store(topic, partition, deferred[i].record.view(), now);
    stand(topic, partition, offset, deferred[i].item, deferred[i].second);
    Planted& planted = book[deferred[i].item];
    planted.complete = true;
    if (!planted.offset) planted.offset = core::Offset(offset);
    deferred.erase(deferred.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void State::acknowledge(const Sending& sending, core::Event outcome, std::optional<core::Position> position,
                        TruthBook::Item item, bool withheld) {
  OpenAck ack;
  ack.due = sending.now + draw(options.ack);
  ack.serial = ++serials;
  ack.outcome = outcome;
  ack.key = sending.key;
  ack.sequence = sending.envelope.sequence;
  ack.position = position;
  ack.item = item;
  ack.withheld = withheld;
  sending.producer.acks.push(ack);
}

// Acked, and nothing stands at its position.
void State::send_emptied(const Sending& sending, TruthBook::Item item) {
  LogRecord nothing;
  nothing.empty = true;
  const std::uint64_t offset = store(sending.topic, sending.partition, nothing, sending.now);
  planter.take_positions(sending.partition, offset, offset);
  Planted& planted = book[item];
  planted.partition = core::PartitionId(sending.partition);
  if (!planted.offset) planted.offset = core::Offset(offset);
  acknowledge(sending, core::Event::kOk, position_at(sending.partition, offset), item, false);
}

// Stores it as it came and acks it.
void State::send_plain(const Sending& sending, TruthBook::Item item) {
  LogRecord record;
  record.key = sending.envelope.key;
  record.payload = sending.envelope.payload;
  record.withheld = sending.fate.kind == DefectKind::kLosePrefix;
  if (!record.withheld) store_deferred(sending.topic, sending.partition, sending.now);
  const std::uint64_t offset = store(sending.topic, sending.partition, record, sending.now);
  if (item != 0) {
    stand(sending.topic, sending.partition, offset, item, false);
    Planted& planted = book[item];
    if (!planted.offset) planted.offset = core::Offset(offset);
    if (planted.kind == DefectKind::kMisplace) planted.complete = true;
  }
  acknowledge(sending, core::Event::kOk, position_at(sending.partition, offset), item, record.withheld);
}

// Stores a record that nobody issued, then the real one behind it, so that who gets the one gets the other.
void State::send_phantom(const Sending& sending, TruthBook::Item item) {
  OwnRecord phantom = own(sending.envelope.key, sending.envelope.payload);
  const std::size_t size = phantom.payload.size();
  core::PayloadFields fields = core::read_payload(phantom.payload, phantom.key, core::RunId(0), size).fields;
  fields.sequence = core::Sequence(sending.envelope.sequence.value() + kPhantomAhead);
  core::write_payload(fields, phantom.key, phantom.payload);
  const std::uint64_t offset = store(sending.topic, sending.partition, phantom.view(), sending.now);
  stand(sending.topic, sending.partition, offset, item, false);
  Planted& planted = book[item];
  planted.first = planted.last = fields.sequence.value();
  planted.offset = core::Offset(offset);
  planted.complete = true;
  send_plain(sending, 0);
}

bool State::send_fated(const Sending& sending) {
  const Fate& fate = sending.fate;
  if (!fate.kind) return false;
  switch (*fate.kind) {
    case DefectKind::kLose:
    case DefectKind::kLoseTail:
    case DefectKind::kLoseKey:
    case DefectKind::kLosePartition:
    case DefectKind::kAckUnstored: send_emptied(sending, fate.item); return true;
    case DefectKind::kLosePrefix:
    case DefectKind::kMisplace: send_plain(sending, fate.item); return true;
    case DefectKind::kPhantom: send_phantom(sending, fate.item); return true;
    case DefectKind::kDuplicateWrite:
      send_plain(sending, fate.item);
      sending.topic.partitions[sending.partition].deferred.push_back(
          {own(sending.envelope.key, sending.envelope.payload), fate.item, true,
           static_cast<std::uint32_t>(planter.prng().below(kCopySkipMax))});
      return true;
    case DefectKind::kStoreUnacked:
      sending.topic.partitions[sending.partition].deferred.push_back(
          {own(sending.envelope.key, sending.envelope.payload), fate.item, false, 0});
      acknowledge(sending, core::Event::kFail, std::nullopt, 0, false);
      return true;
    case DefectKind::kReorderWrite:
      sending.topic.holds.push_back({own(sending.envelope.key, sending.envelope.payload), &sending.producer,
                                     sending.key, sending.envelope.sequence, sending.partition, fate.item,
                                     sending.now + kHoldMax});
      ++sending.producer.held;
      return true;
    case DefectKind::kFreeze: frozen_until = std::max(frozen_until, sending.now + fate.duration); return false;
    case DefectKind::kDuplicateDelivery:
    case DefectKind::kReorderDelivery:
    case DefectKind::kCorrupt:
    case DefectKind::kRewind:
    case DefectKind::kDualOwner: break;
  }
  CHECK(false, "the planter plants no defect of deliveries on an append");
  return false;
}

// The record that one in `holds` waits for: it is stored, then the one that waited.
bool State::meet_hold(const Sending& sending) {
  auto& holds = sending.topic.holds;
  const auto hold = std::find_if(holds.begin(), holds.end(), [&](const Hold& each) {
    return each.producer == &sending.producer && each.record.key == sending.envelope.key;
  });
  if (hold == holds.end()) return false;
  if (hold->partition != sending.partition || hold->sequence.next() != sending.envelope.sequence) {
    unhold(sending.topic, hold, sending.now);
    return false;
  }
  const TruthBook::Item item = hold->item;
  send_plain(sending, item);
  book[item].complete = true;
  const Hold held = std::move(*hold);
  holds.erase(hold);
  --sending.producer.held;
  const core::Envelope envelope{held.record.key, held.sequence, held.record.payload, std::nullopt};
  const Sending waited{sending.producer, sending.topic, envelope, held.key, held.partition, sending.now, {}};
  const std::uint64_t offset = store(sending.topic, held.partition, held.record.view(), sending.now);
  stand(sending.topic, held.partition, offset, item, true);
  book[item].offset = core::Offset(offset);
  acknowledge(waited, core::Event::kOk, position_at(held.partition, offset), item, false);
  return true;
}

// What waited too long is stored as it came; nothing was planted.
void State::unhold(Topic& topic, std::list<Hold>::iterator hold, MonotonicTime now) {
  const Hold held = std::move(*hold);
  topic.holds.erase(hold);
  --held.producer->held;
  planter.undo(held.item);
  const core::Envelope envelope{held.record.key, held.sequence, held.record.payload, std::nullopt};
  send_plain(Sending{*held.producer, topic, envelope, held.key, held.partition, now, {}}, 0);
  if (held.producer->waiting) held.producer->condition.notify_all();
}

void State::release_holds(MonotonicTime now) {
  for (auto& [name, topic] : topics) {
    for (auto hold = topic->holds.begin(); hold != topic->holds.end();) {
      const auto next = std::next(hold);
      if (hold->until <= now) unhold(*topic, hold, now);
      hold = next;
    }
  }
}

void State::land(MonotonicTime now) {
  for (auto& [name, topic] : topics) {
    for (std::size_t i = 0; i < topic->landings.size();) {
      if (topic->landings[i].due > now) {
        ++i;
        continue;
      }
      const Landing landing = std::move(topic->landings[i]);
      topic->landings.erase(topic->landings.begin() + static_cast<std::ptrdiff_t>(i));
      const std::uint64_t offset = store(*topic, landing.partition, landing.record.view(), now);
      planter.take_positions(landing.partition, offset, offset);
    }
  }
}

bool State::send_on_a_bad_day(const Sending& sending) {
  const Honest& honest = options.honest;
  const double sum = honest.info_stored + honest.info_absent + honest.info_late + honest.failed;
  if (!(sum > 0)) return false;
  const double drawn = bad_days.unit();
  const std::uint64_t sequence = sending.envelope.sequence.value();
  if (drawn >= sum || !planter.is_free(sending.envelope.key, sequence)) return false;
  planter.take(sending.envelope.key, sequence, sequence);
  core::Event outcome = core::Event::kInfo;
  if (drawn < honest.info_stored) {
    LogRecord record;
    record.key = sending.envelope.key;
    record.payload = sending.envelope.payload;
    const std::uint64_t offset = store(sending.topic, sending.partition, record, sending.now);
    planter.take_positions(sending.partition, offset, offset);
  } else if (drawn < honest.info_stored + honest.info_late) {
    sending.topic.landings.push_back({own(sending.envelope.key, sending.envelope.payload), &sending.producer,
                                      sending.partition, sending.now + draw(kLandingDelay)});
  } else if (drawn < honest.info_stored + honest.info_late + honest.failed) {
    outcome = core::Event::kFail;
  }
  acknowledge(sending, outcome, std::nullopt, 0, false);
  return true;
}

bool State::room_for(Topic& topic, std::size_t more) {
  bytes += more;
  if (bytes <= options.retention_bytes_max) return true;
  for (std::size_t p = 0; p < topic.partitions.size(); ++p) {
    std::uint64_t below = topic.partitions[p].log.end();
    for (auto& [name, group] : topic.groups) below = std::min(below, group.parts()[p].committed.value_or(0));
    topic.partitions[p].log.drop_before(below);
  }
  bytes = log_bytes() + more;
  if (bytes <= options.retention_bytes_max) return true;
  bytes -= more;
  return false;
}

SendStatus State::send(ProducerCore& producer, const core::Envelope& envelope, core::KeyRef key, MonotonicTime now) {
  Topic& topic = *producer.topic;
  if (producer.acks.size() + producer.held >= options.queue_records_max) return SendStatus::kQueueFull;
  const auto partitions = static_cast<std::uint32_t>(topic.partitions.size());
  const std::uint32_t partition =
      envelope.partition ? envelope.partition->value() : partition_of(envelope.key, partitions);
  Sending sending{producer, topic, envelope, key, partition, now, {}};
  if (partition >= partitions || envelope.key.size() > kKeyBytesMax ||
      envelope.payload.size() < core::kPayloadBytesMin) {
    acknowledge(sending, core::Event::kFail, std::nullopt, 0, false);
    return SendStatus::kAccepted;
  }
  if (!room_for(topic, envelope.key.size() + envelope.payload.size() + 23)) return SendStatus::kQueueFull;
  if (!topic.holds.empty() && meet_hold(sending)) return SendStatus::kAccepted;
  const Candidate candidate{envelope.key, envelope.sequence.value(), partition, 0, envelope.payload.size()};
  sending.fate = planter.on_append(candidate, partitions);
  if (sending.fate.kind == DefectKind::kMisplace) sending.partition = sending.fate.partition;
  if (send_fated(sending)) return SendStatus::kAccepted;
  sending.fate = {};
  if (!send_on_a_bad_day(sending)) send_plain(sending, 0);
  return SendStatus::kAccepted;
}

void State::collect_acks(ProducerCore& producer, MonotonicTime until, MonotonicTime now, Batch& batch) {
  while (!producer.acks.empty() && producer.acks.top().due <= until) {
    const OpenAck ack = producer.acks.top();
    producer.acks.pop();
    core::Observation observation;
    observation.event = ack.outcome;
    observation.process = producer.spec.index;
    observation.key = ack.key;
    observation.sequence = ack.sequence;
    observation.time = now;
    if (ack.position) {
      observation.has_position = true;
      observation.partition = ack.position->partition;
      observation.offset = ack.position->offset;
    }
    if (ack.item != 0 && ack.outcome == core::Event::kOk) book.acked(ack.item, ack.sequence.value());
    batch.items.push_back({observation, 0, 0, 0, 0});
  }
}

void State::flush_producer(ProducerCore& producer, MonotonicTime now) {
  Topic& topic = *producer.topic;
  for (auto hold = topic.holds.begin(); hold != topic.holds.end();) {
    const auto next = std::next(hold);
    if (hold->producer == &producer) unhold(topic, hold, now);
    hold = next;
  }
  std::erase_if(topic.landings, [&](const Landing& landing) { return landing.producer == &producer; });
}

void State::forget_acks(ProducerCore& producer, MonotonicTime now, Batch* batch) {
  while (!producer.acks.empty()) {
    const OpenAck ack = producer.acks.top();
    producer.acks.pop();
    // Its outcome is unknown, so nothing was promised: it must not look like a loss.
    if (ack.withheld && ack.position) {
      PartitionLog& log = producer.topic->partitions[ack.position->partition.value()].log;
      if (ack.position->offset.value() >= log.begin()) log.clear(ack.position->offset.value());
    }
    if (batch == nullptr) continue;
    core::Observation observation;
    observation.event = core::Event::kInfo;
    observation.process = producer.spec.index;
    observation.key = ack.key;
    observation.sequence = ack.sequence;
    observation.time = now;
    batch->items.push_back({observation, 0, 0, 0, 0});
  }
}

}  // namespace sp::driver::embedded

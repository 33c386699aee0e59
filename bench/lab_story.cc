#include "lab_story.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/prng.h"
#include "history/line.h"

namespace sp::bench {

using history::Dialect;
using history::Function;
using history::Member;
using history::Operation;
using history::Position;
using history::Type;
using history::bit;

LabStory::LabStory(LabShape shape, std::uint64_t records)
    : shape_(std::move(shape)), records_(std::max(records, kLag)), sequences_(shape_.keys), offsets_(shape_.partitions) {
  for (std::uint32_t i = 0; i < shape_.consumers; ++i) {
    producers_.push_back(*vocabulary_.processes.add(shape_.consumers == 1 ? "producer" : fmt::format("producer-{}", i)));
    consumers_.push_back(*vocabulary_.processes.add(shape_.consumers == 1 ? "consumer" : fmt::format("consumer-{}", i)));
  }
  final_read_ = *vocabulary_.processes.add("final-read");
  group_ = *vocabulary_.words.add("readers");
  for (std::uint32_t i = 0; i < shape_.keys; ++i) keys_.push_back(*vocabulary_.keys.add(fmt::format("order-{:05}", i)));
}

history::Meta LabStory::meta() const {
  history::Meta meta;
  meta.dialect = shape_.dialect;
  meta.client = "bench@1";
  meta.scenario = shape_.name;
  return meta;
}

const Operation* LabStory::next() {
  switch (stage_) {
    case Stage::kSubscribe: subscribe(); break;
    case Stage::kAssign: assign(); break;
    case Stage::kInvoke:
    case Stage::kOk:
    case Stage::kDeliver: lived(); break;
    case Stage::kReadBegin: read_range(false); break;
    case Stage::kRead: read_back(); break;
    case Stage::kReadEnd: read_range(true); break;
    case Stage::kEnd:
      begin(final_read_, Type::kInfo, Function::kEnd, bit(Member::kReason));
      details_.reason = "done";
      stage_ = Stage::kOver;
      break;
    case Stage::kOver: return nullptr;
  }
  operation_.index = index_++;
  return &operation_;
}

std::uint64_t LabStory::numbered(std::uint64_t number, std::uint64_t jump, std::uint64_t record) const {
  return number + (driftlab() ? 1 : 0) + (record >= records_ / 2 ? jump : 0);
}

LabStory::Placed LabStory::place(std::uint64_t record) {
  const auto key = static_cast<std::uint32_t>(mix64(record) % shape_.keys);
  return {key, numbered(sequences_[key]++, shape_.sequences_jump, record),
          numbered(offsets_[key % shape_.partitions]++, shape_.offsets_jump, record)};
}

void LabStory::begin(std::uint32_t process, Type type, Function function, history::MemberSet members) {
  operation_.time_ns += static_cast<std::int64_t>(200 + mix64(index_) % 3000);
  operation_.process = process;
  operation_.type = type;
  operation_.function = function;
  operation_.members = bit(Member::kTime) | members;
  operation_.details = (operation_.members & history::detail_members()) != 0 ? &details_ : nullptr;
}

void LabStory::say_record(const Placed& placed, bool position) {
  operation_.members |= bit(Member::kValue);
  operation_.value = placed.sequence;
  if (!driftlab()) {
    operation_.members |= bit(Member::kKey);
    operation_.key = keys_[placed.key];
  }
  if (!position) return;
  operation_.members |= bit(Member::kPosition);
  operation_.position.kind = driftlab() ? Position::Kind::kSequence : Position::Kind::kOffset;
  operation_.position.has_partition = !driftlab();
  operation_.position.partition = placed.key % shape_.partitions;
  operation_.position.offset = placed.offset;
}

void LabStory::subscribe() {
  begin(consumers_[turn_], Type::kOk, Function::kSubscribe, driftlab() ? 0 : bit(Member::kStart) | bit(Member::kGroup));
  operation_.group = group_;
  details_.start = "earliest";
  if (++turn_ < consumers_.size()) return;
  turn_ = 0;
  stage_ = driftlab() ? Stage::kInvoke : Stage::kAssign;
}

void LabStory::assign() {
  begin(consumers_[turn_], Type::kOk, Function::kAssign, bit(Member::kPartitions) | bit(Member::kStarts));
  details_.partitions.clear();
  details_.starts.clear();
  for (std::uint32_t partition = 0; partition < shape_.partitions; ++partition) {
    if (partition % shape_.consumers != turn_) continue;
    details_.partitions.push_back(partition);
    Position start;
    start.has_partition = true;
    start.partition = partition;
    details_.starts.push_back(start);
  }
  if (++turn_ < consumers_.size()) return;
  turn_ = 0;
  stage_ = Stage::kInvoke;
}

// Turn by turn: the delivery of the record that was acknowledged kLag turns ago, then invoke and ok of the turn's own.
void LabStory::lived() {
  Placed& slot = late_[turn_ % kLag];
  if (stage_ == Stage::kDeliver) {
    begin(consumers_[slot.key % shape_.partitions % shape_.consumers], Type::kOk, Function::kDeliver);
    say_record(slot, true);
    if (turn_ >= records_) return next_turn();
    stage_ = Stage::kInvoke;
    return;
  }
  const bool invokes = stage_ == Stage::kInvoke;
  if (invokes) slot = place(turn_);
  begin(producers_[slot.key % shape_.consumers], invokes ? Type::kInvoke : Type::kOk, Function::kPublish);
  say_record(slot, !invokes);
  if (!invokes) return next_turn();
  stage_ = Stage::kOk;
}

void LabStory::next_turn() {
  stage_ = ++turn_ < kLag ? Stage::kInvoke : Stage::kDeliver;
  if (turn_ < records_ + kLag) return;
  turn_ = 0;
  stage_ = driftlab() ? Stage::kRead : Stage::kReadBegin;
}

void LabStory::read_range(bool ends) {
  begin(final_read_, Type::kOk, ends ? Function::kReadEnd : Function::kReadBegin, bit(Member::kTarget));
  if (!ends) {
    details_.target.clear();
    for (std::uint32_t partition = 0; partition < shape_.partitions; ++partition) {
      details_.target.push_back({partition, 0, numbered(offsets_[partition], shape_.offsets_jump, records_), std::nullopt});
    }
  } else {
    for (auto& target : details_.target) target.reached = true;
  }
  stage_ = ends ? Stage::kEnd : Stage::kRead;
}

void LabStory::read_back() {
  if (turn_ == 0) {
    sequences_.assign(shape_.keys, 0);
    offsets_.assign(shape_.partitions, 0);
  }
  begin(final_read_, Type::kOk, Function::kRead);
  say_record(place(turn_), true);
  if (++turn_ == records_) stage_ = driftlab() ? Stage::kOver : Stage::kReadEnd;
}

Result<std::size_t> LineSource::read(std::span<char> into) {
  if (given_ == lines_.size()) {
    lines_.clear();
    given_ = 0;
    more_(lines_);
  }
  const std::size_t count = std::min(into.size(), lines_.size() - given_);
  if (count > 0) std::memcpy(into.data(), lines_.data() + given_, count);
  given_ += count;
  return count;
}

LineSource::More lines_of(LabStory& story) {
  return [&story, begun = false](std::string& lines) mutable {
    constexpr std::size_t kPiece = std::size_t{1} << 16U;
    if (!begun) history::append_meta(lines, story.meta());
    begun = true;
    while (lines.size() < kPiece) {
      const Operation* operation = story.next();
      if (operation == nullptr) return;
      history::append_operation(lines, *operation, story.vocabulary(), story.dialect());
    }
  };
}

}  // namespace sp::bench

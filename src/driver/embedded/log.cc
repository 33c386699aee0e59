#include "driver/embedded/log.h"

#include <cstring>

#include "base/check.h"

namespace sp::driver::embedded {
namespace {

// How a record lies in an arena: this head, the key, the payload.
struct Head {
  std::int64_t visible = 0;
  std::uint32_t payload_bytes = 0;
  std::uint16_t key_bytes = 0;
  std::uint8_t flags = 0;
};
constexpr std::size_t kHeadBytes = 15;
constexpr unsigned kEmptyFlag = 1;
constexpr unsigned kWithheldFlag = 2;
constexpr unsigned kMarkedFlag = 4;

void write_head(std::byte* at, const Head& head) {
  std::memcpy(at, &head.visible, 8);
  std::memcpy(at + 8, &head.payload_bytes, 4);
  std::memcpy(at + 12, &head.key_bytes, 2);
  std::memcpy(at + 14, &head.flags, 1);
}

Head read_head(const std::byte* at) {
  Head head;
  std::memcpy(&head.visible, at, 8);
  std::memcpy(&head.payload_bytes, at + 8, 4);
  std::memcpy(&head.key_bytes, at + 12, 2);
  std::memcpy(&head.flags, at + 14, 1);
  return head;
}

}  // namespace

PartitionLog::Segment& PartitionLog::segment_of(std::uint64_t offset) const {
  CHECK(offset >= begin_ && offset < end_, "the position is in the log");
  const std::uint64_t first = begin_ / kSegmentRecords;
  return *segments_[offset / kSegmentRecords - first];
}

std::uint64_t PartitionLog::append(const LogRecord& record) {
  CHECK(record.key.size() <= kKeyBytesMax, "longer keys are refused before");
  if (end_ % kSegmentRecords == 0) {
    std::size_t reserve = 0;
    if (!segments_.empty()) {
      segments_.back()->arena.shrink_to_fit();
      reserve = segments_.back()->arena.size();
    }
    segments_.push_back(std::make_unique<Segment>());
    segments_.back()->arena.reserve(reserve);
  }
  Segment& segment = *segments_.back();
  const std::size_t start = segment.arena.size();
  const std::size_t size = kHeadBytes + record.key.size() + record.payload.size();
  segment.starts.push_back(start);
  segment.arena.resize(start + size);
  Head head;
  head.visible = record.visible.time_since_epoch().count();
  head.payload_bytes = static_cast<std::uint32_t>(record.payload.size());
  head.key_bytes = static_cast<std::uint16_t>(record.key.size());
  head.flags = static_cast<std::uint8_t>((record.empty ? kEmptyFlag : 0) | (record.withheld ? kWithheldFlag : 0) |
                                         (record.marked ? kMarkedFlag : 0));
  std::byte* const at = segment.arena.data() + start;
  write_head(at, head);
  if (!record.key.empty()) std::memcpy(at + kHeadBytes, record.key.data(), record.key.size());
  if (!record.payload.empty()) {
    std::memcpy(at + kHeadBytes + record.key.size(), record.payload.data(), record.payload.size());
  }
  bytes_ += size + sizeof(std::size_t);
  return end_++;
}

LogRecord PartitionLog::at(std::uint64_t offset) const {
  const Segment& segment = segment_of(offset);
  const std::byte* const at = segment.arena.data() + segment.starts[offset % kSegmentRecords];
  const Head head = read_head(at);
  LogRecord record;
  record.empty = (head.flags & kEmptyFlag) != 0;
  record.withheld = (head.flags & kWithheldFlag) != 0;
  record.marked = (head.flags & kMarkedFlag) != 0;
  record.visible = MonotonicTime(Nanoseconds(head.visible));
  record.key = std::string_view(reinterpret_cast<const char*>(at + kHeadBytes), head.key_bytes);
  record.payload = std::span<const std::byte>(at + kHeadBytes + head.key_bytes, head.payload_bytes);
  return record;
}

void PartitionLog::set_flag(std::uint64_t offset, unsigned flag) {
  Segment& segment = segment_of(offset);
  std::byte& flags = segment.arena[segment.starts[offset % kSegmentRecords] + 14];
  flags |= static_cast<std::byte>(flag);
}

void PartitionLog::clear(std::uint64_t offset) { set_flag(offset, kEmptyFlag); }
void PartitionLog::mark(std::uint64_t offset) { set_flag(offset, kMarkedFlag); }

std::size_t PartitionLog::drop_before(std::uint64_t offset) {
  std::size_t freed = 0;
  while (segments_.size() > 1) {
    const std::uint64_t segment_end = (begin_ / kSegmentRecords + 1) * kSegmentRecords;
    if (segment_end > offset) break;
    const Segment& segment = *segments_.front();
    freed += segment.arena.size() + segment.starts.size() * sizeof(std::size_t);
    segments_.erase(segments_.begin());
    begin_ = segment_end;
  }
  bytes_ -= freed;
  return freed;
}

}  // namespace sp::driver::embedded

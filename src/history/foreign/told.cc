#include "history/foreign/told.h"

#include <utility>

namespace sp::history {

Told& Told::begin(Function function, Type type, std::string_view process, std::optional<std::int64_t> time_ns) {
  operation_ = {};
  details_.clear();
  operation_.function = function;
  operation_.type = type;
  operation_.index = written_;
  const auto id = vocabulary_.processes.add(process);
  full_ = full_ || !id;
  operation_.process = id.value_or(0);
  if (time_ns) {
    operation_.time_ns = *time_ns;
    operation_.members |= bit(Member::kTime);
  }
  return *this;
}

Told& Told::named(Member member, std::uint32_t& into, std::string_view text) {
  const auto id = (member == Member::kKey ? vocabulary_.keys : vocabulary_.words).add(text);
  full_ = full_ || !id;
  into = id.value_or(0);
  operation_.members |= bit(member);
  return *this;
}

Told& Told::text(Member member, std::string& into, std::string_view text) {
  into = text;
  operation_.members |= bit(member);
  operation_.details = &details_;
  return *this;
}

Told& Told::truth(Member member) {
  operation_.members |= bit(member);
  operation_.truths |= bit(member);
  return *this;
}

Told& Told::name(std::string_view name) {
  const auto id = vocabulary_.words.add(name);
  full_ = full_ || !id;
  operation_.name = id.value_or(0);
  return *this;
}

Told& Told::topic(std::string_view topic) { return named(Member::kTopic, operation_.topic, topic); }
Told& Told::key(std::string_view key) { return named(Member::kKey, operation_.key, key); }
Told& Told::txn(std::string_view txn) { return named(Member::kTxn, operation_.txn, txn); }
Told& Told::group(std::string_view group) { return named(Member::kGroup, operation_.group, group); }
Told& Told::run(std::string_view run) { return text(Member::kRun, details_.run, run); }
Told& Told::start(std::string_view start) { return text(Member::kStart, details_.start, start); }
Told& Told::reason(std::string_view reason) { return text(Member::kReason, details_.reason, reason); }
Told& Told::detail(std::string_view json) { return text(Member::kDetail, details_.detail, json); }
Told& Told::error(std::string_view error) { return error.empty() ? *this : text(Member::kError, details_.error, error); }
Told& Told::closed() { return truth(Member::kClosed); }
Told& Told::lost() { return truth(Member::kLost); }

Told& Told::value(std::uint64_t value) {
  operation_.value = value;
  operation_.members |= bit(Member::kValue);
  return *this;
}

Told& Told::position(std::uint32_t partition, std::uint64_t offset) {
  operation_.position.has_partition = true;
  operation_.position.partition = partition;
  operation_.position.offset = offset;
  operation_.members |= bit(Member::kPosition);
  return *this;
}

Told& Told::bad_checksum() {
  operation_.checksum = Checksum::kBad;
  operation_.members |= bit(Member::kChecksum);
  return *this;
}

Told& Told::partitions(std::vector<std::uint32_t> partitions) {
  details_.partitions = std::move(partitions);
  operation_.members |= bit(Member::kPartitions);
  operation_.details = &details_;
  return *this;
}

Result<void> Told::write() {
  if (full_) return fail(ErrorCode::kFull, "there are more names of processes, keys or topics than a history can hold: split the run");
  if (auto taken = sink_(operation_); !taken) return taken;
  ++written_;
  return {};
}

}  // namespace sp::history

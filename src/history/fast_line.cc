#include "history/fast_line.h"

#include <cstring>
#include <limits>
#include <utility>

#include "codec/digits.h"
#include "codec/plain_text.h"

namespace sp::history {
namespace {

// Behind `end` there are 64 readable bytes. Every step below begins before `end` and goes at most 48 bytes, so it may look before it
// asks where it is; what counts is checked once more at the end of the line.

template <std::size_t kCount>
std::uint64_t load(const char* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, kCount);
  return value;
}

// Literals are compared in words; a call of memcmp would cost more than the rest.
template <std::size_t kSize>
[[gnu::always_inline]] inline bool take(const char*& at, const char (&literal)[kSize]) {
  constexpr std::size_t kLength = kSize - 1;
  static_assert(kLength <= 16);
  bool equal = false;
  if constexpr (kLength >= 8) {
    equal = ((load<8>(at) ^ load<8>(literal)) | (load<8>(at + kLength - 8) ^ load<8>(literal + kLength - 8))) == 0;
  } else if constexpr (kLength >= 4) {
    equal = ((load<4>(at) ^ load<4>(literal)) | (load<4>(at + kLength - 4) ^ load<4>(literal + kLength - 4))) == 0;
  } else {
    equal = load<kLength>(at) == load<kLength>(literal);
  }
  if (equal) at += kLength;
  return equal;
}

bool take_number(const char*& at, const char* end, std::uint64_t& into) {
  if (at >= end) return false;
  const codec::DigitsReading reading = codec::read_digits(at);
  if (reading.end == nullptr) return false;
  into = reading.value;
  at = reading.end;
  return true;
}

bool take_small(const char*& at, const char* end, std::uint32_t& into) {
  std::uint64_t number = 0;
  if (!take_number(at, end, number) || number > std::numeric_limits<std::uint32_t>::max()) return false;
  into = static_cast<std::uint32_t>(number);
  return true;
}

// A name up to and with its closing quote.
bool take_name(const char*& at, const char* end, Names& names, std::uint32_t& into) {
  const char* close = codec::find_plain_end(at, end);
  if (close == nullptr) return false;
  const auto id = names.add({at, static_cast<std::size_t>(close - at)});
  if (!id) return false;
  into = *id;
  at = close + 1;
  return true;
}

bool take_type(const char*& at, Type& type) {
  switch (*at) {
    case 'o': type = Type::kOk; return take(at, "ok\",\"f\":\"");
    case 'f': type = Type::kFail; return take(at, "fail\",\"f\":\"");
    case 'i':
      type = at[2] == 'v' ? Type::kInvoke : Type::kInfo;
      return type == Type::kInvoke ? take(at, "invoke\",\"f\":\"") : take(at, "info\",\"f\":\"");
    default: return false;
  }
}

bool take_function(const char*& at, Function& function) {
  switch (*at) {
    case 'p': function = Function::kPublish; return take(at, "publish\"");
    case 'd': function = Function::kDeliver; return take(at, "deliver\"");
    case 'r': function = Function::kRead; return take(at, "read\"");
    case 'c': function = Function::kCommit; return take(at, "commit\"");
    default: return false;
  }
}

bool take_position(const char*& at, const char* end, Position& position) {
  position = {};
  if (take(at, "seq\":")) {
    position.kind = Position::Kind::kSequence;
    return take_number(at, end, position.offset) && *at++ == '}';
  }
  position.has_partition = true;
  return take(at, "partition\":") && take_small(at, end, position.partition) && take(at, ",\"offset\":") &&
         take_number(at, end, position.offset) && *at++ == '}';
}

// What what_is_missing() would say "" to, for the operations that are read here.
bool has_all(const Operation& operation, bool driftlab) {
  const bool value = operation.has(Member::kValue);
  const bool position = operation.has(Member::kPosition);
  const bool stored = operation.type == Type::kOk;
  if (operation.function == Function::kPublish) return value && (!driftlab || position || !stored);
  if (operation.function == Function::kDeliver) return stored && value && (!driftlab || position);
  if (operation.function == Function::kRead) return stored && value && position;
  return driftlab || position || operation.has(Member::kTxn);  // commit
}

}  // namespace

const char* FastLine::read(const char* at, const char* end, std::uint64_t index, Operation& operation) {
  const char* next = read_ahead(at, end, index, operation);
  return settle() == nullptr ? next : nullptr;
}

const FastLine::Later* FastLine::settle() {
  const std::size_t count = std::exchange(later_count_, 0);
  for (std::size_t at = 0; at < count; ++at) {
    const auto id = vocabulary_.keys.add_sought(later_[at].key);
    if (!id) return &later_[at];
    later_[at].operation->key = *id;
  }
  return nullptr;
}

const char* FastLine::read_ahead(const char* at, const char* end, std::uint64_t index, Operation& operation) {
  const char* line = at;
  at = read_head(at, end, index, operation);
  if (at == nullptr) return nullptr;
  const bool driftlab = dialect_ == Dialect::kDriftlab;
  at = driftlab ? read_driftlab(at, end, operation) : read_version1(at, end, operation);
  if (at == nullptr || at[0] != '}' || at[1] != '\n' || at + 2 > end || !has_all(operation, driftlab)) return nullptr;
  if (operation.has(Member::kKey)) later_[later_count_++] = {line, &operation, key_};
  return at + 2;
}

bool FastLine::take_key(const char*& at, const char* end) {
  const char* close = codec::find_plain_end(at, end);
  if (close == nullptr) return false;
  key_ = vocabulary_.keys.seek({at, static_cast<std::size_t>(close - at)});
  at = close + 1;
  return true;
}

bool FastLine::take_process(const char*& at, const char* end, std::uint32_t& process) {
  const char* close = codec::find_plain_end(at, end);
  if (close == nullptr || close == at) return false;
  const auto size = static_cast<std::size_t>(close - at);
  if (size < 8 || size > 16) {
    const auto id = vocabulary_.processes.add({at, size});
    if (!id) return false;
    process = *id;
  } else {
    const std::uint64_t first = load<8>(at);
    const std::uint64_t last = load<8>(close - 8);
    Remembered& remembered = remembered_[(first ^ last >> 56U ^ last >> 48U) % kRemembered];
    if (remembered.first != first || remembered.last != last || remembered.size != size) {
      const auto id = vocabulary_.processes.add({at, size});
      if (!id) return false;
      remembered = {first, last, size, *id};
    }
    process = remembered.process;
  }
  at = close + 1;
  return process != vocabulary_.nemesis;  // whose lines are faults
}

const char* FastLine::read_head(const char* at, const char* end, std::uint64_t index, Operation& operation) {
  std::uint64_t number = 0;
  if (!take(at, "{\"index\":") || !take_number(at, end, number) || number != index) return nullptr;
  operation.index = index;
  operation.members = 0;
  operation.truths = 0;
  operation.details = nullptr;
  if (take(at, ",\"time_ns\":")) {
    constexpr std::uint64_t kTimeMax = std::numeric_limits<std::int64_t>::max();
    if (!take_number(at, end, number) || number > kTimeMax) return nullptr;
    operation.time_ns = static_cast<std::int64_t>(number);
    operation.members = bit(Member::kTime);
  }
  if (!take(at, ",\"process\":\"") || !take_process(at, end, operation.process)) return nullptr;
  if (!take(at, ",\"type\":\"") || !take_type(at, operation.type) || !take_function(at, operation.function)) return nullptr;
  return at;
}

const char* FastLine::read_version1(const char* at, const char* end, Operation& operation) {
  MemberSet before = 0;  // members come in their order, so none comes twice
  while (*at == ',') {
    Member member = Member::kTopic;
    bool good = false;
    switch (at[2]) {
      case 'v':
        member = Member::kValue;
        good = take(at, ",\"value\":") && take_number(at, end, operation.value);
        break;
      case 'k':
        member = Member::kKey;
        good = take(at, ",\"key\":\"") && take_key(at, end);
        break;
      case 'p':
        member = Member::kPosition;
        good = take(at, ",\"position\":{\"") && take_position(at, end, operation.position);
        break;
      case 'a':
        member = Member::kAsked;
        good = take(at, ",\"asked\":") && take_small(at, end, operation.asked);
        break;
      case 'c':
        member = Member::kChecksum;
        operation.checksum = Checksum::kOk;
        good = take(at, ",\"checksum\":\"ok\"");
        break;
      case 't':
        member = at[3] == 'x' ? Member::kTxn : Member::kTopic;
        good = member == Member::kTxn ? take(at, ",\"txn\":\"") && take_name(at, end, vocabulary_.words, operation.txn)
                                      : take(at, ",\"topic\":\"") && take_name(at, end, vocabulary_.words, operation.topic);
        break;
      default: return nullptr;
    }
    if (!good || bit(member) <= before || at >= end) return nullptr;
    before = bit(member);
    operation.members |= before;
  }
  return at;
}

const char* FastLine::read_driftlab(const char* at, const char* end, Operation& operation) {
  if (take(at, ",\"value\":")) {
    if (!take_number(at, end, operation.value) || operation.value == 0) return nullptr;
    operation.members |= bit(Member::kValue);
  }
  if (take(at, ",\"stream_seq\":")) {
    operation.position = {};
    operation.position.kind = Position::Kind::kSequence;
    if (!take_number(at, end, operation.position.offset) || operation.position.offset == 0) return nullptr;
    operation.members |= bit(Member::kPosition);
  }
  return at;
}

}  // namespace sp::history

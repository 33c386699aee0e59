// What is written reads back; any bytes at all read as something; one changed bit of an identified payload is never
// intact.
//
// links: core
#include <vector>

#include "core/payload.h"
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using sp::core::Content;

void read_any(std::string_view bytes, std::size_t expected) {
  const auto* begin = static_cast<const std::byte*>(static_cast<const void*>(bytes.data()));
  const auto reading = sp::core::read_payload({begin, bytes.size()}, "key", sp::core::RunId{7}, expected);
  if (bytes.size() < sp::core::kPayloadBytesMin) {
    sp::fuzz::demand(reading.content == Content::kDamaged, "a payload without a sequence is damaged");
  }
}

void write_and_read(sp::fuzz::Bytes& bytes) {
  const std::size_t size = sp::core::kPayloadBytesMin + bytes.below(120);
  const sp::core::PayloadFields fields{.run = sp::core::RunId{bytes.number()},
                                       .incarnation = bytes.below(9),
                                       .sequence = sp::core::Sequence{bytes.number()},
                                       .partition = bytes.below(9),
                                       .published = {}};
  std::vector<std::byte> payload(size);
  sp::core::write_payload(fields, "key", payload);
  const auto reading = sp::core::read_payload(payload, "key", fields.run, size);
  const bool identified = size >= sp::core::kPayloadBytesIdentified;
  sp::fuzz::demand(reading.content == (identified ? Content::kIntact : Content::kUnchecked),
                   "what was written is intact");
  sp::fuzz::demand(reading.fields.sequence == fields.sequence, "the sequence comes back");
  if (!identified) return;
  sp::fuzz::demand(reading.fields.run == fields.run && reading.fields.partition == fields.partition,
                   "the fields come back");
  const std::size_t bit = bytes.number() % (size * 8);
  payload[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  sp::fuzz::demand(sp::core::read_payload(payload, "key", fields.run, size).content != Content::kIntact,
                   "a changed bit shows");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sp::fuzz::Bytes bytes(data, size);
  if (bytes.below(2) == 0) {
    const std::size_t expected = bytes.next();
    read_any(bytes.rest(), expected);
  } else {
    write_and_read(bytes);
  }
  return 0;
}

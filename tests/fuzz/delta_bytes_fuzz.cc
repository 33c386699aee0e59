// Any bytes read as a delta or are refused; what was read is written and read again the same.
//
// links: track
#include "fuzz/bytes.h"
#include "track/delta_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = sp::track::delta_from_bytes(sp::fuzz::Bytes(data, size).rest());
  if (!read) {
    sp::fuzz::demand(read.error().code == sp::ErrorCode::kParse, "what is no delta is refused as such");
    return 0;
  }
  sp::fuzz::demand(read->bytes() <= 4096 + 40 * size, "memory is in proportion to the bytes");
  const std::string written = sp::track::to_bytes(*read);
  const auto again = sp::track::delta_from_bytes(written);
  sp::fuzz::demand(again.has_value() && sp::track::to_bytes(*again) == written, "what was read reads back the same");
  return 0;
}

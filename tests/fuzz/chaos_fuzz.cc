// Any text is a chaos request that prints back to itself and starts its faults in rising order in time, or an error that says why not.
//
// links: scenario/fault
#include "fuzz/bytes.h"
#include "scenario/fault/chaos.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fault = sp::scenario::fault;
  constexpr sp::Nanoseconds kLoad = std::chrono::minutes(3);
  sp::fuzz::Bytes bytes(data, size);
  const auto spec = fault::parse_chaos(bytes.rest());
  if (!spec) {
    const auto code = spec.error().code;
    sp::fuzz::demand(code == sp::ErrorCode::kParse || code == sp::ErrorCode::kInvalid, "an error is kParse or kInvalid");
    sp::fuzz::demand(!spec.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  const auto again = fault::parse_chaos(fault::chaos_text(*spec));
  sp::fuzz::demand(again && *again == *spec, "what was printed reads back to the same");
  sp::Nanoseconds before{-1};
  for (const auto start : fault::chaos_starts(*spec, kLoad)) {
    sp::fuzz::demand(start > before, "starts rise");
    sp::fuzz::demand(start + spec->hold + fault::kQuietEnd <= kLoad, "the end of the load is quiet");
    before = start;
  }
  return 0;
}

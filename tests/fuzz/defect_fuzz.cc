// Any text is a defect within its limits, or an error that says so.
//
// links: driver/embedded
#include "driver/embedded/defects.h"
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto spec =
      sp::driver::embedded::parse_defect({static_cast<const char*>(static_cast<const void*>(data)), size});
  if (spec) {
    sp::fuzz::demand((spec->count > 0) != (spec->rate > 0), "a defect has a count or a rate");
    sp::fuzz::demand(spec->rate >= 0 && spec->rate <= 1, "a rate is a chance");
    sp::fuzz::demand(spec->duration >= sp::Nanoseconds{0}, "a freeze has a length");
  } else {
    sp::fuzz::demand(spec.error().code == sp::ErrorCode::kInvalid, "an error is kInvalid");
    sp::fuzz::demand(!spec.error().message.empty(), "an error says what is wrong");
  }
  return 0;
}

// Any text is a JAAS line with its login module, or an error that says why not.
//
// links: driver/kafka
#include "driver/kafka/java_names.h"
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sp::fuzz::Bytes bytes(data, size);
  const auto entry = sp::driver::kafka::parse_jaas(bytes.rest());
  if (entry) {
    sp::fuzz::demand(entry->contains("module"), "an entry has its login module");
  } else {
    sp::fuzz::demand(!entry.error().message.empty(), "an error says what is wrong");
  }
  return 0;
}

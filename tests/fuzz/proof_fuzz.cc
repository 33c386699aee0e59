// Any text is a proof or faults that each name a place; a proof that is accepted prints to text that reads back to the
// same.
//
// links: proof
#include <string>
#include <vector>

#include "fuzz/bytes.h"
#include "proof/fields.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<sp::proof::Flag> flags_of(sp::fuzz::Bytes& bytes) {
  std::vector<sp::proof::Flag> flags;
  const auto all = sp::proof::fields();
  for (std::uint32_t i = bytes.below(4); i > 0; --i) {
    const auto& field = all[bytes.next() % all.size()];
    std::string value;
    for (std::uint32_t c = bytes.below(12); c > 0; --c) value += static_cast<char>(bytes.next());
    flags.push_back({sp::proof::flag_name(field), value});
  }
  return flags;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sp::fuzz::Bytes bytes(data, size);
  const auto flags = flags_of(bytes);
  const auto reading = sp::proof::read_proof({.file_name = "fuzz", .file_text = bytes.rest(), .flags = flags});
  for (const auto& fault : reading.faults) {
    const std::string text = fault.text();
    const bool placed = text.find("fuzz") != std::string::npos || text.find("--") != std::string::npos ||
                        text.find("defaults") != std::string::npos;
    sp::fuzz::demand(placed && !fault.message.empty(), "a fault names its place and what is wrong");
  }
  if (!reading.faults.empty()) return 0;
  const std::string printed = sp::proof::to_yaml(reading.proof, {.secrets = true});
  const auto again = sp::proof::read_proof({.file_name = "again", .file_text = printed, .flags = {}});
  sp::fuzz::demand(again.faults.empty(), "what was printed can be read");
  sp::fuzz::demand(sp::proof::to_yaml(again.proof, {.secrets = true}) == printed,
                   "what was printed reads back to the same");
  return 0;
}

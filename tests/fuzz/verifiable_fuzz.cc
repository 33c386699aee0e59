// Any bytes, as the output of up to three of Kafka's verifiable tools, become a history of ours or an error with its place.
//
// links: history
#include "fuzz/foreign.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::string_view kBetween = "\n====\n";
constexpr std::size_t kFilesMax = 3;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest{static_cast<const char*>(static_cast<const void*>(data)), size};
  std::vector<std::string_view> files;
  while (files.size() + 1 < kFilesMax && rest.find(kBetween) != std::string_view::npos) {
    const std::size_t at = rest.find(kBetween);
    files.push_back(rest.substr(0, at + 1));
    rest.remove_prefix(at + kBetween.size());
  }
  files.push_back(rest);
  for (const bool salvage : {false, true}) sp::fuzz::demand_history(sp::history::ForeignKind::kVerifiable, files, salvage);
  return 0;
}

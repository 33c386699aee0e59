// Any bytes are EDN or an error with its place, the same whatever pieces they come in; and a Jepsen history that becomes one of ours, or an
// error.
//
// links: history
#include <string>

#include "codec/edn.h"
#include "fuzz/foreign.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

// The texts of all forms and where they end, or the error.
std::string read_edn(std::string_view text, std::size_t piece, bool salvage) {
  codec::EdnReader reader(std::make_unique<codec::TextSource>(text), "fuzz", {.read_bytes = piece, .accept_torn = salvage});
  std::string all;
  while (true) {
    const auto form = reader.next();
    if (!form) {
      fuzz::demand(form.error().message.starts_with("fuzz line "), "an error names file and line");
      return all + form.error().message;
    }
    if (form->empty()) return all + std::to_string(reader.torn_line());
    fuzz::demand((*form)[0].end == form->size(), "the first node holds all others");
    for (std::size_t i = 0; i < form->size(); ++i) {
      const codec::EdnNode& node = (*form)[i];
      fuzz::demand(node.end > i && node.end <= form->size(), "a node ends behind itself and within its form");
      fuzz::demand(node.first_byte < node.end_byte && node.end_byte <= reader.text().size(), "a node has its text");
    }
    all += std::to_string(reader.line()) + std::string(reader.text()) + "\n";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{static_cast<const char*>(static_cast<const void*>(data)), size};
  for (const bool salvage : {false, true}) {
    fuzz::demand(read_edn(bytes, 1, salvage) == read_edn(bytes, 4096, salvage), "pieces change nothing");
    fuzz::demand_history(history::ForeignKind::kJepsen, {bytes}, salvage);
  }
  return 0;
}

// Any bytes are a history or a refusal that names the file, in any of the three forms. What was read, written as lines and read again is
// the same.
//
// links: history
#include <memory>
#include <string>
#include <vector>

#include "codec/byte_source.h"
#include "fuzz/bytes.h"
#include "history/line.h"
#include "history/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

struct Readout {
  std::string text;
  bool refused = false;
};

Readout read(std::string_view bytes, bool accept_torn) {
  Readout readout;
  history::Vocabulary vocabulary;
  auto reader = history::Reader::open(std::make_unique<codec::TextSource>(bytes), "fuzz", vocabulary,
                                      {.accept_torn = accept_torn, .threads = false});
  const auto refuse = [&](const Error& error) {
    fuzz::demand(error.message.starts_with("fuzz"), "a refusal names the file");
    fuzz::demand(error.code == ErrorCode::kParse || error.code == ErrorCode::kFull, "a refusal is kParse or kFull");
    readout.refused = true;
  };
  if (!reader) {
    refuse(reader.error());
    return readout;
  }
  append_meta(readout.text, (*reader)->meta());
  std::uint64_t index = 0;
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) {
      refuse(batch.error());
      return readout;
    }
    if (batch->empty()) return readout;
    for (const auto& operation : *batch) {
      fuzz::demand(operation.index == index++, "indices rise by one");
      fuzz::demand(what_is_missing(operation, (*reader)->meta().dialect).empty(), "an operation has what it must have");
      append_operation(readout.text, operation, vocabulary, (*reader)->meta().dialect);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{static_cast<const char*>(static_cast<const void*>(data)), size};
  const Readout strict = read(bytes, false);
  const Readout lenient = read(bytes, true);
  fuzz::demand(strict.refused || (!lenient.refused && strict.text == lenient.text), "leniency changes nothing where nothing is torn");
  if (lenient.text.empty()) return 0;
  const Readout again = read(lenient.text, false);
  fuzz::demand(!again.refused && again.text == lenient.text, "what was read, written and read again is the same");
  return 0;
}

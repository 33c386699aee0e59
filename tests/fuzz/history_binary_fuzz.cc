// Any columns within a sound block of the binary form: an operation that can be said as a line, or a refusal. Its checksums are made
// here, since no fuzzer would guess them.
//
// links: history
#include <cstring>
#include <memory>
#include <string>

#include "codec/byte_source.h"
#include "codec/crc32c.h"
#include "codec/zstd.h"
#include "fuzz/bytes.h"
#include "history/binary.h"
#include "history/line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

void put(std::string& out, std::uint32_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

std::string file_of(std::string_view columns, std::uint32_t operations, bool driftlab) {
  const std::string meta = std::string(R"({"type":"meta",)") + (driftlab ? "" : R"("version":1,)") + R"("client":"c","scenario":"s"})";
  std::string file(history::kBinaryMagic);
  put(file, static_cast<std::uint32_t>(meta.size()));
  put(file, codec::crc32c(meta));
  file += meta;
  const std::string packed = codec::zstd_block(columns, 1);
  put(file, operations);
  put(file, static_cast<std::uint32_t>(packed.size()));
  put(file, static_cast<std::uint32_t>(columns.size()));
  put(file, codec::crc32c(packed));
  return file + packed + std::string(16, '\0');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const bool driftlab = bytes.below(2) == 1;
  const std::uint32_t operations = bytes.below(40) + 1;
  const std::string file = file_of(bytes.rest(), operations, driftlab);
  history::Vocabulary vocabulary;
  auto reader =
      history::Reader::open(std::make_unique<codec::TextSource>(file), "fuzz", vocabulary, {.accept_torn = false, .threads = false});
  fuzz::demand(reader.has_value(), "the meta record is sound");
  history::LineParser parser(vocabulary);
  const history::Dialect dialect = (*reader)->meta().dialect;
  std::uint64_t index = 0;
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) {
      fuzz::demand(batch.error().message.starts_with("fuzz line "), "a refusal names file and line");
      return 0;
    }
    if (batch->empty()) break;
    for (const auto& operation : *batch) {
      std::string line;
      append_operation(line, operation, vocabulary, dialect);
      history::Operation again;
      history::Details details;
      const auto fault = parser.operation({line.data(), line.size() - 1}, dialect, index++, again, details);
      fuzz::demand(!fault, "what columns say, a line can say");
      fuzz::demand(same(again, operation), "a line says what the columns say");
    }
  }
  fuzz::demand(index == operations, "a block has the operations that it announces");
  return 0;
}

// The fast reader of lines against the slow one: what the fast one knows, the slow one reads as the same operation, with the same names;
// what the slow one refuses, the fast one does not know. And what was read, written and read again is the same, byte for byte from
// then on.
//
// links: history
#include <string>

#include "codec/line_reader.h"
#include "fuzz/bytes.h"
#include "history/fast_line.h"
#include "history/line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

void demand_same_names(const history::Names& a, const history::Names& b) {
  fuzz::demand(a.size() == b.size(), "both readers know as many names");
  for (std::uint32_t i = 0; i < a.size(); ++i) fuzz::demand(a.text(i) == b.text(i), "both readers know the same names");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const auto dialect = bytes.below(2) == 0 ? history::Dialect::kVersion1 : history::Dialect::kDriftlab;
  const std::string_view line = bytes.rest().substr(0, bytes.rest().find('\n'));

  history::Vocabulary slow_names;
  history::LineParser parser(slow_names);
  history::Operation slow;
  history::Details details;
  const auto fault = parser.operation(line, dialect, 0, slow, details);
  if (fault) {
    fuzz::demand(!fault->says.empty(), "a refusal says why");
    fuzz::demand(fault->at <= line.size(), "a refusal names a place in the line");
  }

  // Behind the line stands what a torn number or text might go on with.
  for (const char padding : {'1', '}', 'a'}) {
    history::Vocabulary fast_names;
    history::Operation fast;
    const std::string block = std::string(line) + "\n" + std::string(codec::kLinePadding, padding);
    const char* end = block.data() + line.size() + 1;
    const char* next = history::FastLine(fast_names, dialect).read(block.data(), end, 0, fast);
    if (next == nullptr) continue;
    fuzz::demand(!fault, "what the slow reader refuses, the fast one does not know");
    fuzz::demand(next == end, "a line ends at its newline");
    fuzz::demand(same(fast, slow), "both readers read the same operation");
    demand_same_names(fast_names.keys, slow_names.keys);
    demand_same_names(fast_names.words, slow_names.words);
    demand_same_names(fast_names.processes, slow_names.processes);
  }
  if (fault) return 0;

  std::string written;
  append_operation(written, slow, slow_names, dialect);
  history::Operation again;
  history::Details again_details;
  const auto refused = parser.operation({written.data(), written.size() - 1}, dialect, 0, again, again_details);
  fuzz::demand(!refused, "what was written is read");
  fuzz::demand(same(again, slow), "what was written reads back the same");
  std::string twice;
  append_operation(twice, again, slow_names, dialect);
  fuzz::demand(twice == written, "equal operations are equal bytes");
  return 0;
}

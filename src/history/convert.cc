#include "history/convert.h"

#include <utility>

namespace sp::history {

namespace fs = std::filesystem;

Result<Converted> convert(const fs::path& from, const fs::path& to, const ConvertOptions& options) {
  if (auto form = form_to_write(to); !form) return tl::unexpected(std::move(form).error());
  Vocabulary vocabulary;
  auto reader = Reader::open(from, vocabulary, {.accept_torn = options.salvage});
  if (!reader) return tl::unexpected(std::move(reader).error());
  auto file = NewFile::create(to, (*reader)->meta(), vocabulary);
  if (!file) return tl::unexpected(std::move(file).error());
  Converted converted;
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) return tl::unexpected(batch.error());
    if (batch->empty()) break;
    for (const Operation& operation : *batch) {
      if (auto added = (*file)->add(operation); !added) return tl::unexpected(std::move(added).error());
    }
    converted.operations += batch->size();
    if (options.progress) options.progress(converted.operations);
  }
  if (auto finished = (*file)->finish(); !finished) return tl::unexpected(std::move(finished).error());
  converted.torn_line = (*reader)->torn_line();
  return converted;
}

}  // namespace sp::history

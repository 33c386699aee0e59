// Foreign files as texts, converted in memory: the lines of our history and the notes, or the error.
//
//     convert(kJepsen, {{"history.edn", text}})     lines "{"type":"meta",…}\n…"   notes   error ""
//
// Cost: linear.   Errors: Converted::error.   Threads: one owner.   Source: src/history/foreign/foreign.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "history/foreign/foreign.h"
#include "history/line.h"
#include "history/reader.h"
#include "sys/files.h"

namespace sp::history {

struct ForeignOutcome {
  std::string lines;
  std::vector<std::string> notes;
  std::string error;
};

inline ForeignOutcome convert_texts(ForeignKind kind, const std::vector<std::pair<std::string, std::string>>& files,
                                    const ForeignOptions& options = {}) {
  std::vector<ForeignInput> inputs;
  for (const auto& [name, text] : files) {
    inputs.push_back({name,
                      [&text]() -> Result<std::unique_ptr<codec::ByteSource>> { return std::make_unique<codec::TextSource>(text); }});
  }
  ForeignOutcome outcome;
  const auto foreign = make_foreign(kind, std::move(inputs), options);
  const auto meta = foreign->survey();
  if (!meta) return {"", {}, meta.error().message};
  append_meta(outcome.lines, *meta);
  Vocabulary vocabulary;
  Told told(vocabulary, [&](const Operation& operation) {
    append_operation(outcome.lines, operation, vocabulary, Dialect::kVersion1);
    return Result<void>();
  });
  if (auto all = foreign->tell(told); !all) return {"", {}, all.error().message};
  outcome.notes = foreign->notes();
  // What a converter wrote must be what our reader accepts.
  Vocabulary read_names;
  auto reader = Reader::open(std::make_unique<codec::TextSource>(outcome.lines), "converted", read_names,
                             {.accept_torn = false, .threads = false});
  while (reader) {
    const auto batch = (*reader)->next();
    EXPECT_TRUE(batch.has_value()) << batch.error().message;
    if (!batch || batch->empty()) break;
  }
  EXPECT_TRUE(reader.has_value());
  return outcome;
}

inline std::string corpus(const std::string& name) {
  const auto text = sys::read_file(std::filesystem::path(SP_CORPUS) / name, std::size_t{1} << 20U);
  EXPECT_TRUE(text.has_value()) << name;
  return text.value_or("");
}

}  // namespace sp::history

// Any bytes through a converter of foreign histories: what comes out our own reader accepts, or there is an error that says where.
//
//     demand_history(kind, {bytes})     aborts if not
//
// Cost: linear.   Errors: a finding aborts.   Threads: one owner.   Source: src/history/foreign/foreign.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/byte_source.h"
#include "fuzz/bytes.h"
#include "history/foreign/foreign.h"
#include "history/line.h"
#include "history/reader.h"

namespace sp::fuzz {

inline void demand_error(const Error& error) {
  const bool known = error.code == ErrorCode::kParse || error.code == ErrorCode::kFull || error.code == ErrorCode::kInvalid;
  demand(known, "an error is kParse, kFull or kInvalid");
  demand(error.code != ErrorCode::kParse || error.message.starts_with("fuzz"), "what cannot be read is named with its file");
}

inline void demand_readable(std::string_view lines, std::uint64_t operations) {
  history::Vocabulary vocabulary;
  auto reader = history::Reader::open(std::make_unique<codec::TextSource>(lines), "converted", vocabulary,
                                      {.accept_torn = false, .threads = false});
  demand(reader.has_value(), "our reader accepts the meta record");
  std::uint64_t read = 0;
  while (true) {
    const auto batch = (*reader)->next();
    demand(batch.has_value(), "our reader accepts every operation");
    if (batch->empty()) break;
    for (const auto& operation : *batch) {
      demand(is_sayable(operation, history::Dialect::kVersion1), "an operation says nothing that is not read");
    }
    read += batch->size();
  }
  demand(read == operations, "every operation is a line");
}

inline void demand_history(history::ForeignKind kind, const std::vector<std::string_view>& files, bool salvage) {
  std::vector<history::ForeignInput> inputs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    inputs.push_back({"fuzz" + std::to_string(i), [text = files[i]]() -> Result<std::unique_ptr<codec::ByteSource>> {
                        return std::make_unique<codec::TextSource>(text);
                      }});
  }
  const auto foreign = history::make_foreign(kind, std::move(inputs), {.salvage = salvage});
  const auto meta = foreign->survey();
  if (!meta) return demand_error(meta.error());
  std::string lines;
  append_meta(lines, *meta);
  history::Vocabulary vocabulary;
  history::Told told(vocabulary, [&](const history::Operation& operation) {
    append_operation(lines, operation, vocabulary, history::Dialect::kVersion1);
    return Result<void>();
  });
  if (const auto all = foreign->tell(told); !all) return demand_error(all.error());
  demand_readable(lines, told.written());
}

}  // namespace sp::fuzz

// Histories that others wrote, into ours.
//
//     convert_foreign(kJepsen, {"history.edn"}, "run.jsonl", …)     survey() ─► meta record     tell() ─► operations
//
// The files are read at least twice: what the meta record must say, and which attempts were made, is known only at their end.
//
// Shape:    what cannot be said in our format is refused, or left out and counted in a note; nothing else is left out.
// Cost:     linear in the bytes; memory grows with what is open (attempts without an outcome, consumers, names), not with the files.
// Limits:   those of our format; kUnprintedMax attempts without an outcome for each producer of kVerifiable.
// Errors:   kParse: file, line, column, what is wrong and what to do. kInvalid: files that do not belong together. kFull, kIo, kNotFound.
// Threads:  one owner.   Source: docs/howto/foreign-histories.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/byte_source.h"
#include "history/foreign/told.h"
#include "history/schema.h"

namespace sp::history {

enum class ForeignKind : std::uint8_t {
  kVerifiable,  // what Kafka's VerifiableProducer and VerifiableConsumer print
  kJepsen,      // history.edn of the workload jepsen.tests.kafka
};
[[nodiscard]] std::optional<ForeignKind> find_foreign(std::string_view name);
// "verifiable, jepsen".
[[nodiscard]] std::string_view foreign_names();

// A file that is opened once for each time it is read.
struct ForeignInput {
  std::string name;    // what errors call it; of kVerifiable its last part, without its ending, is the process
  std::function<Result<std::unique_ptr<codec::ByteSource>>()> open;
};

struct ForeignOptions {
  bool salvage = false;   // files that are cut off are converted up to there
};

class Foreign {
 public:
  virtual ~Foreign() = default;
  // Reads all once. First.
  [[nodiscard]] virtual Result<Meta> survey() = 0;
  // Reads all again, if survey() had no error, and tells it.
  [[nodiscard]] virtual Result<void> tell(Told& told) = 0;
  // After tell(): what was left out or assumed, a sentence each.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};
[[nodiscard]] std::unique_ptr<Foreign> make_foreign(ForeignKind kind, std::vector<ForeignInput> inputs, const ForeignOptions& options);

struct ForeignConverted {
  std::uint64_t operations = 0;
  std::vector<std::string> notes;
};
// `to` is there once it is whole; its form is that of its name.
[[nodiscard]] Result<ForeignConverted> convert_foreign(ForeignKind kind, const std::vector<std::filesystem::path>& from,
                                                       const std::filesystem::path& to, const ForeignOptions& options);

}  // namespace sp::history

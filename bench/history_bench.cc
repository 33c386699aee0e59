// links: history
// Histories read and written: how many operations a second, in each form, on histories of two shapes.
//
//     one key     1 producer, 1 key in order, 1 consumer                     invoke, ok, deliver, read for each record
//     many keys   4 producers, 10,000 keys over 12 partitions, 4 consumers
//
// The rival of the fast reader is the slow one (simdjson and a walk over all members), which it falls back to; the rival of a reader of
// zstd is the decompressor alone.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/prng.h"
#include "codec/zstd.h"
#include "history/binary.h"
#include "history/line.h"
#include "history/reader.h"
#include "machine.h"
#include "record.h"
#include "sys/files.h"
#include "sys/streams.h"

namespace sp::bench {
namespace {

using history::Function;
using history::Member;
using history::Operation;
using history::Type;

constexpr double kMillion = 1e6;
constexpr std::uint32_t kKeys = 10'000;
constexpr std::uint32_t kPartitions = 12;
constexpr std::uint32_t kConsumers = 4;

// A stretch of work: by the processor's time of all threads, which tells what one core can do also on a busy machine, or by the clock.
class Stretch {
 public:
  [[nodiscard]] double core_seconds() const { return std::chrono::duration<double>(cpu_time() - cpu_).count(); }
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(SystemMonotonicClock().now() - start_).count(); }

 private:
  Nanoseconds cpu_ = cpu_time();
  MonotonicTime start_ = SystemMonotonicClock().now();
};

struct Shape {
  std::string name;
  std::uint32_t keys = 1;
  std::uint32_t partitions = 1;
  std::uint32_t consumers = 1;
  history::Dialect dialect = history::Dialect::kVersion1;
};

// Makes the operations of a shape, one after the other: each record is invoked, acked and delivered, and all are read at the end.
class Story {
 public:
  Story(Shape shape, std::uint64_t records)
      : shape_(std::move(shape)), records_(records), next_(shape_.keys), offsets_(shape_.partitions) {
    for (std::uint32_t i = 0; i < shape_.consumers; ++i) {
      producers_.push_back(*vocabulary_.processes.add(shape_.consumers == 1 ? "producer" : fmt::format("producer-{}", i)));
      consumers_.push_back(*vocabulary_.processes.add(shape_.consumers == 1 ? "consumer" : fmt::format("consumer-{}", i)));
    }
    final_read_ = *vocabulary_.processes.add("final-read");
    for (std::uint32_t i = 0; i < shape_.keys; ++i) {
      keys_.push_back(*vocabulary_.keys.add(fmt::format("r7f3a2k9.0.1.{}.{}", i % 4, i / 4)));
    }
  }
  [[nodiscard]] const history::Vocabulary& vocabulary() const { return vocabulary_; }
  [[nodiscard]] std::uint64_t operations() const { return index_; }

  void tell(const std::function<void(const Operation&)>& sink) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::uint64_t record = 0; record < records_; ++record) {
        if (pass == 0) {
          lived(record, sink);
        } else {
          read_back(record, sink);
        }
      }
    }
  }

 private:
  [[nodiscard]] bool driftlab() const { return shape_.dialect == history::Dialect::kDriftlab; }
  void lived(std::uint64_t record, const std::function<void(const Operation&)>& sink) {
    const std::uint32_t key = record_key(record);
    const std::uint32_t partition = key % shape_.partitions;
    operation_.value = next_[key]++ + (driftlab() ? 1 : 0);
    if (shape_.keys > 1) operation_.key = keys_[key];
    operation_.position.partition = partition;
    operation_.position.has_partition = !driftlab();
    operation_.position.kind = driftlab() ? history::Position::Kind::kSequence : history::Position::Kind::kOffset;
    operation_.position.offset = offsets_[partition]++ + (driftlab() ? 1 : 0);
    say(sink, producers_[key % shape_.consumers], Type::kInvoke, Function::kPublish, false);
    say(sink, producers_[key % shape_.consumers], Type::kOk, Function::kPublish, true);
    say(sink, consumers_[partition % shape_.consumers], Type::kOk, Function::kDeliver, true);
  }
  void read_back(std::uint64_t record, const std::function<void(const Operation&)>& sink) {
    const std::uint32_t key = record_key(record);
    if (record == 0) {
      offsets_.assign(shape_.partitions, 0);
      next_.assign(shape_.keys, 0);
    }
    operation_.value = next_[key]++ + (driftlab() ? 1 : 0);
    if (shape_.keys > 1) operation_.key = keys_[key];
    operation_.position.partition = key % shape_.partitions;
    operation_.position.offset = offsets_[key % shape_.partitions]++ + (driftlab() ? 1 : 0);
    say(sink, final_read_, Type::kOk, Function::kRead, true);
  }
  [[nodiscard]] std::uint32_t record_key(std::uint64_t record) const {
    return static_cast<std::uint32_t>(mix64(record) % shape_.keys);
  }
  void say(const std::function<void(const Operation&)>& sink, std::uint32_t process, Type type, Function function, bool position) {
    operation_.index = index_++;
    operation_.time_ns += static_cast<std::int64_t>(200 + mix64(index_) % 3000);
    operation_.process = process;
    operation_.type = type;
    operation_.function = function;
    operation_.members = bit(Member::kTime) | bit(Member::kValue);
    if (shape_.keys > 1) operation_.members |= bit(Member::kKey);
    if (position) operation_.members |= bit(Member::kPosition);
    sink(operation_);
  }

  Shape shape_;
  std::uint64_t records_;
  history::Vocabulary vocabulary_;
  std::vector<std::uint32_t> producers_, consumers_, keys_;
  std::uint32_t final_read_ = 0;
  std::vector<std::uint64_t> next_, offsets_;
  std::uint64_t index_ = 0;
  Operation operation_;
};

history::Meta meta_of(const Shape& shape) {
  history::Meta meta;
  meta.dialect = shape.dialect;
  meta.client = "bench@1";
  meta.scenario = shape.name;
  return meta;
}

struct Files {
  std::filesystem::path text, zstd, binary;
  std::uint64_t operations = 0;
  std::uint64_t text_bytes = 0;
};

// Writes the story in all forms; how fast lines are made is a figure.
Result<Files> write_files(const std::filesystem::path& folder, const Shape& shape, std::uint64_t records, Record& record) {
  Files files{folder / "h.jsonl", folder / "h.jsonl.zst", folder / "h.sph", 0, 0};
  auto text = sys::OutputFile::create(files.text);
  auto zstd = sys::OutputFile::create(files.zstd);
  if (!text || !zstd) return fail(ErrorCode::kIo, "the bench's folder cannot be written");
  codec::ZstdCompressor compressor(1);
  std::string lines;
  std::string packed;
  append_meta(lines, meta_of(shape));
  Story story(shape, records);
  double formatting = 0;
  double packing = 0;
  Result<void> done;
  Stretch stretch;
  const auto flush = [&] {
    formatting += stretch.core_seconds();
    stretch = Stretch();
    compressor.append(lines, packed);
    compressor.end_frame(packed);
    packing += stretch.core_seconds();
    if (done) done = text->write(lines);
    if (done) done = zstd->write(packed);
    files.text_bytes += lines.size();
    lines.clear();
    packed.clear();
    stretch = Stretch();
  };
  story.tell([&](const Operation& operation) {
    append_operation(lines, operation, story.vocabulary(), shape.dialect);
    if (lines.size() > (std::size_t{1} << 20U)) flush();
  });
  flush();
  if (!done) return tl::unexpected(std::move(done).error());
  files.operations = story.operations();
  record.figure(shape.name + ", lines made", static_cast<double>(files.operations) / formatting / kMillion, "M operations/s");
  record.figure(shape.name + ", zstd level 1", static_cast<double>(files.text_bytes) / packing / kMillion, "MB/s");
  record.figure(shape.name + ", a line", static_cast<double>(files.text_bytes) / static_cast<double>(files.operations), "bytes");
  return files;
}

// The binary form of the text: how fast it is made, and how small it is.
Result<void> convert(const Shape& shape, const Files& files, Record& record) {
  history::Vocabulary vocabulary;
  auto reader = history::Reader::open(files.text, vocabulary, {.threads = false});
  if (!reader) return tl::unexpected(std::move(reader).error());
  auto out = sys::OutputFile::create(files.binary);
  if (!out) return tl::unexpected(std::move(out).error());
  history::BinaryEncoder encoder((*reader)->meta(), vocabulary);
  double encoding = 0;
  std::uint64_t bytes = 0;
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) return tl::unexpected(batch.error());
    const Stretch stretch;
    for (const Operation& operation : *batch) encoder.add(operation);
    if (batch->empty()) encoder.finish();
    encoding += stretch.core_seconds();
    const std::string ready = encoder.take();
    bytes += ready.size();
    if (auto done = out->write(ready); !done) return done;
    if (batch->empty()) break;
  }
  const auto operations = static_cast<double>(files.operations);
  record.figure(shape.name + ", binary made", operations / encoding / kMillion, "M operations/s");
  record.figure(shape.name + ", binary, an operation", static_cast<double>(bytes) / operations, "bytes");
  return {};
}

// Reads the file; operations a second. The hash is a cheap one over what was read, so that nothing is left out.
double read_file(const std::filesystem::path& path, const history::Reader::Options& options, const std::string& what,
                 std::uint64_t operations, Record& record, std::uint64_t& hash) {
  history::Vocabulary vocabulary;
  const Stretch stretch;
  auto reader = history::Reader::open(path, vocabulary, options);
  if (!reader) {
    record.wrong(reader.error().message);
    return 0;
  }
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) {
      record.wrong(batch.error().message);
      return 0;
    }
    if (batch->empty()) break;
    count += batch->size();
    for (const Operation& operation : *batch) {
      sum += operation.value + static_cast<std::uint64_t>(operation.time_ns) + operation.process;
      if (operation.has(Member::kKey)) sum += std::uint64_t{operation.key} << 20U;
      if (operation.has(Member::kPosition)) sum += operation.position.offset << 30U;
    }
  }
  hash = mix64(sum);
  const double seconds = options.threads ? stretch.seconds() : stretch.core_seconds();
  if (count != operations) record.wrong(fmt::format("{}: {} of {} operations read", what, count, operations));
  return static_cast<double>(count) / seconds / kMillion;
}

// The fallback on the same lines.
double read_slowly(const std::filesystem::path& path, const Shape& shape, std::uint64_t operations_max) {
  const auto text = sys::read_file(path, SIZE_MAX);
  if (!text) return 0;
  history::Vocabulary vocabulary;
  history::LineParser parser(vocabulary);
  history::Details details;
  Operation operation;
  const Stretch stretch;
  std::size_t at = text->find('\n') + 1;
  std::uint64_t count = 0;
  while (at < text->size() && count < operations_max) {
    const std::size_t end = text->find('\n', at);
    if (parser.operation(std::string_view(*text).substr(at, end - at), shape.dialect, count, operation, details)) return 0;
    ++count;
    at = end + 1;
  }
  return static_cast<double>(count) / stretch.core_seconds() / kMillion;
}

double decompress(const std::filesystem::path& path, std::uint64_t operations) {
  const auto packed = sys::read_file(path, SIZE_MAX);
  if (!packed) return 0;
  codec::ZstdSource source(std::make_unique<codec::TextSource>(*packed));
  std::string room(std::size_t{1} << 18U, '\0');
  const Stretch stretch;
  while (source.read(room).value_or(0) > 0) {
  }
  return static_cast<double>(operations) / stretch.core_seconds() / kMillion;
}

Result<void> measure(const Shape& shape, std::uint64_t records, Record& record) {
  const auto folder = sys::TemporaryFolder::make("history-bench");
  if (!folder) return tl::unexpected(folder.error());
  auto files = write_files(folder->path(), shape, records, record);
  if (!files) return tl::unexpected(std::move(files).error());
  std::uint64_t hash = 0;
  const auto figure = [&](const std::string& what, const std::filesystem::path& path, bool threads, std::optional<Goal> goal) {
    std::uint64_t own = 0;
    const std::string name = shape.name + ", " + what;
    record.figure(name, read_file(path, {.threads = threads}, name, files->operations, record, own), "M operations/s", goal);
    if (hash != 0 && own != hash) record.wrong(name + ": other operations than the text has");
    hash = own;
  };
  figure("JSON Lines, one core", files->text, false, at_least(10));
  record.figure(shape.name + ", JSON Lines, slow reader", read_slowly(files->text, shape, files->operations), "M operations/s");
  if (auto done = convert(shape, *files, record); !done) return done;
  figure("binary, one core", files->binary, false, at_least(20));
  figure("zstd, one core", files->zstd, false, std::nullopt);
  figure("zstd, two cores", files->zstd, true, std::nullopt);
  record.figure(shape.name + ", zstd, decompressor alone", decompress(files->zstd, files->operations), "M operations/s");
  record.hash(shape.name, hash);
  return {};
}

Result<void> body(const Request& request, Record& record) {
  const std::uint64_t records = request.number("thousand") * 1000;
  record.note("Figures of one core are by the processor time of the process, those of two cores by the clock.");
  record.note("Each record is four operations: invoke, ok, deliver, read. Files are read from the page cache; names are looked up, "
              "indices and mandatory members checked; nothing is judged.");
  if (auto done = measure({"one key"}, records, record); !done) return done;
  if (auto done = measure({"many keys", kKeys, kPartitions, kConsumers}, records, record); !done) return done;
  return measure({"driftlab", 1, 1, 1, history::Dialect::kDriftlab}, records, record);
}

}  // namespace
}  // namespace sp::bench

int main(int count, char** arguments) {
  return sp::bench::run_bench(
      {"history_bench", "Reading and writing histories", {{"thousand", 1000, 20, "thousands of records, four operations each"}}}, count,
      arguments, sp::bench::body);
}

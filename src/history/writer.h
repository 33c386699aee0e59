// One history file, written while the run goes on: lines are made by whoever sees the operation, and go to the disk on a thread of
// their own.
//
//     write(operation) ─► index      write … write ─► chunk ─► queue ─► thread: zstd, file
//                                    every flush_period, and at flush(), what is there is ended as a frame and written
//
// The load is never slowed in silence: if the disk cannot keep up, the queue is full, and operations are left out. Then the history is
// incomplete: it says so in the file (`incomplete`, with how many), in summary(), and once in take_message(). The same if the disk
// refuses; then nothing more is written and the run goes on.
//
// Cost:     200 ns an operation for the caller; zstd level 1 some 3 ns a byte on the thread.
// Limits:   chunk_bytes * (chunks_max + 1) in memory.
// Errors:   create(): kIo. Later ones are messages, never the caller's failure.
// Threads:  one owner, besides its own thread and who waits for a flush. Destroying it without finish() is a crash: what is not yet on
//           the disk is lost.
// Source:   docs/formats/history.md, "Writing".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "history/schema.h"

namespace sp::history {

class Writer {
 public:
  struct Options {
    bool zstd = true;
    int zstd_level = 1;
    std::size_t chunk_bytes = std::size_t{1} << 16U;
    std::size_t chunks_max = 1024;
    Nanoseconds flush_period = std::chrono::seconds(1);
  };
  // What became of it. Complete: error is "" and dropped is 0.
  struct Summary {
    std::uint64_t written = 0;   // operations that have an index
    std::uint64_t dropped = 0;   // operations that were left out, or whose chunk the disk refused
    std::string error;           // what the disk said first
    [[nodiscard]] bool complete() const { return dropped == 0 && error.empty(); }
    // "lacks 3 of 10 operations: no space left"; of what is not complete.
    [[nodiscard]] std::string what_lacks() const;
  };

  // Makes the file and writes its meta record.
  [[nodiscard]] static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& path, const Meta& meta,
                                                              const Options& options);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // The names that operations refer to.
  [[nodiscard]] Vocabulary& vocabulary() { return vocabulary_; }
  // Writes `operation` with the next index, whatever its own is; nullopt: it was left out. `key`: instead of the operation's.
  std::optional<std::uint64_t> write(const Operation& operation, std::optional<std::string_view> key = std::nullopt);
  // The index of the last operation that was written.
  [[nodiscard]] std::optional<std::uint64_t> last_index() const;
  // Has what was written up to here handed to the system at once; the number to wait for.
  std::uint64_t flush();
  // True once that has happened: then it survives the death of this process. False after `wait`, or if the disk refuses. From any thread.
  [[nodiscard]] bool wait_flushed(std::uint64_t flush, Nanoseconds wait);
  // What there is to say to a person, each once.
  [[nodiscard]] std::optional<std::string> take_message();

  // All that was written is on the disk, and the file is closed.
  [[nodiscard]] Summary finish();

 private:
  struct Chunk;
  struct Shared;
  class Drain;
  Writer(std::filesystem::path path, const Meta& meta, const Options& options);
  void say_dropped();
  bool place_for_one();

  std::filesystem::path path_;
  Options options_;
  Dialect dialect_;
  Vocabulary vocabulary_;
  std::uint64_t next_index_ = 0;
  std::uint64_t flushes_ = 0;
  std::uint64_t dropped_ = 0;          // in all
  std::uint64_t dropped_unsaid_ = 0;   // since the last `incomplete`
  bool dropped_told_ = false;
  bool error_told_ = false;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Drain> drain_;
};

}  // namespace sp::history

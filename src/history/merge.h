// The files of one run, one for each process and incarnation, as one stream.
//
//     worker-0   a b │1 c d │2 e f           │n: its answer to tick n
//     worker-1   g │1 h │2 i                 ─►   a b │1 g │1 (│1) c d │2 h │2 (│2) e f i        (│n): the coordinator's
//
// What orders lines of two files is ticks alone: X before P's tick n and Y after Q's tick n+1, then X before Y. So each file is read up
// to its tick n before any is read past it, by name and incarnation. An incarnation comes after the one before it. The order in which
// the files are named does not matter.
//
// With a coordinator's file it is `seen`: before a line of the coordinator's that has it come all lines that it had seen by then, and
// no others. So what it did online, in whatever order, is done again in that order.
//
// What the coordinator had never seen does not count unless all evidence is asked for: a killed worker may have written more than it
// reported; then that comes with the last of it that was seen. A last line that is cut off is accepted of an incarnation that the
// coordinator calls lost.
//
// Shape:    each operation of each file at most once, in its file's order.
// Cost:     that of the readers; the coordinator's file is read twice.
// Limits:   kFilesMax files; one batch of each in memory.
// Errors:   those of the readers. kInvalid: files that are not of one run, one named twice, several without process and incarnation.
// Threads:  one owner.   Source: docs/formats/history.md, "Several files".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "history/reader.h"
#include "history/schema.h"

namespace sp::history {

constexpr std::string_view kCoordinator = "coordinator";

// "worker-0.2": how `seen` and `lost_incarnations` name a source.
[[nodiscard]] std::string source_name(std::string_view process, std::uint64_t incarnation);

class Merge {
 public:
  static constexpr std::size_t kFilesMax = 4096;
  struct Options {
    bool salvage = false;        // accept what is cut off, whoever wrote it
    bool all_evidence = false;
    bool threads = true;
    std::atomic<std::uint64_t>* bytes_read = nullptr;  // as the readers'
  };
  struct Input {
    std::string name;
    std::function<Result<std::unique_ptr<Reader>>(Reader::Options)> open;  // may be called more than once
  };
  // One file of the run.
  struct Source {
    std::string file;
    Meta meta;
    std::optional<std::uint64_t> last_seen;  // by the coordinator; without a coordinator's file nullopt
    bool lost = false;                       // the coordinator says so
    bool limited = false;                    // lines above last_seen were left out
    bool short_of_seen = false;              // the file ends before last_seen: evidence that the coordinator had is missing
    std::uint64_t torn_line = 0;             // at the end of the merge: the line that was cut off
  };
  // Operations of one source that follow each other.
  struct Run {
    std::uint32_t source = 0;
    std::span<const Operation> operations;   // none: the end
  };

  [[nodiscard]] static Result<std::unique_ptr<Merge>> open(const std::vector<std::filesystem::path>& files, Vocabulary& vocabulary,
                                                           Options options);
  [[nodiscard]] static Result<std::unique_ptr<Merge>> open(std::vector<Input> inputs, Options options);
  ~Merge();

  // In their order: by process and incarnation, the coordinator last. A run of Operations refers to them by number.
  [[nodiscard]] const std::vector<Source>& sources() const { return sources_; }
  // The next operations; they live until the next call.
  [[nodiscard]] Result<Run> next();

 private:
  struct Stream;
  explicit Merge(Options options);
  Result<void> look_at(std::vector<Input> inputs);
  Result<void> check_sources() const;
  Result<void> look_at_coordinator();
  Result<void> start(std::uint32_t number);
  // Operations of that stream up to the tick of the stage, or to what the coordinator had seen; none: it has to wait, or is at its end.
  Result<std::span<const Operation>> advance(std::uint32_t number);
  Result<bool> load(std::uint32_t number);
  [[nodiscard]] bool may_pass(std::uint32_t number, const Operation& operation) const;
  Result<void> pass_tick(std::uint32_t number, const Operation& operation);
  Result<Run> next_by_tick();
  Result<Run> next_by_seen();
  Result<Run> coordinator_turn();
  void open_barrier(const Operation& operation);
  void end(std::uint32_t number);
  [[nodiscard]] bool succeeds_another(std::uint32_t number) const;

  Options options_;
  std::vector<Source> sources_;
  std::vector<Stream> streams_;    // as sources_
  std::map<std::string, std::uint32_t, std::less<>> by_name_;  // as `seen` names them; not the coordinator's
  std::uint64_t stage_ = 1;        // the tick that all are read up to
  std::uint32_t turn_ = 0;         // the stream that is read now
  bool by_seen_ = false;           // there is a coordinator's file
  bool barrier_open_ = false;      // what the next line of the coordinator's had seen is read
};

}  // namespace sp::history

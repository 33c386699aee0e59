#include "history/writer.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/core.h>

#include "base/bounded_queue.h"
#include "base/check.h"
#include "codec/zstd.h"
#include "history/line.h"
#include "sys/streams.h"

namespace sp::history {
namespace {

constexpr std::string_view kCannotKeepUp = "the disk could not keep up";

}  // namespace

struct Writer::Chunk {
  std::string text;
  std::uint64_t operations = 0;
  std::uint64_t flush = 0;      // not 0: behind it all is to be written
};

// What owner and thread share. A chunk is handed over under the mutex, so that the thread, when the queue is empty, may take the open
// one without overtaking another.
struct Writer::Shared {
  explicit Shared(std::size_t chunks_max) : queue({.capacity = chunks_max, .when_full = WhenFull::kFail}, clock) {}
  SystemMonotonicClock clock;   // not the run's: a simulated one would be turned by waiting
  BoundedQueue<Chunk> queue;
  std::mutex mutex;             // guards all below
  Chunk open;
  std::string error;
  std::uint64_t refused = 0;    // operations in chunks that the disk refused
  std::uint64_t flushed = 0;
  std::condition_variable flush_done;
  std::atomic<bool> failed = false;
};

// The thread: chunks in, bytes out.
class Writer::Drain {
 public:
  Drain(sys::OutputFile file, const Options& options, Shared& shared)
      : file_(std::move(file)),
        options_(options),
        shared_(shared),
        compressor_(options.zstd_level),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void join() { thread_.join(); }

 private:
  void run(const std::stop_token& stop) {
    MonotonicTime frame_end = shared_.clock.now() + options_.flush_period;
    while (!stop.stop_requested()) {
      std::optional<Chunk> chunk = shared_.queue.pop_until(frame_end, stop);
      const bool at_end = !chunk && shared_.queue.closed();
      if (stop.stop_requested()) return;  // a crash: nothing more
      if (!chunk && !at_end) chunk = take_open();
      if (chunk) append(*chunk);
      if (at_end || (chunk && chunk->flush != 0) || shared_.clock.now() >= frame_end) {
        flush();
        if (chunk && chunk->flush != 0 && !failed_) tell_flushed(chunk->flush);
        frame_end = shared_.clock.now() + options_.flush_period;
      }
      if (at_end) return finish();
    }
  }
  std::optional<Chunk> take_open() {
    const std::lock_guard lock(shared_.mutex);
    const bool empty = shared_.open.text.empty() && shared_.open.flush == 0;
    if (shared_.queue.size() > 0 || empty) return std::nullopt;
    return std::exchange(shared_.open, {});
  }
  void append(const Chunk& chunk) {
    if (failed_) return refuse(chunk.operations);
    pending_ += chunk.operations;
    if (options_.zstd) {
      compressor_.append(chunk.text, out_);
    } else {
      out_ += chunk.text;
    }
    if (out_.size() >= kWriteBytes) write();
  }
  void flush() {
    if (failed_) return;
    if (options_.zstd) compressor_.end_frame(out_);
    write();
    pending_ = 0;
  }
  void tell_flushed(std::uint64_t flush) {
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.flushed = flush;
    }
    shared_.flush_done.notify_all();
  }
  void write() {
    if (out_.empty()) return;
    note(file_.write(out_));
    out_.clear();
  }
  void finish() {
    if (!failed_) note(file_.finish());
  }
  void note(const Result<void>& done) {
    if (done) return;
    failed_ = true;
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.error = done.error().message;
    }
    refuse(std::exchange(pending_, 0));
    shared_.failed.store(true);
    shared_.flush_done.notify_all();
  }
  void refuse(std::uint64_t operations) {
    const std::lock_guard lock(shared_.mutex);
    shared_.refused += operations;
  }

  static constexpr std::size_t kWriteBytes = std::size_t{1} << 18U;
  sys::OutputFile file_;
  const Options options_;
  Shared& shared_;  // outlives this
  codec::ZstdCompressor compressor_;
  std::string out_;
  std::uint64_t pending_ = 0;  // operations since the last flush
  bool failed_ = false;
  std::jthread thread_;  // last: it runs on all above
};

std::string Writer::Summary::what_lacks() const {
  return fmt::format("lacks {} of {} operations{}{}", dropped, written + dropped, error.empty() ? "" : ": ", error);
}

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& path, const Meta& meta, const Options& options) {
  auto file = sys::OutputFile::create(path);
  if (!file) return fail_up(std::move(file), "the history cannot be written");
  std::unique_ptr<Writer> writer(new Writer(path, meta, options));
  append_meta(writer->shared_->open.text, meta);
  writer->drain_ = std::make_unique<Drain>(std::move(*file), options, *writer->shared_);
  return writer;
}

Writer::Writer(std::filesystem::path path, const Meta& meta, const Options& options)
    : path_(std::move(path)), options_(options), dialect_(meta.dialect), shared_(std::make_unique<Shared>(options.chunks_max)) {}

Writer::~Writer() = default;

// Hands the open chunk over if it is full. False: it is full, and so is the queue.
bool Writer::place_for_one() {
  if (shared_->failed.load()) return false;
  Chunk& open = shared_->open;
  if (open.text.size() < options_.chunk_bytes) return true;
  if (shared_->queue.size() == options_.chunks_max) return false;
  const Pushed pushed = shared_->queue.push(std::exchange(open, {}));
  CHECK(pushed == Pushed::kTaken, "only the owner puts chunks into the queue");
  open.text.reserve(options_.chunk_bytes + options_.chunk_bytes / 4);
  return true;
}

std::optional<std::uint64_t> Writer::write(const Operation& operation, std::optional<std::string_view> key) {
  const std::lock_guard lock(shared_->mutex);
  if (!place_for_one()) {
    ++dropped_;
    ++dropped_unsaid_;
    return std::nullopt;
  }
  if (dropped_unsaid_ > 0) say_dropped();
  Operation numbered = operation;
  numbered.index = next_index_++;
  append_operation(shared_->open.text, numbered, vocabulary_, dialect_, key);
  ++shared_->open.operations;
  return numbered.index;
}

// An `incomplete` in front of what follows the gap.
void Writer::say_dropped() {
  Details details;
  details.reason = kCannotKeepUp;
  Operation incomplete;
  incomplete.function = Function::kIncomplete;
  incomplete.type = Type::kInfo;
  incomplete.index = next_index_++;
  incomplete.process = vocabulary_.processes.add("history").value_or(vocabulary_.nemesis);
  incomplete.number = std::exchange(dropped_unsaid_, 0);
  incomplete.members = bit(Member::kDropped) | bit(Member::kReason);
  incomplete.details = &details;
  append_operation(shared_->open.text, incomplete, vocabulary_, dialect_);
  ++shared_->open.operations;
}

std::optional<std::uint64_t> Writer::last_index() const {
  if (next_index_ == 0) return std::nullopt;
  return next_index_ - 1;
}

std::uint64_t Writer::flush() {
  const std::lock_guard lock(shared_->mutex);
  const std::uint64_t number = ++flushes_;
  if (shared_->failed.load()) return number;
  shared_->open.flush = number;
  // A full queue: the disk is behind, and the mark goes out with the chunk that does.
  if (shared_->queue.size() < options_.chunks_max) (void)shared_->queue.push(std::exchange(shared_->open, {}));
  return number;
}

bool Writer::wait_flushed(std::uint64_t flush, Nanoseconds wait) {
  const MonotonicTime deadline = shared_->clock.now() + wait;
  std::unique_lock lock(shared_->mutex);
  while (shared_->flushed < flush) {
    if (shared_->failed.load() || shared_->clock.now() >= deadline) return false;
    (void)shared_->clock.wait_until(lock, shared_->flush_done, deadline);
  }
  return true;
}

std::optional<std::string> Writer::take_message() {
  if (shared_->failed.load() && !error_told_) {
    error_told_ = true;
    const std::lock_guard lock(shared_->mutex);
    return fmt::format("the history is incomplete from here on, the run goes on: {}", shared_->error);
  }
  if (dropped_ > 0 && !error_told_ && !dropped_told_) {
    dropped_told_ = true;
    return fmt::format("the history {} is incomplete, the run goes on: {}", path_.string(), kCannotKeepUp);
  }
  return std::nullopt;
}

Writer::Summary Writer::finish() {
  CHECK(drain_ != nullptr, "a history is finished once");
  {
    const std::lock_guard lock(shared_->mutex);
    if (dropped_unsaid_ > 0 && !shared_->failed.load()) say_dropped();
  }
  // The thread takes what is left in its order; the queue may be full, and waiting is no harm now.
  while (true) {
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->open.text.empty()) break;
      if (shared_->queue.size() < options_.chunks_max) {
        (void)shared_->queue.push(std::exchange(shared_->open, {}));
        break;
      }
    }
    std::this_thread::yield();
  }
  shared_->queue.close();
  drain_->join();
  drain_.reset();
  const std::lock_guard lock(shared_->mutex);
  return {next_index_, dropped_ + shared_->refused, shared_->error};
}

}  // namespace sp::history

#include "machine.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <vector>

#include "sys/files.h"
#include "sys/process.h"

namespace sp::bench {
namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20U;

Result<std::string> git(const std::filesystem::path& folder, std::vector<std::string> words) {
  auto scratch = sys::TemporaryFolder::make("streaming-proof-bench");
  if (!scratch) return tl::unexpected(std::move(scratch).error());
  sys::SpawnSpec spec;
  spec.args = {"git", "-C", folder.string()};
  spec.args.insert(spec.args.end(), words.begin(), words.end());
  spec.out = scratch->path() / "out";
  auto ended = sys::run(spec, std::chrono::seconds(30));
  if (!ended) return fail_up(Result<std::string>(tl::unexpected(std::move(ended).error())), "git");
  if (ended->signalled || ended->code != 0) {
    return fail(ErrorCode::kUnavailable,
                "git " + words.front() + " in " + folder.string() + " ended with " + ended->text() +
                    ": figures can be recorded in a clone of the repository only");
  }
  auto text = sys::read_file(spec.out, kAnswerBytesMax);
  if (text && text->ends_with('\n')) text->pop_back();
  return text;
}

Nanoseconds cpu_time_of(int whose) {
  rusage usage{};
  if (getrusage(whose, &usage) != 0) return Nanoseconds{0};
  const auto span = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return span(usage.ru_utime) + span(usage.ru_stime);
}

}  // namespace

unsigned core_count() {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 0U : static_cast<unsigned>(count);
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_resident_bytes() {
  constexpr std::uint64_t kKibibyte = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * kKibibyte;
  }
  return 0;
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

Nanoseconds cpu_time() { return cpu_time_of(RUSAGE_SELF); }
Nanoseconds cpu_time_of_children() { return cpu_time_of(RUSAGE_CHILDREN); }

void trim_memory() { static_cast<void>(malloc_trim(0)); }

Result<SourceState> look_at_source(const std::filesystem::path& folder) {
  auto commit = git(folder, {"rev-parse", "HEAD"});
  if (!commit) return tl::unexpected(std::move(commit).error());
  auto changes = git(folder, {"status", "--porcelain", "--", ".", ":(exclude)docs/results"});
  if (!changes) return tl::unexpected(std::move(changes).error());
  return SourceState{*commit, changes->empty()};
}

}  // namespace sp::bench

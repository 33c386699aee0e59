#include "broker/console.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "scenario/cluster/artefacts.h"
#include "sys/files.h"
#include "sys/process.h"

namespace sp::broker_test {
namespace {

constexpr std::string_view kSeparator = "<|>";
constexpr std::string_view kLineEnd = "<end>\n";
constexpr std::size_t kOutputBytesMax = std::size_t{512} << 20U;

// Takes the text up to the next separator off the front; false if there is none.
bool take_field(std::string_view& text, std::string_view& field) {
  const auto end = text.find(kSeparator);
  if (end == std::string_view::npos) return false;
  field = text.substr(0, end);
  text.remove_prefix(end + kSeparator.size());
  return true;
}

template <typename Number>
bool read_number(std::string_view text, std::string_view label, Number& number) {
  if (!text.starts_with(label)) return false;
  text.remove_prefix(label.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// "Partition:3<|>Offset:17<|>KEY<|>VALUE<end>\n"
bool take_record(std::string_view& text, std::size_t payload_bytes, LogRecord& record) {
  std::string_view partition;
  std::string_view offset;
  std::string_view key;
  if (!take_field(text, partition) || !take_field(text, offset) || !take_field(text, key))
    return false;
  if (!read_number(partition, "Partition:", record.partition) ||
      !read_number(offset, "Offset:", record.offset))
    return false;
  if (text.size() < payload_bytes + kLineEnd.size()) return false;
  record.key = key;
  record.sequence = 0;
  for (std::size_t i = 0; i < 8; ++i)
    record.sequence = record.sequence << 8U | static_cast<unsigned char>(text[i]);
  text.remove_prefix(payload_bytes);
  if (!text.starts_with(kLineEnd)) return false;
  text.remove_prefix(kLineEnd.size());
  return true;
}

}  // namespace

Result<std::vector<LogRecord>> read_log(const std::string& bootstrap, const std::string& topic,
                                        std::size_t payload_bytes) {
  auto options = scenario::cluster::usual_fetch();
  if (!options) return tl::unexpected(std::move(options).error());
  auto kafka = scenario::cluster::fetch_kafka(*options, {});
  if (!kafka) return tl::unexpected(std::move(kafka).error());
  auto folder = sys::TemporaryFolder::make("sp-console-test");
  if (!folder) return tl::unexpected(std::move(folder).error());
  sys::SpawnSpec spec;
  spec.args = {kafka->java.string(),
               "-Xmx256m",
               "-XX:+UseSerialGC",
               "-XX:TieredStopAtLevel=1",
               "-cp",
               kafka->class_path(),
               "org.apache.kafka.tools.consumer.ConsoleConsumer",
               "--bootstrap-server",
               bootstrap,
               "--topic",
               topic,
               "--from-beginning",
               "--timeout-ms",
               "8000"};
  for (const auto& property : {"print.key=true", "print.partition=true", "print.offset=true"}) {
    spec.args.emplace_back("--formatter-property");
    spec.args.emplace_back(property);
  }
  spec.args.emplace_back("--formatter-property");
  spec.args.push_back(fmt::format("key.separator={}", kSeparator));
  spec.args.emplace_back("--formatter-property");
  spec.args.push_back(fmt::format("line.separator={}", kLineEnd));
  spec.out = folder->path() / "out";
  spec.err = folder->path() / "err";
  auto exit = sys::run(spec, std::chrono::seconds{120});
  if (!exit) return tl::unexpected(std::move(exit).error());
  auto text = sys::read_file(spec.out, kOutputBytesMax);
  if (!text) return tl::unexpected(std::move(text).error());
  std::vector<LogRecord> log;
  std::string_view rest = *text;
  while (rest.starts_with("Partition:")) {  // behind the last one it complains of its own time-out
    LogRecord record;
    if (!take_record(rest, payload_bytes, record)) {
      return fail(
          ErrorCode::kParse,
          fmt::format("record {} of the console consumer's output cannot be read: {}\n{}",
                      log.size(), std::string(rest.substr(0, 200)), sys::last_lines(spec.err, 20)));
    }
    log.push_back(std::move(record));
  }
  const std::string said = sys::last_lines(spec.err, 5);
  const std::string total = fmt::format("Processed a total of {} messages", log.size());
  if (said.find(total) == std::string::npos)
    return fail(ErrorCode::kParse, total + " expected; it said: " + said);
  return log;
}

LogCounts count(std::vector<LogRecord> log) {
  std::sort(log.begin(), log.end(), [](const LogRecord& a, const LogRecord& b) {
    return std::tie(a.partition, a.offset) < std::tie(b.partition, b.offset);
  });
  LogCounts counts;
  std::map<std::pair<std::string, std::uint32_t>, std::uint64_t>
      highest;  // of first copies, by key and partition
  for (const auto& record : log) {
    ++counts.records;
    if (!counts.present.insert({record.key, record.sequence}).second) {
      ++counts.duplicate_write;
      continue;
    }
    const auto [at, fresh] = highest.try_emplace({record.key, record.partition}, record.sequence);
    if (fresh) continue;
    if (record.sequence < at->second) ++counts.reordered_write;
    at->second = std::max(at->second, record.sequence);
  }
  return counts;
}

}  // namespace sp::broker_test

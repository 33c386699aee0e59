#include "scenario/cluster/artefacts.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "scenario/cluster/java.h"
#include "scenario/cluster/kafka_files.h"
#include "scenario/cluster/probe.h"
#include "sys/files.h"
#include "sys/net.h"
#include "sys/paths.h"
#include "sys/process.h"

namespace sp::scenario::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr auto kFetchWait = minutes(10);
constexpr std::size_t kMarkerBytesMax = 1U << 20U;
constexpr std::string_view kAptLine = "apt-get install -y openjdk-17-jre-headless maven";

tl::unexpected<Error> missing_tool(std::string_view name) {
  return fail(ErrorCode::kMissingTool,
              fmt::format("a local Kafka cluster needs '{}', which is not in PATH; install it with: {}", name,
                          kAptLine));
}

// "name size" for each jar, sorted by name.
Result<std::string> describe_jars(const fs::path& folder) {
  std::vector<std::string> lines;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (at->path().extension() != ".jar") continue;
    lines.push_back(fmt::format("{} {}\n", at->path().filename().string(), fs::file_size(at->path(), error)));
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

// One Maven run into a folder beside the final one, which appears only when all is there.
Result<void> fetch_jars(const fs::path& mvn, const fs::path& folder, const Say& say) {
  const fs::path making = folder.string() + ".part";
  const fs::path log = folder.string() + ".maven.log";
  for (const auto& old : {making, log}) {
    if (auto removed = sys::remove_tree(old); !removed) return removed;
  }
  if (auto made = sys::make_folders(making); !made) return made;
  if (auto written = sys::write_atomically(making / "pom.xml", kafka_pom()); !written) return written;
  if (say) say(fmt::format("fetching Kafka {} with Maven, once (45 MB)", kKafkaRelease));
  sys::SpawnSpec spec;
  spec.args = {mvn.string(),
               "-B",
               "-ntp",
               "dependency:copy-dependencies",
               "-DoutputDirectory=jars",
               "-DincludeScope=runtime"};
  spec.folder = making;
  spec.out = log;
  spec.err = log;
  const auto exit = sys::run(spec, kFetchWait);
  if (!exit)
    return fail(exit.error().code, fmt::format("fetching Kafka {}: {}", kKafkaRelease, exit.error().message));
  if (exit->signalled || exit->code != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("Maven could not fetch Kafka {} ({}); its log {} ends with:\n{}", kKafkaRelease,
                            exit->text(), log.string(), sys::last_lines(log, 12)));
  }
  auto marker = describe_jars(making / "jars");
  if (!marker) return fail_up(std::move(marker), "after fetching Kafka");
  if (auto written = sys::write_atomically(making / "complete", *marker); !written) return written;
  if (auto removed = sys::remove_tree(folder); !removed) return removed;
  if (auto moved = sys::move_to(making, folder); !moved) return moved;
  return sys::remove_tree(log);
}

// One node that is started, answers, and is asked to end: the JVM then writes down the classes that it loaded.
Result<void> make_archive(const KafkaArtefacts& kafka) {
  auto scratch = sys::TemporaryFolder::make("streaming-proof-classes");
  if (!scratch) return tl::unexpected<Error>(std::move(scratch).error());
  auto ports = sys::free_ports(2);
  if (!ports) return tl::unexpected<Error>(std::move(ports).error());
  const std::vector<NodePorts> plan = {{(*ports)[0], (*ports)[1]}};
  const fs::path data = scratch->path() / "data";
  const fs::path properties = scratch->path() / "server.properties";
  const fs::path log_settings = scratch->path() / "log4j2.properties";
  const KafkaSpec spec;
  if (auto written = sys::write_atomically(properties, server_properties(spec, plan, 1, data)); !written)
    return written;
  if (auto written = sys::write_atomically(log_settings, log_properties()); !written) return written;
  const fs::path making = kafka.folder / "classes.jsa.part";
  (void)sys::remove_tree(making);
  JavaCommand command{kafka, log_settings, spec.heap_megabytes,
                      fmt::format("-XX:ArchiveClassesAtExit={}", making.string())};
  Prng chance(1);
  const fs::path out = scratch->path() / "out";
  if (auto formatted = format_storage(command, make_id(chance), properties, out); !formatted)
    return formatted;
  const auto node = start_server(command, properties, scratch->path(), out);
  if (!node) return tl::unexpected<Error>(node.error());
  bool answers = false;
  for (int tries = 0; tries < 300 && !answers; ++tries) {
    if (sys::wait_gone(*node, milliseconds(100))) break;
    answers = broker_answers(plan[0].broker, milliseconds(500)).has_value();
  }
  if (answers) (void)sys::signal(*node, SIGTERM);
  const bool gone = answers && sys::wait_gone(*node, seconds(40));
  if (!gone) {
    (void)sys::signal(*node, SIGKILL);
    (void)sys::wait_gone(*node, seconds(10));
  }
  (void)sys::reap(*node);
  std::error_code error;
  if (!gone || !fs::exists(making, error)) {
    return fail(ErrorCode::kUnavailable, "the server did not write its class archive");
  }
  return sys::move_to(making, kafka.archive());
}

}  // namespace

std::string KafkaArtefacts::class_path() const {
  std::string path;
  for (const auto& jar : jars)
    path += fmt::format("{}{}", path.empty() ? "" : ":", (folder / "jars" / jar).string());
  return path;
}

Result<FetchOptions> usual_fetch() {
  auto cache = sys::cache_folder();
  if (!cache) return tl::unexpected<Error>(std::move(cache).error());
  FetchOptions options;
  options.cache = std::move(*cache);
  options.search = sys::environment("PATH").value_or("");
  return options;
}

Result<KafkaArtefacts> find_kafka(const fs::path& folder, const fs::path& java) {
  const auto marker = sys::read_file(folder / "complete", kMarkerBytesMax);
  if (!marker) return fail(ErrorCode::kNotFound, fmt::format("Kafka is not in {}", folder.string()));
  const auto present = describe_jars(folder / "jars");
  if (!present || *present != *marker || marker->empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the jars in {} are not those that were fetched", (folder / "jars").string()));
  }
  KafkaArtefacts kafka{java, folder, {}};
  for (std::size_t begin = 0; begin < marker->size();) {
    const auto end = marker->find('\n', begin);
    kafka.jars.push_back(marker->substr(begin, marker->rfind(' ', end) - begin));
    begin = end + 1;
  }
  return kafka;
}

Result<KafkaArtefacts> fetch_kafka(const FetchOptions& options, const Say& say) {
  const auto java = sys::find_program_in(options.search, "java");
  if (!java) return missing_tool("java");
  const fs::path folder = options.cache / fmt::format("kafka-{}", kKafkaRelease);
  if (auto made = sys::make_folders(options.cache); !made)
    return fail_up(std::move(made), "the cache for Kafka");
  const auto lock = sys::FileLock::take(folder.string() + ".lock");
  if (!lock) return tl::unexpected<Error>(lock.error());
  auto kafka = find_kafka(folder, *java);
  if (!kafka) {
    const auto mvn = sys::find_program_in(options.search, "mvn");
    if (!mvn) return missing_tool("mvn");
    if (auto fetched = fetch_jars(*mvn, folder, say); !fetched)
      return tl::unexpected<Error>(std::move(fetched).error());
    kafka = find_kafka(folder, *java);
    if (!kafka) return fail_up(std::move(kafka), "right after fetching it");
  }
  std::error_code error;
  if (options.archive && !fs::exists(kafka->archive(), error)) {
    if (say) say("preparing a class archive for fast starts, once (about 10 s)");
    const auto made = make_archive(*kafka);
    if (!made && say)
      say(fmt::format("no class archive ({}); the nodes start more slowly", made.error().message));
  }
  return kafka;
}

}  // namespace sp::scenario::cluster

// The Kafka server on this machine: jars of one fixed release, fetched once with Maven, and a class archive for fast
// starts.
//
//     <cache>/kafka-4.4.0/jars/*.jar     all or nothing: made beside, renamed when complete
//                        /complete       name and size of each jar; compared at each use
//                        /classes.jsa    class archive, best effort: without it a node starts 2 s slower
//
// Cost:    some 25 s and 45 MB the first time, 1 ms afterwards; the archive 10 s and 50 MB, once.
// Limits:  10 minutes for Maven.
// Errors:  kMissingTool with the line to run when java or mvn are not there; kUnavailable when Maven could not fetch,
//          with its last lines and its log's place.
// Threads: any; processes too, one fetches while the others wait.   Source: scenario/cluster/kafka_files.h.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sp::scenario::cluster {

// A sentence of progress for a person.
using Say = std::function<void(std::string_view)>;

struct KafkaArtefacts {
  std::filesystem::path java;     // the program
  std::filesystem::path folder;   // <cache>/kafka-<release>
  std::vector<std::string> jars;  // file names, sorted: the class path's order is part of the archive
  // All jars, joined by ':'.
  [[nodiscard]] std::string class_path() const;
  [[nodiscard]] std::filesystem::path archive() const { return folder / "classes.jsa"; }
};

struct FetchOptions {
  std::filesystem::path cache;  // where the program keeps such things
  std::string search;           // the value of PATH in which java and mvn are looked for
  bool archive = true;          // make the class archive if it is missing
};

// As the environment says: sys::cache_folder() and $PATH.
[[nodiscard]] Result<FetchOptions> usual_fetch();
// What is there, fetching what is missing. mvn is needed only if something is.
[[nodiscard]] Result<KafkaArtefacts> fetch_kafka(const FetchOptions& options, const Say& say);
// What was fetched before, without looking for anything else; kNotFound if it is not complete.
[[nodiscard]] Result<KafkaArtefacts> find_kafka(const std::filesystem::path& folder,
                                                const std::filesystem::path& java);

}  // namespace sp::scenario::cluster

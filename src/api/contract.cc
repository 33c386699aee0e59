#include "api/contract.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "codec/json_writer.h"

namespace sp::api {
namespace {

using enum Standing;

constexpr std::string_view kCumulative =
    "counts over the whole run, and exactly; the reference's went down again or counted nothing";
constexpr std::string_view kNoRangeTime =
    "ranges are numbered from the start of the proof; the reference names them after a worker's clock";

constexpr std::array kRows = {
    FieldRow{"Proof", "id", "string", kSame},
    FieldRow{"Proof", "name", "string?", kSame},
    FieldRow{"Proof", "driver", "string?", kSame},
    FieldRow{"Proof", "drivers", "DriverNames?", kSame},
    FieldRow{"Proof", "features", "[string]", kSame},
    FieldRow{"Proof", "description", "string?", kSame},
    FieldRow{"Proof", "topic", "string", kSame},
    FieldRow{"Proof", "partitions", "integer", kSame},
    FieldRow{"Proof", "producers", "integer", kSame},
    FieldRow{"Proof", "consumers", "integer", kSame},
    FieldRow{"Proof", "msgRate", "integer", kSame},
    FieldRow{"Proof", "keys", "integer", kSame},
    FieldRow{"Proof", "messageSize", "integer", kSame},
    FieldRow{"Proof", "checkPointInterval", "integer", kSame},
    FieldRow{"Proof", "timeout", "integer", kSame},
    FieldRow{"Proof", "consumeDelay", "integer", kSame},
    FieldRow{"Proof", "duration", "integer", kCorrected, "without end is 0, whatever was given below it"},
    FieldRow{"Proof", "finalWaitSeconds", "integer?", kSame},
    FieldRow{"Proof", "startTime", "string?", kCorrected, "of UTC; the reference's is of its machine's zone, which it does not say"},
    FieldRow{"Proof", "timeSeriesInterval", "integer", kSame},
    FieldRow{"Proof", "maxStallSeconds", "integer", kSame},
    FieldRow{"Proof", "webhookConfig", "Webhook?", kSame},
    FieldRow{"Proof", "pulsar", "PulsarSettings?", kSame},
    FieldRow{"Proof", "kafka", "KafkaSettings?", kSame},
    FieldRow{"Proof", "effective", "any", kAdded,
             "the proof as it takes effect, with all that the reference does not have; secrets are hidden"},

    FieldRow{"DriverNames", "admin", "string", kSame},
    FieldRow{"DriverNames", "producer", "string", kSame},
    FieldRow{"DriverNames", "consumer", "string", kSame},

    FieldRow{"Webhook", "url", "string", kCorrected, "the path of a Slack or Discord URL is a secret and is hidden"},
    FieldRow{"Webhook", "type", "string", kSame},
    FieldRow{"Webhook", "enabled", "boolean", kSame},
    FieldRow{"Webhook", "onFirstViolation", "boolean", kAdded, "also called at the first violation"},

    FieldRow{"PulsarSettings", "consumerConfig", "any", kSame},
    FieldRow{"KafkaSettings", "topicConfig", "{string}", kSame},

    FieldRow{"ListedProof", "status", "string", kSame, "with all members of Proof"},

    FieldRow{"Summary", "verified", "integer", kSame},
    FieldRow{"Summary", "errors", "integer", kCorrected, "of all producers so far, not only of the last verified checkpoint"},
    FieldRow{"Summary", "outOfOrders", "integer", kCorrected, kCumulative},
    FieldRow{"Summary", "missed", "integer", kCorrected, kCumulative},
    FieldRow{"Summary", "duplicates", "integer", kCorrected, kCumulative},
    FieldRow{"Summary", "writeDuplicates", "integer", kCorrected, "never negative; counts over the whole run"},
    FieldRow{"Summary", "timeouts", "integer", kCorrected,
             "ticks at which a record newly became late; the reference counts what stays away again and again"},
    FieldRow{"Summary", "verifiedStallSeconds", "integer", kSame},
    FieldRow{"Summary", "maxVerifiedStallSeconds", "integer", kSame},
    FieldRow{"Summary", "counts", "{integer}", kAdded, "every code of docs/reference/findings.md"},

    FieldRow{"ProofSummaryView", "proof", "Proof", kSame},
    FieldRow{"ProofSummaryView", "summary", "Summary", kSame},
    FieldRow{"ProofSummaryView", "checkpoints", "Checkpoints", kSame},
    FieldRow{"ProofSummaryView", "keysLeftOut", "integer", kAdded, "an answer shows the first 100,000 keys"},

    FieldRow{"ProofDetails", "proof", "Proof", kSame},
    FieldRow{"ProofDetails", "summary", "Summary", kSame},
    FieldRow{"ProofDetails", "checkpoints", "Checkpoints", kSame},
    FieldRow{"ProofDetails", "failedKeys", "{[LongSeq]}", kCorrected,
             "once a record was late: all keys that are behind, those never consumed too"},
    FieldRow{"ProofDetails", "missedSeqs", "{[SeqRange]}", kSame, "ends are the neighbours"},
    FieldRow{"ProofDetails", "outOfOrderSeqs", "{[{integer}]}", kCorrected, "is filled"},
    FieldRow{"ProofDetails", "writeDuplicatesSeqs", "{[SeqRange]}", kSame, "ends are inside"},
    FieldRow{"ProofDetails", "keysLeftOut", "integer", kAdded, "an answer shows the first 100,000 keys"},

    FieldRow{"Checkpoints", "inCheck", "ProducerCheckpoint", kSame},
    FieldRow{"Checkpoints", "latestProducer", "ProducerCheckpoint", kSame},
    FieldRow{"Checkpoints", "verifiedProducer", "ProducerCheckpoint", kCorrected,
             "the end of what every group has received without a gap"},
    FieldRow{"Checkpoints", "failedProducer", "ProducerCheckpoint", kSame},
    FieldRow{"Checkpoints", "latestConsumer", "ConsumerCheckpoint", kSame},
    FieldRow{"Checkpoints", "verifiedConsumer", "ConsumerCheckpoint", kSame},
    FieldRow{"Checkpoints", "failedConsumer", "ConsumerCheckpoint", kSame},

    FieldRow{"ProducerCheckpoint", "published", "{LongSeq}", kSame},
    FieldRow{"ProducerCheckpoint", "errorDetails", "{any}", kCorrected,
             "empty: errors are counted in the summary and told in diagnostics"},

    FieldRow{"ConsumerCheckpoint", "consumed", "{{SeqRange}}", kCorrected, kNoRangeTime},
    FieldRow{"ConsumerCheckpoint", "writeDupsOrOutOrder", "{any}", kCorrected,
             "empty: writeDuplicatesSeqs and outOfOrderSeqs tell the two apart"},
    FieldRow{"ConsumerCheckpoint", "missedSeqs", "{[SeqRange]}", kSame},
    FieldRow{"ConsumerCheckpoint", "duplicatedCount", "{integer}", kCorrected, "empty: the violations have them, each with its key"},
    FieldRow{"ConsumerCheckpoint", "outOfOrderSeqs", "{[{integer}]}", kCorrected, "is filled"},
    FieldRow{"ConsumerCheckpoint", "writeDuplicatesSeqs", "{[SeqRange]}", kSame},

    FieldRow{"LongSeq", "seq", "integer", kSame},
    FieldRow{"LongSeq", "metadata", "Metadata?", kSame},
    FieldRow{"Metadata", "offset", "integer", kSame},
    FieldRow{"Metadata", "ledgerId", "integer", kSame, "", true},
    FieldRow{"Metadata", "entryId", "integer", kSame, "", true},
    FieldRow{"Metadata", "partition", "integer", kSame, "", true},
    FieldRow{"Metadata", "originalOffset", "integer", kSame},
    FieldRow{"Metadata", "publishTimestampMillis", "integer", kSame},
    FieldRow{"SeqRange", "start", "LongSeq", kSame},
    FieldRow{"SeqRange", "end", "LongSeq", kSame},
    FieldRow{"SeqRange", "duplicated", "integer", kCorrected, "0: the violations have them, each with its key"},

    FieldRow{"ProofReport", "proof", "Proof", kSame},
    FieldRow{"ProofReport", "status", "string", kCorrected,
             "also inconclusive; failed for duplicates and order where the proof claims them"},
    FieldRow{"ProofReport", "resultReason", "string", kSame},
    FieldRow{"ProofReport", "clusterTargets", "[ClusterTarget]", kSame},
    FieldRow{"ProofReport", "summary", "Summary", kSame},
    FieldRow{"ProofReport", "checkpointSummary", "CheckpointSummary", kSame},
    FieldRow{"ProofReport", "performanceSummary", "PerformanceSummary", kSame},
    FieldRow{"ProofReport", "timeSeries", "[SeriesPoint]", kSame},

    FieldRow{"ClusterTarget", "role", "string", kSame},
    FieldRow{"ClusterTarget", "driverName", "string", kSame},
    FieldRow{"ClusterTarget", "driverType", "string", kSame, "", true},
    FieldRow{"ClusterTarget", "endpoints", "{any}", kSame},
    FieldRow{"ClusterTarget", "metadata", "any", kSame, "", true},

    FieldRow{"CheckpointSummary", "inCheckKeys", "integer", kSame},
    FieldRow{"CheckpointSummary", "latestProducerKeys", "integer", kSame},
    FieldRow{"CheckpointSummary", "latestConsumerKeys", "integer", kCorrected,
             "keys stay counted when what was verified of them is trimmed"},
    FieldRow{"CheckpointSummary", "verifiedProducerKeys", "integer", kSame},
    FieldRow{"CheckpointSummary", "verifiedConsumerKeys", "integer", kCorrected,
             "keys stay counted when what was verified of them is trimmed"},
    FieldRow{"CheckpointSummary", "failedProducerKeys", "integer", kSame},
    FieldRow{"CheckpointSummary", "failedConsumerKeys", "integer", kSame},

    FieldRow{"PerformanceSummary", "elapsedSeconds", "integer", kSame},
    FieldRow{"PerformanceSummary", "plannedDurationSeconds", "integer", kSame},
    FieldRow{"PerformanceSummary", "remainingSeconds", "integer", kSame},
    FieldRow{"PerformanceSummary", "progressPercent", "number", kSame},
    FieldRow{"PerformanceSummary", "targetMsgRate", "integer", kSame},
    FieldRow{"PerformanceSummary", "publishedMessages", "integer", kSame},
    FieldRow{"PerformanceSummary", "publishErrors", "integer", kCorrected,
             "attempts that failed or stayed unknown; anomalies are violations"},
    FieldRow{"PerformanceSummary", "publishAttempts", "integer", kSame},
    FieldRow{"PerformanceSummary", "consumedMessages", "integer", kSame},
    FieldRow{"PerformanceSummary", "backlogMessages", "integer", kSame},
    FieldRow{"PerformanceSummary", "verifiedMessages", "integer", kSame},
    FieldRow{"PerformanceSummary", "publishRate", "number", kSame},
    FieldRow{"PerformanceSummary", "consumeRate", "number", kSame},
    FieldRow{"PerformanceSummary", "publishErrorRate", "number", kSame},
    FieldRow{"PerformanceSummary", "verifyRate", "number", kSame},
    FieldRow{"PerformanceSummary", "publishBytesRate", "number", kSame},
    FieldRow{"PerformanceSummary", "consumeBytesRate", "number", kSame},
    FieldRow{"PerformanceSummary", "publishLatency", "LatencySummary", kSame},
    FieldRow{"PerformanceSummary", "endToEndLatency", "LatencySummary", kSame},

    FieldRow{"LatencySummary", "count", "integer", kSame},
    FieldRow{"LatencySummary", "avg", "number", kSame},
    FieldRow{"LatencySummary", "p50", "number", kCorrected, "of all records, at most 1/64 too high; the reference draws samples"},
    FieldRow{"LatencySummary", "p95", "number", kCorrected, "as p50"},
    FieldRow{"LatencySummary", "p99", "number", kCorrected, "as p50"},
    FieldRow{"LatencySummary", "max", "number", kSame},

    FieldRow{"SeriesPoint", "elapsedSeconds", "integer", kSame},
    FieldRow{"SeriesPoint", "publishRate", "number", kSame},
    FieldRow{"SeriesPoint", "consumeRate", "number", kSame},
    FieldRow{"SeriesPoint", "backlogMessages", "integer", kSame},
    FieldRow{"SeriesPoint", "publishErrorRate", "number", kSame},
    FieldRow{"SeriesPoint", "publishLatencyP95", "number", kSame},
    FieldRow{"SeriesPoint", "publishLatencyP99", "number", kSame},
    FieldRow{"SeriesPoint", "endToEndLatencyP95", "number", kSame},
    FieldRow{"SeriesPoint", "endToEndLatencyP99", "number", kSame},
    FieldRow{"SeriesPoint", "publishBytesRate", "number", kSame},
    FieldRow{"SeriesPoint", "consumeBytesRate", "number", kSame},
    FieldRow{"SeriesPoint", "verifiedMessages", "integer", kSame},
    FieldRow{"SeriesPoint", "publishedMessages", "integer", kSame},
    FieldRow{"SeriesPoint", "consumedMessages", "integer", kSame},
    FieldRow{"SeriesPoint", "errors", "integer", kCorrected, "as in the summary"},
    FieldRow{"SeriesPoint", "timeouts", "integer", kCorrected, "as in the summary"},
    FieldRow{"SeriesPoint", "missed", "integer", kCorrected, kCumulative},
    FieldRow{"SeriesPoint", "duplicates", "integer", kCorrected, kCumulative},
    FieldRow{"SeriesPoint", "outOfOrders", "integer", kCorrected, kCumulative},

    FieldRow{"Configs", "workers", "{string}", kSame},
    FieldRow{"Configs", "drivers", "{Driver}", kSame},
    FieldRow{"Configs", "report", "any", kSame},
    FieldRow{"Driver", "driverType", "string", kSame},
    FieldRow{"Driver", "driverConfigs", "{any}", kCorrected, "passwords, keys and tokens are hidden; the reference shows them"},
    FieldRow{"Driver", "metadata", "any", kSame, "", true},

    FieldRow{"ViolationPage", "violations", "[Violation]", kAdded},
    FieldRow{"ViolationPage", "next", "integer?", kAdded, "`after` of the next page"},
    FieldRow{"ViolationPage", "total", "integer", kAdded, "that the request matches, of those that are named"},
    FieldRow{"ViolationPage", "leftOut", "integer", kAdded, "counted but not named"},
    FieldRow{"Violation", "number", "integer", kAdded},
    FieldRow{"Violation", "code", "string", kAdded, "of docs/reference/findings.md"},
    FieldRow{"Violation", "established", "boolean", kAdded, "by the verdict; before it is only noticed"},
    FieldRow{"Violation", "group", "string", kAdded},
    FieldRow{"Violation", "key", "string", kAdded},
    FieldRow{"Violation", "first", "integer", kAdded, "sequence"},
    FieldRow{"Violation", "last", "integer", kAdded, "sequence, inside"},
    FieldRow{"Violation", "records", "integer", kAdded},
    FieldRow{"Violation", "positions", "[Position]", kAdded},
    FieldRow{"Violation", "atMillis", "integer", kAdded, "since the start of the proof"},
    FieldRow{"Violation", "says", "string", kAdded},
    FieldRow{"Position", "partition", "integer", kAdded},
    FieldRow{"Position", "offset", "integer", kAdded},

    FieldRow{"Key", "key", "string", kAdded},
    FieldRow{"Key", "issued", "integer", kAdded, "sequences below it were attempted"},
    FieldRow{"Key", "acked", "integer?", kAdded, "the highest"},
    FieldRow{"Key", "ackedAt", "Position?", kAdded},
    FieldRow{"Key", "unknown", "[[integer]]", kAdded, "ranges, both ends inside"},
    FieldRow{"Key", "failed", "[[integer]]", kAdded, "ranges, both ends inside"},
    FieldRow{"Key", "groups", "[KeyGroup]", kAdded},
    FieldRow{"KeyGroup", "name", "string", kAdded},
    FieldRow{"KeyGroup", "received", "[[integer]]", kAdded, "ranges, both ends inside"},
    FieldRow{"KeyGroup", "watermark", "integer", kAdded, "all below it were received"},

    FieldRow{"Coverage", "final", "boolean", kAdded, "false: the proof goes on"},
    FieldRow{"Coverage", "attempts", "integer", kAdded},
    FieldRow{"Coverage", "acked", "integer", kAdded},
    FieldRow{"Coverage", "failed", "integer", kAdded},
    FieldRow{"Coverage", "unknown", "integer", kAdded},
    FieldRow{"Coverage", "landed", "integer", kAdded, "unknown ones that were seen"},
    FieldRow{"Coverage", "received", "integer", kAdded},
    FieldRow{"Coverage", "foreign", "integer", kAdded, "records of somebody else"},
    FieldRow{"Coverage", "expired", "integer", kAdded},
    FieldRow{"Coverage", "compacted", "integer", kAdded},
    FieldRow{"Coverage", "unverifiable", "integer", kAdded},
    FieldRow{"Coverage", "pairsNotJudged", "integer", kAdded},
    FieldRow{"Coverage", "positionsAbsent", "integer", kAdded},
    FieldRow{"Coverage", "keysSilent", "integer", kAdded},
    FieldRow{"Coverage", "partitionsSilent", "integer", kAdded},
    FieldRow{"Coverage", "notChecked", "{integer}", kAdded},
    FieldRow{"Coverage", "missing", "[string]", kAdded, "evidence that is not there"},

    FieldRow{"Faults", "faults", "[Fault]", kAdded},
    FieldRow{"Fault", "number", "integer", kAdded},
    FieldRow{"Fault", "name", "string", kAdded},
    FieldRow{"Fault", "target", "string", kAdded},
    FieldRow{"Fault", "effect", "string", kAdded, "what was seen of it"},
    FieldRow{"Fault", "beginMillis", "integer", kAdded, "since the start of the proof, as the next four"},
    FieldRow{"Fault", "effectMillis", "integer?", kAdded},
    FieldRow{"Fault", "releasedMillis", "integer?", kAdded},
    FieldRow{"Fault", "endMillis", "integer?", kAdded},
    FieldRow{"Fault", "recoveredMillis", "integer?", kAdded},
    FieldRow{"Fault", "noRecovery", "string", kAdded},

    FieldRow{"Diagnostics", "stage", "string", kAdded},
    FieldRow{"Diagnostics", "ticks", "integer", kAdded},
    FieldRow{"Diagnostics", "inputs", "integer", kAdded, "lines of its log"},
    FieldRow{"Diagnostics", "workers", "[Worker]", kAdded},
    FieldRow{"Diagnostics", "messages", "[string]", kAdded, "the last ones"},
    FieldRow{"Worker", "name", "string", kAdded},
    FieldRow{"Worker", "url", "string", kAdded},
    FieldRow{"Worker", "incarnation", "integer", kAdded},
    FieldRow{"Worker", "lost", "boolean", kAdded},
    FieldRow{"Worker", "problem", "string", kAdded},
    FieldRow{"Worker", "silentMillis", "integer", kAdded},
    FieldRow{"Worker", "producers", "string", kAdded},
    FieldRow{"Worker", "consumers", "string", kAdded},
    FieldRow{"Worker", "rawRead", "string", kAdded},
    FieldRow{"Worker", "deltas", "integer", kAdded},
    FieldRow{"Worker", "traffic", "Traffic", kAdded},
    FieldRow{"Traffic", "attempts", "integer", kAdded},
    FieldRow{"Traffic", "acked", "integer", kAdded},
    FieldRow{"Traffic", "failed", "integer", kAdded},
    FieldRow{"Traffic", "unknown", "integer", kAdded},
    FieldRow{"Traffic", "received", "integer", kAdded},
    FieldRow{"Traffic", "bytesAcked", "integer", kAdded},
    FieldRow{"Traffic", "bytesReceived", "integer", kAdded},
    FieldRow{"Traffic", "clientErrors", "integer", kAdded},

    FieldRow{"Version", "name", "string", kAdded},
    FieldRow{"Version", "version", "string", kAdded},
    FieldRow{"Ready", "ready", "boolean", kAdded},
    FieldRow{"Ready", "reason", "string", kAdded, "why not"},

    FieldRow{"Failure", "error", "Error", kAdded},
    FieldRow{"Error", "code", "string", kAdded, "of docs/reference/errors.md"},
    FieldRow{"Error", "message", "string", kAdded},
    FieldRow{"Error", "faults", "[RequestFault]", kAdded, "all that is wrong with the request"},
    FieldRow{"RequestFault", "place", "string", kAdded},
    FieldRow{"RequestFault", "message", "string", kAdded},
    FieldRow{"RequestFault", "remedy", "string", kAdded},
};

bool is_plain(std::string_view type) {
  return type == "string" || type == "integer" || type == "number" || type == "boolean";
}

void schema(codec::JsonWriter& json, std::string_view type) {
  CHECK(!type.empty(), "a type has a name");
  if (type.ends_with('?')) {
    json.begin_object().key("oneOf").begin_array();
    schema(json, type.substr(0, type.size() - 1));
    json.begin_object().member("type", "null").end_object().end_array().end_object();
  } else if (type == "any") {
    json.begin_object().end_object();
  } else if (is_plain(type)) {
    json.begin_object().member("type", type).end_object();
  } else if (type.front() == '[' || type.front() == '{') {
    json.begin_object().member("type", type.front() == '[' ? "array" : "object");
    schema(json.key(type.front() == '[' ? "items" : "additionalProperties"), type.substr(1, type.size() - 2));
    json.end_object();
  } else {
    json.begin_object().member("$ref", "#/components/schemas/" + std::string(type)).end_object();
  }
}

}  // namespace

std::string_view standing_name(Standing standing) {
  switch (standing) {
    case Standing::kSame:
      return "same";
    case Standing::kCorrected:
      return "corrected";
    case Standing::kAdded:
      return "added";
  }
  return "";
}

std::span<const FieldRow> field_rows() { return kRows; }

std::span<const FieldRow> fields_of(std::string_view object) {
  const auto is_of = [&](const FieldRow& row) { return row.object == object; };
  const auto* const begin = std::find_if(kRows.begin(), kRows.end(), is_of);
  const auto* const end = std::find_if_not(begin, kRows.end(), is_of);
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string schema_json(std::string_view type) {
  codec::JsonWriter json;
  schema(json, type);
  return json.take();
}

}  // namespace sp::api

// A worker as the reference's own coordinator and scripts know it: two groups a proof, producers and consumers, begun and asked
// apart. A compatibility view; our coordinator asks a worker by gRPC.
//
//     POST /producers/start ─► NewProducers ─► WorkerView ─► a worker           GET /producers/checkpoints/{id} ─► ProducerCheckpoint
//
// Shape:    an id that is not known is no error: checkpoints are empty, stops do nothing.
// Units:    milliseconds in JSON; durations here.
// Cost:     O(keys) a checkpoint.
// Limits:   of bodies codec::DocumentOptions, of the counts those of a proof's fields.
// Errors:   400 with all faults of a request; a WorkerView's own by their code.
// Threads:  a WorkerView is called from several at once.   Source: sections 1.3, 1.4 and 1.6 of the reference.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/tokens.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "base/result.h"
#include "codec/document.h"
#include "coordinator/configs.h"
#include "core/counters.h"
#include "core/ids.h"
#include "http/routes.h"
#include "proof/fields.h"

namespace sp::api {

struct NewProducers {
  std::string id, topic;
  std::uint64_t producers = 0, keys = 0, rate = 0, payload_bytes = 8;
  coordinator::NamedDriver driver;
  bool transactional = false;
};
struct NewConsumers {
  std::string id, topic;
  std::uint64_t partitions = 0, consumers = 0, payload_bytes = 8;
  std::chrono::milliseconds consume_delay{0};
  coordinator::NamedDriver driver;
  std::optional<std::string> pulsar_consumer;  // a JSON object
};

struct SequenceAt {
  std::optional<core::Sequence> sequence;  // absent: −1
  std::optional<core::Position> position;
  std::optional<WallTime> published;       // as the system says
};
struct ProducerCheckpoint {
  struct Error {
    std::string text;
    std::uint64_t count = 0;
    WallTime first{}, last{};
  };
  std::vector<std::pair<std::string, SequenceAt>> published;  // every key that it owns, once
  std::vector<Error> errors;                                  // texts differ
};
struct ConsumerCheckpoint {
  struct Range {
    WallTime opened{};  // no two of a key are the same
    SequenceAt start, end;
    std::uint64_t duplicated = 0;
  };
  using Ranges = std::map<std::string, std::vector<Range>>;  // by key, in the order in which they were opened
  Ranges consumed;
  Ranges disturbed;  // written twice or out of order
};
struct GroupMetrics {
  core::Counters traffic;
  std::optional<Histogram> publish_latency, end_to_end_latency;  // absent: no such group
};

class WorkerView {
 public:
  virtual ~WorkerView() = default;
  virtual Result<void> start_producers(const NewProducers& producers) = 0;
  virtual Result<void> stop_producers(std::string_view id) = 0;
  virtual Result<void> start_consumers(const NewConsumers& consumers) = 0;
  virtual Result<void> stop_consumers(std::string_view id) = 0;
  [[nodiscard]] virtual ProducerCheckpoint producer_checkpoint(std::string_view id) const = 0;
  // Ranges below a key's watermark, the highest sequence without a gap before it, need not be told any more.
  using Watermarks = std::map<std::string, std::int64_t>;
  [[nodiscard]] virtual ConsumerCheckpoint consumer_checkpoint(std::string_view id, const Watermarks& watermarks) = 0;
  // By name of the consumer.
  [[nodiscard]] virtual std::map<std::string, ConsumerCheckpoint> consumer_details(std::string_view id) const = 0;
  // `windowed`: latencies since the last such call.
  [[nodiscard]] virtual GroupMetrics metrics(std::string_view id, bool windowed) = 0;
};

// Adds the endpoints of section 1.3 to `routes`. `view` outlives them.
void add_worker_routes(http::Routes& routes, WorkerView& view, const Tokens& tokens);

// ---- what the routes are made of ----

template <typename T>
struct Reading {
  T value;
  std::vector<proof::Fault> faults;  // empty: it can be used
};
[[nodiscard]] Reading<NewProducers> read_new_producers(const codec::Node& body);
[[nodiscard]] Reading<NewConsumers> read_new_consumers(const codec::Node& body);
[[nodiscard]] Reading<WorkerView::Watermarks> read_watermarks(const codec::Node& body);

[[nodiscard]] std::string checkpoint_json(const ProducerCheckpoint& checkpoint);
[[nodiscard]] std::string checkpoint_json(const ConsumerCheckpoint& checkpoint);
[[nodiscard]] std::string consumer_details_json(const std::map<std::string, ConsumerCheckpoint>& details);
[[nodiscard]] std::string group_metrics_json(const GroupMetrics& metrics);

}  // namespace sp::api

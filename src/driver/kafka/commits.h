// The commit requests of one consumer, from the request to its answer.
//
//     request() ─► kCommitInvoke ─┬─► answer ─► serve(): kCommitOk · kCommitFail · kCommitInfo
//                                 └─► none in time ─► abandon(): kCommitInfo
//
// A commit that the library makes by itself (enable.auto.commit) is seen with its answer only and
// passed as both.
//
// Cost:    one list of points for each open request.
// Errors:  outcomes are observations.
// Threads: the consumer's owner; it outlives the client's last call of a callback.
// Source:  driver.h; outcome.h, refuses_commit.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/observation.h"
#include "driver/driver.h"
#include "driver/kafka/handle.h"

namespace sp::driver::kafka {

class Commits {
 public:
  Commits(std::uint32_t process, core::GroupIndex group, MonotonicClock& clock)
      : process_(process), group_(group), clock_(clock) {}
  Commits(const Commits&) = delete;
  Commits& operator=(const Commits&) = delete;

  // Commits these points; the answer arrives while `queue`, which outlives it, is consumed.
  void request(rd_kafka_t* handle, rd_kafka_queue_t* queue, PartitionList points,
               core::ObservationSink& sink);
  // An answer to a commit of the library's own arrived; serve() passes it.
  void own_answered(const rd_kafka_topic_partition_list_t& points, rd_kafka_resp_err_t error);
  // Passes the answers that have arrived.
  void serve(core::ObservationSink& sink);
  void abandon(core::ObservationSink& sink);
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }

 private:
  // Its address is the opaque that comes back with the answer.
  struct Open {
    Commits* owner;
    rd_kafka_queue_t* queue;
    PartitionList points;
  };
  struct Answer {
    const Open* open;  // null: the library's own
    rd_kafka_resp_err_t error;
    PartitionList points;
  };
  static void on_answer(rd_kafka_t* handle, rd_kafka_resp_err_t error,
                        rd_kafka_topic_partition_list_t* points, void* open);
  void pass_outcome(const rd_kafka_topic_partition_list_t& points, rd_kafka_resp_err_t error,
                    core::ObservationSink& sink) const;
  void pass(const rd_kafka_topic_partition_list_t& points, core::Event event, std::string_view text,
            core::ObservationSink& sink) const;
  void pass_one(const rd_kafka_topic_partition_t& point, core::Event event, std::string_view text,
                MonotonicTime now, core::ObservationSink& sink) const;

  std::uint32_t process_;
  core::GroupIndex group_;
  MonotonicClock& clock_;  // outlives this
  std::vector<std::unique_ptr<Open>> open_;
  std::vector<std::unique_ptr<Open>> abandoned_;  // an answer may still come
  std::vector<Answer> answers_;
};

}  // namespace sp::driver::kafka

// A report in which every member says something, and the comparison of two.
//
// Errors: –.   Threads: values.
#pragma once

#include <gtest/gtest.h>

#include "control/worker_port.h"
#include "track/delta_bytes.h"

namespace sp::rpc {

inline control::WorkerReport sample_report() {
  control::WorkerReport report;
  for (std::uint64_t number = 4; number < 6; ++number) {
    track::Delta& delta = report.deltas.emplace_back();
    delta.source = {3, 2};
    delta.number = number;
    delta.literals = {"a name that is no UTF-8: \xFF"};
    track::Row row;
    row.kind = track::RowKind::kAcked;
    row.flags = track::kHasOffset;
    row.sequence = row.offset = 77 * number;
    delta.rows = {row, row};
  }
  report.more = true;
  report.producers = control::Phase::kRunning;
  report.consumers = control::Phase::kStopping;
  report.raw_read = control::Phase::kFailed;
  report.consumers_assigned = 9;
  report.messages = {"consumer 3: \xC3\x28 is no UTF-8", ""};
  report.failure = "opening producer 2: no";
  report.producers_refused = "producer 1: needs WRITE";
  report.consumers_refused = {{core::GroupIndex{0}, "needs READ"}, {core::GroupIndex{7}, "needs more"}};
  report.raw_read_refused = true;
  report.counters = {1, 2, 3, 4, 5, 6, 7, 8, 9, ~std::uint64_t{0}};
  report.publish_latency.record(std::chrono::milliseconds(3), 1'000);
  report.publish_latency.record(Histogram::kValueMax, 5);
  report.end_to_end_latency.record(std::chrono::seconds(2));
  return report;
}

inline void expect_same(const control::WorkerReport& a, const control::WorkerReport& b) {
  ASSERT_EQ(a.deltas.size(), b.deltas.size());
  for (std::size_t i = 0; i < a.deltas.size(); ++i) EXPECT_EQ(track::to_bytes(a.deltas[i]), track::to_bytes(b.deltas[i]));
  EXPECT_EQ(a.more, b.more);
  EXPECT_EQ(a.producers, b.producers);
  EXPECT_EQ(a.consumers, b.consumers);
  EXPECT_EQ(a.raw_read, b.raw_read);
  EXPECT_EQ(a.consumers_assigned, b.consumers_assigned);
  EXPECT_EQ(a.messages, b.messages);
  EXPECT_EQ(a.failure, b.failure);
  EXPECT_EQ(a.producers_refused, b.producers_refused);
  EXPECT_EQ(a.consumers_refused, b.consumers_refused);
  EXPECT_EQ(a.raw_read_refused, b.raw_read_refused);
  const auto numbers = [](const core::Counters& c) {
    return std::vector{c.attempts, c.acked, c.failed, c.unknown, c.received, c.bytes_acked, c.bytes_received, c.queue_full,
                       c.slots_dropped, c.client_errors};
  };
  EXPECT_EQ(numbers(a.counters), numbers(b.counters));
  EXPECT_EQ(a.publish_latency, b.publish_latency);
  EXPECT_EQ(a.end_to_end_latency, b.end_to_end_latency);
}

inline control::WorkerHello sample_hello() {
  control::WorkerHello hello;
  hello.driver = "kafka";
  hello.client = "librdkafka 2.16.0";
  hello.settings = {{"acks", "all"}, {"odd \xFF", "value \xFE"}};
  hello.notes = {"a note", "another"};
  hello.positions = false;
  hello.raw_read = false;
  hello.idempotent = true;
  return hello;
}

inline void expect_same(const control::WorkerHello& a, const control::WorkerHello& b) {
  EXPECT_EQ(std::tie(a.driver, a.client, a.settings, a.notes), std::tie(b.driver, b.client, b.settings, b.notes));
  EXPECT_EQ(std::tie(a.positions, a.raw_read, a.idempotent), std::tie(b.positions, b.raw_read, b.idempotent));
}

}  // namespace sp::rpc

// The broker's whole state and what happens in it. Clients lock `mutex`, call, copy what they are to pass on into a
// batch, unlock, and only then call their sink.
//
//     produce.cc   send ─► fate ─► log ─► open ack ─► due          consume.cc   hand over, commit, release, close
//     lineages.cc  open, close, rebalances for defects
//     state.cc     topics, timers: freeze, holds, late landings, sessions, honest rebalances, defects of lineages
//
// Cost: see broker.h.   Errors: none.   Threads: everything under `mutex`.   Source: README.md of this room.
#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "driver/embedded/broker.h"
#include "driver/embedded/group.h"
#include "driver/embedded/log.h"

namespace sp::driver::embedded {

// An attempt whose outcome its producer has not been told yet.
struct OpenAck {
  MonotonicTime due{};
  std::uint64_t serial = 0;          // ties are broken by the order of sending
  core::Event outcome = core::Event::kOk;
  core::KeyRef key;
  core::Sequence sequence;
  std::optional<core::Position> position;
  TruthBook::Item item = 0;
  bool withheld = false;             // stands in the log for raw reads only
};
struct LaterAck {
  bool operator()(const OpenAck& a, const OpenAck& b) const {
    return a.due != b.due ? a.due > b.due : a.serial > b.serial;
  }
};

struct Topic;

struct ProducerCore {
  ProducerSpec spec;
  Topic* topic = nullptr;
  std::priority_queue<OpenAck, std::vector<OpenAck>, LaterAck> acks;
  std::size_t held = 0;              // attempts that stand in Topic::holds
  std::condition_variable condition;
  bool waiting = false;
};

// A record of its own, bytes and all.
struct OwnRecord {
  std::string key;
  std::vector<std::byte> payload;
  [[nodiscard]] LogRecord view() const {
    LogRecord record;
    record.key = key;
    record.payload = payload;
    return record;
  }
};

// A record that waits for the next one of its key, to be stored behind it (reorder-write).
struct Hold {
  OwnRecord record;
  ProducerCore* producer = nullptr;
  core::KeyRef key;
  core::Sequence sequence;
  std::uint32_t partition = 0;
  TruthBook::Item item = 0;
  MonotonicTime until{};
};

// Stored when something honest follows in its partition, so that it is certain to be handed over: a copy, an unacked
// record.
struct Deferred {
  OwnRecord record;
  TruthBook::Item item = 0;
  bool second = false;               // the copy of a duplicate-write
  std::uint32_t skip = 0;            // after so many other records
};

// An attempt of unknown outcome that is stored late.
struct Landing {
  OwnRecord record;
  ProducerCore* producer = nullptr;
  std::uint32_t partition = 0;
  MonotonicTime due{};
};

struct Partition {
  PartitionLog log;
  MonotonicTime last_visible{};
  std::vector<Deferred> deferred;
};

struct Topic {
  std::string name;
  TopicSpec spec;
  std::vector<Partition> partitions;
  std::map<std::string, Group> groups;
  std::list<Hold> holds;
  std::vector<Landing> landings;
  MonotonicTime stall_after{};       // no delivery waits for a reorder-delivery before this
  MonotonicTime press_after{};       // no rebalance for a defect before this
};

// What a client passes on to its sink after the lock: observations whose text lies in `bytes`.
struct Batch {
  struct Item {
    core::Observation observation;
    std::size_t at = 0;              // of the key or text in `bytes`
    std::size_t name_bytes = 0;
    std::size_t payload_bytes = 0;   // behind the name
    std::size_t flip = 0;            // 0: intact; else a bit of payload byte flip − 1 is turned
  };
  std::vector<Item> items;
  std::string bytes;
  std::size_t deliveries = 0;
  void clear() {
    items.clear();
    bytes.clear();
    deliveries = 0;
  }
};

// How long a second owner stays at most (dual-owner).
constexpr Nanoseconds kIntrusionMax = std::chrono::milliseconds{300};

// An observation of a consumer: its process, group and time filled in.
[[nodiscard]] core::Observation consumer_event(const Member& member, core::Event event, MonotonicTime now);

struct State {
  State(MonotonicClock& clock_in, const WallClock& wall_in, BrokerOptions options_in);

  // --- state.cc: under the lock
  Topic& make_topic(const TopicSpec& spec);
  [[nodiscard]] Topic* find_topic(const std::string& name);
  // Does everything that is due by now.
  void pump(MonotonicTime now);
  [[nodiscard]] std::optional<MonotonicTime> next_event(MonotonicTime now);
  // The earliest of the broker's own timers.
  [[nodiscard]] std::optional<MonotonicTime> next_timer();
  [[nodiscard]] bool frozen(MonotonicTime now) const { return now < frozen_until; }
  [[nodiscard]] Nanoseconds draw(const Delay& delay);
  void wake_all();
  void expel(Topic& topic, Group& group, Member& member, MonotonicTime now);
  void move(Group& group, std::uint32_t partition, MonotonicTime now);
  [[nodiscard]] std::size_t log_bytes() const;

  // --- produce.cc: under the lock
  SendStatus send(ProducerCore& producer, const core::Envelope& envelope, core::KeyRef key, MonotonicTime now);
  // The outcomes due by `until`.
  void collect_acks(ProducerCore& producer, MonotonicTime until, MonotonicTime now, Batch& batch);
  // No more of this producer: what is held is stored in order, what would land late never does.
  void flush_producer(ProducerCore& producer, MonotonicTime now);
  // Its open attempts stay unknown; passed to the batch if it is given.
  void forget_acks(ProducerCore& producer, MonotonicTime now, Batch* batch);
  void release_holds(MonotonicTime now);
  void land(MonotonicTime now);

  // --- consume.cc: under the lock
  // What the member is to be told and handed, at most `records_max` deliveries.
  void collect(Topic& topic, Group& group, Member& member, std::size_t records_max, MonotonicTime now, Batch& batch);
  void release(Group& group, Member& member, MonotonicTime now, Batch& batch);
  void commit(Topic& topic, Group& group, Member& member, std::span<const CommitPoint> points,
              MonotonicTime now, Batch& batch);
  void collect_commits(Group& group, Member& member, MonotonicTime until, MonotonicTime now, Batch& batch);
  void close_member(Group& group, Member& member, MonotonicTime until, MonotonicTime now, Batch& batch);
  // When the member has something to poll for; absent: not before something happens.
  [[nodiscard]] std::optional<MonotonicTime> next_of(Topic& topic, Group& group, Member& member, MonotonicTime now);
  // Brings about the rebalances that defects of lineages need.
  void press_lineages(Topic& topic, Group& group, MonotonicTime now);

  MonotonicClock& clock;             // outlives this
  const WallClock& wall;             // outlives this
  BrokerOptions options;
  std::mutex mutex;
  Prng latency;
  Prng bad_days;
  TruthBook book;
  Planter planter;
  std::map<std::string, std::unique_ptr<Topic>> topics;
  std::vector<std::unique_ptr<Topic>> deleted;  // clients may still point at them
  std::vector<ProducerCore*> producers;
  MonotonicTime frozen_until{};
  std::optional<MonotonicTime> next_rebalance;
  std::optional<MonotonicTime> next_restart;
  std::uint64_t serials = 0;
  std::size_t bytes = 0;             // of all logs, as of the last send

 private:
  void restart_someone(MonotonicTime now);
  void rebalance_someone(MonotonicTime now);
  [[nodiscard]] MonotonicTime after(MonotonicTime now, Nanoseconds mean);

  struct Sending;                    // one record on its way in
  std::uint64_t store(Topic& topic, std::uint32_t partition, LogRecord record, MonotonicTime now);
  void store_deferred(Topic& topic, std::uint32_t partition, MonotonicTime now);
  void stand(Topic& topic, std::uint32_t partition, std::uint64_t offset, TruthBook::Item item, bool second);
  [[nodiscard]] bool meet_hold(const Sending& sending);
  [[nodiscard]] bool send_fated(const Sending& sending);
  void send_emptied(const Sending& sending, TruthBook::Item item);
  void send_phantom(const Sending& sending, TruthBook::Item item);
  void send_plain(const Sending& sending, TruthBook::Item item);
  [[nodiscard]] bool send_on_a_bad_day(const Sending& sending);
  void acknowledge(const Sending& sending, core::Event outcome, std::optional<core::Position> position,
                   TruthBook::Item item, bool withheld);
  void unhold(Topic& topic, std::list<Hold>::iterator hold, MonotonicTime now);
  [[nodiscard]] bool room_for(Topic& topic, std::size_t more);

  struct Serving;                    // one lineage being served
  void tell_losses(Group& group, Member& member, MonotonicTime now, Batch& batch);
  void open_lineages(Topic& topic, Group& group, Member& member, MonotonicTime now, Batch& batch);
  void open_lineage(Topic& topic, Group& group, Member& member, std::uint32_t partition,
                    MonotonicTime now, Batch& batch);
  void open_intruder(Topic& topic, Group& group, Member& member, std::uint32_t partition,
                     MonotonicTime now, Batch& batch);
  void tell_open(Group& group, Member& member, const Lineage& lineage, MonotonicTime now, Batch& batch);
  void press_rewind(Topic& topic, Group& group, MonotonicTime now);
  void press_dual_owner(Topic& topic, Group& group, MonotonicTime now);
  void commit_handed(Topic& topic, Group& group, Member& member, MonotonicTime now, Batch& batch);
  // The position to rewind to, below the confirmed commit; absent: it cannot be done exactly here and now.
  [[nodiscard]] std::optional<std::uint64_t> rewind_start(Topic& topic, Group& group, std::uint32_t partition);
  void serve(const Serving& serving);
  void hand_over(const Serving& serving, std::uint64_t offset, const LogRecord& record, std::size_t flip);
  // True if a defect of deliveries handed the record over, or waits for another.
  [[nodiscard]] bool serve_fated(const Serving& serving, const LogRecord& record);
  [[nodiscard]] bool serve_swapped(const Serving& serving, const LogRecord& record);
  [[nodiscard]] std::optional<std::uint64_t> find_next_of_key(const Serving& serving, const LogRecord& record,
                                                              bool& blocked) const;
  void close_lineage(Group& group, Member& member, std::size_t index, core::LineageClose how,
                     MonotonicTime now, Batch& batch);
};

}  // namespace sp::driver::embedded

#include "worker/topic.h"

#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

namespace sp::worker {
namespace {

constexpr Nanoseconds kGoneLook = std::chrono::milliseconds(250);

void wait_for(MonotonicClock& clock, Nanoseconds span) {
  std::mutex mutex;
  std::condition_variable nobody;
  std::unique_lock lock(mutex);
  const MonotonicTime deadline = clock.now() + span;
  while (clock.now() < deadline) clock.wait_until(lock, nobody, deadline);
}

Result<std::uint32_t> create_new(driver::Driver& driver, const driver::TopicSpec& spec) {
  auto created = driver.create_topic(spec);
  if (created) return spec.partitions;
  if (created.error().code != ErrorCode::kExists) return fail_up(std::move(created), "creating it");
  return fail(ErrorCode::kExists, "it is already there; use another name (--topic), or --topic-exists reuse to take it "
                                  "as it is, or --topic-exists recreate to delete it with all its records");
}

Result<std::uint32_t> reuse(driver::Driver& driver, const driver::TopicSpec& spec) {
  auto found = driver.describe_topic(spec.name);
  if (!found) {
    if (found.error().code == ErrorCode::kNotFound) return create_new(driver, spec);
    return fail_up(std::move(found), "looking at it");
  }
  if (found->partitions < spec.partitions) {
    return fail(ErrorCode::kInvalid,
                fmt::format("it has {0} partitions, but {1} were asked for; run with --partitions {0}, or with "
                            "--topic-exists recreate to delete it with all its records",
                            found->partitions, spec.partitions));
  }
  return found->partitions;
}

Result<std::uint32_t> recreate(driver::Driver& driver, const driver::TopicSpec& spec, MonotonicClock& clock) {
  auto deleted = driver.delete_topic(spec.name);
  if (!deleted && deleted.error().code != ErrorCode::kNotFound) return fail_up(std::move(deleted), "deleting it");
  const MonotonicTime deadline = clock.now() + kGoneMax;
  while (true) {  // systems answer a deletion before it is done
    auto created = driver.create_topic(spec);
    if (created) return spec.partitions;
    if (created.error().code != ErrorCode::kExists) return fail_up(std::move(created), "creating it anew");
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, fmt::format("it was deleted but is still there after {} s; try again later",
                                                   std::chrono::duration_cast<std::chrono::seconds>(kGoneMax).count()));
    }
    wait_for(clock, kGoneLook);
  }
}

}  // namespace

driver::TopicSpec topic_spec(const proof::Proof& proof, const std::string& topic) {
  driver::TopicSpec spec;
  spec.name = topic;
  spec.partitions = proof.partitions;
  spec.replication = proof.replication;
  spec.config = proof.topic_config;
  return spec;
}

Result<std::uint32_t> make_topic(driver::Driver& driver, const driver::TopicSpec& spec, proof::TopicExists policy,
                                 MonotonicClock& clock) {
  switch (policy) {
    case proof::TopicExists::kFail: return create_new(driver, spec);
    case proof::TopicExists::kReuse: return reuse(driver, spec);
    case proof::TopicExists::kRecreate: return recreate(driver, spec, clock);
  }
  return fail(ErrorCode::kInternal, "no such policy");
}

}  // namespace sp::worker

// Proofs whose coordinator or worker is killed, over and over, each at a moment that the seed draws, and what they say compared with what
// the broker did.
//
//     SP_KILLS=100 SP_KILLS_SEED=1 process_kill_tests      more of them, from another seed (tests/kill-loop runs it)
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/prng.h"
#include "process/service.h"

namespace sp::process_test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? usual : std::stoull(text);
}

// Where in a proof's life the kill falls. Between the first and the last the stages of coordinator/coordinator.h.
constexpr std::array<std::string_view, 7> kPhases = {"start", "load", "stop-producers", "final-wait", "stop-consumers", "raw-read", "over"};

class KillLoopTest : public ServiceTest {
 protected:
  std::unique_ptr<Program> broker;
  std::array<std::unique_ptr<Program>, 2> workers;
  std::array<std::string, 2> worker_urls;
  std::map<std::string, int> kills;  // by phase and victim

  [[nodiscard]] std::string broker_address() const {
    for (const MonotonicTime end = clock.now() + 20s; clock.now() < end && broker->running();) {
      const std::string out = broker->out();
      if (const auto at = out.find("broker on "); at != std::string::npos && out.find('\n', at) != std::string::npos) {
        return out.substr(at + 10, out.find_first_of(", \n", at + 10) - at - 10);
      }
      wait(10ms);
    }
    ADD_FAILURE() << broker->out() << broker->err();
    return "";
  }
  void start_worker(std::size_t number, const std::string& port) {
    workers[number] = std::make_unique<Program>(std::vector<std::string>{"worker", "-p", port, "--rpc-port", "0"});
    worker_urls[number] = url_of(*workers[number]);
  }
  void begin(std::uint64_t seed) {
    coordinator.reset();
    workers = {};
    broker = std::make_unique<Program>(std::vector<std::string>{
        "broker", "--port", "0", "--seed", std::to_string(seed), "--defect", "lose:count=2", "--defect", "duplicate-write:count=3",
        "--expected-records", "3000", "--expected-keys", "20", "--session-timeout", "2", "--truth", "truth.jsonl"});
    const std::string address = broker_address();
    for (std::size_t i = 0; i < workers.size(); ++i) start_worker(i, "0");
    ASSERT_TRUE(sys::remove_tree(folder.path() / "state"));
    start_coordinator();
    const auto put = call("PUT", "/configs",
                          fmt::format(R"({{"workers":{{"w1":"{}","w2":"{}"}},"drivers":{{"e":{{"driverType":"embedded",
        "driverConfigs":{{"broker.address":"{}"}}}}}}}})",
                                      worker_urls[0], worker_urls[1], address));
    ASSERT_EQ(put.status, 200) << put.body;
  }
  [[nodiscard]] std::string stage(const std::string& id) const {
    const http::Answer answer = call("GET", "/proofs/" + id + "/diagnostics");
    auto root = codec::parse_document(answer.body);
    return root ? text(*root, {"stage"}) : "";
  }
  // Waits until the proof has come to the phase; the one that it is in then.
  std::string come_to(const std::string& id, std::string_view phase, Prng& prng) {
    if (phase == "start") {
      wait(Nanoseconds{static_cast<std::int64_t>(prng.below(200'000'000))});
      return "start";
    }
    const auto rank = [](std::string_view name) { return std::find(kPhases.begin(), kPhases.end(), name) - kPhases.begin(); };
    std::string now;
    for (const MonotonicTime end = clock.now() + 60s; clock.now() < end;) {
      now = stage(id);
      if (now == "done") return "over";
      if (now == "judge" || now == "clean-up") return "raw-read";
      if (!now.empty() && now != "prepare" && now != "assign" && rank(now) >= rank(phase)) break;
    }
    if (now == "load") wait(Nanoseconds{static_cast<std::int64_t>(prng.below(2'000'000'000))});
    return now;
  }
  void kill(std::string_view victim) {
    if (victim == "coordinator") {
      coordinator->signal(SIGKILL);
      EXPECT_LT(coordinator->end(20s).code, 0);
      start_coordinator();
      return;
    }
    const std::string port = worker_urls[1].substr(worker_urls[1].rfind(':') + 1);
    workers[1]->signal(SIGKILL);
    EXPECT_LT(workers[1]->end(20s).code, 0);
    start_worker(1, port);
  }
  // What must be counted of each code for what the broker planted.
  std::map<std::string, std::uint64_t> truth() {
    broker->signal(SIGTERM);
    EXPECT_EQ(broker->end(20s).code, 0) << broker->err();
    std::map<std::string, std::uint64_t> counts;
    std::ifstream file(broker->folder() / "truth.jsonl");
    for (std::string line; std::getline(file, line);) {
      auto root = codec::parse_document(line);
      if (root) counts[text(*root, {"code"})] += number(*root, {"count"});
    }
    return counts;
  }
};

TEST_F(KillLoopTest, WhatIsSaidIsWhatTheBrokerDidWhoeverWasKilledWhen) {
  const std::uint64_t count = from_environment("SP_KILLS", 8);
  const std::uint64_t first = from_environment("SP_KILLS_SEED", 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t seed = first + i;
    Prng prng(seed);
    const std::string_view victim = seed % 3 == 0 ? "worker" : "coordinator";
    const std::string_view phase = kPhases[(seed - 1) % kPhases.size()];
    begin(seed);
    if (HasFatalFailure()) return;
    const auto posted =
        call("POST", "/proofs?wait=false", R"({"driver":"e","features":["at_least_once","ordering"],"partitions":4,"msgRate":1000,
      "keys":20,"messageSize":100,"checkPointInterval":1,"timeout":8,"duration":3,"finalWaitSeconds":6})");
    ASSERT_EQ(posted.status, 200) << posted.body;
    auto root = codec::parse_document(posted.body);
    ASSERT_TRUE(root);
    const std::string id = text(*root, {"id"});
    const std::string at = come_to(id, phase, prng);
    kill(victim);
    ++kills[fmt::format("{} of the {}", at, victim)];
    const codec::Node report = wait_for(id);
    const auto planted = truth();
    const std::string what =
        fmt::format("seed {}: {} killed at {}: {}: {}", seed, victim, at, text(report, {"status"}), text(report, {"resultReason"}));
    const auto planted_of = [&](const char* code) { return planted.contains(code) ? planted.at(code) : 0; };
    if (victim == "coordinator") {
      EXPECT_EQ(number(report, {"summary", "missed"}), planted_of("lost")) << what;
      EXPECT_EQ(number(report, {"summary", "writeDuplicates"}), planted_of("duplicate-write")) << what;
      EXPECT_EQ(text(report, {"status"}), planted_of("lost") > 0 ? "failed" : "passed") << what;
    } else {
      EXPECT_LE(number(report, {"summary", "missed"}), planted_of("lost")) << what;
      EXPECT_LE(number(report, {"summary", "writeDuplicates"}), planted_of("duplicate-write")) << what;
    }
    EXPECT_EQ(text(report, {"summary", "outOfOrders"}), "0") << what;
    EXPECT_EQ(text(report, {"summary", "counts", "phantom"}), "0") << what;
    EXPECT_EQ(text(report, {"summary", "counts", "skip"}), "0") << what;
    if (HasFailure()) {
      const auto violations = call("GET", "/proofs/" + id + "/violations?limit=20");
      FAIL() << what << "\n"
             << violations.body << "\n"
             << call("GET", "/proofs/" + id + "/diagnostics").body << coordinator->err() << workers[1]->err();
    }
  }
  for (const auto& [name, times] : kills) fmt::print("{} kills at {}\n", times, name);
}

}  // namespace
}  // namespace sp::process_test

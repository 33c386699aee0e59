// Races on purpose, for the stage tsan to catch, and lawful threads for it to leave alone: planted_race
// race|c11|locked|kafka
#include <threads.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include <librdkafka/rdkafka.h>

namespace {

int counter = 0;
mtx_t lock;

void add_bare() {
  for (int i = 0; i < 1000; ++i) ++counter;
}

void add_locked() {
  for (int i = 0; i < 1000; ++i) {
    mtx_lock(&lock);
    ++counter;
    mtx_unlock(&lock);
  }
}

void twice_by_jthread(void (*work)()) {
  const std::jthread one(work);
  const std::jthread other(work);
}

int call(void* work) {
  (*static_cast<void (**)()>(work))();
  return 0;
}

void twice_by_c11(void (*work)()) {
  thrd_t one{};
  thrd_t other{};
  thrd_create(&one, call, &work);
  thrd_create(&other, call, &work);
  thrd_join(one, nullptr);
  thrd_join(other, nullptr);
}

// A client starts its own threads and stops them again; nothing listens where it connects to.
int kafka() {
  char why[512];
  rd_kafka_conf_t* settings = rd_kafka_conf_new();
  rd_kafka_conf_set(settings, "bootstrap.servers", "127.0.0.1:1", why, sizeof why);
  rd_kafka_conf_set(settings, "log_level", "0", why, sizeof why);
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, settings, why, sizeof why);
  if (client == nullptr) return 1;
  rd_kafka_poll(client, 200);
  rd_kafka_destroy(client);
  std::puts("librdkafka ran");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "kafka") == 0) return kafka();
  mtx_init(&lock, mtx_plain);
  if (std::strcmp(argv[1], "race") == 0) twice_by_jthread(add_bare);
  if (std::strcmp(argv[1], "c11") == 0) twice_by_c11(add_bare);
  if (std::strcmp(argv[1], "locked") == 0) twice_by_c11(add_locked);
  std::printf("counted %d without a race\n", counter);
  return 0;
}

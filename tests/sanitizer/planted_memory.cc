// Faults on purpose, for the stage asan to catch: planted_memory heap|free|leak|overflow
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>

namespace {

// What the compiler cannot see through.
int hidden(int value) {
  volatile int copy = value;
  return copy;
}

int heap() {
  const auto bytes = std::make_unique<char[]>(8);
  std::memset(bytes.get(), 0, 8);
  return bytes[static_cast<std::size_t>(hidden(8))];
}

int freed() {
  auto* number = new int(hidden(1));
  int* const other = number;
  delete number;
  return *other;
}

int leak() {
  auto* volatile lost = new int(hidden(1));
  lost = nullptr;
  return lost == nullptr ? 0 : 1;
}

int overflow() { return hidden(INT_MAX) + hidden(1); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int result = 0;
  if (std::strcmp(argv[1], "heap") == 0) result = heap();
  if (std::strcmp(argv[1], "free") == 0) result = freed();
  if (std::strcmp(argv[1], "leak") == 0) result = leak();
  if (std::strcmp(argv[1], "overflow") == 0) result = overflow();
  std::printf("nobody noticed %d\n", result);
  return 0;
}

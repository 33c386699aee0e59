// A guarded number that is changed without its lock, for clang's thread-safety analysis to find (tests/tidy/CMakeLists.txt).
namespace {

class __attribute__((capability("mutex"))) Lock {
 public:
  void lock() __attribute__((acquire_capability())) { held_ = true; }
  void unlock() __attribute__((release_capability())) { held_ = false; }

 private:
  bool held_ = false;
};

class Counter {
 public:
  int add() {
#ifdef LAWFUL
    lock_.lock();
    const int value = ++value_;
    lock_.unlock();
    return value;
#else
    return ++value_;
#endif
  }

 private:
  Lock lock_;
  int value_ __attribute__((guarded_by(lock_))) = 0;
};

}  // namespace

int main() {
  Counter counter;
  return counter.add() - 1;
}

// The C11 threads of <threads.h>, forwarded to pthread, for builds under ThreadSanitizer (cmake/libraries.cmake says why).
//
// libc gives both the same objects: its mtx_t, cnd_t and thrd_t are laid over pthread's, which the assertions below insist on.
// Only what librdkafka calls is here; a call of another one would reach libc and show as a crash under TSan, not as silence.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t), "mtx_t holds a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t), "cnd_t holds a pthread_cond_t");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "thrd_t is a pthread_t");

static int said(int code) {
  if (code == 0) return thrd_success;
  if (code == EBUSY) return thrd_busy;
  if (code == ETIMEDOUT) return thrd_timedout;
  return code == ENOMEM ? thrd_nomem : thrd_error;
}

struct start {
  thrd_start_t function;
  void* argument;
};

static void* run(void* given) {
  const struct start start = *(struct start*)given;
  free(given);
  return (void*)(intptr_t)start.function(start.argument);
}

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  struct start* start = malloc(sizeof *start);
  if (start == NULL) return thrd_nomem;
  start->function = function;
  start->argument = argument;
  const int code = pthread_create((pthread_t*)thread, NULL, run, start);
  if (code != 0) free(start);
  return said(code);
}

int thrd_join(thrd_t thread, int* result) {
  void* value = NULL;
  const int code = pthread_join((pthread_t)thread, &value);
  if (code == 0 && result != NULL) *result = (int)(intptr_t)value;
  return said(code);
}

int thrd_detach(thrd_t thread) { return said(pthread_detach((pthread_t)thread)); }
thrd_t thrd_current(void) { return (thrd_t)pthread_self(); }
int thrd_equal(thrd_t one, thrd_t other) { return pthread_equal((pthread_t)one, (pthread_t)other); }
void thrd_yield(void) { sched_yield(); }
_Noreturn void thrd_exit(int result) { pthread_exit((void*)(intptr_t)result); }

int mtx_init(mtx_t* mutex, int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, (kind & mtx_recursive) ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  const int code = pthread_mutex_init((pthread_mutex_t*)mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return said(code);
}
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy((pthread_mutex_t*)mutex); }
int mtx_lock(mtx_t* mutex) { return said(pthread_mutex_lock((pthread_mutex_t*)mutex)); }
int mtx_trylock(mtx_t* mutex) { return said(pthread_mutex_trylock((pthread_mutex_t*)mutex)); }
int mtx_unlock(mtx_t* mutex) { return said(pthread_mutex_unlock((pthread_mutex_t*)mutex)); }
int mtx_timedlock(mtx_t* mutex, const struct timespec* deadline) {
  return said(pthread_mutex_timedlock((pthread_mutex_t*)mutex, deadline));
}

int cnd_init(cnd_t* condition) { return said(pthread_cond_init((pthread_cond_t*)condition, NULL)); }
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy((pthread_cond_t*)condition); }
int cnd_signal(cnd_t* condition) { return said(pthread_cond_signal((pthread_cond_t*)condition)); }
int cnd_broadcast(cnd_t* condition) { return said(pthread_cond_broadcast((pthread_cond_t*)condition)); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return said(pthread_cond_wait((pthread_cond_t*)condition, (pthread_mutex_t*)mutex));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const struct timespec* deadline) {
  return said(pthread_cond_timedwait((pthread_cond_t*)condition, (pthread_mutex_t*)mutex, deadline));
}

void call_once(once_flag* flag, void (*function)(void)) { pthread_once((pthread_once_t*)flag, function); }

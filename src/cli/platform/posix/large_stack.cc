#include "large_stack.h"

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "exit_codes.h"
#include "handles.h"

namespace cli {
namespace {

// The usual limit of main threads. Memory is taken as it is touched.
constexpr size_t kStackBytes = size_t{8} << 20;

struct Call {
  int (*function)(int argc, char** argv) noexcept;
  int argc;
  char** argv;
  int result = 0;
};

void* run(void* data) {
  auto* call = static_cast<Call*>(data);
  call->result = call->function(call->argc, call->argv);
  return nullptr;
}

}  // namespace

int run_on_large_stack(int (*function)(int argc, char** argv) noexcept,
                       int argc, char** argv) {
  pthread_attr_t attributes;
  pthread_t thread;
  Call call = {function, argc, argv};
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, kStackBytes);
#ifdef __GLIBC__
    // Its default is the limit of the process.
    if (error == 0) error = pthread_setattr_default_np(&attributes);
#endif
    if (error == 0) error = pthread_create(&thread, &attributes, run, &call);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0) {
    throw Failure{kMemory,
                  "a thread with a stack of " + std::to_string(kStackBytes) +
                      " bytes cannot be started: " + std::strerror(error) +
                      "; allow the process more memory (ulimit -v)"};
  }
  // Signals interrupt what the thread waits for, not this wait.
  sigset_t others, before;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    sigdelset(&others, own);
  }
  pthread_sigmask(SIG_SETMASK, &others, &before);
  pthread_join(thread, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return call.result;
}

}  // namespace cli

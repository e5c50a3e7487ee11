#include "base/deep_stack.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <memory>
#include <new>
#include <system_error>

#include "base/compute_thread.h"
#include "base/error.h"
#include "base/threads.h"

namespace rc {
namespace {

// The default of main threads, with which drivers are tried. Memory is taken as
// it is touched.
constexpr size_t kStackBytes = size_t{8} << 20;

// Whether this thread has been begun for its stack.
thread_local bool is_deep = false;

struct Call {
  void (*function)(void*);
  void* data;
  std::exception_ptr thrown;
};

// Drivers leave a signal stack behind (LLVM does). The owner of the stack
// before, such as a sanitizer, will free that one.
class SignalStack {
#if !defined(__EMSCRIPTEN__)  // where there are no signals
 public:
  SignalStack() { sigaltstack(nullptr, &before_); }
  ~SignalStack() { sigaltstack(&before_, nullptr); }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  stack_t before_ = {};
#endif
};

void begin() noexcept {
  become_compute_thread();
  is_deep = true;
}

void* run(void* data) noexcept {
  begin();
  auto* call = static_cast<Call*>(data);
  [[maybe_unused]] const SignalStack kept;
  try {
    call->function(call->data);
  } catch (...) {
    call->thrown = std::current_exception();
  }
  return nullptr;
}

// Not noexcept: the function may end the thread.
void* run_detached(void* data) {
  begin();
  const Call call = *std::unique_ptr<Call>(static_cast<Call*>(data));
  [[maybe_unused]] const SignalStack kept;
  call.function(call.data);
  return nullptr;
}

class Attributes {
 public:
  Attributes() {
    if (pthread_attr_init(&attributes_) != 0) throw std::bad_alloc();
  }
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  pthread_attr_t* get() { return &attributes_; }

 private:
  pthread_attr_t attributes_;
};

// The error of pthread_create, or 0.
int start(bool detached, void* (*function)(void*), void* data,
          pthread_t* thread) {
  Attributes attributes;
  pthread_attr_setstacksize(attributes.get(), kStackBytes);
  if (detached) {
    pthread_attr_setdetachstate(attributes.get(), PTHREAD_CREATE_DETACHED);
  }
  sigset_t others, before;
  sigfillset(&others);
  // Those that an instruction raises come to the thread that it belongs to:
  // drivers and hosts have handlers for them.
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    sigdelset(&others, own);
  }
  pthread_sigmask(SIG_SETMASK, &others, &before);
  const int error = pthread_create(thread, attributes.get(), function, data);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

void on_deep_stack(void (*function)(void*), void* data) {
  if (!kThreads || is_deep) {
    function(data);
    return;
  }
  Call call = {function, data, nullptr};
  pthread_t thread;
  if (const int error = start(/*detached=*/false, run, &call, &thread)) {
    fail(RC_E_DEVICE, "a thread to use drivers on could not be started: ",
         std::generic_category().message(error));
  }
  pthread_join(thread, nullptr);
  if (call.thrown != nullptr) std::rethrow_exception(call.thrown);
}

void start_deep_thread(void (*function)(void*), void* data) {
  auto call = std::make_unique<Call>(Call{function, data, nullptr});
  pthread_t thread;
  if (const int error =
          start(/*detached=*/true, run_detached, call.get(), &thread)) {
    fail(RC_E_OUT_OF_MEMORY, "a thread of the library did not start: ",
         std::generic_category().message(error));
  }
  static_cast<void>(call.release());  // the thread's now
}

}  // namespace rc

// Functions that JavaScript needs besides the library: callbacks that threads
// may call, and exceptions of JavaScript that callbacks throw.
//
// A function of JavaScript exists only on the thread that made the module.
// Callbacks of a loop are called there; those that a thread calls while it
// works are given one of these functions, and as their `user` the address of an
// rc_web_callback, which lives as long as they may be called.
#include <emscripten/emscripten.h>
#include <emscripten/threading.h>
#include <runcible/runcible.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

namespace {

// The ABI that JavaScript was written for.
static_assert(sizeof(void*) == 4, "pointers of the module have 32 bits");

struct rc_web_callback {
  void (*function)();  // of JavaScript's, as addFunction gives it
  void* user;          // its first argument
};

// Has a function called on JavaScript's thread, and waits for it. What it does
// must not throw.
void call_there(void (*function)(void*), void* argument) {
#if defined(__EMSCRIPTEN_PTHREADS__)
  emscripten_sync_run_in_main_runtime_thread(EM_FUNC_SIG_VI, function,
                                             argument);
#else
  function(argument);
#endif
}

struct Progress {
  const rc_web_callback* callback;
  double fraction;
  int32_t answer = 0;
  bool failed = false;
  char failure[400] = "";
};

void call_progress(void* argument) {
  Progress& call = *static_cast<Progress*>(argument);
  const auto function =
      reinterpret_cast<rc_progress_callback>(call.callback->function);
  try {
    call.answer = function(call.callback->user, call.fraction);
  } catch (const std::exception& error) {
    call.failed = true;
    std::snprintf(call.failure, sizeof call.failure, "%s", error.what());
  }
}

int32_t progress(void* user, double fraction) {
  Progress call{static_cast<const rc_web_callback*>(user), fraction};
  call_there(call_progress, &call);
  if (call.failed) throw std::runtime_error(call.failure);
  return call.answer;
}

// It is not waited for: the thread that logs may hold locks that JavaScript's
// thread needs. The text is behind it.
struct Message {
  const rc_web_callback* callback;
  rc_log_level level;

  char* text() { return reinterpret_cast<char*>(this + 1); }
};

void call_log(void* argument) {
  Message* const call = static_cast<Message*>(argument);
  const auto function =
      reinterpret_cast<rc_log_callback>(call->callback->function);
  try {
    function(call->callback->user, call->level, call->text());
  } catch (const std::exception&) {
    // As base.h has it, there is no one to report to.
  }
  std::free(call);
}

void log_message(void* user, rc_log_level level, const char* text) {
  const size_t size = std::strlen(text) + 1;
  void* const memory = std::malloc(sizeof(Message) + size);
  if (memory == nullptr) return;
  Message* const call =
      new (memory) Message{static_cast<const rc_web_callback*>(user), level};
  std::memcpy(call->text(), text, size);
#if defined(__EMSCRIPTEN_PTHREADS__)
  emscripten_async_run_in_main_runtime_thread(EM_FUNC_SIG_VI, call_log, call);
#else
  call_log(call);
#endif
}

}  // namespace

extern "C" {

// An rc_progress_callback, for a function of JavaScript's of that type: it is
// called on JavaScript's thread, and its answer waited for.
EMSCRIPTEN_KEEPALIVE rc_progress_callback rc_web_progress() { return progress; }

// An rc_log_callback, for a function of JavaScript's of that type: it is called
// on JavaScript's thread, soon; also after rc_log_set has set another.
EMSCRIPTEN_KEEPALIVE rc_log_callback rc_web_log() { return log_message; }

// A function that frees its `user`, which malloc gave; for memory that is lent
// to the library.
EMSCRIPTEN_KEEPALIVE rc_tensor_borrow_callback rc_web_free() {
  return std::free;
}

// Throws what a function of JavaScript's has thrown, as the library knows
// exceptions (in_module.js): it would not see one of JavaScript's, which runs
// through all of it. Frees the text, which malloc gave; NULL: there was no
// memory for one.
EMSCRIPTEN_KEEPALIVE void rc_web_throw(char* text) {
  if (text == nullptr) throw std::bad_alloc();
  char what[400];
  std::snprintf(what, sizeof what, "%s", text);
  std::free(text);
  throw std::runtime_error(what);
}

}  // extern "C"

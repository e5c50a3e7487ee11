/* Calls without the interpreter's lock; included by the wrapper alone. */
#ifndef RUNCIBLE_RUBY_LONG_CALLS_H
#define RUNCIBLE_RUBY_LONG_CALLS_H

#include <ruby.h>
#include <ruby/thread.h>
#include <runcible/runcible.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <tuple>

/* Handles that a call may hold; NULL is no handle. */
#define RUNCIBLE_HANDLE(TYPE)                     \
  inline void runcible_retain(TYPE* handle) {     \
    if (handle != nullptr) TYPE##_retain(handle); \
  }                                               \
  inline void runcible_release(TYPE* handle) { TYPE##_release(handle); }
RUNCIBLE_HANDLE(rc_backend)
RUNCIBLE_HANDLE(rc_tokenizer)
RUNCIBLE_HANDLE(rc_model)
RUNCIBLE_HANDLE(rc_session)
RUNCIBLE_HANDLE(rc_tensor)
RUNCIBLE_HANDLE(rc_grammar)
RUNCIBLE_HANDLE(rc_chat)
RUNCIBLE_HANDLE(rc_embedding)
RUNCIBLE_HANDLE(rc_graph)
RUNCIBLE_HANDLE(rc_custom_op)
#undef RUNCIBLE_HANDLE

template <class Run>
struct runcible_call {
  Run* run;
  bool done = false;

  static void* perform(void* data) {
    runcible_call* call = static_cast<runcible_call*>(data);
    (*call->run)();
    call->done = true;
    return nullptr;
  }
};

inline VALUE runcible_check_interrupts(VALUE) {
  rb_thread_check_ints();
  return Qnil;
}

/* Runs a call to its end, holding a tuple of handles. Interrupts that came
 * before it are served first, which may raise, or let another thread close the
 * handles. Later interrupts wait until the wrapper has returned its result, so
 * that nothing is lost. `interrupt` is called for them on another thread. */
template <class Run, class Handles>
void runcible_without_lock(Run& run, const Handles& handles,
                           rb_unblock_function_t* interrupt = nullptr,
                           void* data = nullptr) {
  runcible_call<Run> call{&run};
  int failure = 0;
  std::apply([](auto*... handle) { (runcible_retain(handle), ...); }, handles);
  for (;;) {
    rb_thread_call_without_gvl2(runcible_call<Run>::perform, &call, interrupt,
                                data);
    if (call.done) break;
    rb_protect(runcible_check_interrupts, Qnil, &failure);
    if (failure != 0) break;
  }
  std::apply([](auto*... handle) { (runcible_release(handle), ...); }, handles);
  if (failure != 0) rb_jump_tag(failure);
}

/* A backend that is being opened, or a model that is being loaded. */
struct runcible_loading {
  VALUE progress = Qnil; /* on the stack of the thread that loads */
  double fraction = 0;
  int failure = 0; /* of the language, for rb_jump_tag */
  std::atomic<bool> interrupted{false};

  static VALUE report(VALUE data) {
    runcible_loading* loading = reinterpret_cast<runcible_loading*>(data);
    rb_thread_check_ints();
    if (!NIL_P(loading->progress)) {
      rb_funcall(loading->progress, rb_intern("call"), 1,
                 rb_float_new(loading->fraction));
    }
    return Qnil;
  }

  static void* report_protected(void* data) {
    runcible_loading* loading = static_cast<runcible_loading*>(data);
    rb_protect(report, reinterpret_cast<VALUE>(data), &loading->failure);
    return nullptr;
  }

  /* An rc_progress_callback; the thread that loads runs without the lock. */
  static int32_t on_progress(void* user, double fraction) {
    runcible_loading* loading = static_cast<runcible_loading*>(user);
    if (loading->failure != 0) return 1;
    if (loading->interrupted.exchange(false) || !NIL_P(loading->progress)) {
      loading->fraction = fraction;
      rb_thread_call_with_gvl(report_protected, loading);
    }
    return loading->failure != 0;
  }

  static void interrupt(void* data) {
    static_cast<runcible_loading*>(data)->interrupted = true;
  }
};

/* Makes a call with options that reports its progress to `progress`, nil or an
 * object to call. An exception in it, or an interrupt, cancels the call;
 * *failure is not 0 then, and is raised after the result has been released. */
template <class Options, class Handles, class Make>
rc_status runcible_with_progress(const Options& options, VALUE progress,
                                 const Handles& handles, const Make& make,
                                 int* failure) {
  Options reporting = options;
  rc_status status = RC_OK;
  runcible_loading loading;
  loading.progress = progress;
  reporting.progress = runcible_loading::on_progress;
  reporting.progress_user = &loading;
  auto run = [&] { status = make(&reporting); };
  runcible_without_lock(run, handles, runcible_loading::interrupt, &loading);
  RB_GC_GUARD(progress);
  *failure = loading.failure;
  return status;
}

inline rc_status runcible_open(const char* spec,
                               const rc_backend_options* options,
                               VALUE progress, rc_backend** backend) {
  int failure = 0;
  const rc_status status = runcible_with_progress(
      *options, progress, std::make_tuple(),
      [&](const rc_backend_options* reporting) {
        return rc_backend_open(spec, reporting, backend);
      },
      &failure);
  if (failure != 0) {
    rc_backend_release(*backend);
    rb_jump_tag(failure);
  }
  return status;
}

/* The work done before an exception takes effect is not undone. */
inline rc_status runcible_switch(rc_backend* backend, const char* spec,
                                 const rc_backend_switch_options* options,
                                 VALUE progress) {
  int failure = 0;
  const rc_status status = runcible_with_progress(
      *options, progress, std::make_tuple(backend),
      [&](const rc_backend_switch_options* reporting) {
        return rc_backend_switch(backend, spec, reporting);
      },
      &failure);
  if (failure != 0) rb_jump_tag(failure);
  return status;
}

inline rc_status runcible_load(rc_backend* backend, const char* path,
                               const rc_model_options* options, VALUE progress,
                               rc_model** model) {
  int failure = 0;
  const rc_status status = runcible_with_progress(
      *options, progress, std::make_tuple(backend),
      [&](const rc_model_options* reporting) {
        return rc_model_load(backend, path, reporting, model);
      },
      &failure);
  if (failure != 0) {
    rc_model_release(*model);
    rb_jump_tag(failure);
  }
  return status;
}

/* Looks for devices, in a thread of the library, until an interrupt that
 * raises. */
struct runcible_discovery {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> interrupted{false};
  bool ended = false;
  rc_status status = RC_OK;
  rc_device_list* list = nullptr;
  char message[1024] = "";

  static int32_t on_progress(void* user, double) {
    return static_cast<runcible_discovery*>(user)->interrupted.load();
  }

  static void on_end(void* user, rc_status status, const char* message,
                     rc_device_list* list) {
    auto* self = static_cast<runcible_discovery*>(user);
    const std::lock_guard<std::mutex> lock(self->mutex);
    self->ended = true;
    self->status = status;
    self->list = list;
    if (message != nullptr) {
      std::strncpy(self->message, message, sizeof(self->message) - 1);
    }
    self->changed.notify_all();
  }

  static void interrupt(void* data) {
    static_cast<runcible_discovery*>(data)->interrupted = true;
  }

  void wait() {
    ended = false;
    status = rc_discover_async(on_progress, this, nullptr, on_end, this);
    if (status != RC_OK) {
      std::strncpy(message, rc_error_message(), sizeof(message) - 1);
      return;
    }
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return ended; });
  }

  /* Begins again after an interrupt that raises nothing. */
  rc_status run(rc_device_list** found) {
    for (;;) {
      int failure = 0;
      auto waiting = [this] { wait(); };
      interrupted = false;
      runcible_without_lock(waiting, std::make_tuple(), interrupt, this);
      if (interrupted) {
        rb_protect(runcible_check_interrupts, Qnil, &failure);
      }
      if (failure != 0) {
        rc_device_list_release(list);
        rb_jump_tag(failure);
      }
      if (status != RC_E_CANCELLED || !interrupted) break;
    }
    *found = list;
    return status;
  }
};

#endif /* RUNCIBLE_RUBY_LONG_CALLS_H */

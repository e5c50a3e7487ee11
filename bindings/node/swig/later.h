// Calls that may wait, on a thread of Node's pool: promises of their results.
// Included by the wrapper alone.
#ifndef RUNCIBLE_NODE_LATER_H
#define RUNCIBLE_NODE_LATER_H

#include <napi.h>
#include <runcible/runcible.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "environment.h"

// Adds a reference to a handle, which a call holds as long as it may need it.
#define RUNCIBLE_COUNTED(TYPE)                                           \
  static inline void runcible_release(TYPE* handle) {                    \
    TYPE##_release(handle);                                              \
  }                                                                      \
  static inline std::shared_ptr<TYPE> runcible_hold(TYPE* handle) {      \
    return std::shared_ptr<TYPE>(TYPE##_retain(handle), TYPE##_release); \
  }
RUNCIBLE_COUNTED(rc_backend)
RUNCIBLE_COUNTED(rc_model)
RUNCIBLE_COUNTED(rc_session)
RUNCIBLE_COUNTED(rc_tokenizer)
RUNCIBLE_COUNTED(rc_grammar)
RUNCIBLE_COUNTED(rc_embedding)
RUNCIBLE_COUNTED(rc_graph)
RUNCIBLE_COUNTED(rc_tensor)
static inline void runcible_release(rc_device_list* list) {
  rc_device_list_release(list);
}
static inline void runcible_release(rc_plan* plan) { rc_plan_release(plan); }

// The progress of an opening or a load, and whether it must stop; shared with
// the caller that waits for it.
class load_state {
 public:
  double fraction() const { return shared_->fraction.load(); }
  void cancel() { shared_->cancelled.store(true); }

  struct shared {
    std::atomic<double> fraction{0};
    std::atomic<bool> cancelled{false};
  };
  const std::shared_ptr<shared>& share() const { return shared_; }

  // An rc_progress_callback.
  static int32_t on_progress(void* user, double fraction) {
    auto* state = static_cast<shared*>(user);
    state->fraction.store(fraction);
    return state->cancelled.load();
  }

 private:
  const std::shared_ptr<shared> shared_ = std::make_shared<shared>();
};

class runcible_later {
 public:
  // `work` runs on a thread of the pool; if it returns RC_OK, `result` makes
  // the value of the promise, on the JavaScript thread.
  runcible_later(std::function<rc_status()> work,
                 std::function<Napi::Value(Napi::Env)> result)
      : work_(std::move(work)), result_(std::move(result)) {}

  // Queues `later` and returns its promise.
  static Napi::Value start(Napi::Env env,
                           std::unique_ptr<runcible_later> later) {
    napi_value promise = nullptr;
    napi_value resource_name = Napi::String::New(env, "runcible");
    later->env_ = env;
    later->left_ = runcible_environment::of(env).left();
    if (napi_create_async_work(env, nullptr, resource_name, execute, complete,
                               later.get(), &later->task_) != napi_ok ||
        napi_create_promise(env, &later->deferred_, &promise) != napi_ok ||
        napi_queue_async_work(env, later->task_) != napi_ok) {
      throw Napi::Error::New(env, "the call could not be queued");
    }
    static_cast<void>(later.release());
    return Napi::Value(env, promise);
  }

  runcible_later(const runcible_later&) = delete;
  runcible_later& operator=(const runcible_later&) = delete;
  ~runcible_later() {
    if (task_ != nullptr) napi_delete_async_work(env_, task_);
  }

 private:
  static void execute(napi_env, void* data) {
    auto* self = static_cast<runcible_later*>(data);
    if (self->left_->load()) return;
    self->status_ = self->work_();
    if (self->status_ == RC_OK) return;
    self->retry_after_ = runcible_retry_after(self->status_);
    self->message_ = rc_error_message();
  }

  // An environment that is ending runs no more JavaScript: then promises cannot
  // be settled, and no code waits for them.
  static void complete(napi_env env, napi_status, void* data) {
    const std::unique_ptr<runcible_later> self(
        static_cast<runcible_later*>(data));
    if (self->left_->load()) return;
    try {
      const Napi::HandleScope scope(env);
      if (self->status_ == RC_OK) {
        napi_resolve_deferred(env, self->deferred_, self->result_(env));
      } else {
        napi_reject_deferred(
            env, self->deferred_,
            runcible_environment::of(env).error_of(
                self->status_, self->message_.c_str(), self->retry_after_));
      }
    } catch (const Napi::Error& error) {
      napi_reject_deferred(env, self->deferred_, error.Value());
    }
  }

  const std::function<rc_status()> work_;
  const std::function<Napi::Value(Napi::Env)> result_;
  napi_env env_ = nullptr;
  std::shared_ptr<std::atomic<bool>> left_;
  napi_async_work task_ = nullptr;
  napi_deferred deferred_ = nullptr;
  rc_status status_ = RC_E_CANCELLED;
  int64_t retry_after_ = -1;
  std::string message_;
};

#endif  // RUNCIBLE_NODE_LATER_H

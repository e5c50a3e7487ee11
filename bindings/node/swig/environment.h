// State of one environment of Node: the main thread, every worker, every
// context that loads the module. Included by the wrapper alone.
#ifndef RUNCIBLE_NODE_ENVIRONMENT_H
#define RUNCIBLE_NODE_ENVIRONMENT_H

#include <dlfcn.h>
#include <napi.h>
#include <runcible/runcible.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "mailbox.h"
#define RUNCIBLE_NAMES_CAMEL
#define RUNCIBLE_ONE_PROMPT
#include "own_words.h"
#include "retry_after.h"
#include "returns.h"
#include "system_errors.h"

class runcible_environment {
 public:
  // Makes the state of `env`; it is deleted when the environment ends.
  static void enter(napi_env env) {
    auto* made = new runcible_environment(env);
    {
      std::lock_guard lock(mutex());
      all()[env] = made;
    }
    if (napi_add_async_cleanup_hook(env, leave, made, nullptr) != napi_ok) {
      throw Napi::Error::New(env, "no hook for the end of the environment");
    }
  }

  static runcible_environment& of(napi_env env) {
    std::lock_guard lock(mutex());
    return *all().at(env);
  }

  // Sets functions of the package: `make_error` makes an exception of a status
  // and a message; `wake` is called when events wait.
  void set_functions(Napi::Function make_error, Napi::Function wake) {
    make_error_ = Napi::Persistent(make_error);
    wake_ = Napi::Persistent(wake);
  }

  // `retry_after` is that of retry_after.h.
  Napi::Value error_of(rc_status status, const char* message,
                       int64_t retry_after) {
    if (make_error_.IsEmpty()) return Napi::Error::New(env_, message).Value();
    return make_error_.Call(
        {Napi::Number::New(env_, status),
         Napi::String::New(env_, runcible_own_words(message)),
         Napi::Number::New(env_, runcible_system_error(status, message)),
         Napi::Number::New(env_, static_cast<double>(retry_after))});
  }

  // Returns the mailbox to which the requests of this environment post their
  // events, on the libuv loop that Node runs.
  mailbox* box() {
    if (box_ == nullptr) {
      uv_loop_s* loop = nullptr;
      if (leaving() || napi_get_uv_event_loop(env_, &loop) != napi_ok) {
        throw Napi::Error::New(env_, "this environment has no event loop");
      }
      if (mailbox_create_uv(loop, on_wake, this, &box_) != RC_OK) {
        throw Napi::Error::New(env_,
                               runcible_own_words(mailbox_error_message()));
      }
    }
    return box_;
  }

  // Returns the queue for references that other threads release.
  const std::shared_ptr<runcible_returns>& returns() {
    if (returns_ == nullptr)
      returns_ = std::make_shared<runcible_returns>(env_);
    return returns_;
  }

  // True once the environment has begun to end; any thread may read it.
  const std::shared_ptr<std::atomic<bool>>& left() const { return leaving_; }

 private:
  explicit runcible_environment(napi_env env)
      : env_(env), leaving_(std::make_shared<std::atomic<bool>>(false)) {}

  bool leaving() const { return leaving_->load(); }

  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::unordered_map<napi_env, runcible_environment*>& all() {
    static auto* all = new std::unordered_map<napi_env, runcible_environment*>;
    return *all;
  }

  // Must not throw: an environment that is ending runs no more JavaScript, and
  // its calls fail.
  static void on_wake(void* user) {
    auto* self = static_cast<runcible_environment*>(user);
    napi_handle_scope scope = nullptr;
    napi_value function = nullptr;
    napi_value receiver = nullptr;
    if (self->leaving()) return;
    if (napi_open_handle_scope(self->env_, &scope) != napi_ok) return;
    if (napi_get_reference_value(self->env_, self->wake_, &function) ==
            napi_ok &&
        napi_get_global(self->env_, &receiver) == napi_ok) {
      napi_make_callback(self->env_, nullptr, receiver, function, 0, nullptr,
                         nullptr);
    }
    napi_close_handle_scope(self->env_, scope);
  }

  // Node continues to run the loop until the hook is removed.
  static void leave(napi_async_cleanup_hook_handle hook, void* user) {
    auto* self = static_cast<runcible_environment*>(user);
    self->hook_ = hook;
    self->leaving_->store(true);
    if (self->returns_ != nullptr) self->returns_->leave();
    if (self->box_ != nullptr) {
      mailbox_release_uv(self->box_, on_gone, self);
    } else {
      on_gone(self);
    }
  }

  static void on_gone(void* user) {
    const std::unique_ptr<runcible_environment> self(
        static_cast<runcible_environment*>(user));
    {
      std::lock_guard lock(mutex());
      all().erase(self->env_);
    }
    napi_remove_async_cleanup_hook(self->hook_);
  }

  const napi_env env_;
  Napi::FunctionReference make_error_;
  Napi::FunctionReference wake_;
  mailbox* box_ = nullptr;
  std::shared_ptr<runcible_returns> returns_;
  const std::shared_ptr<std::atomic<bool>> leaving_;
  napi_async_cleanup_hook_handle hook_ = nullptr;
};

// Throws the exception of a status.
[[noreturn]] static void runcible_throw(napi_env env, rc_status status,
                                        const char* message) {
  throw Napi::Error(env, runcible_environment::of(env).error_of(
                             status, message, runcible_retry_after(status)));
}

// Checks that the program exports libuv's functions, which the library takes
// from it: another copy of libuv must not touch Node's loop.
static void runcible_check_libuv(napi_env env) {
  for (const char* name : {"uv_async_init", "uv_async_send", "uv_close",
                           "uv_ref", "uv_unref", "uv_strerror"}) {
    if (dlsym(RTLD_DEFAULT, name) == nullptr) {
      throw Napi::Error::New(
          env, std::string("this program does not export libuv's ") + name);
    }
  }
}

#endif  // RUNCIBLE_NODE_ENVIRONMENT_H

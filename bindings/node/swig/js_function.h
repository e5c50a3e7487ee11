// JavaScript functions that threads of the library call: a thread that computes
// an op sends a request to the JavaScript thread and waits until the function,
// or the promise that it returned, has completed. Included by the wrapper
// alone.
#ifndef RUNCIBLE_NODE_JS_FUNCTION_H
#define RUNCIBLE_NODE_JS_FUNCTION_H

#include <napi.h>
#include <runcible/op_backend.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "environment.h"
#include "op_request.h"

// One function, which is called with (call, done), or (null, done) for the
// health check, or (number) for a weight that has been freed, and calls
// done(status, text), at once or later. It lives until the library releases it
// and the queue has closed.
class runcible_js_function {
 public:
  explicit runcible_js_function(Napi::Env env)
      : env_(env),
        left_(runcible_environment::of(env).left()),
        thread_(runcible_js_thread::here()) {}
  runcible_js_function(const runcible_js_function&) = delete;
  runcible_js_function& operator=(const runcible_js_function&) = delete;
  virtual ~runcible_js_function() = default;

  // `what` is the queue's name in Node's reports.
  void open(const Napi::Function& function, const char* what) {
    function_ = Napi::Persistent(function);
    const napi_status status = napi_create_threadsafe_function(
        env_, function, nullptr, Napi::String::New(env_, what), 0, 1, this,
        on_closed, this, on_letter, &queue_);
    if (status != napi_ok) {
      throw Napi::Error::New(env_, std::string("no queue for a ") + what);
    }
    // An unused queue does not keep the program from ending.
    napi_unref_threadsafe_function(env_, queue_);
  }

  // The library releases the function. If the environment ended before,
  // on_closed has left the deletion to this.
  void let_go() {
    bool gone = false;
    {
      const std::lock_guard lock(mutex_);
      released_ = true;
      gone = closed_;
      if (!gone) napi_release_threadsafe_function(queue_, napi_tsfn_abort);
    }
    if (gone) delete this;
  }

  // Computes an op; nullptr: checks the health.
  rc_status ask(const rc_op_call* call, char* message) {
    const auto asked = std::make_shared<runcible_op_request>(call);
    if (runcible_js_thread::here() == thread_) {
      // The thread made this call itself, so it computes the op here and now.
      call_now(asked);
    } else {
      // The thread takes the offer or the letter, whichever it reaches first.
      thread_->offer(asked, [this, asked] { call_now(asked); });
      if (!post(std::make_unique<letter>(letter{asked}))) {
        asked->end(RC_E_DEVICE_LOST, kEnded);
      }
    }
    const auto then = runcible_js_thread::clock::now();
    while (!asked->wait(kBetweenLooks)) {
      if (left_->load()) asked->end(RC_E_DEVICE_LOST, kEnded);
      thread_->gives_up(kBlocked, then, env_, asked, kWouldWait);
    }
    thread_->withdraw(asked);
    return say(message, asked->status(), asked->text());
  }

  void forget(uint64_t weight) {
    post(std::make_unique<letter>(letter{nullptr, weight}));
  }

 protected:
  static rc_status say(char* message, rc_status status,
                       const std::string& text) {
    std::snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "%s", text.c_str());
    return status;
  }

  const std::shared_ptr<runcible_js_thread>& thread() const { return thread_; }

  // Runs on the JavaScript thread: its environment ends before the library has
  // released this, which it may do now.
  virtual void environment_ends() {}

 private:
  using request = runcible_js_thread::request;
  // A message to the JavaScript thread.
  struct letter {
    request asked;
    uint64_t forgotten = 0;
  };
  static constexpr std::chrono::milliseconds kBetweenLooks{100};
  static constexpr std::chrono::seconds kBlocked{2};
  static constexpr const char* kEnded =
      "the environment of Node that computes it has ended";
  static constexpr const char* kWouldWait =
      "the thread of JavaScript has been in a blocking call for two seconds, "
      "which may wait for this op; use the call that gives a promise";

  // Runs on the JavaScript thread when the queue has closed: after let_go, or
  // because the environment ends.
  static void on_closed(napi_env, void*, void* context) {
    auto* self = static_cast<runcible_js_function*>(context);
    self->function_.Reset();
    bool released = false;
    {
      const std::lock_guard lock(self->mutex_);
      self->closed_ = true;
      released = self->released_;
    }
    if (released) {
      delete self;
    } else {
      self->environment_ends();
    }
  }

  // Returns false if there is no JavaScript thread any more.
  bool post(std::unique_ptr<letter> sent) {
    const std::lock_guard lock(mutex_);
    if (closed_ || released_) return false;
    if (napi_call_threadsafe_function(queue_, sent.get(),
                                      napi_tsfn_nonblocking) != napi_ok) {
      return false;
    }
    static_cast<void>(sent.release());
    return true;
  }

  // Runs on the JavaScript thread, within a call that blocks it, and ends
  // there.
  void call_now(const request& asked) {
    const Napi::HandleScope scope(env_);
    if (asked->over() || !asked->claim()) return;
    call_function(env_, function_.Value(), asked);
    asked->end_here(env_, RC_E_BUSY,
                    "the function gave a promise to a call that blocks its "
                    "thread; use the call that gives a promise");
  }

  // Runs on the JavaScript thread. `env` is null while the environment ends.
  static void on_letter(napi_env env, napi_value function, void*, void* data) {
    const std::unique_ptr<letter> got(static_cast<letter*>(data));
    if (env == nullptr) {
      if (got->asked != nullptr) got->asked->end(RC_E_DEVICE_LOST, kEnded);
      return;
    }
    const Napi::Function called(env, function);
    if (got->asked != nullptr) {
      if (got->asked->claim()) call_function(env, called, got->asked);
      return;
    }
    try {
      called.Call(
          {Napi::Number::New(env, static_cast<double>(got->forgotten))});
    } catch (const Napi::Error&) {
      // The functions of the package throw nothing; an environment that is
      // ending does.
    }
  }

  static void call_function(Napi::Env env, const Napi::Function& function,
                            const request& asked) {
    if (asked->over()) return;
    try {
      const auto done =
          Napi::Function::New(env, [asked](const Napi::CallbackInfo& info) {
            asked->end_here(info.Env(), info[0].As<Napi::Number>().Int32Value(),
                            info[1].As<Napi::String>().Utf8Value());
          });
      function.Call({asked->begin(env), done});
    } catch (const Napi::Error& error) {
      asked->end_here(env, RC_E_DEVICE, error.Message());
    }
  }

  const Napi::Env env_;
  const std::shared_ptr<std::atomic<bool>> left_;
  const std::shared_ptr<runcible_js_thread> thread_;
  napi_threadsafe_function queue_ = nullptr;
  Napi::FunctionReference function_;  // for calls on its own thread
  std::mutex mutex_;
  bool closed_ = false;    // the queue has closed
  bool released_ = false;  // by the library
};

#endif  // RUNCIBLE_NODE_JS_FUNCTION_H

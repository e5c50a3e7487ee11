// Backends whose ops are computed by functions of JavaScript; included by the
// wrapper alone. A thread that computes an op puts it before the thread of
// JavaScript and waits until the function, or the promise that it gave, has
// come to an end.
#ifndef RUNCIBLE_NODE_OP_BACKEND_H
#define RUNCIBLE_NODE_OP_BACKEND_H

#include <napi.h>
#include <runcible/op_backend.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "environment.h"
#include "op_request.h"

class runcible_op_backend {
 public:
  // (name, description, {op: [numbers of types]}, function). The function is
  // called with (call, done), or (null, done) for the health, or (number) for a
  // weight that is gone, and calls done(status, text), at once or later.
  static Napi::Value add(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const std::string name = info[0].As<Napi::String>().Utf8Value();
    const std::string description = info[1].As<Napi::String>().Utf8Value();
    auto made = std::make_unique<runcible_op_backend>(env, name);
    const auto able = info[2].As<Napi::Object>();
    const Napi::Array ops = able.GetPropertyNames();
    std::string features;
    for (uint32_t i = 0; i < ops.Length(); ++i) {
      const std::string op = ops.Get(i).As<Napi::String>().Utf8Value();
      const auto types = able.Get(op).As<Napi::Array>();
      for (uint32_t k = 0; k < types.Length(); ++k) {
        made->able_[op].insert(types.Get(k).As<Napi::Number>().Int32Value());
      }
      features += (features.empty() ? "" : " ") + op;
    }
    made->open(info[3].As<Napi::Function>());
    rc_op_backend backend = RC_OP_BACKEND_INIT;
    backend.name = name.c_str();
    backend.description = description.c_str();
    backend.features = features.c_str();
    backend.user = made.get();
    backend.health = health;
    backend.supports = supports;
    backend.compute = compute;
    backend.forget_weight = forget_weight;
    backend.release = release;
    auto* const self = made.release();
    const std::lock_guard lock(names_mutex());
    const rc_status status = rc_op_backend_register(&backend);
    if (status != RC_OK) {
      const std::string message = rc_error_message();
      release(self);
      runcible_throw(env, status, message.c_str());
    }
    names()[name] = self;
    return env.Undefined();
  }

  static Napi::Value remove(const Napi::CallbackInfo& info) {
    const std::string name = info[0].As<Napi::String>().Utf8Value();
    const std::lock_guard lock(names_mutex());
    const rc_status status = rc_op_backend_unregister(name.c_str());
    if (status != RC_OK) {
      const std::string message = rc_error_message();
      runcible_throw(info.Env(), status, message.c_str());
    }
    names().erase(name);
    return info.Env().Undefined();
  }

  runcible_op_backend(Napi::Env env, std::string name)
      : env_(env),
        name_(std::move(name)),
        left_(runcible_environment::of(env).left()),
        thread_(runcible_js_thread::here()) {}
  runcible_op_backend(const runcible_op_backend&) = delete;
  runcible_op_backend& operator=(const runcible_op_backend&) = delete;

 private:
  using request = runcible_js_thread::request;
  // What is put before the thread of JavaScript.
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

  // Of the backends that are registered, whose environments may end.
  static std::mutex& names_mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::map<std::string, runcible_op_backend*>& names() {
    static auto* all = new std::map<std::string, runcible_op_backend*>;
    return *all;
  }

  void open(const Napi::Function& function) {
    function_ = Napi::Persistent(function);
    const napi_status status = napi_create_threadsafe_function(
        env_, function, nullptr, Napi::String::New(env_, "runcible backend"), 0,
        1, this, on_closed, this, on_letter, &queue_);
    if (status != napi_ok) {
      throw Napi::Error::New(env_, "no queue for the functions of a backend");
    }
    // A backend that nobody uses keeps no program from ending.
    napi_unref_threadsafe_function(env_, queue_);
  }

  static rc_status say(char* message, rc_status status,
                       const std::string& text) {
    std::snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "%s", text.c_str());
    return status;
  }

  static rc_status supports(void* user, const rc_op_call* call, char* message) {
    const auto* self = static_cast<runcible_op_backend*>(user);
    std::string op = call->name;
    for (char& c : op) c = static_cast<char>(std::tolower(c));
    const auto able = self->able_.find(op);
    if (able == self->able_.end()) {
      return say(message, RC_E_UNSUPPORTED,
                 self->name_ + " does not compute it");
    }
    const auto known = [&](const rc_op_value* value) {
      return value == nullptr || value->dtype == RC_DTYPE_I32 ||
             able->second.count(value->dtype) > 0;
    };
    if (!std::all_of(call->inputs, call->inputs + call->input_count, known) ||
        !std::all_of(call->outputs, call->outputs + call->output_count,
                     known)) {
      return say(message, RC_E_UNSUPPORTED,
                 "it is not written for these types");
    }
    return RC_OK;
  }

  static rc_status health(void* user, char* message) {
    return static_cast<runcible_op_backend*>(user)->ask(nullptr, message);
  }

  static rc_status compute(void* user, const rc_op_call* call, char* message) {
    return static_cast<runcible_op_backend*>(user)->ask(call, message);
  }

  static void forget_weight(void* user, uint64_t weight) {
    auto* self = static_cast<runcible_op_backend*>(user);
    self->post(std::make_unique<letter>(letter{nullptr, weight}));
  }

  // Nothing is open on it any more. Those of the environment's own end come
  // after on_closed, which has left the rest to this.
  static void release(void* user) {
    auto* self = static_cast<runcible_op_backend*>(user);
    bool gone = false;
    {
      const std::lock_guard lock(self->mutex_);
      self->released_ = true;
      gone = self->closed_;
      if (!gone) {
        napi_release_threadsafe_function(self->queue_, napi_tsfn_abort);
      }
    }
    if (gone) delete self;
  }

  // On the thread of JavaScript, when the queue is gone: after release, or
  // because the environment ends.
  static void on_closed(napi_env, void*, void* context) {
    auto* self = static_cast<runcible_op_backend*>(context);
    self->function_.Reset();
    bool released = false;
    {
      const std::lock_guard lock(self->mutex_);
      self->closed_ = true;
      released = self->released_;
    }
    if (released) {
      delete self;
      return;
    }
    // May release it, and so delete it.
    const std::lock_guard lock(names_mutex());
    const auto found = names().find(self->name_);
    if (found == names().end() || found->second != self) return;
    const std::string name = found->first;
    names().erase(found);
    rc_op_backend_unregister(name.c_str());
  }

  // False: there is no thread of JavaScript any more.
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

  rc_status ask(const rc_op_call* call, char* message) {
    const auto asked = std::make_shared<runcible_op_request>(call);
    if (runcible_js_thread::here() == thread_) {
      // It is in a call that it has made itself: it computes here and now.
      tell_now(asked);
    } else {
      // Whichever its thread comes to first.
      thread_->offer(asked, [this, asked] { tell_now(asked); });
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

  // On the thread of JavaScript, in a call that blocks it: there it ends.
  void tell_now(const request& asked) {
    const Napi::HandleScope scope(env_);
    if (asked->over() || !asked->claim()) return;
    tell(env_, function_.Value(), asked);
    asked->end_here(env_, RC_E_BUSY,
                    "the function gave a promise to a call that blocks its "
                    "thread; use the call that gives a promise");
  }

  // On the thread of JavaScript. Without an environment it is about to end.
  static void on_letter(napi_env env, napi_value function, void*, void* data) {
    const std::unique_ptr<letter> got(static_cast<letter*>(data));
    if (env == nullptr) {
      if (got->asked != nullptr) got->asked->end(RC_E_DEVICE_LOST, kEnded);
      return;
    }
    const Napi::Function called(env, function);
    if (got->asked != nullptr) {
      if (got->asked->claim()) tell(env, called, got->asked);
      return;
    }
    try {
      called.Call(
          {Napi::Number::New(env, static_cast<double>(got->forgotten))});
    } catch (const Napi::Error&) {
      // The function of ops.ts throws nothing; an environment that ends does.
    }
  }

  static void tell(Napi::Env env, const Napi::Function& function,
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
  const std::string name_;
  const std::shared_ptr<std::atomic<bool>> left_;
  const std::shared_ptr<runcible_js_thread> thread_;
  std::map<std::string, std::set<int32_t>> able_;
  napi_threadsafe_function queue_ = nullptr;
  Napi::FunctionReference function_;  // for calls on its own thread
  std::mutex mutex_;
  bool closed_ = false;    // the queue is gone
  bool released_ = false;  // by the library
};

#endif  // RUNCIBLE_NODE_OP_BACKEND_H

// Backends whose ops JavaScript functions compute; included by the wrapper
// alone.
#ifndef RUNCIBLE_NODE_OP_BACKEND_H
#define RUNCIBLE_NODE_OP_BACKEND_H

#include <napi.h>
#include <runcible/op_backend.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "environment.h"
#include "js_function.h"

class runcible_op_backend : public runcible_js_function {
 public:
  // Registers (name, description, {op: [numbers of types]}, function).
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
    made->open(info[3].As<Napi::Function>(), "runcible backend");
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
      : runcible_js_function(env), name_(std::move(name)) {}

 private:
  // Guards the registered backends, whose environments may end.
  static std::mutex& names_mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::map<std::string, runcible_op_backend*>& names() {
    static auto* all = new std::map<std::string, runcible_op_backend*>;
    return *all;
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
    static_cast<runcible_op_backend*>(user)->forget(weight);
  }

  // The last user of the backend has closed it.
  static void release(void* user) {
    static_cast<runcible_op_backend*>(user)->let_go();
  }

  // May release it, and thereby delete it.
  void environment_ends() override {
    const std::lock_guard lock(names_mutex());
    const auto found = names().find(name_);
    if (found == names().end() || found->second != this) return;
    const std::string name = found->first;
    names().erase(found);
    rc_op_backend_unregister(name.c_str());
  }

  const std::string name_;
  std::map<std::string, std::set<int32_t>> able_;
};

#endif  // RUNCIBLE_NODE_OP_BACKEND_H

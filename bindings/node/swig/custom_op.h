// Custom ops with a JavaScript function; included by the wrapper alone.
#ifndef RUNCIBLE_NODE_CUSTOM_OP_H
#define RUNCIBLE_NODE_CUSTOM_OP_H

#include <napi.h>
#include <runcible/custom_op.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>

#include "js_function.h"

class runcible_custom_function : public runcible_js_function {
 public:
  // Creates an op from the options and a function, which is called as described
  // at runcible_js_function: params_json of its calls is the array of the
  // attributes.
  static rc_status create(rc_custom_op_options* options,
                          const Napi::Value& function, rc_custom_op** op) {
    auto made = std::make_unique<runcible_custom_function>(function.Env());
    made->open(function.As<Napi::Function>(), "runcible custom op");
    options->function = compute;
    options->user = made.get();
    options->release = release;
    // Once open, it ends when its queue ends.
    auto* const self = made.release();
    const rc_status status = rc_custom_op_create(options, op);
    if (status != RC_OK) release(self);
    return status;
  }

  explicit runcible_custom_function(Napi::Env env) : runcible_js_function(env) {
    ++thread()->functions();
  }
  ~runcible_custom_function() override { --thread()->functions(); }

 private:
  static rc_status compute(void* user, const rc_custom_call* call,
                           char* message) {
    std::string attributes = "[";
    for (size_t i = 0; i < call->attribute_count; ++i) {
      char number[32];
      std::snprintf(number, sizeof(number), "%s%.17g", i == 0 ? "" : ",",
                    call->attributes[i]);
      attributes += number;
    }
    attributes += "]";
    rc_op_call asked = {};
    asked.struct_size = sizeof(asked);
    asked.name = call->name;
    asked.inputs = call->inputs;
    asked.input_count = call->input_count;
    asked.outputs = call->outputs;
    asked.output_count = call->output_count;
    asked.params_json = attributes.c_str();
    return static_cast<runcible_custom_function*>(user)->ask(&asked, message);
  }

  static void release(void* user) {
    static_cast<runcible_custom_function*>(user)->let_go();
  }
};

// Runs a call that blocks the JavaScript thread and meanwhile runs that
// thread's own functions, which ops may need. The message of a failure is for
// that thread.
template <class Call>
rc_status runcible_serving(const Call& call, std::string* message) {
  rc_status status = RC_OK;
  const auto run = [&] {
    status = call();
    if (status != RC_OK) *message = rc_error_message();
  };
  if (runcible_js_thread::here()->functions().load() == 0) {
    run();
    return status;
  }
  try {
    runcible_js_thread::here()->run_serving(run);
  } catch (const std::system_error&) {
    run();  // the system starts no thread: ops that need functions fail
  }
  return status;
}

#endif  // RUNCIBLE_NODE_CUSTOM_OP_H

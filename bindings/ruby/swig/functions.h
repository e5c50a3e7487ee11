/* Custom ops whose function is a Ruby function; included by the wrapper alone.
 * The function, which custom_op.rb makes, is called with
 *
 *   (inputs, outputs, attributes)
 *
 * where values are [dtype, shape, bytes]; for outputs, bytes is their number.
 * The function returns an array of strings, the bytes of the outputs. */
#ifndef RUNCIBLE_RUBY_FUNCTIONS_H
#define RUNCIBLE_RUBY_FUNCTIONS_H

#include <ruby.h>
#include <ruby/thread.h>
#include <runcible/runcible.h>

#include <cstdio>
#include <cstring>

#include "served.h"
#include "values.h"

/* A call that waits in a thread of Ruby, without the interpreter's lock. */
struct runcible_waiting {
  int failure = 0; /* of the language, for rb_jump_tag */
};
typedef runcible_waiting* runcible_server;

/* For all threads: any thread that waits runs the functions. */
inline runcible_served* runcible_ruby_served = nullptr;

inline runcible_served* runcible_served_of(runcible_server) {
  return runcible_ruby_served;
}

/* A function that an op holds; its address is registered with the collector. */
struct runcible_held {
  VALUE function;
};

inline VALUE runcible_values(const rc_op_value* const* values, size_t count,
                             bool with_bytes) {
  const VALUE list = rb_ary_new_capa((long)count);
  for (size_t i = 0; i < count; ++i) {
    const rc_op_value* value = values[i];
    const VALUE bytes =
        !with_bytes
            ? ULL2NUM(value->bytes)
            : rb_str_new(value->bytes == 0 ? "" : (const char*)value->data,
                         (long)value->bytes);
    rb_ary_push(list, rb_ary_new_from_args(
                          3, INT2NUM(value->dtype),
                          runcible_shape(value->shape, value->rank), bytes));
  }
  return list;
}

/* Calls the function and copies its outputs. May raise. */
inline VALUE runcible_call_ruby(VALUE data) {
  const auto* wanted = reinterpret_cast<const runcible_wanted*>(data);
  const rc_custom_call* call = wanted->call;
  const VALUE attributes = rb_ary_new_capa((long)call->attribute_count);
  for (size_t i = 0; i < call->attribute_count; ++i) {
    rb_ary_push(attributes, rb_float_new(call->attributes[i]));
  }
  const VALUE made = rb_funcall(
      static_cast<const runcible_held*>(wanted->object)->function,
      rb_intern("call"), 3,
      runcible_values(call->inputs, call->input_count, true),
      runcible_values(call->outputs, call->output_count, false), attributes);
  for (size_t i = 0; i < call->output_count; ++i) {
    const rc_op_value* output = call->outputs[i];
    VALUE bytes = rb_ary_entry(made, (long)i);
    StringValue(bytes);
    if ((uint64_t)RSTRING_LEN(bytes) != output->bytes) {
      rb_raise(rb_eArgError, "output %d of %llu bytes was given %ld", (int)i,
               (unsigned long long)output->bytes, RSTRING_LEN(bytes));
    }
    std::memcpy(output->data, RSTRING_PTR(bytes), output->bytes);
  }
  return Qnil;
}

struct runcible_calling_ruby {
  runcible_waiting* waiting;
  runcible_wanted* wanted;

  static void* with_lock(void* data) {
    auto* self = static_cast<runcible_calling_ruby*>(data);
    rb_protect(runcible_call_ruby, reinterpret_cast<VALUE>(self->wanted),
               &self->waiting->failure);
    return nullptr;
  }
};

/* An exception of the function ends the call, and is raised after it. */
inline void runcible_run_wanted(void* server, runcible_wanted* wanted) {
  runcible_calling_ruby calling{static_cast<runcible_waiting*>(server), wanted};
  if (calling.waiting->failure == 0) {
    rb_thread_call_with_gvl(runcible_calling_ruby::with_lock, &calling);
  }
  wanted->status = calling.waiting->failure == 0 ? RC_OK : RC_E_CANCELLED;
  std::strcpy(wanted->message, "the function has raised an exception");
}

inline void runcible_let_functions_go(runcible_served* served) {
  runcible_function* released = runcible_take_released(served);
  while (released != nullptr) {
    runcible_function* const next = released->next;
    auto* held = static_cast<runcible_held*>(released->object);
    rb_gc_unregister_address(&held->function);
    delete held;
    std::free(released);
    released = next;
  }
}

/* Makes an op of the options and a function. */
inline rc_status runcible_custom_op(rc_custom_op_options* options,
                                    VALUE function, rc_custom_op** op) {
  if (runcible_ruby_served == nullptr) {
    runcible_ruby_served = runcible_new_served();
  }
  if (runcible_ruby_served == nullptr) return RC_E_OUT_OF_MEMORY;
  runcible_let_functions_go(runcible_ruby_served);
  auto* held = new runcible_held{function};
  if (!runcible_set_function(options, runcible_ruby_served, held)) {
    delete held;
    return RC_E_OUT_OF_MEMORY;
  }
  rb_gc_register_address(&held->function);
  const rc_status status = rc_custom_op_create(options, op);
  /* Releases the function, as the op would have done. */
  if (status != RC_OK) options->release(options->user);
  return status;
}

#endif /* RUNCIBLE_RUBY_FUNCTIONS_H */

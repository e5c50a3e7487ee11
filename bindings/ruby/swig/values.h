/* Conversions between values of C and of Ruby; included by the wrapper alone.
 * All functions run with the interpreter's lock, and may raise. */
#ifndef RUNCIBLE_RUBY_VALUES_H
#define RUNCIBLE_RUBY_VALUES_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <runcible/runcible.h>
#include <string.h>

#include "mailbox.h"
#define RUNCIBLE_ONE_PROMPT
#include "own_words.h"
#include "retry_after.h"

/* Makes a string of UTF-8; invalid UTF-8 becomes U+FFFD. */
static VALUE runcible_text(const char* text, size_t length) {
  VALUE string = rb_utf8_str_new(length == 0 ? "" : text, (long)length);
  VALUE scrubbed = rb_str_scrub(string, Qnil);
  return NIL_P(scrubbed) ? string : scrubbed;
}

/* Raises the exception of a status, made by Runcible::Error. */
static void runcible_raise(rc_status status, const char* message) {
  /* Copied first, because the next calls may call the library. */
  const int64_t retry_after = runcible_retry_after(status);
  VALUE text = runcible_text(message, strlen(message));
  VALUE error = rb_path2class("Runcible::Error");
  rb_exc_raise(rb_funcall(
      error, rb_intern("of_status"), 3, INT2NUM(status), text,
      retry_after < 0 ? Qnil : rb_float_new((double)retry_after / 1000)));
}

/* Adds a value to a result: the first value is the result, more are an array.
 */
static VALUE runcible_append(VALUE result, VALUE value) {
  if (NIL_P(result)) return value;
  if (!RB_TYPE_P(result, T_ARRAY)) result = rb_ary_new_from_args(1, result);
  return rb_ary_push(result, value);
}

/* Returns a frozen string of the same bytes, those of text as UTF-8. */
static VALUE runcible_bytes(VALUE value, const char* name) {
  VALUE string = rb_check_string_type(value);
  rb_encoding* encoding;
  if (NIL_P(string)) {
    rb_raise(rb_eTypeError, "%s must be a String, not %" PRIsVALUE, name,
             rb_obj_class(value));
  }
  encoding = rb_enc_get(string);
  if (encoding != rb_utf8_encoding() && encoding != rb_ascii8bit_encoding() &&
      encoding != rb_usascii_encoding()) {
    string = rb_str_encode(string, rb_enc_from_encoding(rb_utf8_encoding()), 0,
                           Qnil);
  }
  return rb_str_new_frozen(string);
}

/* Returns a frozen copy of a string. */
static VALUE runcible_memory_in(VALUE value, const char* name) {
  VALUE string = rb_check_string_type(value);
  if (NIL_P(string)) {
    rb_raise(rb_eTypeError, "%s must be a String of bytes, not %" PRIsVALUE,
             name, rb_obj_class(value));
  }
  return rb_str_new_frozen(string);
}

/* Memory of the library that is converted to an object, and then freed also if
 * the conversion fails. */
typedef struct {
  void* data;
  size_t size;
} runcible_owned;

static VALUE runcible_free_owned(VALUE data) {
  rc_free(((runcible_owned*)data)->data);
  return Qnil;
}

static VALUE runcible_make(VALUE (*make)(VALUE), void* data, size_t size) {
  runcible_owned owned = {data, size};
  return rb_ensure(RUBY_METHOD_FUNC(make), (VALUE)&owned,
                   RUBY_METHOD_FUNC(runcible_free_owned), (VALUE)&owned);
}

static VALUE runcible_make_text(VALUE data) {
  const runcible_owned* owned = (const runcible_owned*)data;
  return runcible_text((const char*)owned->data, owned->size);
}

static VALUE runcible_make_bytes(VALUE data) {
  const runcible_owned* owned = (const runcible_owned*)data;
  return rb_str_new((const char*)owned->data, (long)owned->size);
}

static VALUE runcible_tokens(const int32_t* tokens, size_t count) {
  VALUE array = rb_ary_new_capa((long)count);
  size_t i;
  for (i = 0; i < count; ++i) rb_ary_push(array, INT2NUM(tokens[i]));
  return array;
}

static VALUE runcible_make_tokens(VALUE data) {
  const runcible_owned* owned = (const runcible_owned*)data;
  return runcible_tokens((const int32_t*)owned->data, owned->size);
}

static VALUE runcible_owned_text(char* text, size_t length) {
  return runcible_make(runcible_make_text, text, length);
}

static VALUE runcible_owned_bytes(void* data, size_t size) {
  return runcible_make(runcible_make_bytes, data, size);
}

static VALUE runcible_owned_tokens(int32_t* tokens, size_t count) {
  return runcible_make(runcible_make_tokens, tokens, count);
}

/* Checks that a value is an array of integers. */
static VALUE runcible_array(VALUE value, const char* name) {
  VALUE array = rb_check_array_type(value);
  long i;
  if (NIL_P(array)) {
    rb_raise(rb_eTypeError, "%s must be an Array, not %" PRIsVALUE, name,
             rb_obj_class(value));
  }
  for (i = 0; i < RARRAY_LEN(array); ++i) {
    if (!RB_INTEGER_TYPE_P(RARRAY_AREF(array, i))) {
      rb_raise(rb_eTypeError, "%s must be Integers, not %" PRIsVALUE, name,
               rb_obj_class(RARRAY_AREF(array, i)));
    }
  }
  return array;
}

/* Converts an array of tokens to a string of their bytes. */
static VALUE runcible_tokens_in(VALUE value, const char* name, size_t* count) {
  VALUE array = runcible_array(value, name);
  const long length = RARRAY_LEN(array);
  VALUE bytes = rb_str_new(NULL, length * (long)sizeof(int32_t));
  int32_t* tokens = (int32_t*)RSTRING_PTR(bytes);
  long i;
  for (i = 0; i < length; ++i) tokens[i] = NUM2INT(RARRAY_AREF(array, i));
  *count = (size_t)length;
  return bytes;
}

/* Returns the rank; `shape` has room for RC_TENSOR_MAX_RANK. */
static int32_t runcible_shape_in(VALUE value, const char* name,
                                 int64_t* shape) {
  VALUE array = runcible_array(value, name);
  const long rank = RARRAY_LEN(array);
  long i;
  if (rank > RC_TENSOR_MAX_RANK) {
    rb_raise(rb_eArgError, "%s has %ld dimensions, at most %d are known", name,
             rank, RC_TENSOR_MAX_RANK);
  }
  for (i = 0; i < rank; ++i) shape[i] = NUM2LL(RARRAY_AREF(array, i));
  return (int32_t)rank;
}

static VALUE runcible_shape(const int64_t* shape, int32_t rank) {
  VALUE array = rb_ary_new_capa(rank);
  int32_t i;
  for (i = 0; i < rank; ++i) rb_ary_push(array, LL2NUM(shape[i]));
  return array;
}

static VALUE runcible_logprobs(const int32_t* tokens, const float* logprobs,
                               size_t count) {
  VALUE array = rb_ary_new_capa((long)count);
  size_t i;
  for (i = 0; i < count; ++i) {
    rb_ary_push(array, rb_assoc_new(INT2NUM(tokens[i]),
                                    rb_float_new((double)logprobs[i])));
  }
  return array;
}

static VALUE runcible_top_logprobs(const rc_event* event) {
  VALUE array = rb_ary_new_capa((long)event->token_count);
  size_t i;
  for (i = 0; i < event->token_count; ++i) {
    const size_t first = i * event->top_count;
    rb_ary_push(array, runcible_logprobs(event->top_tokens + first,
                                         event->top_logprobs + first,
                                         event->top_count));
  }
  return array;
}

/* The part of an answer: nil for text, true for reasoning, [id, name] for a
 * call of a tool. */
static VALUE runcible_part(const rc_event* event) {
  if (event->type == RC_EVENT_REASONING) return Qtrue;
  if (event->type != RC_EVENT_CALL) return Qnil;
  return rb_assoc_new(
      runcible_text(event->call_id, strlen(event->call_id)),
      runcible_text(event->call_name, strlen(event->call_name)));
}

/* [text, part, tokens, logprobs or nil, top logprobs or nil], or for an end
 * [nil, status, message, numbers of the report from `reason` on]. */
static VALUE runcible_event(const rc_event* event) {
  const rc_generate_report* report = event->report;
  if (event->type == RC_EVENT_END) {
    const char* message = runcible_own_words(event->message);
    const VALUE numbers =
        rb_ary_new_from_args(2, INT2NUM(report->reason), ULL2NUM(report->seed));
#define RUNCIBLE_PUSH(NAME) rb_ary_push(numbers, LL2NUM(report->NAME));
    RUNCIBLE_END_NUMBERS(RUNCIBLE_PUSH)
#undef RUNCIBLE_PUSH
    return rb_ary_new_from_args(4, Qnil, INT2NUM(report->status),
                                runcible_text(message, strlen(message)),
                                numbers);
  }
  return rb_ary_new_from_args(
      5, runcible_text(event->text, event->text_length), runcible_part(event),
      runcible_tokens(event->tokens, event->token_count),
      event->logprobs == NULL
          ? Qnil
          : runcible_logprobs(event->tokens, event->logprobs,
                              event->token_count),
      event->logprobs == NULL ? Qnil : runcible_top_logprobs(event));
}

/* Events without their keys: each request has its own mailbox. */
static VALUE runcible_events(const kept_events* events) {
  VALUE array = rb_ary_new();
  const kept_event* kept;
  for (kept = events->first; kept != NULL; kept = kept->next) {
    rb_ary_push(array, runcible_event(&kept->event));
  }
  return array;
}

/* Reports to the collector the memory that a handle adds to, or removes from,
 * what it can free: tensors are large, but their proxies are small. */
static void runcible_weigh(rc_tensor* tensor, int sign) {
  size_t bytes = 0;
  if (rc_tensor_size(tensor, NULL, &bytes) == RC_OK) {
    rb_gc_adjust_memory_usage(sign * (ssize_t)bytes);
  }
}
static void runcible_weigh(void* handle, int sign) {
  (void)handle;
  (void)sign;
}

static void runcible_free_guarded(void* events) {
  kept_events_free((kept_events*)events);
  xfree(events);
}

static const rb_data_type_t runcible_guard_type = {
    "runcible_events", {NULL, runcible_free_guarded, NULL}};

/* Makes an object that owns events; *events is empty. */
static VALUE runcible_guard(kept_events** events) {
  return TypedData_Make_Struct(rb_cObject, kept_events, &runcible_guard_type,
                               *events);
}

#endif /* RUNCIBLE_RUBY_VALUES_H */

// Conversions between values of C and of JavaScript; included by the wrapper
// alone. Values that cannot be converted throw.
#ifndef RUNCIBLE_NODE_VALUES_H
#define RUNCIBLE_NODE_VALUES_H

#include <napi.h>
#include <runcible/runcible.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "mailbox.h"

// Returns the name of an argument or a member in JavaScript: topK for top_k.
static std::string runcible_name(const char* name) {
  std::string spoken;
  for (const char* at = name; *at != '\0'; ++at) {
    if (*at == '_' && at[1] != '\0') {
      spoken += static_cast<char>(std::toupper(*++at));
    } else {
      spoken += *at;
    }
  }
  return spoken;
}

static std::string runcible_shown(Napi::Value value) {
  if (value.IsSymbol()) return "a symbol";
  return value.ToString().Utf8Value();
}

// Converts a number, a bigint or a boolean to a whole number of type T.
template <typename T>
T runcible_whole(Napi::Value value, const char* name) {
  const auto refuse = [&] {
    throw Napi::RangeError::New(
        value.Env(), runcible_name(name) + " must be a whole number from " +
                         std::to_string(std::numeric_limits<T>::min()) +
                         " to " +
                         std::to_string(std::numeric_limits<T>::max()) +
                         ", not " + runcible_shown(value));
  };
  if (value.IsBoolean()) return value.As<Napi::Boolean>().Value() ? 1 : 0;
  if (value.IsBigInt()) {
    bool lossless = false;
    const auto whole = value.As<Napi::BigInt>();
    if constexpr (std::is_signed_v<T>) {
      const int64_t number = whole.Int64Value(&lossless);
      if (!lossless || static_cast<T>(number) != number) refuse();
      return static_cast<T>(number);
    } else {
      const uint64_t number = whole.Uint64Value(&lossless);
      if (!lossless || static_cast<T>(number) != number) refuse();
      return static_cast<T>(number);
    }
  }
  if (!value.IsNumber()) {
    throw Napi::TypeError::New(
        value.Env(), runcible_name(name) + " must be a whole number, not " +
                         runcible_shown(value));
  }
  const double number = value.As<Napi::Number>().DoubleValue();
  // Beyond 2^53 - 1 numbers are not exact; a bigint is.
  constexpr double most = 9007199254740991.0;
  if (std::trunc(number) != number || std::fabs(number) > most ||
      number < static_cast<double>(std::numeric_limits<T>::min()) ||
      number > static_cast<double>(std::numeric_limits<T>::max())) {
    refuse();
  }
  return static_cast<T>(number);
}

static double runcible_real(Napi::Value value, const char* name) {
  if (!value.IsNumber()) {
    throw Napi::TypeError::New(value.Env(), runcible_name(name) +
                                                " must be a number, not " +
                                                runcible_shown(value));
  }
  return value.As<Napi::Number>().DoubleValue();
}

// The UTF-8 of a string, or bytes as they are.
static std::string runcible_bytes(Napi::Value value, const char* name) {
  if (value.IsString()) return value.As<Napi::String>().Utf8Value();
  if (value.IsTypedArray() &&
      value.As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array) {
    const auto bytes = value.As<Napi::Uint8Array>();
    return std::string(reinterpret_cast<const char*>(bytes.Data()),
                       bytes.ByteLength());
  }
  throw Napi::TypeError::New(value.Env(),
                             runcible_name(name) +
                                 " must be a string or a Uint8Array, not " +
                                 runcible_shown(value));
}

// The same for a text that C ends with a NUL.
static std::string runcible_c_string(Napi::Value value, const char* name) {
  std::string text = runcible_bytes(value, name);
  if (text.find('\0') != std::string::npos) {
    throw Napi::TypeError::New(
        value.Env(), runcible_name(name) + " must not contain NUL characters");
  }
  return text;
}

static Napi::Value runcible_text(Napi::Env env, const char* text,
                                 size_t length) {
  return Napi::String::New(env, length == 0 ? "" : text, length);
}

// Makes a typed array with a copy of numbers.
template <typename Array, typename T>
Napi::Value runcible_array(Napi::Env env, const T* numbers, size_t count) {
  Array array = Array::New(env, count);
  if (count > 0) std::memcpy(array.Data(), numbers, count * sizeof(T));
  return array;
}

template <typename T>
std::vector<T> runcible_wholes(Napi::Value value, const char* name) {
  std::vector<T> numbers;
  if (value.IsTypedArray() &&
      value.As<Napi::TypedArray>().TypedArrayType() == napi_int32_array) {
    const auto array = value.As<Napi::Int32Array>();
    numbers.assign(array.Data(), array.Data() + array.ElementLength());
    return numbers;
  }
  if (!value.IsArray()) {
    throw Napi::TypeError::New(value.Env(),
                               runcible_name(name) +
                                   " must be an array of whole numbers, not " +
                                   runcible_shown(value));
  }
  const auto array = value.As<Napi::Array>();
  const uint32_t count = array.Length();
  for (uint32_t i = 0; i < count; ++i) {
    const Napi::HandleScope scope(value.Env());
    numbers.push_back(runcible_whole<T>(array.Get(i), name));
  }
  return numbers;
}

static std::vector<int64_t> runcible_shape_in(Napi::Value value,
                                              const char* name) {
  std::vector<int64_t> shape = runcible_wholes<int64_t>(value, name);
  if (shape.size() > RC_TENSOR_MAX_RANK) {
    throw Napi::RangeError::New(
        value.Env(), runcible_name(name) + " has " +
                         std::to_string(shape.size()) +
                         " dimensions, at most " +
                         std::to_string(RC_TENSOR_MAX_RANK) + " are known");
  }
  return shape;
}

static Napi::Value runcible_shape(Napi::Env env, const int64_t* shape,
                                  int32_t rank) {
  const auto array = Napi::Array::New(env, static_cast<size_t>(rank));
  for (int32_t i = 0; i < rank; ++i) {
    array.Set(static_cast<uint32_t>(i),
              Napi::Number::New(env, static_cast<double>(shape[i])));
  }
  return array;
}

// Appends a value to a result: one value is the result, more make an array.
static void runcible_append(Napi::Env env, Napi::Value* result,
                            Napi::Value value) {
  if (result->IsEmpty()) {
    *result = value;
    return;
  }
  if (!result->IsArray()) {
    const auto array = Napi::Array::New(env);
    array.Set(0u, *result);
    *result = array;
  }
  const auto array = result->As<Napi::Array>();
  array.Set(array.Length(), value);
}

static Napi::Value runcible_logprobs(Napi::Env env, const int32_t* tokens,
                                     const float* logprobs, size_t count) {
  const auto array = Napi::Array::New(env, count);
  for (size_t i = 0; i < count; ++i) {
    const auto pair = Napi::Object::New(env);
    pair.Set("token", Napi::Number::New(env, tokens[i]));
    pair.Set("logprob", Napi::Number::New(env, logprobs[i]));
    array.Set(static_cast<uint32_t>(i), pair);
  }
  return array;
}

// [of each token, [of the most probable at its position]]; null if they were
// not requested.
static Napi::Value runcible_piece_logprobs(Napi::Env env,
                                           const rc_event& event) {
  if (event.logprobs == nullptr) return env.Null();
  const auto top = Napi::Array::New(env, event.token_count);
  for (size_t i = 0; i < event.token_count; ++i) {
    const size_t first = i * event.top_count;
    top.Set(static_cast<uint32_t>(i),
            runcible_logprobs(env, event.top_tokens + first,
                              event.top_logprobs + first, event.top_count));
  }
  const auto both = Napi::Array::New(env, 2);
  both.Set(0u, runcible_logprobs(env, event.tokens, event.logprobs,
                                 event.token_count));
  both.Set(1u, top);
  return both;
}

// [status, message, and the members of the report from `reason` on]
static Napi::Value runcible_end(Napi::Env env, const rc_event& event) {
  const rc_generate_report& report = *event.report;
  const auto end = Napi::Array::New(env);
  end.Set(0u, Napi::Number::New(env, report.status));
  end.Set(1u, Napi::String::New(env, runcible_own_words(event.message)));
  end.Set(2u, Napi::String::New(env, rc_end_reason_name(report.reason)));
  end.Set(3u, Napi::BigInt::New(env, report.seed));
  uint32_t at = 4;
#define RUNCIBLE_NUMBER(NAME) report.NAME,
  for (const int64_t number : {RUNCIBLE_END_NUMBERS(RUNCIBLE_NUMBER)}) {
    end.Set(at++, Napi::Number::New(env, static_cast<double>(number)));
  }
#undef RUNCIBLE_NUMBER
  return end;
}

// Returns the kind of an event of a conversation: undefined for a piece, true
// for reasoning, [name, id] for a call.
static Napi::Value runcible_part(Napi::Env env, const rc_event& event) {
  if (event.type == RC_EVENT_REASONING) return Napi::Boolean::New(env, true);
  if (event.type != RC_EVENT_CALL) return env.Undefined();
  const auto call = Napi::Array::New(env);
  call.Set(0u, Napi::String::New(env, event.call_name));
  call.Set(1u, Napi::String::New(env, event.call_id));
  return call;
}

// Many events as [tokens of all, key, text, count of tokens, more, part, key,
// ...]: few objects, because there are thousands of events in a second. `more`
// is the log probabilities of a piece; for an end, whose text is null, it is
// the result of runcible_end.
class runcible_event_list {
 public:
  explicit runcible_event_list(Napi::Env env)
      : env_(env), list_(Napi::Array::New(env)) {}

  void add(uint64_t key, const rc_event& event) {
    const Napi::HandleScope scope(env_);
    const bool piece = event.type != RC_EVENT_END;
    put(Napi::Number::New(env_, static_cast<double>(key)));
    put(piece ? runcible_text(env_, event.text, event.text_length)
              : env_.Null());
    put(Napi::Number::New(env_, static_cast<double>(event.token_count)));
    put(piece ? runcible_piece_logprobs(env_, event)
              : runcible_end(env_, event));
    put(runcible_part(env_, event));
    tokens_.insert(tokens_.end(), event.tokens,
                   event.tokens + event.token_count);
  }

  Napi::Value value() {
    list_.Set(0u, runcible_array<Napi::Int32Array>(env_, tokens_.data(),
                                                   tokens_.size()));
    return list_;
  }

 private:
  void put(Napi::Value value) { list_.Set(count_++, value); }

  const Napi::Env env_;
  Napi::Array list_;
  uint32_t count_ = 1;
  std::vector<int32_t> tokens_;
};

static Napi::Value runcible_events(Napi::Env env, const kept_events& events) {
  runcible_event_list list(env);
  for (const kept_event* kept = events.first; kept != nullptr;
       kept = kept->next) {
    list.add(kept->key, kept->event);
  }
  return list.value();
}

#endif  // RUNCIBLE_NODE_VALUES_H

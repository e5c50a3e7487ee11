// Converts between values of C and of Java; included by the wrapper alone.
// Functions that make an object return NULL with an exception pending on
// failure.
#ifndef RUNCIBLE_JAVA_VALUES_HH
#define RUNCIBLE_JAVA_VALUES_HH

#include <jni.h>
#include <runcible/runcible.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "mailbox.h"
#define RUNCIBLE_NAMES_CAMEL
#include "own_words.h"
#include "retry_after.h"

namespace runcible {

// Classes and methods of Java that C++ calls; JNI_OnLoad finds them once.
struct Known {
  JavaVM* machine;
  jclass object, errors, event, number, floats, bytes, longs, out_of_memory,
      custom_call;
  jmethodID of_status, part, end, number_of, accept, compute;
};
inline Known known;

inline jclass find_class(JNIEnv* jenv, const char* name) {
  const jclass found = jenv->FindClass(name);
  return found == nullptr ? nullptr
                          : static_cast<jclass>(jenv->NewGlobalRef(found));
}

// Returns false with an exception pending if one is missing.
inline bool find_all(JavaVM* machine, JNIEnv* jenv) {
  known.machine = machine;
  return (known.object = find_class(jenv, "java/lang/Object")) &&
         (known.errors = find_class(jenv, "runcible/Errors")) &&
         (known.event = find_class(jenv, "runcible/Event")) &&
         (known.number = find_class(jenv, "java/lang/Long")) &&
         (known.floats = find_class(jenv, "[F")) &&
         (known.bytes = find_class(jenv, "[B")) &&
         (known.longs = find_class(jenv, "[J")) &&
         (known.custom_call = find_class(jenv, "runcible/CustomCall")) &&
         (known.compute = jenv->GetStaticMethodID(
              known.custom_call, "compute",
              "(Lruncible/CustomOp$Function;[Ljava/lang/Object;[[J[II[DJJJ[[B)"
              "I")) &&
         (known.out_of_memory =
              find_class(jenv, "java/lang/OutOfMemoryError")) &&
         (known.of_status = jenv->GetStaticMethodID(
              known.errors, "ofStatus",
              "(I[BJ)Ljava/lang/RuntimeException;")) &&
         (known.part = jenv->GetStaticMethodID(
              known.event, "part", "(JI[B[I[F[I[F[B[B)Lruncible/Event;")) &&
         (known.end = jenv->GetStaticMethodID(known.event, "end",
                                              "(JI[B[J)Lruncible/Event;")) &&
         (known.number_of = jenv->GetStaticMethodID(known.number, "valueOf",
                                                    "(J)Ljava/lang/Long;")) &&
         (known.accept = jenv->GetMethodID(
              jenv->FindClass("java/util/function/DoubleConsumer"), "accept",
              "(D)V"));
}

// Returns false with an exception pending if no array of Java is that long.
inline bool fits(JNIEnv* jenv, size_t count) {
  if (count <= static_cast<size_t>(std::numeric_limits<jsize>::max())) {
    return true;
  }
  char message[80];
  std::snprintf(message, sizeof(message),
                "%zu elements are more than an array of Java holds", count);
  jenv->ThrowNew(known.out_of_memory, message);
  return false;
}

inline jbyteArray bytes(JNIEnv* jenv, const void* data, size_t size) {
  if (!fits(jenv, size)) return nullptr;
  const auto count = static_cast<jsize>(size);
  const jbyteArray made = jenv->NewByteArray(count);
  if (made != nullptr && count > 0) {
    jenv->SetByteArrayRegion(made, 0, count, static_cast<const jbyte*>(data));
  }
  return made;
}

inline jintArray ints(JNIEnv* jenv, const int32_t* data, size_t size) {
  if (!fits(jenv, size)) return nullptr;
  const auto count = static_cast<jsize>(size);
  const jintArray made = jenv->NewIntArray(count);
  if (made != nullptr && count > 0) {
    jenv->SetIntArrayRegion(made, 0, count, data);
  }
  return made;
}

inline jlongArray longs(JNIEnv* jenv, const int64_t* data, int32_t count) {
  static_assert(sizeof(jlong) == sizeof(int64_t));
  const jlongArray made = jenv->NewLongArray(count);
  if (made != nullptr && count > 0) {
    jenv->SetLongArrayRegion(made, 0, count,
                             reinterpret_cast<const jlong*>(data));
  }
  return made;
}

inline jfloatArray floats(JNIEnv* jenv, const float* data, size_t size) {
  if (!fits(jenv, size)) return nullptr;
  const auto count = static_cast<jsize>(size);
  const jfloatArray made = jenv->NewFloatArray(count);
  if (made != nullptr && count > 0) {
    jenv->SetFloatArrayRegion(made, 0, count, data);
  }
  return made;
}

inline jobjectArray rows(JNIEnv* jenv, const float* data, size_t count,
                         size_t columns) {
  if (!fits(jenv, count)) return nullptr;
  const jobjectArray made =
      jenv->NewObjectArray(static_cast<jsize>(count), known.floats, nullptr);
  for (size_t i = 0; made != nullptr && i < count; ++i) {
    const jfloatArray row = floats(jenv, data + i * columns, columns);
    if (row == nullptr) return nullptr;
    jenv->SetObjectArrayElement(made, static_cast<jsize>(i), row);
    jenv->DeleteLocalRef(row);
  }
  return made;
}

// Returns the result of a static method; NULL if it threw.
template <typename... Arguments>
jobject call(JNIEnv* jenv, jclass type, jmethodID method,
             Arguments... arguments) {
  const jobject made = jenv->CallStaticObjectMethod(type, method, arguments...);
  return jenv->ExceptionCheck() ? nullptr : made;
}

inline jobject number(JNIEnv* jenv, jlong value) {
  return call(jenv, known.number, known.number_of, value);
}

// Adds a value to a result: the first becomes the result, two an Object[].
inline jobject append(JNIEnv* jenv, jobject result, jobject value) {
  if (result == nullptr || value == nullptr) return value;
  const jobjectArray pair = jenv->NewObjectArray(2, known.object, result);
  if (pair != nullptr) jenv->SetObjectArrayElement(pair, 1, value);
  return pair;
}

// Throws the exception of a status. An exception of Java code that the call
// ran, which is already pending, stays.
inline void raise(JNIEnv* jenv, rc_status status, const char* message) {
  if (jenv->ExceptionCheck()) return;
  const jlong retry_after = runcible_retry_after(status);
  const jbyteArray text = bytes(jenv, message, std::strlen(message));
  if (text == nullptr) return;
  const auto error = static_cast<jthrowable>(call(
      jenv, known.errors, known.of_status, static_cast<jint>(status), text,
      retry_after));
  if (error != nullptr) jenv->Throw(error);
}

// The elements of an array of Java during a call; none for null.
template <typename Array, typename Element>
class Elements {
 public:
  Elements() = default;
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() {
    if (data_ != nullptr) release(JNI_ABORT);
  }

  // Returns false with an exception pending if there is not enough memory.
  bool take(JNIEnv* jenv, Array array) {
    if (array == nullptr) return true;
    jenv_ = jenv;
    array_ = array;
    size_ = static_cast<size_t>(jenv->GetArrayLength(array));
    if constexpr (std::is_same_v<Element, jbyte>) {
      data_ = jenv->GetByteArrayElements(array, nullptr);
    } else if constexpr (std::is_same_v<Element, jint>) {
      data_ = jenv->GetIntArrayElements(array, nullptr);
    } else {
      data_ = jenv->GetLongArrayElements(array, nullptr);
    }
    return data_ != nullptr;
  }

  // Copies what was written to data() to the array.
  void write_back() {
    if (data_ != nullptr) release(JNI_COMMIT);
  }

  auto data() const {
    if constexpr (std::is_same_v<Element, jbyte>) {
      return reinterpret_cast<char*>(data_);
    } else {
      return data_;
    }
  }
  size_t size() const { return size_; }

 private:
  void release(jint mode) {
    if constexpr (std::is_same_v<Element, jbyte>) {
      jenv_->ReleaseByteArrayElements(array_, data_, mode);
    } else if constexpr (std::is_same_v<Element, jint>) {
      jenv_->ReleaseIntArrayElements(array_, data_, mode);
    } else {
      jenv_->ReleaseLongArrayElements(array_, data_, mode);
    }
  }

  JNIEnv* jenv_ = nullptr;
  Array array_ = nullptr;
  Element* data_ = nullptr;
  size_t size_ = 0;
};
using Bytes = Elements<jbyteArray, jbyte>;
using Ints = Elements<jintArray, jint>;
using Longs = Elements<jlongArray, jlong>;

// Bytes with a zero at their end; NULL for null.
class Name {
 public:
  Name() = default;
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  ~Name() { std::free(text_); }

  bool take(JNIEnv* jenv, jbyteArray array) {
    if (array == nullptr) return true;
    const jsize size = jenv->GetArrayLength(array);
    text_ = static_cast<char*>(std::malloc(static_cast<size_t>(size) + 1));
    if (text_ == nullptr) {
      jenv->ThrowNew(known.out_of_memory, "no memory for a text");
      return false;
    }
    jenv->GetByteArrayRegion(array, 0, size, reinterpret_cast<jbyte*>(text_));
    text_[size] = 0;
    return true;
  }
  char* data() const { return text_; }

 private:
  char* text_ = nullptr;
};

// Memory that rc_free releases.
template <typename T>
struct Freed {
  Freed() = default;
  Freed(const Freed&) = delete;
  Freed& operator=(const Freed&) = delete;
  ~Freed() { rc_free(memory); }
  T* memory = nullptr;
};

struct KeptEvents {
  KeptEvents() = default;
  KeptEvents(const KeptEvents&) = delete;
  KeptEvents& operator=(const KeptEvents&) = delete;
  ~KeptEvents() { kept_events_free(&list); }
  kept_events list = {};
};

inline jobject end_event(JNIEnv* jenv, jlong key, const rc_event* event) {
  const rc_generate_report& report = *event->report;
#define RUNCIBLE_NUMBER(NAME) report.NAME,
  const int64_t numbers[] = {report.reason, static_cast<int64_t>(report.seed),
                             RUNCIBLE_END_NUMBERS(RUNCIBLE_NUMBER)};
#undef RUNCIBLE_NUMBER
  const char* text = runcible_own_words(event->message);
  const jbyteArray message = bytes(jenv, text, std::strlen(text));
  if (message == nullptr) return nullptr;
  const jlongArray all = longs(jenv, numbers, std::size(numbers));
  if (all == nullptr) return nullptr;
  return call(jenv, known.event, known.end, key,
              static_cast<jint>(report.status), message, all);
}

// Makes null of NULL; returns false with an exception pending on failure.
inline bool optional_bytes(JNIEnv* jenv, const char* text, jbyteArray* made) {
  if (text == nullptr) return true;
  *made = bytes(jenv, text, std::strlen(text));
  return *made != nullptr;
}

inline jobject event(JNIEnv* jenv, uint64_t key_number, const rc_event* event) {
  const auto key = static_cast<jlong>(key_number);
  if (event->type == RC_EVENT_END) return end_event(jenv, key, event);
  const size_t count = event->token_count;
  const size_t top_count = count * event->top_count;
  jfloatArray logprobs = nullptr;
  jintArray top_tokens = nullptr;
  jfloatArray top_logprobs = nullptr;
  jbyteArray name = nullptr;
  jbyteArray id = nullptr;
  if (!optional_bytes(jenv, event->call_name, &name)) return nullptr;
  if (!optional_bytes(jenv, event->call_id, &id)) return nullptr;
  const jbyteArray text = bytes(jenv, event->text, event->text_length);
  if (text == nullptr) return nullptr;
  const jintArray tokens = ints(jenv, event->tokens, count);
  if (tokens == nullptr) return nullptr;
  if (event->logprobs != nullptr &&
      ((logprobs = floats(jenv, event->logprobs, count)) == nullptr ||
       (top_tokens = ints(jenv, event->top_tokens, top_count)) == nullptr ||
       (top_logprobs = floats(jenv, event->top_logprobs, top_count)) ==
           nullptr)) {
    return nullptr;
  }
  return call(jenv, known.event, known.part, key,
              static_cast<jint>(event->type), text, tokens, logprobs,
              top_tokens, top_logprobs, name, id);
}

inline jobject events(JNIEnv* jenv, const kept_events* events) {
  size_t count = 0;
  for (const kept_event* kept = events->first; kept != nullptr;
       kept = kept->next) {
    ++count;
  }
  if (!fits(jenv, count)) return nullptr;
  const jobjectArray made =
      jenv->NewObjectArray(static_cast<jsize>(count), known.event, nullptr);
  jsize i = 0;
  for (const kept_event* kept = events->first;
       made != nullptr && kept != nullptr; kept = kept->next) {
    // The frame releases the objects that an event is made of.
    if (jenv->PushLocalFrame(16) != 0) return nullptr;
    const jobject one =
        jenv->PopLocalFrame(event(jenv, kept->key, &kept->event));
    if (one == nullptr) return nullptr;
    jenv->SetObjectArrayElement(made, i++, one);
    jenv->DeleteLocalRef(one);
  }
  return made;
}

// Reports progress: an rc_progress_callback whose `user` is a DoubleConsumer.
// It runs on the thread of Java that called, which opens or loads.
inline int32_t on_progress(void* user, double fraction) {
  void* found = nullptr;
  if (known.machine->GetEnv(&found, JNI_VERSION_1_8) != JNI_OK) return 0;
  auto* const jenv = static_cast<JNIEnv*>(found);
  if (jenv->ExceptionCheck()) return 1;
  jenv->CallVoidMethod(static_cast<jobject>(user), known.accept, fraction);
  return jenv->ExceptionCheck() ? 1 : 0;
}

template <typename Options>
void set_progress(JNIEnv* jenv, Options* options, jobject consumer) {
  if (options->progress_user != nullptr) {
    jenv->DeleteGlobalRef(static_cast<jobject>(options->progress_user));
  }
  options->progress_user =
      consumer == nullptr ? nullptr : jenv->NewGlobalRef(consumer);
  options->progress = options->progress_user == nullptr ? nullptr : on_progress;
}

// Releases a lent buffer: an rc_tensor_borrow_callback, on any thread, also one
// that Java does not know.
inline void give_back(void* user) {
  void* found = nullptr;
  const bool attached =
      known.machine->GetEnv(&found, JNI_VERSION_1_8) == JNI_OK;
  if (!attached &&
      known.machine->AttachCurrentThreadAsDaemon(&found, nullptr) != JNI_OK) {
    return;  // the virtual machine is being ended, with all that it holds
  }
  static_cast<JNIEnv*>(found)->DeleteGlobalRef(static_cast<jobject>(user));
  if (!attached) known.machine->DetachCurrentThread();
}

}  // namespace runcible

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* machine, void*) {
  void* jenv = nullptr;
  if (machine->GetEnv(&jenv, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  // System.load throws the pending exception on failure.
  return runcible::find_all(machine, static_cast<JNIEnv*>(jenv))
             ? JNI_VERSION_1_8
             : JNI_ERR;
}

#endif  // RUNCIBLE_JAVA_VALUES_HH

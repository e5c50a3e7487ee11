// Custom ops whose function is an object of Java; included by the wrapper
// alone.
#ifndef RUNCIBLE_JAVA_CUSTOM_HH
#define RUNCIBLE_JAVA_CUSTOM_HH

#include <jni.h>
#include <runcible/custom_op.h>

#include <cstdio>
#include <cstring>

#include "values.hh"

namespace runcible {

// The JNI environment of a thread, which may be unknown to Java.
class Attached {
 public:
  Attached() {
    void* found = nullptr;
    own_ = known.machine->GetEnv(&found, JNI_VERSION_1_8) != JNI_OK;
    if (own_ &&
        known.machine->AttachCurrentThreadAsDaemon(&found, nullptr) != JNI_OK) {
      found = nullptr;  // the virtual machine is being ended
      own_ = false;
    }
    jenv_ = static_cast<JNIEnv*>(found);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() {
    if (own_) known.machine->DetachCurrentThread();
  }
  JNIEnv* jenv() const { return jenv_; }

 private:
  bool own_ = false;
  JNIEnv* jenv_ = nullptr;
};

// The inputs and then the outputs: direct buffers, which are null for values
// without elements, shapes and types.
struct CustomValues {
  jobjectArray buffers, shapes;
  jintArray types;

  // Returns false with an exception pending on failure.
  bool make(JNIEnv* jenv, const rc_custom_call* call) {
    const auto count =
        static_cast<jsize>(call->input_count + call->output_count);
    buffers = jenv->NewObjectArray(count, known.object, nullptr);
    shapes = buffers == nullptr
                 ? nullptr
                 : jenv->NewObjectArray(count, known.longs, nullptr);
    types = shapes == nullptr ? nullptr : jenv->NewIntArray(count);
    if (types == nullptr) return false;
    for (jsize i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      const rc_op_value* value = at < call->input_count
                                     ? call->inputs[at]
                                     : call->outputs[at - call->input_count];
      const jlongArray shape = longs(jenv, value->shape, value->rank);
      if (shape == nullptr) return false;
      jenv->SetObjectArrayElement(shapes, i, shape);
      jenv->DeleteLocalRef(shape);
      const jint type = value->dtype;
      jenv->SetIntArrayRegion(types, i, 1, &type);
      if (value->bytes == 0) continue;
      const jobject buffer = jenv->NewDirectByteBuffer(
          value->data, static_cast<jlong>(value->bytes));
      if (buffer == nullptr) return false;
      jenv->SetObjectArrayElement(buffers, i, buffer);
      jenv->DeleteLocalRef(buffer);
    }
    return true;
  }
};

inline rc_status custom_status(JNIEnv* jenv, jobject function,
                               const rc_custom_call* call, char* message) {
  CustomValues values;
  if (!values.make(jenv, call)) return RC_E_OUT_OF_MEMORY;
  const auto count = static_cast<jsize>(call->attribute_count);
  const jdoubleArray attributes = jenv->NewDoubleArray(count);
  if (attributes == nullptr) return RC_E_OUT_OF_MEMORY;
  jenv->SetDoubleArrayRegion(attributes, 0, count, call->attributes);
  const jobjectArray text = jenv->NewObjectArray(1, known.bytes, nullptr);
  if (text == nullptr) return RC_E_OUT_OF_MEMORY;
  const jint status = jenv->CallStaticIntMethod(
      known.custom_call, known.compute, function, values.buffers, values.shapes,
      values.types, static_cast<jint>(call->input_count), attributes,
      static_cast<jlong>(call->begin), static_cast<jlong>(call->end),
      static_cast<jlong>(reinterpret_cast<intptr_t>(call)), text);
  if (jenv->ExceptionCheck()) return RC_E_OUT_OF_MEMORY;
  const auto thrown =
      static_cast<jbyteArray>(jenv->GetObjectArrayElement(text, 0));
  if (thrown != nullptr) {
    const jsize length = jenv->GetArrayLength(thrown);
    const jsize room = RC_OP_BACKEND_MESSAGE_BYTES - 1;
    const jsize fits = length < room ? length : room;
    jenv->GetByteArrayRegion(thrown, 0, fits,
                             reinterpret_cast<jbyte*>(message));
    message[fits] = '\0';
  }
  return status;
}

// Calls the function of Java: an rc_custom_function, on any thread. `user` is a
// CustomOp.Function.
inline rc_status custom_compute(void* user, const rc_custom_call* call,
                                char* message) {
  const Attached attached;
  JNIEnv* const jenv = attached.jenv();
  if (jenv == nullptr || jenv->PushLocalFrame(32) != 0) {
    std::strcpy(message, "Java is out of memory for the call, or is ending");
    return RC_E_OUT_OF_MEMORY;
  }
  const rc_status status =
      custom_status(jenv, static_cast<jobject>(user), call, message);
  if (jenv->ExceptionCheck()) {
    jenv->ExceptionClear();
    std::strcpy(message, "Java is out of memory for the call");
  }
  jenv->PopLocalFrame(nullptr);
  return status;
}

inline int set_custom(JNIEnv* jenv, rc_custom_op_options* options,
                      jobject function) {
  options->user = jenv->NewGlobalRef(function);
  if (options->user == nullptr) return 0;
  options->function = custom_compute;
  options->release = give_back;
  return 1;
}

}  // namespace runcible

#endif  // RUNCIBLE_JAVA_CUSTOM_HH

// Direct buffers of Java as memory of the library, and pinned memory as a
// direct buffer; included by the wrapper alone.
#ifndef RUNCIBLE_JAVA_BUFFERS_HH
#define RUNCIBLE_JAVA_BUFFERS_HH

#include <jni.h>
#include <runcible/runcible.h>

#include "values.hh"

namespace runcible {

// The memory of a direct buffer, all of its capacity.
struct Shown {
  void* data;
  size_t size;

  Shown(JNIEnv* jenv, jobject buffer)
      : data(jenv->GetDirectBufferAddress(buffer)),
        size(static_cast<size_t>(jenv->GetDirectBufferCapacity(buffer))) {}
};

// Makes a tensor of the memory of a buffer, which the library keeps.
inline rc_status borrow(JNIEnv* jenv, rc_backend* backend, rc_dtype dtype,
                        const int64_t* shape, int32_t rank, jobject buffer,
                        rc_tensor** tensor) {
  const Shown shown(jenv, buffer);
  const jobject kept = jenv->NewGlobalRef(buffer);
  if (kept == nullptr) return RC_E_OUT_OF_MEMORY;
  const rc_status status =
      rc_tensor_borrow(backend, dtype, shape, rank, shown.data, shown.size,
                       give_back, kept, tensor);
  if (status != RC_OK) jenv->DeleteGlobalRef(kept);
  return status;
}

inline rc_status copy_from(JNIEnv* jenv, rc_backend* backend, rc_dtype dtype,
                           const int64_t* shape, int32_t rank, jobject buffer,
                           rc_tensor** tensor) {
  const Shown shown(jenv, buffer);
  return rc_tensor_from_data(backend, dtype, shape, rank, shown.data,
                             shown.size, tensor);
}

inline rc_status read_into(JNIEnv* jenv, rc_tensor* tensor, jobject buffer) {
  const Shown shown(jenv, buffer);
  return rc_tensor_read(tensor, shown.data, shown.size);
}

// Makes a buffer that does not keep the memory.
inline rc_status show(JNIEnv* jenv, rc_pinned* pinned, jobject* buffer) {
  void* data = nullptr;
  size_t size = 0;
  const rc_status status = rc_pinned_memory(pinned, &data, &size);
  if (status != RC_OK) return status;
  *buffer = jenv->NewDirectByteBuffer(data, static_cast<jlong>(size));
  return *buffer == nullptr ? RC_E_OUT_OF_MEMORY : RC_OK;
}

}  // namespace runcible

#endif  // RUNCIBLE_JAVA_BUFFERS_HH

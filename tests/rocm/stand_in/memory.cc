// Memory of the stand-in for HIP.
#include "streams/memory.h"

#include <cstring>

#include "hip_api.h"

using namespace rc::rocm;
namespace stand_in = rc::stand_in;

namespace {

hipError_t allocate(void** memory, size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  *memory = stand_in::allocate(bytes);
  return *memory != nullptr ? hipSuccess : hipErrorOutOfMemory;
}

}  // namespace

RC_STAND_IN long rc_hip_stand_in_bytes() { return stand_in::bytes_taken(); }

RC_STAND_IN hipError_t hipMalloc(void** memory, size_t bytes) {
  RC_BEGIN_ON_DEVICE("hipMalloc");
  return allocate(memory, bytes);
}
RC_STAND_IN hipError_t hipFree(void* memory) {
  ++stand_in::calls;
  return stand_in::release(memory) ? hipSuccess : kInvalidValue;
}
RC_STAND_IN hipError_t hipHostMalloc(void** memory, size_t bytes, unsigned) {
  RC_BEGIN_ON_DEVICE("hipHostMalloc");
  return allocate(memory, bytes);
}
RC_STAND_IN hipError_t hipHostFree(void* memory) {
  ++stand_in::calls;
  return stand_in::release(memory) ? hipSuccess : kInvalidValue;
}

RC_STAND_IN hipError_t hipMemcpyAsync(void* target, const void* source,
                                      size_t bytes, hipMemcpyKind kind,
                                      hipStream_t stream) {
  RC_BEGIN_ON_DEVICE("hipMemcpyAsync");
  if (kind != hipMemcpyDeviceToHost && !stand_in::is_memory(target, bytes)) {
    return kInvalidValue;
  }
  if (kind != hipMemcpyHostToDevice && !stand_in::is_memory(source, bytes)) {
    return kInvalidValue;
  }
  stand_in::copy(target, source, bytes, stream_of(stream));
  return hipSuccess;
}
RC_STAND_IN hipError_t hipMemsetAsync(void* target, int value, size_t bytes,
                                      hipStream_t stream) {
  RC_BEGIN_ON_DEVICE("hipMemsetAsync");
  if (!stand_in::is_memory(target, bytes)) return kInvalidValue;
  stream_of(stream)->add([=] { std::memset(target, value, bytes); });
  return hipSuccess;
}

// Memory of the stand-in for NVIDIA's driver library.
#include "streams/memory.h"

#include <cstring>

#include "control.h"
#include "stream_of.h"

namespace rc::cuda {
namespace {

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace
}  // namespace rc::cuda

using namespace rc::cuda;
namespace stand_in = rc::stand_in;

// Bytes that were allocated and not freed.
RC_STAND_IN long rc_cuda_stand_in_bytes() { return stand_in::bytes_taken(); }

RC_STAND_IN CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  RC_BEGIN_IN_CONTEXT("cuMemAlloc_v2");
  if (bytes == 0) return kInvalidValue;
  void* const made = stand_in::allocate(bytes);
  *address = reinterpret_cast<CUdeviceptr>(made);
  return made != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
RC_STAND_IN CUresult cuMemFree_v2(CUdeviceptr address) {
  ++stand_in::calls;
  if (current() == nullptr) return kInvalidContext;
  return stand_in::release(pointer(address)) ? CUDA_SUCCESS : kInvalidValue;
}
RC_STAND_IN CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuMemHostAlloc");
  if (bytes == 0) return kInvalidValue;
  *address = stand_in::allocate(bytes);
  return *address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
RC_STAND_IN CUresult cuMemFreeHost(void* address) {
  ++stand_in::calls;
  return stand_in::release(address) ? CUDA_SUCCESS : kInvalidValue;
}

RC_STAND_IN CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target,
                                          const void* source, size_t bytes,
                                          CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyHtoDAsync_v2");
  if (!stand_in::is_memory(pointer(target), bytes)) return kInvalidValue;
  stand_in::copy(pointer(target), source, bytes, stream_of(stream));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source,
                                          size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyDtoHAsync_v2");
  if (!stand_in::is_memory(pointer(source), bytes)) return kInvalidValue;
  stand_in::copy(target, pointer(source), bytes, stream_of(stream));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source,
                                   size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyAsync");
  if (!stand_in::is_memory(pointer(target), bytes) ||
      !stand_in::is_memory(pointer(source), bytes)) {
    return kInvalidValue;
  }
  stand_in::copy(pointer(target), pointer(source), bytes, stream_of(stream));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value,
                                     size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemsetD8Async");
  if (!stand_in::is_memory(pointer(target), bytes)) return kInvalidValue;
  stream_of(stream)->add([=] { std::memset(pointer(target), value, bytes); });
  return CUDA_SUCCESS;
}

#include "memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "control.h"
#include "stream.h"

namespace rc::cuda {

ptx::GlobalMemory& memory() {
  static auto* const all = new ptx::GlobalMemory;
  return *all;
}

namespace {

std::atomic<long> bytes_taken = 0;
std::mutex& sizes_mutex = *new std::mutex;
std::map<uint64_t, size_t>& sizes = *new std::map<uint64_t, size_t>;

// Whether a range of a copy is memory that it gave.
bool is_memory(CUdeviceptr address, size_t bytes) {
  return bytes == 0 || memory().find(address, bytes) != nullptr;
}

// Memory that the driver did not give is read before the call returns, and
// written before, too.
CUresult copy(void* target, const void* source, size_t bytes, CUstream stream) {
  const auto is_given = [bytes](const void* at) {
    return is_memory(reinterpret_cast<CUdeviceptr>(at), bytes);
  };
  if (is_given(source)) {
    stream_of(stream)->add([=] { std::memmove(target, source, bytes); });
  } else {
    const auto* const begin = static_cast<const std::byte*>(source);
    const std::vector<std::byte> staged(begin, begin + bytes);
    stream_of(stream)->add([target, staged] {
      std::copy(staged.begin(), staged.end(), static_cast<std::byte*>(target));
    });
  }
  if (!is_given(target)) stream_of(stream)->wait();
  return CUDA_SUCCESS;
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Memory that a kernel may access, filled with NaNs.
CUresult allocate(uint64_t* address, size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  const long most = setting("memory", 64 << 10) * 1024 * 1024;
  if (bytes_taken + static_cast<long>(bytes) > most) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  void* const made = ::operator new(bytes, std::align_val_t(256), std::nothrow);
  if (made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(made, 0xFF, bytes);
  bytes_taken += static_cast<long>(bytes);
  *address = reinterpret_cast<uint64_t>(made);
  memory().add(*address, bytes);
  const std::lock_guard lock(sizes_mutex);
  sizes[*address] = bytes;
  return CUDA_SUCCESS;
}

CUresult release(uint64_t address) {
  wait_for_all();
  if (!memory().remove(address)) return kInvalidValue;
  const std::lock_guard lock(sizes_mutex);
  bytes_taken -= static_cast<long>(sizes[address]);
  sizes.erase(address);
  ::operator delete(pointer(address), std::align_val_t(256));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace rc::cuda

using namespace rc::cuda;

// Bytes that were allocated and not freed.
RC_STAND_IN long rc_cuda_stand_in_bytes() { return bytes_taken; }

RC_STAND_IN CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  RC_BEGIN_IN_CONTEXT("cuMemAlloc_v2");
  uint64_t made = 0;
  const CUresult result = allocate(&made, bytes);
  *address = made;
  return result;
}
RC_STAND_IN CUresult cuMemFree_v2(CUdeviceptr address) {
  ++calls;
  if (current() == nullptr) return kInvalidContext;
  return release(address);
}
RC_STAND_IN CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuMemHostAlloc");
  uint64_t made = 0;
  const CUresult result = allocate(&made, bytes);
  *address = pointer(made);
  return result;
}
RC_STAND_IN CUresult cuMemFreeHost(void* address) {
  ++calls;
  return release(reinterpret_cast<uint64_t>(address));
}

RC_STAND_IN CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target,
                                          const void* source, size_t bytes,
                                          CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyHtoDAsync_v2");
  if (!is_memory(target, bytes)) return kInvalidValue;
  return copy(pointer(target), source, bytes, stream);
}
RC_STAND_IN CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source,
                                          size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyDtoHAsync_v2");
  if (!is_memory(source, bytes)) return kInvalidValue;
  return copy(target, pointer(source), bytes, stream);
}
RC_STAND_IN CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source,
                                   size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyAsync");
  if (!is_memory(target, bytes) || !is_memory(source, bytes)) {
    return kInvalidValue;
  }
  return copy(pointer(target), pointer(source), bytes, stream);
}
RC_STAND_IN CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value,
                                     size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemsetD8Async");
  if (!is_memory(target, bytes)) return kInvalidValue;
  stream_of(stream)->add([=] { std::memset(pointer(target), value, bytes); });
  return CUDA_SUCCESS;
}

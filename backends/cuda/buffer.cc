#include "cuda/buffer.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace rc::cuda {
namespace {

std::byte* pinned_memory(uint64_t bytes) {
  void* made = nullptr;
  const CUresult result =
      api().MemHostAlloc(&made, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    fail(RC_E_OUT_OF_MEMORY, "no pinned memory of ", bytes,
         " bytes (cuMemHostAlloc)");
  }
  check(result, "cuMemHostAlloc");
  return static_cast<std::byte*>(made);
}

}  // namespace

Buffer::Buffer(CUcontext context, CUstream transfers, uint64_t bytes,
               gpu::MemoryUse use)
    : gpu::Buffer(bytes),
      context_(context),
      transfers_(transfers),
      is_host_memory_(use == gpu::MemoryUse::kPinned) {
  const Current current(context_);
  // CUDA has no memory of 0 bytes.
  const uint64_t taken = std::max<uint64_t>(bytes, 1);
  if (use != gpu::MemoryUse::kDevice) host_ = pinned_memory(taken);
  if (is_host_memory_) {
    address_ = reinterpret_cast<CUdeviceptr>(host_);
    return;
  }
  const CUresult result = api().MemAlloc(&address_, taken);
  if (result == CUDA_SUCCESS) return;
  release();
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    fail(RC_E_DEVICE_MEMORY, "the device has no memory for a buffer of ", bytes,
         " bytes (cuMemAlloc)");
  }
  check(result, "cuMemAlloc");
}

Buffer::~Buffer() {
  const MaybeCurrent current(context_);
  if (!current) return;
  if (!is_host_memory_) static_cast<void>(api().MemFree(address_));
  release();
}

void Buffer::release() noexcept {
  if (host_ != nullptr) static_cast<void>(api().MemFreeHost(host_));
}

void Buffer::write(uint64_t offset, const void* data, uint64_t bytes) {
  if (bytes == 0) return;
  if (is_host_memory_) {
    std::memcpy(host_ + offset, data, bytes);
    return;
  }
  const Current current(context_);
  check(api().MemcpyHtoDAsync(address_ + offset, data, bytes, transfers_),
        "cuMemcpyHtoDAsync");
  check(api().StreamSynchronize(transfers_), "cuStreamSynchronize");
}

void Buffer::read(uint64_t offset, void* data, uint64_t bytes) const {
  if (bytes == 0) return;
  if (is_host_memory_) {
    std::memcpy(data, host_ + offset, bytes);
    return;
  }
  const Current current(context_);
  check(api().MemcpyDtoHAsync(data, address_ + offset, bytes, transfers_),
        "cuMemcpyDtoHAsync");
  check(api().StreamSynchronize(transfers_), "cuStreamSynchronize");
}

void Buffer::clear() {
  if (bytes() == 0) return;
  if (is_host_memory_) {
    std::memset(host_, 0, bytes());
    return;
  }
  const Current current(context_);
  check(api().MemsetD8Async(address_, 0, bytes(), transfers_),
        "cuMemsetD8Async");
  check(api().StreamSynchronize(transfers_), "cuStreamSynchronize");
}

}  // namespace rc::cuda

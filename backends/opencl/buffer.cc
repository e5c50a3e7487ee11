#include "opencl/buffer.h"

#include <algorithm>

#include "base/error.h"

namespace rc::opencl {

Buffer::Buffer(const OpenClDevice& device, uint64_t bytes, gpu::MemoryUse use)
    : gpu::Buffer(bytes), transfers_(device.transfers()) {
  const uint64_t limit = device.largest_buffer();
  if (bytes > limit) {
    fail(RC_E_DEVICE_MEMORY, "a buffer of ", bytes,
         " bytes is larger than the ", limit,
         " bytes that the device allows (CL_DEVICE_MAX_MEM_ALLOC_SIZE)");
  }
  cl_int code = CL_SUCCESS;
  // OpenCL has no buffers of 0 bytes.
  const bool pinned = use == gpu::MemoryUse::kPinned;
  const cl_mem_flags flags =
      CL_MEM_READ_WRITE | (pinned ? CL_MEM_ALLOC_HOST_PTR : cl_mem_flags{0});
  memory_.reset(api().CreateBuffer(
      device.context(), flags, std::max<uint64_t>(bytes, 1), nullptr, &code));
  check(code, "clCreateBuffer");
  if (!pinned) return;
  host_ = static_cast<std::byte*>(api().EnqueueMapBuffer(
      transfers_, get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
      std::max<uint64_t>(bytes, 1), 0, nullptr, nullptr, &code));
  check(code, "clEnqueueMapBuffer");
}

Buffer::~Buffer() {
  if (host_ == nullptr) return;
  // Whatever it answers, the memory is given back.
  static_cast<void>(api().EnqueueUnmapMemObject(transfers_, get(), host_, 0,
                                                nullptr, nullptr));
  static_cast<void>(api().Finish(transfers_));
}

void Buffer::clear() {
  const cl_uchar zero = 0;
  check(api().EnqueueFillBuffer(transfers_, get(), &zero, 1, 0,
                                std::max<uint64_t>(bytes(), 1), 0, nullptr,
                                nullptr),
        "clEnqueueFillBuffer");
  check(api().Finish(transfers_), "clFinish");
}

void Buffer::write(uint64_t offset, const void* data, uint64_t bytes) {
  if (bytes == 0) return;
  check(api().EnqueueWriteBuffer(transfers_, get(), CL_TRUE, offset, bytes,
                                 data, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

void Buffer::read(uint64_t offset, void* data, uint64_t bytes) const {
  if (bytes == 0) return;
  check(api().EnqueueReadBuffer(transfers_, get(), CL_TRUE, offset, bytes, data,
                                0, nullptr, nullptr),
        "clEnqueueReadBuffer");
}

}  // namespace rc::opencl

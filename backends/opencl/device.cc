#include "opencl/device.h"

#include <algorithm>

#include "base/error.h"
#include "opencl/platform.h"

namespace rc::opencl {
namespace {

Context make_context(cl_device_id id) {
  cl_int code = CL_SUCCESS;
  Context context(
      api().CreateContext(nullptr, 1, &id, nullptr, nullptr, &code));
  check(code, "clCreateContext");
  return context;
}

}  // namespace

Device::Device(cl_device_id id, const rc_plugin_open_options& options)
    : id_(id),
      tuning_(tuning_for(id)),
      unified_(device_property<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY)),
      doubles_(has_extension(id, "cl_khr_fp64")),
      profile_(options.profile != 0),
      largest_allocation_(
          device_property<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE)),
      context_(make_context(id)),
      queue_(make_queue(profile_ ? CL_QUEUE_PROFILING_ENABLE : 0)),
      transfers_(make_queue(0)),
      library_(context_.get(), id, tuning_) {}

uint64_t Device::largest_allocation() const {
  const uint64_t chosen = static_cast<uint64_t>(tuning_.allocation) << 20;
  return chosen == 0 ? largest_allocation_
                     : std::min(chosen, largest_allocation_);
}

Queue Device::make_queue(cl_command_queue_properties properties) const {
  cl_int code = CL_SUCCESS;
  Queue queue(api().CreateCommandQueue(context_.get(), id_, properties, &code));
  check(code, "clCreateCommandQueue");
  return queue;
}

Memory Device::allocate(uint64_t bytes, bool zeroed) const {
  if (bytes == 0) bytes = 1;
  if (bytes > largest_allocation()) {
    fail(RC_E_DEVICE_MEMORY, "a buffer of ", bytes,
         " bytes is larger than the ", largest_allocation(),
         " bytes that the device allows (CL_DEVICE_MAX_MEM_ALLOC_SIZE)");
  }
  cl_int code = CL_SUCCESS;
  Memory memory(api().CreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes,
                                   nullptr, &code));
  check(code, "clCreateBuffer");
  if (zeroed) {
    const cl_uchar zero = 0;
    check(api().EnqueueFillBuffer(transfers_.get(), memory.get(), &zero, 1, 0,
                                  bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    check(api().Finish(transfers_.get()), "clFinish");
  }
  return memory;
}

void Device::write(cl_mem memory, uint64_t offset, const void* data,
                   uint64_t bytes) const {
  if (bytes == 0) return;
  check(api().EnqueueWriteBuffer(transfers_.get(), memory, CL_TRUE, offset,
                                 bytes, data, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

void Device::read(cl_mem memory, uint64_t offset, void* data,
                  uint64_t bytes) const {
  if (bytes == 0) return;
  check(api().EnqueueReadBuffer(transfers_.get(), memory, CL_TRUE, offset,
                                bytes, data, 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
}

void Device::copy(cl_mem target, uint64_t target_offset, cl_mem source,
                  uint64_t source_offset, uint64_t bytes) const {
  if (bytes == 0) return;
  check(api().EnqueueCopyBuffer(transfers_.get(), source, target, source_offset,
                                target_offset, bytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  check(api().Finish(transfers_.get()), "clFinish");
}

}  // namespace rc::opencl

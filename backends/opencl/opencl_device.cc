#include "opencl/opencl_device.h"

#include <algorithm>

#include "base/error.h"
#include "gpu/dispatch.h"
#include "opencl/buffer.h"
#include "opencl/custom_kernel.h"
#include "opencl/platform.h"
#include "opencl/recording.h"

namespace rc::opencl {
namespace {

Context make_context(cl_device_id id) {
  cl_int code = CL_SUCCESS;
  Context context(
      api().CreateContext(nullptr, 1, &id, nullptr, nullptr, &code));
  check(code, "clCreateContext");
  return context;
}

uint64_t largest_buffer_of(cl_device_id id, const Tuning& tuning) {
  const auto all = device_property<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  return tuning.allocation == 0
             ? all
             : std::min<uint64_t>(all, uint64_t{tuning.allocation} << 20);
}

}  // namespace

OpenClDevice::OpenClDevice(cl_device_id id,
                           const rc_plugin_open_options& options)
    : id_(id),
      tuning_(tuning_for(id)),
      largest_buffer_(largest_buffer_of(id, tuning_)),
      doubles_(has_extension(id, "cl_khr_fp64")),
      packing_(doubles_),
      profile_(options.profile != 0),
      context_(make_context(id)),
      queue_(make_queue(profile_ ? CL_QUEUE_PROFILING_ENABLE : 0)),
      transfers_(make_queue(0)),
      library_(context_.get(), id, tuning_) {
  tuning_.range = std::min(tuning_.range, largest_buffer_);
  // Until it is measured.
  const auto type = device_property<cl_device_type>(id, CL_DEVICE_TYPE);
  speed = (type & CL_DEVICE_TYPE_CPU) != 0 ? 1e9 : 1e12;
}

Queue OpenClDevice::make_queue(cl_command_queue_properties properties) const {
  cl_int code = CL_SUCCESS;
  Queue queue(api().CreateCommandQueue(context_.get(), id_, properties, &code));
  check(code, "clCreateCommandQueue");
  return queue;
}

std::unique_ptr<gpu::Buffer> OpenClDevice::allocate(uint64_t bytes,
                                                    gpu::MemoryUse use) {
  return std::make_unique<Buffer>(*this, bytes, use);
}

void OpenClDevice::copy(gpu::Buffer& target, uint64_t target_offset,
                        gpu::Buffer& source, uint64_t source_offset,
                        uint64_t bytes) {
  if (bytes == 0) return;
  check(api().EnqueueCopyBuffer(transfers_.get(), memory_of(&source),
                                memory_of(&target), source_offset,
                                target_offset, bytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  check(api().Finish(transfers_.get()), "clFinish");
}

void OpenClDevice::check_supported(
    const Op& op, std::span<const rc_plugin_value> values) const {
  packing_.check_decodable(op, values);
  gpu::check_supported(*this, op, values);
}

std::unique_ptr<gpu::Recording> OpenClDevice::record(
    const gpu::PlacedProgram& program) {
  return std::make_unique<Recording>(*this, program);
}

std::unique_ptr<gpu::CustomKernel> OpenClDevice::create_kernel(
    const rc_plugin_kernel_info& info) {
  return std::make_unique<CustomKernel>(*this, id_, info);
}

}  // namespace rc::opencl

#include "cuda/cuda_device.h"

#include "base/error.h"
#include "cuda/buffer.h"
#include "cuda/platform.h"
#include "cuda/recording.h"
#include "cuda/variants.h"
#include "gpu/dispatch.h"

namespace rc::cuda {
namespace {

Stream stream_of(CUcontext context) {
  const Current current(context);
  return make_stream(context);
}

uint64_t total_memory(CUdevice device) {
  size_t bytes = 0;
  check(api().DeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  return bytes;
}

// Throws for sizes beyond those that the kernels have arrays for.
void check_rooms(const Op& op, std::span<const rc_plugin_value> values) {
  const auto fits = [&](int32_t number, int dimension, uint32_t most,
                        const char* what) {
    if (number < 0) return;
    const int64_t size = values[static_cast<size_t>(number)].shape[dimension];
    if (size > most) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", what, " of ", size,
           "; the kernels of cuda have room for ", most);
    }
  };
  switch (op.code) {
    case RC_OP_ATTENTION:
    case RC_OP_GENERAL_ATTENTION:
      fits(op.inputs[0], 2, kHeadRoom, "keys");
      fits(op.outputs[0], 2, kHeadRoom, "values");
      break;
    case RC_OP_ATTEND:
      fits(op.inputs[0], 3, kHeadRoom, "heads");
      break;
    case RC_OP_SHORT_CONV:
      fits(op.inputs[1], 1, kWidthRoom, "filters");
      break;
    case RC_OP_SELECTIVE_SCAN:
      fits(op.inputs[2], 2, kStateRoom, "states");
      break;
    case RC_OP_CHANNEL_SCAN:
      fits(op.inputs[2], 1, kStateRoom, "states");
      break;
    case RC_OP_DELTA_RULE:
    case RC_OP_FADING_STATE:
      fits(op.inputs[1], 2, kStateRoom, "states");
      break;
    default:
      break;
  }
}

}  // namespace

CudaDevice::CudaDevice(CUdevice device, const rc_plugin_open_options& options)
    : context_(device),
      runs_(stream_of(context_.get())),
      transfers_(stream_of(context_.get())),
      modules_(context_.get()),
      tuning_(cuda::tuning(capability(device))),
      packing_(/*doubles=*/true),
      total_memory_(total_memory(device)),
      profile_(options.profile != 0) {
  speed = 1e6 * tuning_.speed;
}

std::unique_ptr<gpu::Buffer> CudaDevice::allocate(uint64_t bytes,
                                                  gpu::MemoryUse use) {
  return std::make_unique<Buffer>(context(), transfers_.get(), bytes, use);
}

void CudaDevice::copy(gpu::Buffer& target, uint64_t target_offset,
                      gpu::Buffer& source, uint64_t source_offset,
                      uint64_t bytes) {
  if (bytes == 0) return;
  const Current current(context());
  check(
      api().MemcpyAsync(static_cast<Buffer&>(target).address() + target_offset,
                        static_cast<Buffer&>(source).address() + source_offset,
                        bytes, transfers_.get()),
      "cuMemcpyAsync");
  check(api().StreamSynchronize(transfers_.get()), "cuStreamSynchronize");
}

void CudaDevice::check_supported(
    const Op& op, std::span<const rc_plugin_value> values) const {
  packing_.check_decodable(op, values);
  check_rooms(op, values);
  gpu::check_supported(*this, op, values);
}

std::unique_ptr<gpu::Recording> CudaDevice::record(
    const gpu::PlacedProgram& program) {
  return std::make_unique<Recording>(*this, program);
}

}  // namespace rc::cuda

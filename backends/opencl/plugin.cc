// The table of the OpenCL backend.
//
// Sums are F32 with F32 activations on every device; weights are decoded within
// the kernels. Nothing rests on an extension but F64 weights (cl_khr_fp64): f16
// arithmetic and integer products would round activations, sub-groups are not
// needed where lanes are rows of the weight, and weights are rearranged at
// upload, so that shared memory would save no copy. Compiled kernels are kept
// on disk by the drivers themselves. Tensors lie in buffers as files hold them,
// and those of types with blocks are decoded within the kernels as well.
//
// The same result, bit for bit, whatever else is in a batch and however a
// prompt is cut into chunks: on every device where work-items do not share the
// columns of a product (slices = 1 in the tuning, as on processors). Elsewhere
// products of few rows are summed in slices and those of many are not.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "base/error.h"
#include "common/guard.h"
#include "opencl/device.h"
#include "opencl/flight.h"
#include "opencl/model_ops.h"
#include "opencl/platform.h"
#include "opencl/program.h"
#include "opencl/tensor_ops.h"
#include "opencl/weight.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

struct rc_plugin_device {
  rc_plugin_device(cl_device_id id, const rc_plugin_open_options& options)
      : device(id, options) {}
  rc::opencl::Device device;
  rc::opencl::Pace pace;
  std::unique_ptr<rc::opencl::Flight> flight;
  std::vector<rc_plugin_op_time> op_times;  // of the last run
};

namespace rc::opencl {
namespace {

using plugin::check_range;
using plugin::guarded;
using plugin::report;

rc_status device_count(int32_t* count, char* message) {
  return guarded(message,
                 [&] { *count = static_cast<int32_t>(devices().size()); });
}

rc_status device_info(int32_t index, rc_plugin_device_info* info,
                      char* message) {
  return guarded(message, [&] {
    rc_plugin_device_info filled = describe(device_by_number(index));
    plugin::fill(info, filled);
  });
}

rc_status open(int32_t index, const rc_plugin_open_options* options,
               rc_plugin_device** device, char* message) {
  return guarded(message, [&] {
    *device = new rc_plugin_device(device_by_number(index), *options);
  });
}

void close(rc_plugin_device* device) { delete device; }

rc_status op_supported(rc_plugin_device* device, const rc_plugin_op* op,
                       const rc_plugin_value* const* values, size_t value_count,
                       char* message) {
  return guarded(message, [&] {
    const plugin::GivenOp given(*op, values, value_count);
    check_op(given.op, given.values());
    if (is_tensor_op(given.op, given.values())) {
      return check_tensor_op_supported(device->device, given.op,
                                       given.values().data());
    }
    check_model_op_supported(device->device, given.op, given.values().data());
  });
}

rc_status weight_bytes(rc_plugin_device* device,
                       const rc_plugin_weight_info* info, uint64_t* bytes,
                       char* message) {
  return guarded(message,
                 [&] { *bytes = weight_layout(device->device, *info).bytes; });
}

rc_status create_weight(rc_plugin_device* device,
                        const rc_plugin_weight_info* info, const void* data,
                        rc_plugin_weight** weight, char* message) {
  return guarded(message, [&] {
    *weight = new rc_plugin_weight(device->device, *info, data);
  });
}

void destroy_weight(rc_plugin_device*, rc_plugin_weight* weight) {
  delete weight;
}

rc_status create_buffer(rc_plugin_device* device, uint64_t bytes,
                        rc_plugin_buffer** buffer, char* message) {
  return guarded(message, [&] {
    *buffer = new rc_plugin_buffer{device->device.allocate(bytes, true), bytes};
  });
}

void destroy_buffer(rc_plugin_device*, rc_plugin_buffer* buffer) {
  delete buffer;
}

rc_status upload(rc_plugin_device* device, rc_plugin_buffer* buffer,
                 uint64_t offset, const void* data, uint64_t bytes,
                 char* message) {
  return guarded(message, [&] {
    check_range(buffer->bytes, offset, bytes);
    device->device.write(buffer->memory.get(), offset, data, bytes);
  });
}

rc_status download(rc_plugin_device* device, rc_plugin_buffer* buffer,
                   uint64_t offset, void* data, uint64_t bytes, char* message) {
  return guarded(message, [&] {
    check_range(buffer->bytes, offset, bytes);
    device->device.read(buffer->memory.get(), offset, data, bytes);
  });
}

rc_status copy(rc_plugin_device* device, rc_plugin_buffer* target,
               uint64_t target_offset, rc_plugin_buffer* source,
               uint64_t source_offset, uint64_t bytes, char* message) {
  return guarded(message, [&] {
    check_range(target->bytes, target_offset, bytes);
    check_range(source->bytes, source_offset, bytes);
    device->device.copy(target->memory.get(), target_offset,
                        source->memory.get(), source_offset, bytes);
  });
}

rc_status compile(rc_plugin_device* device, const rc_plugin_program* program,
                  rc_plugin_compiled** compiled, char* message) {
  return guarded(message, [&] {
    *compiled =
        new rc_plugin_compiled(device->device, plugin::GivenProgram(*program));
  });
}

void destroy_compiled(rc_plugin_device*, rc_plugin_compiled* compiled) {
  delete compiled;
}

rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
              const rc_plugin_run* run, char* message) {
  return guarded(message, [&] {
    if (device->flight != nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "another run of the device is under way");
    }
    device->op_times.clear();
    device->flight =
        std::make_unique<Flight>(device->device, *compiled, *run, device->pace);
  });
}

rc_status wait(rc_plugin_device* device, int64_t timeout_ms, char* message) {
  bool over = true;
  const rc_status status = guarded(message, [&] {
    if (device->flight == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "no run is under way");
    }
    std::optional<Flight::Clock::time_point> deadline;
    if (timeout_ms >= 0) {
      // A limit beyond a day is none to a clock that counts nanoseconds.
      constexpr int64_t kDay = 24 * 3600 * 1000;
      deadline = Flight::Clock::now() +
                 std::chrono::milliseconds(std::min(timeout_ms, kDay));
    }
    over = device->flight->finish(deadline);
    if (over) device->op_times = device->flight->op_times();
  });
  if (!over) return report(RC_E_TIMEOUT, "the run is not over", message);
  device->flight.reset();
  return status;
}

rc_status op_time(rc_plugin_device* device, size_t i, rc_plugin_op_time* time,
                  char* message) {
  return guarded(message,
                 [&] { plugin::give_op_time(device->op_times, i, time); });
}

constexpr rc_plugin kPlugin = {
    sizeof(rc_plugin),
    RC_PLUGIN_ABI_VERSION,
    RC_PLUGIN_ABI_VERSION,
    "opencl",
    "Devices with an OpenCL 1.2 driver",
    device_count,
    device_info,
    open,
    close,
    op_supported,
    weight_bytes,
    create_weight,
    destroy_weight,
    create_buffer,
    destroy_buffer,
    upload,
    download,
    compile,
    destroy_compiled,
    run,
    wait,
    copy,
    op_time,
    nullptr,
};

}  // namespace
}  // namespace rc::opencl

extern "C" RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) { return &rc::opencl::kPlugin; }

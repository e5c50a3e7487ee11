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
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/plugin_table.h"
#include "opencl/device.h"
#include "opencl/flight.h"
#include "opencl/model_ops.h"
#include "opencl/platform.h"
#include "opencl/program.h"
#include "opencl/tensor_ops.h"
#include "opencl/weight.h"
#include "tensor/op.h"

namespace rc::opencl {
namespace {

class OpenDevice {
 public:
  OpenDevice(cl_device_id id, const rc_plugin_open_options& options)
      : device_(id, options) {}

  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const {
    if (is_tensor_op(op, values)) {
      check_tensor_op_supported(device_, op, values.data());
    } else {
      check_model_op_supported(device_, op, values.data());
    }
  }

  uint64_t weight_bytes(const rc_plugin_weight_info& info) {
    return weight_layout(device_, info).bytes;
  }
  std::unique_ptr<rc_plugin_weight> create_weight(
      const rc_plugin_weight_info& info, const void* data) {
    return std::make_unique<rc_plugin_weight>(device_, info, data);
  }

  std::unique_ptr<rc_plugin_buffer> create_buffer(uint64_t bytes) {
    return std::unique_ptr<rc_plugin_buffer>(
        new rc_plugin_buffer{device_.allocate(bytes, true), bytes});
  }
  void upload(rc_plugin_buffer& buffer, uint64_t offset, const void* data,
              uint64_t bytes) {
    device_.write(buffer.memory.get(), offset, data, bytes);
  }
  void download(rc_plugin_buffer& buffer, uint64_t offset, void* data,
                uint64_t bytes) {
    device_.read(buffer.memory.get(), offset, data, bytes);
  }
  void copy(rc_plugin_buffer& target, uint64_t target_offset,
            rc_plugin_buffer& source, uint64_t source_offset, uint64_t bytes) {
    device_.copy(target.memory.get(), target_offset, source.memory.get(),
                 source_offset, bytes);
  }

  std::unique_ptr<rc_plugin_compiled> compile(
      const plugin::GivenProgram& program) {
    return std::make_unique<rc_plugin_compiled>(device_, program);
  }
  void destroy(std::unique_ptr<rc_plugin_compiled>) {}

  void start(rc_plugin_compiled& program, const rc_plugin_run& run) {
    if (flight_ != nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "another run of the device is under way");
    }
    op_times_.clear();
    flight_ = std::make_unique<Flight>(device_, program, run, pace_);
  }
  bool wait(int64_t timeout_ms);
  std::span<const rc_plugin_op_time> op_times() const { return op_times_; }

 private:
  Device device_;
  Pace pace_;
  std::unique_ptr<Flight> flight_;
  std::vector<rc_plugin_op_time> op_times_;  // of the last run
};

bool OpenDevice::wait(int64_t timeout_ms) {
  if (flight_ == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "no run is under way");
  }
  std::optional<Flight::Clock::time_point> deadline;
  if (timeout_ms >= 0) {
    // A limit beyond a day is none to a clock that counts nanoseconds.
    constexpr int64_t kDay = 24 * 3600 * 1000;
    deadline = Flight::Clock::now() +
               std::chrono::milliseconds(std::min(timeout_ms, kDay));
  }
  // What it throws ends it, too.
  std::unique_ptr<Flight> flight = std::move(flight_);
  if (!flight->finish(deadline)) {
    flight_ = std::move(flight);
    return false;
  }
  op_times_ = flight->op_times();
  return true;
}

struct Backend {
  static constexpr const char* kName = "opencl";
  static constexpr const char* kDescription =
      "Devices with an OpenCL 1.2 driver";
  using Device = OpenDevice;
  using Weight = rc_plugin_weight;
  using Buffer = rc_plugin_buffer;
  using Program = rc_plugin_compiled;

  static int32_t count() { return static_cast<int32_t>(devices().size()); }
  static rc_plugin_device_info describe(int32_t index) {
    return opencl::describe(device_by_number(index));
  }
  static std::unique_ptr<Device> open(int32_t index,
                                      const rc_plugin_open_options& options) {
    return std::make_unique<Device>(device_by_number(index), options);
  }
  static uint64_t bytes(const Buffer& buffer) { return buffer.bytes; }
};

constexpr rc_plugin kPlugin = plugin::PluginTable<Backend>::table();

}  // namespace
}  // namespace rc::opencl

extern "C" RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) { return &rc::opencl::kPlugin; }

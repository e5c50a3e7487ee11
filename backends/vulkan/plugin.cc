// The table of the module.
#include "runcible/plugin.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/plugin_table.h"
#include "vulkan/instance.h"
#include "vulkan/program.h"

namespace rc::vulkan {
namespace {

class OpenDevice {
 public:
  OpenDevice(int32_t index, const rc_plugin_open_options& options)
      : device_(index, options) {}

  void check_supported(const Op& op, std::span<const rc_plugin_value> values) {
    vulkan::check_supported(device_, op, values);
  }

  uint64_t weight_bytes(const rc_plugin_weight_info& info) {
    return weight_layout(device_, info).bytes;
  }
  std::unique_ptr<Weight> create_weight(const rc_plugin_weight_info& info,
                                        const void* data) {
    return std::make_unique<Weight>(device_, info, data);
  }

  std::unique_ptr<Buffer> create_buffer(uint64_t bytes) {
    auto made = std::make_unique<Buffer>(device_, bytes, MemoryUse::kDevice);
    made->clear();
    return made;
  }
  void upload(Buffer& buffer, uint64_t offset, const void* data,
              uint64_t bytes) {
    buffer.write(offset, data, bytes);
  }
  void download(Buffer& buffer, uint64_t offset, void* data, uint64_t bytes) {
    buffer.read(offset, data, bytes);
  }
  void copy(Buffer& target, uint64_t target_offset, Buffer& source,
            uint64_t source_offset, uint64_t bytes) {
    vulkan::copy(device_, target, target_offset, source, source_offset, bytes);
  }

  std::unique_ptr<Program> compile(const plugin::GivenProgram& program) {
    return std::make_unique<Program>(device_, program);
  }
  void destroy(std::unique_ptr<Program> program) {
    if (running_ == program.get()) running_ = nullptr;
  }

  void start(Program& program, const rc_plugin_run& run) {
    if (running_ != nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "another run of the device is under way");
    }
    program.start(run);
    running_ = &program;
  }
  bool wait(int64_t timeout_ms) {
    if (running_ == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "no run is under way");
    }
    // What it throws ends the run, too.
    Program* program = std::exchange(running_, nullptr);
    if (!program->wait(timeout_ms)) {
      running_ = program;
      return false;
    }
    op_times_ = program->times();
    return true;
  }
  std::span<const rc_plugin_op_time> op_times() const { return op_times_; }

 private:
  Device device_;
  Program* running_ = nullptr;
  std::vector<rc_plugin_op_time> op_times_;  // of the last run
};

struct Backend {
  static constexpr const char* kName = "vulkan";
  static constexpr const char* kDescription =
      "Devices with a Vulkan 1.1 driver";
  using Device = OpenDevice;
  using Weight = vulkan::Weight;
  using Buffer = vulkan::Buffer;
  using Program = vulkan::Program;

  static int32_t count();
  static rc_plugin_device_info describe(int32_t index) {
    rc_plugin_device_info info = {};
    vulkan::describe(Instance::get().device(index), &info);
    return info;
  }
  static std::unique_ptr<Device> open(int32_t index,
                                      const rc_plugin_open_options& options) {
    return std::make_unique<Device>(index, options);
  }
  static uint64_t bytes(const Buffer& buffer) { return buffer.bytes(); }
};

int32_t Backend::count() {
  const auto& devices = Instance::get().devices();
  if (devices.empty()) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "there is no device of Vulkan 1.1 that can compute");
  }
  return static_cast<int32_t>(devices.size());
}

constexpr rc_plugin kPlugin = plugin::PluginTable<Backend>::table();

}  // namespace
}  // namespace rc::vulkan

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  return &rc::vulkan::kPlugin;
}

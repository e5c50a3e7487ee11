// The plugin table of a backend whose devices are GPUs.
//
// A driver says what devices there are and opens them: it is a type with
//   static constexpr const char* kName, * kDescription;
//   static int32_t count();
//   static rc_plugin_device_info describe(int32_t index);
//   static std::unique_ptr<Device> open(int32_t index,
//                                       const rc_plugin_open_options& options);
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "common/plugin_table.h"
#include "gpu/pinned.h"
#include "gpu/program.h"
#include "gpu/weight.h"

namespace rc::gpu {

// A device that is open, with the run that is under way.
class OpenDevice {
 public:
  explicit OpenDevice(std::unique_ptr<Device> device)
      : device_(std::move(device)) {}

  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const {
    device_->check_supported(op, values);
  }

  uint64_t weight_bytes(const rc_plugin_weight_info& info) {
    return weight_layout(*device_, info).bytes;
  }
  std::unique_ptr<Weight> create_weight(const rc_plugin_weight_info& info,
                                        const void* data) {
    return std::make_unique<Weight>(*device_, info, data);
  }

  std::unique_ptr<Buffer> create_buffer(uint64_t bytes) {
    std::unique_ptr<Buffer> made = device_->allocate(bytes, MemoryUse::kDevice);
    made->clear();
    return made;
  }
  std::unique_ptr<PinnedMemory> create_pinned(uint64_t bytes) {
    std::unique_ptr<Buffer> made = device_->allocate(bytes, MemoryUse::kPinned);
    std::memset(made->host(), 0, static_cast<size_t>(bytes));
    return std::make_unique<PinnedMemory>(pinned_, std::move(made));
  }
  void upload(Buffer& buffer, uint64_t offset, const void* data,
              uint64_t bytes) {
    uint64_t from = 0;
    Buffer* const pinned =
        device_->copies_pinned() ? pinned_->find(data, bytes, &from) : nullptr;
    if (pinned == nullptr) return buffer.write(offset, data, bytes);
    device_->copy(buffer, offset, *pinned, from, bytes);
  }
  void download(Buffer& buffer, uint64_t offset, void* data, uint64_t bytes) {
    uint64_t to = 0;
    Buffer* const pinned =
        device_->copies_pinned() ? pinned_->find(data, bytes, &to) : nullptr;
    if (pinned == nullptr) return buffer.read(offset, data, bytes);
    device_->copy(*pinned, to, buffer, offset, bytes);
  }
  void copy(Buffer& target, uint64_t target_offset, Buffer& source,
            uint64_t source_offset, uint64_t bytes) {
    device_->copy(target, target_offset, source, source_offset, bytes);
  }

  int32_t kernel_language() const { return device_->kernel_language(); }
  std::unique_ptr<CustomKernel> create_kernel(
      const rc_plugin_kernel_info& info) {
    return device_->create_kernel(info);
  }
  bool run_kernel(CustomKernel& kernel, std::span<Buffer* const> buffers,
                  const rc_plugin_kernel_run& run);

  std::unique_ptr<Program> compile(const plugin::GivenProgram& program) {
    return std::make_unique<Program>(*device_, program);
  }
  void destroy(std::unique_ptr<Program> program) {
    if (running_ == program.get()) running_ = nullptr;
  }

  void start(Program& program, const rc_plugin_run& run) {
    begin_with(program, [&] { program.start(run); });
  }
  void start_with(Program& program, const rc_plugin_run& run,
                  std::span<Buffer* const> caches) {
    begin_with(program, [&] { program.start_with(run, caches); });
  }
  bool wait(int64_t timeout_ms) {
    if (running_ == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "no run is under way");
    }
    // An exception of it ends the run, too.
    Program* program = std::exchange(running_, nullptr);
    if (!program->wait(timeout_ms)) {
      running_ = program;
      return false;
    }
    op_times_ = program->op_times();
    return true;
  }
  std::span<const rc_plugin_op_time> op_times() const { return op_times_; }

 private:
  template <class Begin>
  void begin_with(Program& program, const Begin& begin) {
    if (running_ != nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "another run of the device is under way");
    }
    op_times_.clear();
    begin();
    running_ = &program;
  }

  std::unique_ptr<Device> device_;
  const std::shared_ptr<PinnedList> pinned_ = std::make_shared<PinnedList>();
  Program* running_ = nullptr;
  std::vector<rc_plugin_op_time> op_times_;  // of the last run
};

// The functions that PluginTable requires of a backend.
template <class Driver>
struct Backend {
  static constexpr const char* kName = Driver::kName;
  static constexpr const char* kDescription = Driver::kDescription;
  using Device = OpenDevice;
  using Weight = gpu::Weight;
  using Buffer = gpu::Buffer;
  using Program = gpu::Program;
  using Kernel = gpu::CustomKernel;
  using Pinned = gpu::PinnedMemory;

  static int32_t count() { return Driver::count(); }
  static rc_plugin_device_info describe(int32_t index) {
    return Driver::describe(index);
  }
  static std::unique_ptr<Device> open(int32_t index,
                                      const rc_plugin_open_options& options) {
    return std::make_unique<Device>(Driver::open(index, options));
  }
  static uint64_t bytes(const Buffer& buffer) { return buffer.bytes(); }
};

}  // namespace rc::gpu

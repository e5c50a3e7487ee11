// The table of the module.
#include "runcible/plugin.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "common/guard.h"
#include "tensor/op.h"
#include "vulkan/instance.h"
#include "vulkan/program.h"

namespace rc::vulkan {
namespace {

using plugin::check_range;
using plugin::guarded;
using plugin::report;

struct Opened {
  Opened(int index, const rc_plugin_open_options& options)
      : device(index, options) {}
  Device device;
  Program* running = nullptr;
  // Of the last run.
  std::vector<rc_plugin_op_time> times;
};

Opened& from(rc_plugin_device* device) {
  if (device == nullptr) fail(RC_E_INVALID_ARGUMENT, "device is NULL");
  return *reinterpret_cast<Opened*>(device);
}

Buffer& from(rc_plugin_buffer* buffer) {
  if (buffer == nullptr) fail(RC_E_INVALID_ARGUMENT, "buffer is NULL");
  return *reinterpret_cast<Buffer*>(buffer);
}

rc_status device_count(int32_t* count, char* message) {
  return guarded(message, [&] {
    *count = 0;
    const auto& devices = Instance::get().devices();
    if (devices.empty()) {
      fail(RC_E_BACKEND_UNAVAILABLE,
           "there is no device of Vulkan 1.1 that can compute");
    }
    *count = static_cast<int32_t>(devices.size());
  });
}

rc_status device_info(int32_t index, rc_plugin_device_info* info,
                      char* message) {
  return guarded(message, [&] {
    rc_plugin_device_info filled = {};
    describe(Instance::get().device(index), &filled);
    plugin::fill(info, filled);
  });
}

rc_status open(int32_t index, const rc_plugin_open_options* options,
               rc_plugin_device** device, char* message) {
  return guarded(message, [&] {
    *device = reinterpret_cast<rc_plugin_device*>(new Opened(index, *options));
  });
}

void close(rc_plugin_device* device) {
  delete reinterpret_cast<Opened*>(device);
}

rc_status op_supported(rc_plugin_device* device, const rc_plugin_op* op,
                       const rc_plugin_value* const* values, size_t value_count,
                       char* message) {
  return guarded(message, [&] {
    const plugin::GivenOp given(*op, values, value_count);
    check_op(given.op, given.values());
    check_supported(from(device).device, given.op, given.values());
  });
}

rc_status weight_bytes(rc_plugin_device* device,
                       const rc_plugin_weight_info* info, uint64_t* bytes,
                       char* message) {
  return guarded(message, [&] {
    *bytes = weight_layout(from(device).device, *info).bytes;
  });
}

rc_status create_weight(rc_plugin_device* device,
                        const rc_plugin_weight_info* info, const void* data,
                        rc_plugin_weight** weight, char* message) {
  return guarded(message, [&] {
    *weight = reinterpret_cast<rc_plugin_weight*>(
        new Weight(from(device).device, *info, data));
  });
}

void destroy_weight(rc_plugin_device*, rc_plugin_weight* weight) {
  delete reinterpret_cast<Weight*>(weight);
}

rc_status create_buffer(rc_plugin_device* device, uint64_t bytes,
                        rc_plugin_buffer** buffer, char* message) {
  return guarded(message, [&] {
    auto made = std::make_unique<Buffer>(from(device).device, bytes,
                                         MemoryUse::kDevice);
    made->clear();
    *buffer = reinterpret_cast<rc_plugin_buffer*>(made.release());
  });
}

void destroy_buffer(rc_plugin_device*, rc_plugin_buffer* buffer) {
  delete reinterpret_cast<Buffer*>(buffer);
}

rc_status upload(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                 const void* data, uint64_t bytes, char* message) {
  return guarded(message, [&] {
    check_range(from(buffer).bytes(), offset, bytes);
    from(buffer).write(offset, data, bytes);
  });
}

rc_status download(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                   void* data, uint64_t bytes, char* message) {
  return guarded(message, [&] {
    check_range(from(buffer).bytes(), offset, bytes);
    from(buffer).read(offset, data, bytes);
  });
}

rc_status copy_bytes(rc_plugin_device* device, rc_plugin_buffer* target,
                     uint64_t target_offset, rc_plugin_buffer* source,
                     uint64_t source_offset, uint64_t bytes, char* message) {
  return guarded(message, [&] {
    check_range(from(target).bytes(), target_offset, bytes);
    check_range(from(source).bytes(), source_offset, bytes);
    copy(from(device).device, from(target), target_offset, from(source),
         source_offset, bytes);
  });
}

rc_status compile(rc_plugin_device* device, const rc_plugin_program* program,
                  rc_plugin_compiled** compiled, char* message) {
  return guarded(message, [&] {
    *compiled = reinterpret_cast<rc_plugin_compiled*>(
        new Program(from(device).device, plugin::GivenProgram(*program)));
  });
}

void destroy_compiled(rc_plugin_device* device, rc_plugin_compiled* compiled) {
  auto* program = reinterpret_cast<Program*>(compiled);
  auto* opened = reinterpret_cast<Opened*>(device);
  if (opened->running == program) opened->running = nullptr;
  delete program;
}

rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
              const rc_plugin_run* run, char* message) {
  return guarded(message, [&] {
    Opened& opened = from(device);
    if (opened.running != nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "a run of this device is under way");
    }
    auto* program = reinterpret_cast<Program*>(compiled);
    program->start(*run);
    opened.running = program;
  });
}

rc_status wait(rc_plugin_device* device, int64_t timeout_ms, char* message) {
  return guarded(message, [&] {
    Opened& opened = from(device);
    Program* program = opened.running;
    if (program == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "no run is under way");
    }
    opened.running = nullptr;
    if (!program->wait(timeout_ms)) {
      opened.running = program;
      fail(RC_E_TIMEOUT, "the run is not over after ", timeout_ms, " ms");
    }
    opened.times = program->times();
  });
}

rc_status op_time(rc_plugin_device* device, size_t i, rc_plugin_op_time* time,
                  char* message) {
  return guarded(message,
                 [&] { plugin::give_op_time(from(device).times, i, time); });
}

constexpr rc_plugin kPlugin = {
    sizeof(rc_plugin),
    RC_PLUGIN_ABI_VERSION,
    RC_PLUGIN_ABI_VERSION,
    "vulkan",
    "Devices with a Vulkan 1.1 driver",
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
    copy_bytes,
    op_time,
    nullptr,
};

}  // namespace
}  // namespace rc::vulkan

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  return &rc::vulkan::kPlugin;
}

#include "cpu/plugin.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/guard.h"
#include "cpu/check.h"
#include "cpu/compiler.h"
#include "cpu/failure.h"
#include "cpu/level.h"
#include "cpu/machine.h"
#include "cpu/pool.h"

struct rc_plugin_device {
  rc_plugin_device(const rc::cpu::Level& l, int threads, bool profiled)
      : level(l), pool(threads), profile(profiled) {}
  const rc::cpu::Level& level;
  rc::cpu::Pool pool;
  const bool profile;
  const rc_plugin_compiled* last_run = nullptr;
  // Destroyed, but a thread that lost its processor is still within them.
  // Waiting for it would take as long as the run of a single op, or longer.
  std::unique_ptr<rc_plugin_compiled> lingering;
  // Runs end within run; wait gives their result.
  rc_status result = RC_OK;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
};

namespace rc::cpu {
namespace {

constexpr int kMaxThreads = 512;

// Calls `function` and turns what it throws into a status and a message.
template <class Function>
rc_status guard(char* message, Function function) noexcept {
  try {
    function();
    return RC_OK;
  } catch (...) {
    return status_of_exception(message);
  }
}

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) fail(RC_E_INVALID_ARGUMENT, "%s is NULL", what);
}

void check_index(int32_t index) {
  if (index != 0) {
    fail(RC_E_NOT_FOUND, "there is no device cpu:%d; the only one is cpu:0",
         index);
  }
}

rc_status device_count(int32_t* count, char* message) {
  return guard(message, [&] {
    require(count, "count");
    *count = 1;
  });
}

rc_status device_info(int32_t index, rc_plugin_device_info* info,
                      char* message) {
  return guard(message, [&] {
    require(info, "info");
    check_index(index);
    rc_plugin_device_info full{};
    std::snprintf(full.name, sizeof(full.name), "%s", processor_name().c_str());
    full.kind = RC_DEVICE_CPU;
    const Memory memory = machine_memory();
    full.total_memory = memory.total;
    full.free_memory = memory.free;
    full.unified_memory = 1;
    full.cores = usable_cores();
    std::string features;
    for (const Level* level : available_levels()) {
      features +=
          features.empty() ? level->name : std::string(" ") + level->name;
    }
    std::snprintf(full.features, sizeof(full.features), "%s", features.c_str());
    plugin::fill(info, full);
  });
}

void open_level(const Level& level, const rc_plugin_open_options* options,
                rc_plugin_device** device) {
  require(options, "options");
  require(device, "device");
  *device = nullptr;
  if (options->struct_size < sizeof(*options)) {
    fail(RC_E_INVALID_ARGUMENT, "options have %zu bytes instead of %zu",
         options->struct_size, sizeof(*options));
  }
  if (options->threads < 0 || options->threads > kMaxThreads) {
    fail(RC_E_INVALID_ARGUMENT,
         "%d threads are asked for; 0 (as many as there are cores) to %d are "
         "possible",
         options->threads, kMaxThreads);
  }
  const int threads = options->threads > 0
                          ? options->threads
                          : std::min(usable_cores(), kMaxThreads);
  *device = new rc_plugin_device(level, threads,
                                 options != nullptr && options->profile != 0);
}

rc_status open(int32_t index, const rc_plugin_open_options* options,
               rc_plugin_device** device, char* message) {
  return guard(message, [&] {
    check_index(index);
    open_level(chosen_level(), options, device);
  });
}

void close(rc_plugin_device* device) { delete device; }

rc_status op_supported(rc_plugin_device*, const rc_plugin_op* op,
                       const rc_plugin_value* const* values, size_t value_count,
                       char* message) {
  return guard(message, [&] {
    require(op, "op");
    require(values, "values");
    const plugin::GivenOp given(*op, values, value_count);
    check_op(given.op, given.values());
    check_supported(given.op, given.values());
  });
}

rc_status weight_bytes(rc_plugin_device*, const rc_plugin_weight_info* info,
                       uint64_t* bytes, char* message) {
  return guard(message, [&] {
    require(info, "info");
    require(bytes, "bytes");
    *bytes = weight_layout(*info).bytes;
  });
}

// make() makes it.
template <class Make>
rc_status make_weight(rc_plugin_device* device,
                      const rc_plugin_weight_info* info, const void* data,
                      rc_plugin_weight** weight, char* message,
                      const Make& make) {
  return guard(message, [&] {
    require(device, "device");
    require(info, "info");
    require(data, "data");
    require(weight, "weight");
    *weight = nullptr;
    *weight = make();
  });
}

rc_status create_weight(rc_plugin_device* device,
                        const rc_plugin_weight_info* info, const void* data,
                        rc_plugin_weight** weight, char* message) {
  return make_weight(device, info, data, weight, message, [&] {
    return new rc_plugin_weight(*info, data, *device->level.kernels,
                                device->pool.threads());
  });
}

rc_status map_weight(rc_plugin_device* device,
                     const rc_plugin_weight_info* info, const void* data,
                     rc_plugin_weight** weight, char* message) {
  return make_weight(device, info, data, weight, message,
                     [&] { return new rc_plugin_weight(*info, data); });
}

void destroy_weight(rc_plugin_device*, rc_plugin_weight* weight) {
  delete weight;
}

rc_status create_buffer(rc_plugin_device*, uint64_t bytes,
                        rc_plugin_buffer** buffer, char* message) {
  return guard(message, [&] {
    require(buffer, "buffer");
    *buffer = nullptr;
    *buffer = new rc_plugin_buffer(bytes);
  });
}

void destroy_buffer(rc_plugin_device*, rc_plugin_buffer* buffer) {
  delete buffer;
}

// Address of a range within a buffer.
uint8_t* range(rc_plugin_buffer* buffer, uint64_t offset, uint64_t bytes) {
  require(buffer, "buffer");
  if (offset > buffer->bytes || bytes > buffer->bytes - offset) {
    fail(RC_E_INVALID_ARGUMENT,
         "%llu bytes at offset %llu are not within a buffer of %llu bytes",
         static_cast<unsigned long long>(bytes),
         static_cast<unsigned long long>(offset),
         static_cast<unsigned long long>(buffer->bytes));
  }
  return buffer->memory.data() + offset;
}

rc_status upload(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                 const void* data, uint64_t bytes, char* message) {
  return guard(message, [&] {
    uint8_t* to = range(buffer, offset, bytes);
    if (bytes == 0) return;
    require(data, "data");
    std::memcpy(to, data, bytes);
  });
}

rc_status download(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                   void* data, uint64_t bytes, char* message) {
  return guard(message, [&] {
    const uint8_t* from = range(buffer, offset, bytes);
    if (bytes == 0) return;
    require(data, "data");
    std::memcpy(data, from, bytes);
  });
}

rc_status copy(rc_plugin_device*, rc_plugin_buffer* target,
               uint64_t target_offset, rc_plugin_buffer* source,
               uint64_t source_offset, uint64_t bytes, char* message) {
  return guard(message, [&] {
    uint8_t* to = range(target, target_offset, bytes);
    std::memmove(to, range(source, source_offset, bytes), bytes);
  });
}

rc_status compile(rc_plugin_device* device, const rc_plugin_program* program,
                  rc_plugin_compiled** compiled, char* message) {
  return guard(message, [&] {
    require(device, "device");
    require(program, "program");
    require(compiled, "compiled");
    *compiled = nullptr;
    *compiled = new rc_plugin_compiled(plugin::GivenProgram(*program),
                                       *device->level.kernels, device->pool,
                                       device->profile);
  });
}

void destroy_compiled(rc_plugin_device* device, rc_plugin_compiled* compiled) {
  if (device == nullptr || compiled == nullptr) return;
  if (device->last_run == compiled) device->last_run = nullptr;
  std::unique_ptr<rc_plugin_compiled>* place = &device->lingering;
  while (*place != nullptr) {
    if ((*place)->left()) {
      *place = std::move((*place)->next_lingering);
    } else {
      place = &(*place)->next_lingering;
    }
  }
  std::unique_ptr<rc_plugin_compiled> owned(compiled);
  if (compiled->can_linger() && !compiled->left()) *place = std::move(owned);
}

rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
              const rc_plugin_run* run, char* message) {
  return guard(message, [&] {
    require(device, "device");
    require(compiled, "compiled");
    require(run, "run");
    device->last_run = compiled;
    device->result = compiled->run(*run, device->message);
  });
}

rc_status wait(rc_plugin_device* device, int64_t, char* message) {
  rc_status result = RC_OK;
  const rc_status status = guard(message, [&] {
    require(device, "device");
    result = device->result;
    if (result != RC_OK) {
      std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", device->message);
    }
    device->result = RC_OK;
  });
  return status != RC_OK ? status : result;
}

rc_status op_time(rc_plugin_device* device, size_t i, rc_plugin_op_time* time,
                  char* message) {
  return guard(message, [&] {
    require(device, "device");
    require(time, "time");
    std::span<const rc_plugin_op_time> known;
    if (device->last_run != nullptr) known = device->last_run->op_times();
    plugin::give_op_time(known, i, time);
  });
}

constexpr rc_plugin kPlugin = {
    sizeof(rc_plugin),
    RC_PLUGIN_ABI_VERSION,
    RC_PLUGIN_ABI_VERSION,
    "cpu",
    "The processors of this machine",
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
    map_weight,
};

}  // namespace

const rc_plugin* plugin() { return &kPlugin; }

rc_status open_at_level(const std::string& level,
                        const rc_plugin_open_options* options,
                        rc_plugin_device** device, char* message) {
  return guard(message,
               [&] { open_level(level_by_name(level), options, device); });
}

}  // namespace rc::cpu

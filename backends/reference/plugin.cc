#include "reference/plugin.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/guard.h"
#include "reference/program.h"

namespace rc::reference {
namespace {

using plugin::check_range;
using plugin::guarded;
using plugin::report;

// The result of the last run, for wait. A run is over when run returns.
struct Device {
  bool has_run = false;
  rc_status result = RC_OK;
  std::string message;
};

Device* from(rc_plugin_device* device) {
  return reinterpret_cast<Device*>(device);
}
Buffer* from(rc_plugin_buffer* buffer) {
  return reinterpret_cast<Buffer*>(buffer);
}

void check_index(int32_t index) {
  if (index != 0) {
    fail(RC_E_NOT_FOUND, "there is one reference device, number 0, not ",
         index);
  }
}

uint64_t bytes_of(const rc_plugin_weight_info& info) {
  rc_plugin_value value = {};
  value.dtype = info.dtype;
  value.rank = info.rank;
  std::copy(std::begin(info.shape), std::end(info.shape), value.shape);
  value.storage = RC_STORAGE_WEIGHT;
  check_value(value);
  const DTypeInfo* type = dtype_info(info.dtype);
  if (!type->decodable) {
    fail(RC_E_UNSUPPORTED, "weight ", info.name, " is of type ", type->name,
         ", for which there is no decoder");
  }
  if ((info.uses & RC_USE_ELEMENTS) != 0 && info.dtype != RC_DTYPE_F32) {
    fail(RC_E_UNSUPPORTED, "weight ", info.name, " is read by elements as ",
         type->name, "; it must be F32");
  }
  return *value_bytes(value, {});
}

rc_status device_count(int32_t* count, char*) {
  *count = 1;
  return RC_OK;
}

rc_status device_info(int32_t index, rc_plugin_device_info* info,
                      char* message) {
  return guarded(message, [&] {
    check_index(index);
    rc_plugin_device_info filled = {};
    std::snprintf(filled.name, sizeof filled.name, "plain loops");
    filled.kind = RC_DEVICE_CPU;
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) {
      filled.total_memory =
          static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
    }
    filled.unified_memory = 1;
    filled.cores = 1;
    plugin::fill(info, filled);
  });
}

rc_status open(int32_t index, const rc_plugin_open_options*,
               rc_plugin_device** device, char* message) {
  return guarded(message, [&] {
    check_index(index);
    *device = reinterpret_cast<rc_plugin_device*>(new Device);
  });
}

void close(rc_plugin_device* device) { delete from(device); }

rc_status op_supported(rc_plugin_device*, const rc_plugin_op* op,
                       const rc_plugin_value* const* values, size_t value_count,
                       char* message) {
  return guarded(message, [&] {
    const plugin::GivenOp given(*op, values, value_count);
    check_op(given.op, given.values());
    if (is_tensor_op(given.op, given.values()))
      return;  // their rules name the types
    for (const rc_plugin_value& value : given.values()) {
      const DTypeInfo* type = dtype_info(value.dtype);
      if (!type->decodable) {
        fail(RC_E_UNSUPPORTED, "there is no decoder for ", type->name);
      }
    }
  });
}

rc_status weight_bytes(rc_plugin_device*, const rc_plugin_weight_info* info,
                       uint64_t* bytes, char* message) {
  return guarded(message, [&] { *bytes = bytes_of(*info); });
}

std::unique_ptr<Weight> weight_at(const rc_plugin_weight_info& info,
                                  const void* data) {
  auto made = std::make_unique<Weight>();
  made->name = info.name;
  made->dtype = info.dtype;
  made->shape.assign(info.shape, info.shape + info.rank);
  made->bytes = static_cast<const std::byte*>(data);
  return made;
}

rc_status create_weight(rc_plugin_device*, const rc_plugin_weight_info* info,
                        const void* data, rc_plugin_weight** weight,
                        char* message) {
  return guarded(message, [&] {
    const uint64_t bytes = bytes_of(*info);
    auto made = weight_at(*info, data);
    made->copy.assign(made->bytes, made->bytes + bytes);
    made->bytes = made->copy.data();
    *weight = reinterpret_cast<rc_plugin_weight*>(made.release());
  });
}

rc_status map_weight(rc_plugin_device*, const rc_plugin_weight_info* info,
                     const void* data, rc_plugin_weight** weight,
                     char* message) {
  return guarded(message, [&] {
    bytes_of(*info);  // of a weight that is none this throws
    *weight =
        reinterpret_cast<rc_plugin_weight*>(weight_at(*info, data).release());
  });
}

void destroy_weight(rc_plugin_device*, rc_plugin_weight* weight) {
  delete reinterpret_cast<Weight*>(weight);
}

rc_status create_buffer(rc_plugin_device*, uint64_t bytes,
                        rc_plugin_buffer** buffer, char* message) {
  return guarded(message, [&] {
    auto made = std::make_unique<Buffer>();
    made->bytes.resize(bytes);
    *buffer = reinterpret_cast<rc_plugin_buffer*>(made.release());
  });
}

void destroy_buffer(rc_plugin_device*, rc_plugin_buffer* buffer) {
  delete from(buffer);
}

rc_status upload(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                 const void* data, uint64_t bytes, char* message) {
  return guarded(message, [&] {
    check_range(from(buffer)->bytes.size(), offset, bytes);
    if (bytes > 0) {
      std::memcpy(from(buffer)->bytes.data() + offset, data, bytes);
    }
  });
}

rc_status download(rc_plugin_device*, rc_plugin_buffer* buffer, uint64_t offset,
                   void* data, uint64_t bytes, char* message) {
  return guarded(message, [&] {
    check_range(from(buffer)->bytes.size(), offset, bytes);
    if (bytes > 0) {
      std::memcpy(data, from(buffer)->bytes.data() + offset, bytes);
    }
  });
}

rc_status compile(rc_plugin_device*, const rc_plugin_program* program,
                  rc_plugin_compiled** compiled, char* message) {
  return guarded(message, [&] {
    *compiled = reinterpret_cast<rc_plugin_compiled*>(
        new Program(plugin::GivenProgram(*program)));
  });
}

void destroy_compiled(rc_plugin_device*, rc_plugin_compiled* compiled) {
  delete reinterpret_cast<Program*>(compiled);
}

rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
              const rc_plugin_run* run, char* message) {
  return guarded(message, [&] {
    Device& state = *from(device);
    char text[RC_PLUGIN_MESSAGE_BYTES] = "";
    state.result =
        guarded(text, [&] { reinterpret_cast<Program*>(compiled)->run(*run); });
    state.message = text;
    state.has_run = true;
  });
}

rc_status wait(rc_plugin_device* device, int64_t, char* message) {
  Device& state = *from(device);
  if (!state.has_run) {
    return report(RC_E_INVALID_ARGUMENT, "no run is under way", message);
  }
  state.has_run = false;
  return report(state.result, state.message.c_str(), message);
}

constexpr rc_plugin kPlugin = {
    sizeof(rc_plugin),
    RC_PLUGIN_ABI_VERSION,
    RC_PLUGIN_ABI_VERSION,
    "reference",
    "plain loops on one thread; the other backends are tested against it",
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
    nullptr,
    nullptr,
    map_weight,
};

}  // namespace

const rc_plugin* plugin() { return &kPlugin; }

}  // namespace rc::reference

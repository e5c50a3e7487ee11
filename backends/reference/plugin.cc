#include "reference/plugin.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/machine.h"
#include "common/host_memory.h"
#include "common/plugin_table.h"
#include "common/weight_value.h"
#include "reference/program.h"

namespace rc::reference {
namespace {

void check_index(int32_t index) {
  if (index != 0) {
    fail(RC_E_NOT_FOUND, "there is one reference device, number 0, not ",
         index);
  }
}

uint64_t bytes_of(const rc_plugin_weight_info& info) {
  const rc_plugin_value value = weight_value(info);
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

class OpenDevice : public plugin::HostDevice {
 public:
  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const {
    if (is_tensor_op(op, values)) return;  // their rules name the types
    for (const rc_plugin_value& value : values) {
      const DTypeInfo* type = dtype_info(value.dtype);
      if (!type->decodable) {
        fail(RC_E_UNSUPPORTED, "there is no decoder for ", type->name);
      }
    }
  }

  uint64_t weight_bytes(const rc_plugin_weight_info& info) const {
    return bytes_of(info);
  }
  std::unique_ptr<plugin::HostWeight> create_weight(
      const rc_plugin_weight_info& info, const void* data) const {
    return copied(info, data, bytes_of(info));
  }
  std::unique_ptr<plugin::HostWeight> map_weight(
      const rc_plugin_weight_info& info, const void* data) const {
    bytes_of(info);  // throws for a weight that it cannot have
    return mapped(info, data);
  }

  std::unique_ptr<Program> compile(plugin::GivenProgram program) const {
    return std::make_unique<Program>(std::move(program));
  }
  void destroy(std::unique_ptr<Program>) const {}
  void start(const Program& program, const rc_plugin_run& run) {
    complete([&] { program.run(run); });
  }
};

struct Backend {
  static constexpr const char* kName = "reference";
  static constexpr const char* kDescription =
      "plain loops on one thread; the other backends are tested against it";
  using Device = OpenDevice;
  using Weight = plugin::HostWeight;
  using Buffer = plugin::HostBuffer;
  using Program = reference::Program;

  static int32_t count() { return 1; }
  static rc_plugin_device_info describe(int32_t index);
  static std::unique_ptr<Device> open(int32_t index,
                                      const rc_plugin_open_options&) {
    check_index(index);
    return std::make_unique<Device>();
  }
  static uint64_t bytes(const Buffer& buffer) { return buffer.bytes.size(); }
};

rc_plugin_device_info Backend::describe(int32_t index) {
  check_index(index);
  rc_plugin_device_info info = {};
  std::snprintf(info.name, sizeof info.name, "plain loops");
  info.kind = RC_DEVICE_CPU;
  info.total_memory = physical_memory();
  info.unified_memory = 1;
  info.cores = 1;
  info.fp64 = 1;
  return info;
}

constexpr rc_plugin kPlugin = plugin::PluginTable<Backend>::table();

}  // namespace

const rc_plugin* plugin() { return &kPlugin; }

}  // namespace rc::reference

#include "reference/plugin.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "base/machine.h"
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

std::unique_ptr<Weight> weight_at(const rc_plugin_weight_info& info,
                                  const void* data) {
  auto made = std::make_unique<Weight>();
  made->name = info.name;
  made->dtype = info.dtype;
  made->shape.assign(info.shape, info.shape + info.rank);
  made->bytes = static_cast<const std::byte*>(data);
  return made;
}

class OpenDevice {
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
  std::unique_ptr<Weight> create_weight(const rc_plugin_weight_info& info,
                                        const void* data) const {
    const uint64_t bytes = bytes_of(info);
    auto made = weight_at(info, data);
    made->copy.assign(made->bytes, made->bytes + bytes);
    made->bytes = made->copy.data();
    return made;
  }
  std::unique_ptr<Weight> map_weight(const rc_plugin_weight_info& info,
                                     const void* data) const {
    bytes_of(info);  // of a weight that is none this throws
    return weight_at(info, data);
  }

  std::unique_ptr<Buffer> create_buffer(uint64_t bytes) const {
    auto made = std::make_unique<Buffer>();
    made->own.resize(bytes);
    made->bytes = made->own;
    return made;
  }
  std::unique_ptr<Buffer> borrow_buffer(void* data, uint64_t bytes) const {
    auto made = std::make_unique<Buffer>();
    made->bytes = {static_cast<std::byte*>(data), static_cast<size_t>(bytes)};
    return made;
  }
  void* buffer_memory(const Buffer& buffer) const {
    return buffer.bytes.data();
  }
  void upload(Buffer& buffer, uint64_t offset, const void* data,
              uint64_t bytes) const {
    std::memcpy(buffer.bytes.data() + offset, data, bytes);
  }
  void download(const Buffer& buffer, uint64_t offset, void* data,
                uint64_t bytes) const {
    std::memcpy(data, buffer.bytes.data() + offset, bytes);
  }

  std::unique_ptr<Program> compile(plugin::GivenProgram program) const {
    return std::make_unique<Program>(std::move(program));
  }
  void destroy(std::unique_ptr<Program>) const {}

  // A run is over when it returns; wait says how it ended.
  void start(Program& program, const rc_plugin_run& run) {
    has_run_ = true;
    failure_ = nullptr;
    try {
      program.run(run);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  bool wait(int64_t) {
    if (!std::exchange(has_run_, false)) {
      fail(RC_E_INVALID_ARGUMENT, "no run is under way");
    }
    if (failure_ != nullptr) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    return true;
  }

 private:
  bool has_run_ = false;
  std::exception_ptr failure_;
};

struct Backend {
  static constexpr const char* kName = "reference";
  static constexpr const char* kDescription =
      "plain loops on one thread; the other backends are tested against it";
  using Device = OpenDevice;
  using Weight = reference::Weight;
  using Buffer = reference::Buffer;
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

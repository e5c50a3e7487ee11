// The handles that a plugin gives out: pointers to objects of its classes,
// which are looked at before they are used.
#pragma once

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "common/guard.h"
#include "runcible/plugin.h"

namespace rc::plugin {

inline void require(const void* pointer, const char* what) {
  if (pointer == nullptr) fail(RC_E_INVALID_ARGUMENT, what, " is NULL");
}
template <class T, class Handle>
T& object_of(Handle* handle, const char* what) {
  require(handle, what);
  return *reinterpret_cast<T*>(handle);
}
// Makes something and gives it away as a handle.
template <class Handle, class Make>
rc_status create(Handle** made, char* message, const Make& make) {
  return guarded(message, [&] {
    require(made, "the place for the result");
    *made = nullptr;
    *made = reinterpret_cast<Handle*>(make().release());
  });
}

template <class Backend>
class PluginHandles {
 protected:
  using Device = typename Backend::Device;
  using Weight = typename Backend::Weight;
  using Buffer = typename Backend::Buffer;
  using Program = typename Backend::Program;

  static Device& from(rc_plugin_device* device) {
    return object_of<Device>(device, "device");
  }
  static Buffer& range(rc_plugin_buffer* handle, uint64_t offset,
                       uint64_t bytes) {
    auto& buffer = object_of<Buffer>(handle, "buffer");
    check_range(Backend::bytes(buffer), offset, bytes);
    return buffer;
  }
};

}  // namespace rc::plugin

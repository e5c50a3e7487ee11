// The functions of a table for memory of the host's that a device moves bytes
// from and to by itself: a backend with a class Pinned, which has
//
//   std::byte* data() const;
//
// and whose Device has
//
//   std::unique_ptr<Pinned> create_pinned(uint64_t bytes);
//
// on any thread, and knows such memory again in upload and download.
#pragma once

#include <cstddef>
#include <memory>

#include "common/plugin_handles.h"

namespace rc::plugin {

template <class Backend>
class PluginPinned : private PluginHandles<Backend> {
 public:
  static constexpr void add_to(rc_plugin& table) {
    if constexpr (requires { typename Backend::Pinned; }) {
      table.create_pinned = create_pinned;
      table.destroy_pinned = destroy_pinned;
    }
  }

 private:
  using Handles = PluginHandles<Backend>;
  using Handles::from;

  static rc_status create_pinned(rc_plugin_device* device, uint64_t bytes,
                                 rc_plugin_pinned** pinned, void** data,
                                 char* message) requires requires {
    typename Backend::Pinned;
  }
  {
    return create(pinned, message, [&] {
      require(data, "data");
      auto made = from(device).create_pinned(bytes);
      *data = made->data();
      return made;
    });
  }
  static void destroy_pinned(rc_plugin_device*,
                             rc_plugin_pinned* pinned) requires requires {
    typename Backend::Pinned;
  }
  { delete reinterpret_cast<typename Backend::Pinned*>(pinned); }
};

}  // namespace rc::plugin

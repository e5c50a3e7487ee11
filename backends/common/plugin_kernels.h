// The functions of a table for custom ops: a Device may have
//
//   // Calls the function for ranges of 0 to count, and returns when all are
//   done. void run_ranges(int64_t count, void (*function)(void* user, int64_t
//   begin,
//                   int64_t end), void* user);
//
// and, with a class Kernel of the backend's that says how many tensors() it
// takes,
//
//   int32_t kernel_language();
//   std::unique_ptr<Kernel> create_kernel(const rc_plugin_kernel_info& info);
//   bool run_kernel(Kernel& kernel, std::span<Buffer* const> buffers,
//                   const rc_plugin_kernel_run& run);   // false: not over
#pragma once

#include <vector>

#include "common/plugin_handles.h"

namespace rc::plugin {

template <class Backend>
class PluginKernels : private PluginHandles<Backend> {
 public:
  static constexpr void add_to(rc_plugin& table) {
    if constexpr (requires { &PluginKernels::run_ranges; }) {
      table.run_ranges = run_ranges;
    }
    if constexpr (requires { &PluginKernels::run_kernel; }) {
      table.kernel_language = kernel_language;
      table.create_kernel = create_kernel;
      table.destroy_kernel = destroy_kernel;
      table.run_kernel = run_kernel;
    }
  }

 private:
  using Handles = PluginHandles<Backend>;
  using Handles::from;
  using Handles::range;
  using typename Handles::Buffer;
  using typename Handles::Device;

  static rc_status run_ranges(rc_plugin_device* device, int64_t count,
                              void (*function)(void* user, int64_t begin,
                                               int64_t end),
                              void* user, char* message) requires
      requires(Device& d) {
    d.run_ranges(int64_t{1}, nullptr, nullptr);
  }
  {
    return guarded(message, [&] {
      require(reinterpret_cast<const void*>(function), "function");
      from(device).run_ranges(count, function, user);
    });
  }
  static rc_status kernel_language(rc_plugin_device* device, int32_t* language,
                                   char* message) requires requires(Device& d) {
    d.kernel_language();
  }
  {
    return guarded(message, [&] {
      require(language, "language");
      *language = from(device).kernel_language();
    });
  }
  static rc_status create_kernel(rc_plugin_device* device,
                                 const rc_plugin_kernel_info* info,
                                 rc_plugin_kernel** kernel,
                                 char* message) requires
      requires(Device& d, const rc_plugin_kernel_info& i) {
    d.create_kernel(i);
  }
  {
    return create(kernel, message, [&] {
      require(info, "info");
      require(info->source, "info->source");
      return from(device).create_kernel(*info);
    });
  }
  static void destroy_kernel(rc_plugin_device*,
                             rc_plugin_kernel* kernel) requires requires {
    typename Backend::Kernel;
  }
  { delete reinterpret_cast<typename Backend::Kernel*>(kernel); }
  static rc_status run_kernel(rc_plugin_device* device,
                              rc_plugin_kernel* kernel,
                              const rc_plugin_kernel_run* run,
                              char* message) requires requires {
    typename Backend::Kernel;
  }
  {
    return guarded(message, [&] {
      require(run, "run");
      auto& found = object_of<typename Backend::Kernel>(kernel, "kernel");
      std::vector<Buffer*> buffers;
      for (uint32_t i = 0; i < found.tensors(); ++i) {
        buffers.push_back(
            &range(run->buffers[i], run->offsets[i], run->bytes[i]));
      }
      if (!from(device).run_kernel(found, buffers, *run)) {
        fail(RC_E_TIMEOUT, "the kernel is not over after ", run->timeout_ms,
             " ms");
      }
    });
  }
};

}  // namespace rc::plugin

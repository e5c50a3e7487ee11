// The reference backend as a module, so that a server has every op. The
// features of its device report the resources of its clients: "live N, runs M".
// With RUNCIBLE_TEST_ENDLESS set, a run ends only when it is asked to stop.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "reference/plugin.h"

namespace {

const rc_plugin& inner = *rc::reference::plugin();
std::atomic<int> live{0};  // devices, weights, buffers, programs
std::atomic<int> runs{0};  // under way

rc_status counted(rc_status status) {
  if (status == RC_OK) ++live;
  return status;
}

rc_status device_info(int32_t index, rc_plugin_device_info* info,
                      char* message) {
  const rc_status status = inner.device_info(index, info, message);
  std::snprintf(info->features, sizeof info->features, "live %d, runs %d",
                live.load(), runs.load());
  return status;
}

rc_status run(rc_plugin_device* device, rc_plugin_compiled* program,
              const rc_plugin_run* run, char* message) {
  ++runs;
  while (std::getenv("RUNCIBLE_TEST_ENDLESS") != nullptr &&
         run->should_stop(run->user) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const rc_status status = inner.run(device, program, run, message);
  --runs;
  return status;
}

}  // namespace

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  static const rc_plugin plugin = [] {
    rc_plugin table = inner;
    table.name = "served";
    table.device_info = device_info;
    table.run = run;
    table.open = [](int32_t index, const rc_plugin_open_options* options,
                    rc_plugin_device** device, char* message) {
      return counted(inner.open(index, options, device, message));
    };
    table.close = [](rc_plugin_device* device) {
      inner.close(device);
      --live;
    };
    table.create_weight = [](rc_plugin_device* device,
                             const rc_plugin_weight_info* info,
                             const void* data, rc_plugin_weight** weight,
                             char* message) {
      return counted(inner.create_weight(device, info, data, weight, message));
    };
    table.destroy_weight = [](rc_plugin_device* device,
                              rc_plugin_weight* weight) {
      inner.destroy_weight(device, weight);
      --live;
    };
    table.create_buffer = [](rc_plugin_device* device, uint64_t bytes,
                             rc_plugin_buffer** buffer, char* message) {
      return counted(inner.create_buffer(device, bytes, buffer, message));
    };
    table.destroy_buffer = [](rc_plugin_device* device,
                              rc_plugin_buffer* buffer) {
      inner.destroy_buffer(device, buffer);
      --live;
    };
    table.compile = [](rc_plugin_device* device,
                       const rc_plugin_program* program,
                       rc_plugin_compiled** compiled, char* message) {
      return counted(inner.compile(device, program, compiled, message));
    };
    table.destroy_compiled = [](rc_plugin_device* device,
                                rc_plugin_compiled* compiled) {
      inner.destroy_compiled(device, compiled);
      --live;
    };
    return table;
  }();
  return &plugin;
}

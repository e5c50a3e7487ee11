#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>

#include "faulty_device.h"
#include "runtime/plugin_list.h"
#include "runtime/registry.h"

namespace rc::engine::test {
namespace {

const rc_plugin& cpu() {
  static const rc_plugin& table =
      runtime::PluginList::instance().find("cpu")->table;
  return table;
}

// The fault of the current run; runs of one device never overlap.
Fault current = Fault::kNone;
const rc_plugin_run* current_run = nullptr;

rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
              const rc_plugin_run* run, char* message) {
  FaultControl& control = fault_control();
  ++control.runs;
  current = control.fault;
  current_run = run;
  if (current == Fault::kError || current == Fault::kLost) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "the test wants it");
    return current == Fault::kError ? RC_E_DEVICE : RC_E_DEVICE_LOST;
  }
  if (current == Fault::kSlow || current == Fault::kHang) return RC_OK;
  return cpu().run(device, compiled, run, message);
}

// Calls create_weight or map_weight of the cpu backend.
template <auto function>
rc_status make_weight(rc_plugin_device* device,
                      const rc_plugin_weight_info* info, const void* data,
                      rc_plugin_weight** weight, char* message) {
  const rc_status status =
      (cpu().*function)(device, info, data, weight, message);
  if (status == RC_OK) ++fault_control().weights;
  return status;
}

void destroy_weight(rc_plugin_device* device, rc_plugin_weight* weight) {
  --fault_control().weights;
  cpu().destroy_weight(device, weight);
}

rc_status wait(rc_plugin_device* device, int64_t timeout_ms, char* message) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  if (current == Fault::kHang) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "still at it");
    return RC_E_TIMEOUT;
  }
  if (current == Fault::kSlow) {
    while (Clock::now() - begin < std::chrono::minutes(10)) {
      if (current_run->should_stop != nullptr &&
          current_run->should_stop(current_run->user) != 0) {
        ++fault_control().cancelled;
        return RC_E_CANCELLED;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "the run was not stopped");
    return RC_E_DEVICE;
  }
  const rc_status status = cpu().wait(device, timeout_ms, message);
  if (current == Fault::kErrorAtEnd && status == RC_OK) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "the test wants it");
    return RC_E_DEVICE;
  }
  if (current == Fault::kNonsense && current_run->outputs > 0) {
    static_cast<float*>(current_run->outputs_data[0])[0] =
        std::numeric_limits<float>::quiet_NaN();
  }
  return status;
}

}  // namespace

FaultControl& fault_control() {
  static FaultControl control;
  return control;
}

std::shared_ptr<runtime::Device> open_faulty_device() {
  static const bool registered = [] {
    rc_plugin table = cpu();
    table.name = "faulty";
    table.description = "the cpu backend with faults";
    table.create_weight = make_weight<&rc_plugin::create_weight>;
    table.map_weight = make_weight<&rc_plugin::map_weight>;
    table.destroy_weight = destroy_weight;
    table.run = run;
    table.wait = wait;
    runtime::register_plugin(table);
    return true;
  }();
  (void)registered;
  fault_control().fault = Fault::kNone;
  fault_control().runs = 0;
  fault_control().cancelled = 0;
  runtime::Selection selection;
  selection.spec = "faulty";
  selection.device.threads = 1;
  return runtime::select(selection).device;
}

}  // namespace rc::engine::test

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "fake_plugin.h"

namespace rc::test {
namespace {

constexpr size_t kPlugins = 16;
FakeState g_fake_states[kPlugins];
size_t g_count = 0;

// The target of the handles; has the state of the plugin that created it.
struct FakeHandle {
  FakeState& state;
  const rc_plugin_run* run = nullptr;
};

// All that are alive, so that what an abandoned device leaves behind is not
// taken for a leak, and nothing is destroyed twice.
std::set<FakeHandle*>& handles() {
  static auto* all = new std::set<FakeHandle*>;
  return *all;
}

rc_status report(const FakeState& state, rc_status status, char* message) {
  if (state.unterminated_message) {
    std::memset(message, 'x', RC_PLUGIN_MESSAGE_BYTES);
  } else if (status != RC_OK) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "fake failure %d", status);
  }
  return status;
}

FakeState& of(rc_plugin_device* device) {
  return reinterpret_cast<FakeHandle*>(device)->state;
}

template <class Handle>
rc_status make(FakeState& state, rc_status status, Handle** handle,
               char* message) {
  if (status != RC_OK) {
    if (state.write_handles_on_failure) {
      *handle = reinterpret_cast<Handle*>(0x10);
    }
    return report(state, status, message);
  }
  if (state.null_handles) return RC_OK;
  auto* made = new FakeHandle{state};
  handles().insert(made);
  *handle = reinterpret_cast<Handle*>(made);
  ++state.alive;
  return RC_OK;
}

void forget(FakeHandle* handle) {
  // A handle that is none ends the test here.
  if (handles().erase(handle) != 1) std::abort();
  delete handle;
}

template <class Handle>
void destroy(rc_plugin_device* device, Handle* handle) {
  FakeState& state = of(device);
  forget(reinterpret_cast<FakeHandle*>(handle));
  --state.alive;
  if (state.throw_on_destroy) throw std::runtime_error("a rude plugin");
}

// A table cannot carry a state, so each plugin has separate functions.
template <size_t number>
rc_plugin table() {
  rc_plugin table = {};
  table.struct_size = sizeof table;
  table.abi_version = RC_PLUGIN_ABI_VERSION;
  table.least_abi_version = RC_PLUGIN_ABI_VERSION;
  table.description = "a fake";
  table.device_count = [](int32_t* count, char* message) {
    FakeState& state = g_fake_states[number];
    *count = state.count_override == -1000
                 ? static_cast<int32_t>(state.devices.size())
                 : state.count_override;
    return report(state, state.count_status, message);
  };
  table.device_info = [](int32_t index, rc_plugin_device_info* info,
                         char* message) -> rc_status {
    FakeState& state = g_fake_states[number];
    if (index < 0 || static_cast<size_t>(index) >= state.devices.size()) {
      return report(state, RC_E_NOT_FOUND, message);
    }
    const FakeDevice& device = state.devices[index];
    // As a plugin that forgets to end its strings.
    std::memset(info->features, 'f', sizeof info->features);
    std::snprintf(info->name, sizeof info->name, "%s", device.name.c_str());
    std::snprintf(info->physical_id, sizeof info->physical_id, "%s",
                  device.physical_id.c_str());
    info->kind = device.kind;
    info->total_memory = device.total_memory;
    info->free_memory = device.free_memory;
    info->numa_nodes = device.numa_nodes;
    return report(state, device.info_status, message);
  };
  table.open = [](int32_t index, const rc_plugin_open_options* options,
                  rc_plugin_device** device, char* message) {
    FakeState& state = g_fake_states[number];
    options->log(RC_LOG_DEBUG, "opening");
    state.numa = options->numa;
    const rc_status status =
        make(state, state.devices.at(index).open_status, device, message);
    if (status == RC_OK) ++state.opened;
    return status;
  };
  table.close = [](rc_plugin_device* device) {
    FakeState& state = of(device);
    forget(reinterpret_cast<FakeHandle*>(device));
    --state.alive;
    ++state.closed;
  };
  table.op_supported = [](rc_plugin_device* device, const rc_plugin_op* op,
                          const rc_plugin_value* const*, size_t,
                          char* message) -> rc_status {
    if (op->code != of(device).unsupported_op) return RC_OK;
    return report(of(device), RC_E_UNSUPPORTED, message);
  };
  table.weight_bytes = [](rc_plugin_device* device,
                          const rc_plugin_weight_info*, uint64_t* bytes,
                          char* message) {
    *bytes = 4096;
    return report(of(device), of(device).status, message);
  };
  table.create_weight = [](rc_plugin_device* device,
                           const rc_plugin_weight_info*, const void*,
                           rc_plugin_weight** weight, char* message) {
    return make(of(device), of(device).status, weight, message);
  };
  table.map_weight = table.create_weight;
  table.destroy_weight = destroy<rc_plugin_weight>;
  table.create_buffer = [](rc_plugin_device* device, uint64_t,
                           rc_plugin_buffer** buffer, char* message) {
    return make(of(device), of(device).status, buffer, message);
  };
  table.destroy_buffer = destroy<rc_plugin_buffer>;
  table.upload = [](rc_plugin_device* device, rc_plugin_buffer*, uint64_t,
                    const void*, uint64_t, char* message) {
    return report(of(device), of(device).status, message);
  };
  table.download = [](rc_plugin_device* device, rc_plugin_buffer*, uint64_t,
                      void*, uint64_t, char* message) {
    return report(of(device), of(device).status, message);
  };
  table.compile = [](rc_plugin_device* device, const rc_plugin_program*,
                     rc_plugin_compiled** compiled, char* message) {
    return make(of(device), of(device).status, compiled, message);
  };
  table.destroy_compiled = destroy<rc_plugin_compiled>;
  table.run = [](rc_plugin_device* device, rc_plugin_compiled*,
                 const rc_plugin_run* run, char* message) {
    reinterpret_cast<FakeHandle*>(device)->run = run;
    return report(of(device), of(device).status, message);
  };
  table.wait = [](rc_plugin_device* device, int64_t,
                  char* message) -> rc_status {
    FakeState& state = of(device);
    if (state.endless) {
      const rc_plugin_run& run = *reinterpret_cast<FakeHandle*>(device)->run;
      const bool stop = run.should_stop != nullptr && run.should_stop(run.user);
      return report(state, stop && !state.deaf ? RC_E_CANCELLED : RC_E_TIMEOUT,
                    message);
    }
    return report(state, state.wait_status, message);
  };
  return table;
}

template <size_t... numbers>
rc_plugin table_of(size_t number, std::index_sequence<numbers...>) {
  const rc_plugin tables[] = {table<numbers>()...};
  return tables[number];
}

}  // namespace

FakePlugin make_fake_plugin(const char* name) {
  if (g_count == kPlugins) throw std::logic_error("too many fake plugins");
  const size_t number = g_count++;
  FakePlugin plugin = {table_of(number, std::make_index_sequence<kPlugins>()),
                       g_fake_states[number]};
  plugin.table.name = name;
  return plugin;
}

}  // namespace rc::test

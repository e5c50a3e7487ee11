#include "runtime/wrapped_plugin.h"

#include <cstdio>
#include <deque>
#include <stdexcept>
#include <utility>

#include "runtime/plugin_list.h"
#include "runtime/registry.h"

namespace rc::test {
namespace {

constexpr size_t kMostWrapped = 16;
WrappedState g_wrapped_states[kMostWrapped];

void keep(WrappedState& state, const void* handle, uint64_t bytes,
          std::atomic<uint64_t>& sum) {
  const std::lock_guard lock(state.mutex);
  state.sizes.emplace(handle, bytes);
  sum += bytes;
}

void drop(WrappedState& state, const void* handle, std::atomic<uint64_t>& sum) {
  const std::lock_guard lock(state.mutex);
  const auto found = state.sizes.find(handle);
  if (found == state.sizes.end()) return;
  sum -= found->second;
  state.sizes.erase(found);
}

// A table cannot carry a state, so each plugin has separate functions.
template <size_t number>
rc_plugin table_around(const rc_plugin& inner) {
  rc_plugin table = inner;
  table.description = "a wrapped backend";
  table.device_info = [](int32_t index, rc_plugin_device_info* info,
                         char* message) {
    WrappedState& state = g_wrapped_states[number];
    const rc_status status = state.inner->device_info(index, info, message);
    info->kind = state.kind;
    info->free_memory = state.free_memory;
    return status;
  };
  table.op_supported = [](rc_plugin_device* device, const rc_plugin_op* op,
                          const rc_plugin_value* const* values,
                          size_t value_count, char* message) -> rc_status {
    WrappedState& state = g_wrapped_states[number];
    if (state.missing_ops.contains(op->code)) {
      std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "the test took it away");
      return RC_E_UNSUPPORTED;
    }
    return state.inner->op_supported(device, op, values, value_count, message);
  };
  table.create_weight = [](rc_plugin_device* device,
                           const rc_plugin_weight_info* info, const void* data,
                           rc_plugin_weight** weight, char* message) {
    WrappedState& state = g_wrapped_states[number];
    uint64_t bytes = 0;
    rc_status status = state.inner->weight_bytes(device, info, &bytes, message);
    if (status != RC_OK) return status;
    status = state.inner->create_weight(device, info, data, weight, message);
    if (status == RC_OK) keep(state, *weight, bytes, state.weights);
    return status;
  };
  table.destroy_weight = [](rc_plugin_device* device,
                            rc_plugin_weight* weight) {
    drop(g_wrapped_states[number], weight, g_wrapped_states[number].weights);
    g_wrapped_states[number].inner->destroy_weight(device, weight);
  };
  table.create_buffer = [](rc_plugin_device* device, uint64_t bytes,
                           rc_plugin_buffer** buffer, char* message) {
    WrappedState& state = g_wrapped_states[number];
    const rc_status status =
        state.inner->create_buffer(device, bytes, buffer, message);
    if (status == RC_OK) keep(state, *buffer, bytes, state.buffers);
    return status;
  };
  table.destroy_buffer = [](rc_plugin_device* device,
                            rc_plugin_buffer* buffer) {
    drop(g_wrapped_states[number], buffer, g_wrapped_states[number].buffers);
    g_wrapped_states[number].inner->destroy_buffer(device, buffer);
  };
  table.compile = [](rc_plugin_device* device, const rc_plugin_program* program,
                     rc_plugin_compiled** compiled, char* message) {
    WrappedState& state = g_wrapped_states[number];
    const rc_status status =
        state.inner->compile(device, program, compiled, message);
    if (status == RC_OK) {
      keep(state, *compiled, program->scratch_bytes, state.scratch);
      ++state.programs;
    }
    return status;
  };
  table.destroy_compiled = [](rc_plugin_device* device,
                              rc_plugin_compiled* compiled) {
    WrappedState& state = g_wrapped_states[number];
    drop(state, compiled, state.scratch);
    --state.programs;
    state.inner->destroy_compiled(device, compiled);
  };
  table.run = [](rc_plugin_device* device, rc_plugin_compiled* compiled,
                 const rc_plugin_run* run, char* message) {
    WrappedState& state = g_wrapped_states[number];
    ++state.runs;
    const auto inner = [&] {
      return state.inner->run(device, compiled, run, message);
    };
    return state.on_run ? state.on_run(*run, message, inner) : inner();
  };
  // Every op is a run that a test can step into.
  table.run_op = nullptr;
  table.run_with = nullptr;
  table.wait = [](rc_plugin_device* device, int64_t timeout_ms, char* message) {
    WrappedState& state = g_wrapped_states[number];
    const auto inner = [&] {
      return state.inner->wait(device, timeout_ms, message);
    };
    return state.on_wait ? state.on_wait(timeout_ms, message, inner) : inner();
  };
  return table;
}

template <size_t... numbers>
rc_plugin table_of(size_t number, const rc_plugin& inner,
                   std::index_sequence<numbers...>) {
  using Make = rc_plugin (*)(const rc_plugin& inner);
  constexpr Make kTables[] = {table_around<numbers>...};
  return kTables[number](inner);
}

}  // namespace

WrappedState& wrap_backend(const std::string& name, const std::string& inner) {
  static std::deque<std::string> names;
  size_t number = 0;
  while (number < names.size() && names[number] != name) ++number;
  WrappedState& state = g_wrapped_states[number];
  if (number == names.size()) {
    if (number == kMostWrapped)
      throw std::logic_error("too many wrapped backends");
    names.push_back(name);
    state.inner = &runtime::PluginList::instance().find(inner)->table;
    rc_plugin table = table_of(number, *state.inner,
                               std::make_index_sequence<kMostWrapped>());
    table.name = names.back().c_str();
    runtime::register_plugin(table);
  }
  state.missing_ops.clear();
  state.free_memory = 0;
  state.kind = RC_DEVICE_GPU_DISCRETE;
  state.on_run = {};
  state.on_wait = {};
  return state;
}

std::shared_ptr<runtime::Device> open_wrapped(const std::string& name) {
  runtime::Selection selection;
  selection.spec = name;
  selection.device.threads = 1;
  return runtime::select(selection).device;
}

}  // namespace rc::test

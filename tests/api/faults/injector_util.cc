#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "injector.h"

namespace rc::test {
namespace {

const rc_plugin* inner = nullptr;
Injector injector;
std::atomic<bool> lost{false};
std::atomic<bool> hanging{false};  // the run under way

// RC_OK, or what the call has to answer. A lost device is one that was opened.
rc_status step(const char* function, char* message, bool opened = true) {
  const int64_t call = ++injector.calls;
  std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "injected into call %lld, %s",
                static_cast<long long>(call), function);
  if (lost && opened) return RC_E_DEVICE_LOST;
  if (injector.hang || call != injector.fail_at) return RC_OK;
  injector.happened = true;
  injector.where = function;
  if (injector.status == RC_E_DEVICE_LOST && opened) lost = true;
  return injector.status;
}

// A function that may fail, around the inner one of the same name.
#define RC_AROUND(name, parameters, ...)                        \
  rc_status name parameters {                                   \
    const rc_status status = step(#name, message);              \
    return status != RC_OK ? status : inner->name(__VA_ARGS__); \
  }

rc_status device_count(int32_t* count, char* message) {
  const rc_status status = step("device_count", message, false);
  return status != RC_OK ? status : inner->device_count(count, message);
}

rc_status device_info(int32_t index, rc_plugin_device_info* info,
                      char* message) {
  const rc_status status = step("device_info", message, false);
  return status != RC_OK ? status : inner->device_info(index, info, message);
}

RC_AROUND(op_supported,
          (rc_plugin_device * device, const rc_plugin_op* op,
           const rc_plugin_value* const* values, size_t value_count,
           char* message),
          device, op, values, value_count, message)
RC_AROUND(weight_bytes,
          (rc_plugin_device * device, const rc_plugin_weight_info* info,
           uint64_t* bytes, char* message),
          device, info, bytes, message)
RC_AROUND(create_weight,
          (rc_plugin_device * device, const rc_plugin_weight_info* info,
           const void* data, rc_plugin_weight** weight, char* message),
          device, info, data, weight, message)
RC_AROUND(create_buffer,
          (rc_plugin_device * device, uint64_t bytes, rc_plugin_buffer** buffer,
           char* message),
          device, bytes, buffer, message)
RC_AROUND(upload,
          (rc_plugin_device * device, rc_plugin_buffer* buffer, uint64_t offset,
           const void* data, uint64_t bytes, char* message),
          device, buffer, offset, data, bytes, message)
RC_AROUND(download,
          (rc_plugin_device * device, rc_plugin_buffer* buffer, uint64_t offset,
           void* data, uint64_t bytes, char* message),
          device, buffer, offset, data, bytes, message)
RC_AROUND(compile,
          (rc_plugin_device * device, const rc_plugin_program* program,
           rc_plugin_compiled** compiled, char* message),
          device, program, compiled, message)

rc_status open(int32_t index, const rc_plugin_open_options* options,
               rc_plugin_device** device, char* message) {
  lost = false;
  const rc_status status = step("open", message);
  return status != RC_OK ? status
                         : inner->open(index, options, device, message);
}

rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
              const rc_plugin_run* run, char* message) {
  const rc_status status = step("run", message);
  if (status != RC_OK) return status;
  if (injector.hang && injector.fail_at != 0 &&
      injector.calls >= injector.fail_at && !injector.happened) {
    injector.happened = true;
    injector.where = "run";
    hanging = true;
    return RC_OK;
  }
  hanging = false;
  return inner->run(device, compiled, run, message);
}

// A failing wait has waited all the same: the run is over.
rc_status wait(rc_plugin_device* device, int64_t timeout_ms, char* message) {
  if (hanging) {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(timeout_ms < 0 ? 0 : timeout_ms));
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "injected: still at it");
    return RC_E_TIMEOUT;
  }
  char other[RC_PLUGIN_MESSAGE_BYTES] = "";
  const rc_status result = inner->wait(device, timeout_ms, other);
  if (result == RC_E_TIMEOUT) return result;
  const rc_status status = step("wait", message);
  if (status != RC_OK) return status;
  std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", other);
  return result;
}

rc_status copy(rc_plugin_device* device, rc_plugin_buffer* target,
               uint64_t target_offset, rc_plugin_buffer* source,
               uint64_t source_offset, uint64_t bytes, char* message) {
  const rc_status status = step("copy", message);
  if (status != RC_OK) return status;
  if (inner->copy != nullptr) {
    return inner->copy(device, target, target_offset, source, source_offset,
                       bytes, message);
  }
  std::vector<char> bounce(bytes);
  const rc_status read = inner->download(device, source, source_offset,
                                         bounce.data(), bytes, message);
  return read != RC_OK ? read
                       : inner->upload(device, target, target_offset,
                                       bounce.data(), bytes, message);
}

void close(rc_plugin_device* device) { inner->close(device); }
void destroy_weight(rc_plugin_device* device, rc_plugin_weight* weight) {
  inner->destroy_weight(device, weight);
}
void destroy_buffer(rc_plugin_device* device, rc_plugin_buffer* buffer) {
  inner->destroy_buffer(device, buffer);
}
void destroy_compiled(rc_plugin_device* device, rc_plugin_compiled* compiled) {
  inner->destroy_compiled(device, compiled);
}

}  // namespace

void Injector::arm(int64_t at, rc_status with, bool hanging) {
  fail_at = at;
  status = with;
  hang = hanging;
  calls = 0;
  happened = false;
  where = "";
}

Injector& inject_faults_into(const rc_plugin& plugin) {
  const bool first = inner == nullptr;
  inner = &plugin;
  if (first) {
    rc_plugin table = {};
    table.struct_size = sizeof table;
    table.abi_version = RC_PLUGIN_ABI_VERSION;
    table.name = "faulty";
    table.description = "another backend with faults";
    table.device_count = device_count;
    table.device_info = device_info;
    table.open = open;
    table.close = close;
    table.op_supported = op_supported;
    table.weight_bytes = weight_bytes;
    table.create_weight = create_weight;
    table.destroy_weight = destroy_weight;
    table.create_buffer = create_buffer;
    table.destroy_buffer = destroy_buffer;
    table.upload = upload;
    table.download = download;
    table.compile = compile;
    table.destroy_compiled = destroy_compiled;
    table.run = run;
    table.wait = wait;
    table.copy = copy;
    rc_plugin_register(&table);
  }
  return injector;
}

}  // namespace rc::test

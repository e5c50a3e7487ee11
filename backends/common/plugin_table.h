// The table of a backend that is written as classes. Its functions let no
// exception out, look at what the host gives before it is used, and hand the
// rest on.
//
// A backend is a struct with its name, its description, its classes and
//
//   static int32_t count();   // of its devices; throws why there are none
//   static rc_plugin_device_info describe(int32_t index);
//   static std::unique_ptr<Device> open(int32_t index,
//                                       const rc_plugin_open_options& options);
//   static uint64_t bytes(const Buffer& buffer);
//
// where Device, an opened one, has
//
//   void check_supported(const Op& op, std::span<const rc_plugin_value>
//   values); uint64_t weight_bytes(const rc_plugin_weight_info& info);
//   std::unique_ptr<Weight> create_weight(const rc_plugin_weight_info& info,
//                                         const void* data);
//   std::unique_ptr<Buffer> create_buffer(uint64_t bytes);
//   void upload(Buffer& buffer, uint64_t offset, const void* data,
//               uint64_t bytes);
//   void download(Buffer& buffer, uint64_t offset, void* data,
//                 uint64_t bytes);
//   std::unique_ptr<Program> compile(const GivenProgram& program);
//   void destroy(std::unique_ptr<Program> program);
//   void start(Program& program, const rc_plugin_run& run);
//   bool wait(int64_t timeout_ms);   // false: not over; throws why it failed
//
// and may have
//
//   std::unique_ptr<Weight> map_weight(const rc_plugin_weight_info& info,
//                                      const void* data);
//   std::unique_ptr<Weight> map_experts(const rc_plugin_weight_info& info,
//                                       const void* data, int64_t resident);
//   std::unique_ptr<Buffer> borrow_buffer(void* data, uint64_t bytes);
//   void* buffer_memory(const Buffer& buffer);
//   void copy(Buffer& target, uint64_t target_offset, Buffer& source,
//             uint64_t source_offset, uint64_t bytes);
//   std::span<const rc_plugin_op_time> op_times();
//   bool run_op(const Op& op, std::span<const rc_plugin_value> values,
//               Buffer* const* buffers);   // false: not quicker
//   void start_with(Program& program, const rc_plugin_run& run,
//                   std::span<Buffer* const> caches);   // run_with
//
// and what plugin_kernels.h names for custom ops.
//
// Each does what plugin.h says of the function of the table; ops obey check_op,
// and ranges lie within their buffers and are not empty.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "common/alike.h"
#include "common/given_program.h"
#include "common/guard.h"
#include "common/plugin_handles.h"
#include "common/plugin_kernels.h"
#include "common/plugin_pinned.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::plugin {

template <class Backend>
class PluginTable : private PluginHandles<Backend> {
 public:
  static constexpr rc_plugin table();

  // A device that was opened otherwise than by the table, which closes it.
  static rc_plugin_device* handle(
      std::unique_ptr<typename Backend::Device> device) {
    return reinterpret_cast<rc_plugin_device*>(device.release());
  }

 private:
  using Handles = PluginHandles<Backend>;
  using Handles::from;
  using Handles::range;
  using typename Handles::Buffer;
  using typename Handles::Device;
  using typename Handles::Program;
  using typename Handles::Weight;

  static rc_status device_count(int32_t* count, char* message) {
    return guarded(message, [&] {
      require(count, "count");
      *count = 0;
      *count = Backend::count();
    });
  }
  static rc_status device_info(int32_t index, rc_plugin_device_info* info,
                               char* message) {
    return guarded(message, [&] {
      require(info, "info");
      fill(info, Backend::describe(index));
    });
  }
  static rc_status open(int32_t index, const rc_plugin_open_options* options,
                        rc_plugin_device** device, char* message) {
    return create(device, message, [&] {
      require(options, "options");
      return Backend::open(index, *options);
    });
  }
  static void close(rc_plugin_device* device) {
    delete reinterpret_cast<Device*>(device);
  }
  static rc_status op_supported(rc_plugin_device* device,
                                const rc_plugin_op* op,
                                const rc_plugin_value* const* values,
                                size_t value_count, char* message) {
    return guarded(message, [&] {
      require(op, "op");
      require(values, "values");
      const GivenOp given(*op, values, value_count);
      check_op(given.op, given.values());
      from(device).check_supported(given.op, given.values());
    });
  }
  static rc_status weight_bytes(rc_plugin_device* device,
                                const rc_plugin_weight_info* info,
                                uint64_t* bytes, char* message) {
    return guarded(message, [&] {
      require(info, "info");
      require(bytes, "bytes");
      *bytes = from(device).weight_bytes(*info);
    });
  }
  static rc_status create_weight(rc_plugin_device* device,
                                 const rc_plugin_weight_info* info,
                                 const void* data, rc_plugin_weight** weight,
                                 char* message) {
    return create(weight, message, [&] {
      require(info, "info");
      require(data, "data");
      return from(device).create_weight(*info, data);
    });
  }
  static rc_status map_weight(rc_plugin_device* device,
                              const rc_plugin_weight_info* info,
                              const void* data, rc_plugin_weight** weight,
                              char* message) requires
      requires(Device& d, const rc_plugin_weight_info& i) {
    d.map_weight(i, nullptr);
  }
  {
    return create(weight, message, [&] {
      require(info, "info");
      require(data, "data");
      return from(device).map_weight(*info, data);
    });
  }
  static rc_status map_experts(rc_plugin_device* device,
                               const rc_plugin_weight_info* info,
                               const void* data, int64_t resident,
                               rc_plugin_weight** weight,
                               char* message) requires
      requires(Device& d, const rc_plugin_weight_info& i) {
    d.map_experts(i, nullptr, int64_t{1});
  }
  {
    return create(weight, message, [&] {
      require(info, "info");
      require(data, "data");
      return from(device).map_experts(*info, data, resident);
    });
  }
  static void destroy_weight(rc_plugin_device*, rc_plugin_weight* weight) {
    delete reinterpret_cast<Weight*>(weight);
  }
  static rc_status create_buffer(rc_plugin_device* device, uint64_t bytes,
                                 rc_plugin_buffer** buffer, char* message) {
    return create(buffer, message,
                  [&] { return from(device).create_buffer(bytes); });
  }
  static rc_status borrow_buffer(rc_plugin_device* device, void* data,
                                 uint64_t bytes, rc_plugin_buffer** buffer,
                                 char* message) requires
      requires(Device& d, void* p) {
    d.borrow_buffer(p, uint64_t{1});
  }
  {
    return create(buffer, message, [&] {
      require(data, "data");
      return from(device).borrow_buffer(data, bytes);
    });
  }
  static rc_status buffer_memory(rc_plugin_device* device,
                                 rc_plugin_buffer* buffer, void** data,
                                 char* message) requires
      requires(Device& d, Buffer& b) {
    d.buffer_memory(b);
  }
  {
    return guarded(message, [&] {
      require(data, "data");
      *data = from(device).buffer_memory(object_of<Buffer>(buffer, "buffer"));
    });
  }
  static void destroy_buffer(rc_plugin_device*, rc_plugin_buffer* buffer) {
    delete reinterpret_cast<Buffer*>(buffer);
  }
  static rc_status upload(rc_plugin_device* device, rc_plugin_buffer* buffer,
                          uint64_t offset, const void* data, uint64_t bytes,
                          char* message) {
    return guarded(message, [&] {
      Buffer& target = range(buffer, offset, bytes);
      if (bytes == 0) return;
      require(data, "data");
      from(device).upload(target, offset, data, bytes);
    });
  }
  static rc_status download(rc_plugin_device* device, rc_plugin_buffer* buffer,
                            uint64_t offset, void* data, uint64_t bytes,
                            char* message) {
    return guarded(message, [&] {
      Buffer& source = range(buffer, offset, bytes);
      if (bytes == 0) return;
      require(data, "data");
      from(device).download(source, offset, data, bytes);
    });
  }
  static rc_status copy(rc_plugin_device* device, rc_plugin_buffer* target,
                        uint64_t target_offset, rc_plugin_buffer* source,
                        uint64_t source_offset, uint64_t bytes,
                        char* message) requires requires(Device& d, Buffer& b) {
    d.copy(b, 0, b, 0, 0);
  }
  {
    return guarded(message, [&] {
      Buffer& to = range(target, target_offset, bytes);
      Buffer& of = range(source, source_offset, bytes);
      if (bytes == 0) return;
      from(device).copy(to, target_offset, of, source_offset, bytes);
    });
  }
  static rc_status compile(rc_plugin_device* device,
                           const rc_plugin_program* program,
                           rc_plugin_compiled** compiled, char* message) {
    return create(compiled, message, [&] {
      require(program, "program");
      return from(device).compile(GivenProgram(*program));
    });
  }
  static void destroy_compiled(rc_plugin_device* device,
                               rc_plugin_compiled* compiled) {
    reinterpret_cast<Device*>(device)->destroy(
        std::unique_ptr<Program>(reinterpret_cast<Program*>(compiled)));
  }
  static rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
                       const rc_plugin_run* run, char* message) {
    return guarded(message, [&] {
      require(run, "run");
      from(device).start(object_of<Program>(compiled, "compiled"), *run);
    });
  }
  static rc_status run_with(rc_plugin_device* device,
                            rc_plugin_compiled* compiled,
                            const rc_plugin_run* run,
                            rc_plugin_buffer* const* caches, size_t cache_count,
                            char* message) requires
      requires(Device& d, Program& p, const rc_plugin_run& r,
               std::span<Buffer* const> c) {
    d.start_with(p, r, c);
  }
  {
    return guarded(message, [&] {
      require(run, "run");
      if (cache_count > 0) require(caches, "caches");
      std::vector<Buffer*> found;
      for (size_t i = 0; i < cache_count; ++i) {
        found.push_back(&object_of<Buffer>(caches[i], "a cache"));
      }
      from(device).start_with(object_of<Program>(compiled, "compiled"), *run,
                              found);
    });
  }
  static rc_status wait(rc_plugin_device* device, int64_t timeout_ms,
                        char* message) {
    return guarded(message, [&] {
      if (!from(device).wait(timeout_ms)) {
        fail(RC_E_TIMEOUT, "the run is not over after ", timeout_ms, " ms");
      }
    });
  }
  static rc_status op_time(rc_plugin_device* device, size_t i,
                           rc_plugin_op_time* time, char* message) requires
      requires(Device& d) {
    d.op_times();
  }
  {
    return guarded(message, [&] {
      require(time, "time");
      give_op_time(from(device).op_times(), i, time);
    });
  }
  static rc_status run_op(rc_plugin_device* device, const rc_plugin_op* op,
                          const rc_plugin_value* const* values,
                          rc_plugin_buffer* const* buffers, size_t value_count,
                          char* message) requires
      requires(Device& d, const Op& o, Buffer* const* b) {
    d.run_op(o, {}, b);
  }
  {
    bool done = false;
    const rc_status status = guarded(message, [&] {
      require(op, "op");
      require(values, "values");
      require(buffers, "buffers");
      const GivenOp given(*op, values, value_count);
      const auto alike = bytes_of_alike(given.op, given.values());
      if (!alike) check_op(given.op, given.values());
      Buffer* found[kMaxInputs + kMaxOutputs];
      for (size_t i = 0; i < value_count; ++i) {
        const rc_plugin_value& value = given.values()[i];
        const auto bytes = alike ? alike : value_bytes(value, {});
        if (value.storage != RC_STORAGE_CACHE || !bytes) {
          fail(RC_E_INVALID_ARGUMENT, "value ", i, " lies in no buffer");
        }
        found[i] = &range(buffers[i], value.offset, *bytes);
      }
      done = from(device).run_op(given.op, given.values(), found);
    });
    return status == RC_OK && !done ? RC_E_UNSUPPORTED : status;
  }
};

template <class Backend>
constexpr rc_plugin PluginTable<Backend>::table() {
  rc_plugin table = {};
  table.struct_size = sizeof table;
  table.abi_version = RC_PLUGIN_ABI_VERSION;
  table.least_abi_version = RC_PLUGIN_ABI_VERSION;
  table.name = Backend::kName;
  table.description = Backend::kDescription;
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
  if constexpr (requires { &PluginTable::copy; }) table.copy = copy;
  if constexpr (requires { &PluginTable::op_time; }) table.op_time = op_time;
  if constexpr (requires { &PluginTable::map_weight; }) {
    table.map_weight = map_weight;
  }
  if constexpr (requires { &PluginTable::buffer_memory; }) {
    table.buffer_memory = buffer_memory;
  }
  if constexpr (requires { &PluginTable::borrow_buffer; }) {
    table.borrow_buffer = borrow_buffer;
  }
  if constexpr (requires { &PluginTable::run_op; }) table.run_op = run_op;
  if constexpr (requires { &PluginTable::map_experts; }) {
    table.map_experts = map_experts;
  }
  if constexpr (requires { &PluginTable::run_with; }) table.run_with = run_with;
  PluginKernels<Backend>::add_to(table);
  PluginPinned<Backend>::add_to(table);
  return table;
}

}  // namespace rc::plugin

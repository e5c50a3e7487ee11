#include "cpu/plugin.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "common/machine.h"
#include "common/plugin_table.h"
#include "cpu/at_once.h"
#include "cpu/check.h"
#include "cpu/compiler.h"
#include "cpu/huge_pages.h"
#include "cpu/level.h"
#include "cpu/nodes.h"
#include "cpu/pool.h"
#include "cpu/ranges.h"
#include "cpu/spare_memory.h"

namespace rc::cpu {
namespace {

constexpr int kMaxThreads = 512;

class OpenDevice {
 public:
  OpenDevice(const Level& level, int threads, bool profile, rc_numa numa,
             std::vector<Node> nodes, const NodeCalls& calls)
      : kernels_(*level.kernels),
        nodes_(numa, std::move(nodes), threads, calls),
        pool_(threads, &nodes_),
        profile_(profile) {}

  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const {
    cpu::check_supported(op, values);
  }

  uint64_t weight_bytes(const rc_plugin_weight_info& info) const {
    return weight_layout(info).bytes;
  }
  std::unique_ptr<rc_plugin_weight> create_weight(
      const rc_plugin_weight_info& info, const void* data) const {
    return std::make_unique<rc_plugin_weight>(info, data, kernels_,
                                              pool_.threads(), nodes_);
  }
  std::unique_ptr<rc_plugin_weight> map_weight(
      const rc_plugin_weight_info& info, const void* data) const {
    return std::make_unique<rc_plugin_weight>(info, data, 0, nodes_);
  }
  std::unique_ptr<rc_plugin_weight> map_experts(
      const rc_plugin_weight_info& info, const void* data,
      int64_t resident) const {
    return std::make_unique<rc_plugin_weight>(info, data, resident, nodes_);
  }

  std::unique_ptr<rc_plugin_buffer> create_buffer(uint64_t bytes) const {
    return std::make_unique<rc_plugin_buffer>(bytes);
  }
  std::unique_ptr<rc_plugin_buffer> borrow_buffer(void* data,
                                                  uint64_t bytes) const {
    return std::make_unique<rc_plugin_buffer>(data, bytes);
  }
  void* buffer_memory(const rc_plugin_buffer& buffer) const {
    return buffer.memory;
  }
  void upload(rc_plugin_buffer& buffer, uint64_t offset, const void* data,
              uint64_t bytes) const {
    use_whole(buffer.memory + offset, bytes);
    std::memcpy(buffer.memory + offset, data, bytes);
  }
  void download(const rc_plugin_buffer& buffer, uint64_t offset, void* data,
                uint64_t bytes) const {
    std::memcpy(data, buffer.memory + offset, bytes);
  }
  void copy(rc_plugin_buffer& target, uint64_t target_offset,
            const rc_plugin_buffer& source, uint64_t source_offset,
            uint64_t bytes) const {
    std::memmove(target.memory + target_offset, source.memory + source_offset,
                 bytes);
  }

  std::unique_ptr<rc_plugin_compiled> compile(
      const plugin::GivenProgram& program) {
    return std::make_unique<rc_plugin_compiled>(program, kernels_, pool_,
                                                spare_, profile_);
  }
  void destroy(std::unique_ptr<rc_plugin_compiled> program);

  bool run_op(const Op& op, std::span<const rc_plugin_value> values,
              rc_plugin_buffer* const* buffers) {
    uint8_t* memory[kMaxInputs + kMaxOutputs];
    for (size_t i = 0; i < values.size(); ++i) {
      memory[i] = buffers[i]->memory + values[i].offset;
    }
    return run_at_once(kernels_, pool_, op, values, memory);
  }

  void run_ranges(int64_t count, RangeFunction function, void* user) {
    cpu::run_ranges(pool_, count, function, user);
  }

  // A run is over when it returns.
  void start(rc_plugin_compiled& program, const rc_plugin_run& run) {
    last_run_ = &program;
    program.run(run);
  }
  void start_with(rc_plugin_compiled& program, const rc_plugin_run& run,
                  std::span<rc_plugin_buffer* const> caches) {
    last_run_ = &program;
    program.run_with(run, caches);
  }
  bool wait(int64_t) const {
    if (last_run_ != nullptr) last_run_->result().check();
    return true;
  }
  std::span<const rc_plugin_op_time> op_times() const {
    if (last_run_ == nullptr) return {};
    return last_run_->op_times();
  }

 private:
  const Kernels& kernels_;
  const Nodes nodes_;
  Pool pool_;
  SpareMemory spare_;
  const bool profile_;
  const rc_plugin_compiled* last_run_ = nullptr;
  // Destroyed, but a thread that lost its processor is still within them.
  // Waiting for it would take as long as the run of a single op, or longer.
  std::unique_ptr<rc_plugin_compiled> lingering_;
};

void OpenDevice::destroy(std::unique_ptr<rc_plugin_compiled> program) {
  if (program == nullptr) return;
  if (last_run_ == program.get()) last_run_ = nullptr;
  std::unique_ptr<rc_plugin_compiled>* place = &lingering_;
  while (*place != nullptr) {
    if ((*place)->left()) {
      *place = std::move((*place)->next_lingering);
    } else {
      place = &(*place)->next_lingering;
    }
  }
  if (program->can_linger() && !program->left()) *place = std::move(program);
}

void check_index(int32_t index) {
  if (index != 0) {
    fail(RC_E_NOT_FOUND, "there is no device cpu:", index,
         "; the only one is cpu:0");
  }
}

std::unique_ptr<OpenDevice> open_level(const Level& level,
                                       const rc_plugin_open_options& options,
                                       std::vector<Node> nodes,
                                       const NodeCalls& calls) {
  if (options.struct_size < sizeof options) {
    fail(RC_E_INVALID_ARGUMENT, "options have ", options.struct_size,
         " bytes instead of ", sizeof options);
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(RC_E_INVALID_ARGUMENT, options.threads,
         " threads are asked for; 0 (as many as there are cores) to ",
         kMaxThreads, " are possible");
  }
  if (options.numa < RC_NUMA_AUTO || options.numa > RC_NUMA_LOCAL) {
    fail(RC_E_INVALID_ARGUMENT, "numa is ", options.numa, "; it must be ",
         RC_NUMA_AUTO, " to ", RC_NUMA_LOCAL);
  }
  const int threads = options.threads > 0
                          ? options.threads
                          : std::min(plugin::usable_cores(), kMaxThreads);
  return std::make_unique<OpenDevice>(level, threads, options.profile != 0,
                                      options.numa, std::move(nodes), calls);
}

// Those that a device is opened for.
std::vector<Node> nodes_for(const rc_plugin_open_options& options) {
  const bool none = options.numa == RC_NUMA_AUTO || options.numa == RC_NUMA_OFF;
  return none ? std::vector<Node>() : usable_nodes();
}

struct Backend {
  static constexpr const char* kName = "cpu";
  static constexpr const char* kDescription = "The processors of this machine";
  using Device = OpenDevice;
  using Weight = rc_plugin_weight;
  using Buffer = rc_plugin_buffer;
  using Program = rc_plugin_compiled;

  static int32_t count() { return 1; }
  static rc_plugin_device_info describe(int32_t index);
  static std::unique_ptr<Device> open(int32_t index,
                                      const rc_plugin_open_options& options) {
    check_index(index);
    return open_level(chosen_level(), options, nodes_for(options),
                      NodeCalls::of_system());
  }
  static uint64_t bytes(const Buffer& buffer) { return buffer.bytes; }
};

rc_plugin_device_info Backend::describe(int32_t index) {
  check_index(index);
  rc_plugin_device_info info = {};
  std::snprintf(info.name, sizeof info.name, "%s",
                plugin::processor_name().c_str());
  info.kind = RC_DEVICE_CPU;
  const plugin::Memory memory = plugin::machine_memory();
  info.total_memory = memory.total;
  info.free_memory = memory.free;
  info.unified_memory = 1;
  info.cores = plugin::usable_cores();
  const Arithmetic known = arithmetic();
  info.fp16 = known.fp16 ? 1 : 0;
  info.bf16 = known.bf16 ? 1 : 0;
  info.fp64 = 1;
  info.int8_dot = known.int8_dot ? 1 : 0;
  info.numa_nodes = static_cast<int32_t>(usable_nodes().size());
  const HugePages pages = huge_pages();
  info.huge_pages = pages.mode;
  if (pages.bytes == kHugePage) info.huge_page_bytes = pages.bytes;
  std::string features;
  for (const Level* level : available_levels()) {
    features += cat(features.empty() ? "" : " ", level->name);
  }
  std::snprintf(info.features, sizeof info.features, "%s", features.c_str());
  return info;
}

using Table = plugin::PluginTable<Backend>;
constexpr rc_plugin kPlugin = Table::table();

}  // namespace

const rc_plugin* plugin() { return &kPlugin; }

rc_status open_at_level(const std::string& level,
                        const rc_plugin_open_options* options,
                        rc_plugin_device** device, char* message) {
  return plugin::guarded(message, [&] {
    *device =
        Table::handle(open_level(level_by_name(level, "the level"), *options,
                                 nodes_for(*options), NodeCalls::of_system()));
  });
}

rc_status open_on_nodes(std::vector<Node> nodes, const NodeCalls& calls,
                        const rc_plugin_open_options* options,
                        rc_plugin_device** device, char* message) {
  return plugin::guarded(message, [&] {
    *device = Table::handle(
        open_level(chosen_level(), *options, std::move(nodes), calls));
  });
}

}  // namespace rc::cpu

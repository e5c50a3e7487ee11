#include "cpu/plugin.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "common/plugin_table.h"
#include "cpu/at_once.h"
#include "cpu/check.h"
#include "cpu/compiler.h"
#include "cpu/level.h"
#include "cpu/machine.h"
#include "cpu/pool.h"
#include "cpu/ranges.h"

namespace rc::cpu {
namespace {

constexpr int kMaxThreads = 512;

class OpenDevice {
 public:
  OpenDevice(const Level& level, int threads, bool profile)
      : kernels_(*level.kernels), pool_(threads), profile_(profile) {}

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
                                              pool_.threads());
  }
  std::unique_ptr<rc_plugin_weight> map_weight(
      const rc_plugin_weight_info& info, const void* data) const {
    return std::make_unique<rc_plugin_weight>(info, data);
  }
  std::unique_ptr<rc_plugin_weight> map_experts(
      const rc_plugin_weight_info& info, const void* data,
      int64_t resident) const {
    return std::make_unique<rc_plugin_weight>(info, data, resident);
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
                                                profile_);
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
  Pool pool_;
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
                                       const rc_plugin_open_options& options) {
  if (options.struct_size < sizeof options) {
    fail(RC_E_INVALID_ARGUMENT, "options have ", options.struct_size,
         " bytes instead of ", sizeof options);
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(RC_E_INVALID_ARGUMENT, options.threads,
         " threads are asked for; 0 (as many as there are cores) to ",
         kMaxThreads, " are possible");
  }
  const int threads = options.threads > 0
                          ? options.threads
                          : std::min(usable_cores(), kMaxThreads);
  return std::make_unique<OpenDevice>(level, threads, options.profile != 0);
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
    return open_level(chosen_level(), options);
  }
  static uint64_t bytes(const Buffer& buffer) { return buffer.bytes; }
};

rc_plugin_device_info Backend::describe(int32_t index) {
  check_index(index);
  rc_plugin_device_info info = {};
  std::snprintf(info.name, sizeof info.name, "%s", processor_name().c_str());
  info.kind = RC_DEVICE_CPU;
  const Memory memory = machine_memory();
  info.total_memory = memory.total;
  info.free_memory = memory.free;
  info.unified_memory = 1;
  info.cores = usable_cores();
  const Arithmetic known = arithmetic();
  info.fp16 = known.fp16 ? 1 : 0;
  info.bf16 = known.bf16 ? 1 : 0;
  info.fp64 = 1;
  info.int8_dot = known.int8_dot ? 1 : 0;
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
        Table::handle(open_level(level_by_name(level, "the level"), *options));
  });
}

}  // namespace rc::cpu

// The table of the backend of BLAS libraries.
//
// It computes in memory of the host's. Products alone are its ops: all others
// are the CPU's, which reads and writes the same memory. The threads of the
// handle share out the tiles of a product, and the library computes each of
// them on the thread that calls it: its own threads belong to the whole process
// and look for work long after a call.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/error.h"
#include "blas/cblas.h"
#include "blas/program.h"
#include "common/host_memory.h"
#include "common/machine.h"
#include "common/plugin_table.h"
#include "common/weight_value.h"

namespace rc::blas {
namespace {

constexpr int kMaxThreads = 512;

uint64_t bytes_of(const rc_plugin_weight_info& info) {
  const rc_plugin_value value = weight_value(info);
  check_value(value);
  const DType type = info.dtype;
  const bool multiplied =
      type == RC_DTYPE_F32 || type == RC_DTYPE_F16 || type == RC_DTYPE_BF16;
  if (!multiplied) {
    fail(RC_E_UNSUPPORTED, "weight ", info.name, " is of type ",
         dtype_name(type), "; BLAS multiplies by F32, F16 and BF16");
  }
  if ((info.uses & RC_USE_ELEMENTS) != 0 && type != RC_DTYPE_F32) {
    fail(RC_E_UNSUPPORTED, "weight ", info.name, " is read by elements as ",
         dtype_name(type), "; it must be F32");
  }
  return *value_bytes(value, {});
}

class OpenDevice : public plugin::HostDevice {
 public:
  OpenDevice(const Cblas& library, int threads, bool profile)
      : team_(threads, library), machine_{library, team_}, profile_(profile) {}

  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const {
    const OpRow* const row = find_row(op.code);
    if (row == nullptr) {
      fail(RC_E_UNSUPPORTED, "there is no ", op_name(op.code), " in BLAS");
    }
    row->check(op, values);
  }

  uint64_t weight_bytes(const rc_plugin_weight_info& info) const {
    return bytes_of(info);
  }
  std::unique_ptr<plugin::HostWeight> create_weight(
      const rc_plugin_weight_info& info, const void* data) const {
    return copied(info, data, bytes_of(info));
  }
  std::unique_ptr<plugin::HostWeight> map_weight(
      const rc_plugin_weight_info& info, const void* data) const {
    bytes_of(info);  // throws for a weight that it cannot have
    return mapped(info, data);
  }

  std::unique_ptr<Program> compile(const plugin::GivenProgram& program) const {
    return std::make_unique<Program>(program, machine_, profile_);
  }
  void destroy(std::unique_ptr<Program> program) {
    if (program.get() == last_) last_ = nullptr;
  }

  void start(Program& program, const rc_plugin_run& run) {
    last_ = &program;
    complete([&] { program.run(run); });
  }
  void start_with(Program& program, const rc_plugin_run& run,
                  std::span<plugin::HostBuffer* const> caches) {
    last_ = &program;
    complete([&] { program.run_with(run, caches); });
  }
  std::span<const rc_plugin_op_time> op_times() const {
    if (last_ == nullptr) return {};
    return last_->op_times();
  }

 private:
  Team team_;
  const Machine machine_;
  const bool profile_;
  const Program* last_ = nullptr;
};

void check_index(int32_t index) {
  if (index != 0) {
    fail(RC_E_NOT_FOUND, "there is no device blas:", index,
         "; the only one is blas:0");
  }
}

int threads_for(const rc_plugin_open_options& options, const Cblas& library) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(RC_E_INVALID_ARGUMENT, options.threads,
         " threads are asked for; 0 (as many as there are cores) to ",
         kMaxThreads, " are possible");
  }
  const int wanted =
      options.threads > 0 ? options.threads : plugin::usable_cores();
  return std::min({wanted, kMaxThreads, library.most_callers()});
}

struct Backend {
  static constexpr const char* kName = "blas";
  static constexpr const char* kDescription =
      "Products by OpenBLAS or another CBLAS library";
  using Device = OpenDevice;
  using Weight = plugin::HostWeight;
  using Buffer = plugin::HostBuffer;
  using Program = blas::Program;

  static int32_t count() {
    cblas();  // throws why there is none
    return 1;
  }
  static rc_plugin_device_info describe(int32_t index);
  static std::unique_ptr<Device> open(int32_t index,
                                      const rc_plugin_open_options& options);
  static uint64_t bytes(const Buffer& buffer) { return buffer.bytes.size(); }
};

std::unique_ptr<OpenDevice> Backend::open(
    int32_t index, const rc_plugin_open_options& options) {
  check_index(index);
  if (options.struct_size < sizeof options) {
    fail(RC_E_INVALID_ARGUMENT, "options have ", options.struct_size,
         " bytes instead of ", sizeof options);
  }
  const Cblas& library = cblas();
  if (!library.multiplies_zeros()) {
    options.log(RC_LOG_WARNING,
                cat("blas:0: ", library.description(),
                    " skips zeros: products of 0 with a NaN or an infinity are "
                    "0 there")
                    .c_str());
  }
  return std::make_unique<Device>(library, threads_for(options, library),
                                  options.profile != 0);
}

rc_plugin_device_info Backend::describe(int32_t index) {
  check_index(index);
  const Cblas& library = cblas();
  rc_plugin_device_info info = {};
  std::snprintf(info.name, sizeof info.name, "%s",
                library.description().c_str());
  // "auto" leaves it alone, and does not load the library.
  info.kind = RC_DEVICE_SOFTWARE;
  const plugin::Memory memory = plugin::machine_memory();
  info.total_memory = memory.total;
  info.free_memory = memory.free;
  info.unified_memory = 1;
  info.cores = plugin::usable_cores();
  info.fp64 = 1;
  std::snprintf(info.features, sizeof info.features, "%s%s%s",
                library.processor().c_str(),
                library.processor().empty() ? "" : " ",
                library.is_wide() ? "ilp64" : "lp64");
  std::snprintf(info.driver, sizeof info.driver, "%s", library.name().c_str());
  return info;
}

constexpr rc_plugin kPlugin = plugin::PluginTable<Backend>::table();

}  // namespace
}  // namespace rc::blas

extern "C" RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) { return &rc::blas::kPlugin; }

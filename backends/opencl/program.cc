#include "opencl/program.h"

#include "base/error.h"
#include "opencl/compiler.h"

namespace {

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    rc::fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
             "; the program was compiled for 0 to ", limit);
  }
}

}  // namespace

rc_plugin_compiled::rc_plugin_compiled(
    rc::opencl::Device& device, const rc::plugin::GivenProgram& program) {
  rc::opencl::Compiler(device, program, *this).compile();
}

void rc_plugin_compiled::check(const rc_plugin_run& run) const {
  check_count("rows", run.rows, limits.rows);
  check_count("outputs", run.outputs, limits.outputs);
  check_count("sequences", run.sequences, limits.sequences);
  const rc::Rows rows = {run.rows, run.outputs, run.sequences};
  const auto has_memory = [&](const int32_t value, const auto* all, size_t i) {
    return value < 0 || *rc::value_bytes(values[value], rows) == 0 ||
           (all != nullptr && all[i] != nullptr);
  };
  for (size_t i = 0; i < input_values.size(); ++i) {
    if (!has_memory(input_values[i], run.inputs, i)) {
      rc::fail(RC_E_INVALID_ARGUMENT, "input ", i, " of the run is NULL");
    }
  }
  for (size_t i = 0; i < output_values.size(); ++i) {
    if (!has_memory(output_values[i], run.outputs_data, i)) {
      rc::fail(RC_E_INVALID_ARGUMENT, "output ", i, " of the run is NULL");
    }
  }
}

// Makes steps of ops.
#pragma once

#include <string>

#include "opencl/device.h"
#include "opencl/program.h"

namespace rc::opencl {

class Compiler {
 public:
  Compiler(Device& device, const rc_plugin_program& program,
           rc_plugin_compiled& target)
      : device_(device),
        tuning_(device.tuning()),
        program_(program),
        target_(target) {}

  // Fills the target. Throws RC_E_INVALID_ARGUMENT for a program that breaks a
  // rule of plugin.h.
  void compile();

 private:
  struct Place {
    cl_mem memory;
    cl_ulong offset;  // in elements of four bytes
  };

  const rc_plugin_value& input(const rc_plugin_op& op, int slot) const {
    return program_.values[op.inputs[slot]];
  }
  const rc_plugin_value& output(const rc_plugin_op& op) const {
    return program_.values[op.outputs[0]];
  }
  const rc_plugin_weight& weight(const rc_plugin_value& value) const {
    return *program_.weights[value.index];
  }
  void place_value(int32_t number);
  Place place(const rc_plugin_value& value) const;
  // Of an absent one, none.
  Place place(int32_t number) const;
  cl_mem elements(int32_t number) const;

  void add(const rc_plugin_op& op);
  Step get_rows(const rc_plugin_op& op);
  Step rms_norm(const rc_plugin_op& op);
  Step linear(const rc_plugin_op& op);
  Step rope(const rc_plugin_op& op);
  Step cache_store(const rc_plugin_op& op);
  Step attention(const rc_plugin_op& op);
  Step elementwise(const rc_plugin_op& op);
  Step route(const rc_plugin_op& op);
  Step expert_linear(const rc_plugin_op& op);
  Step expert_sum(const rc_plugin_op& op);

  // A range of `items` within a row in groups of `group`, one row to a block.
  Range range(Kernel kernel, int64_t items, int group) const;
  Range product(const rc_plugin_weight& weight, int64_t n, int rows,
                bool experts);
  std::string type_definitions(rc_dtype dtype) const;
  std::string cache_definitions(const rc_plugin_value& cache) const;

  Device& device_;
  const Tuning& tuning_;
  const rc_plugin_program& program_;
  rc_plugin_compiled& target_;
};

}  // namespace rc::opencl

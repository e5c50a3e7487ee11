// Makes steps of ops.
#pragma once

#include <string>
#include <vector>

#include "gpu/device.h"
#include "gpu/dispatch.h"
#include "opencl/device.h"
#include "opencl/step.h"

namespace rc::opencl {

struct Place {
  cl_mem memory = nullptr;
  cl_ulong offset = 0;  // in elements of four bytes, if not said otherwise
};

class Compiler {
 public:
  // `counts`: the rows, outputs and sequences of a run, I32. What steps of one
  // op hand on lies in buffers that are added to `kept`.
  Compiler(Device& device, const gpu::PlacedProgram& program, cl_mem counts,
           std::vector<std::unique_ptr<gpu::Buffer>>& kept,
           std::vector<Step>& target)
      : device_(device),
        tuning_(device.tuning()),
        program_(program),
        counts_(counts),
        kept_(kept),
        target_(target) {}

  // Appends the steps of the program to the target.
  void compile();

 private:
  const rc_plugin_value& input(const Op& op, int slot) const {
    return program_.values[op.inputs[slot]].value;
  }
  const rc_plugin_value& output(const Op& op) const {
    return program_.values[op.outputs[0]].value;
  }
  // Of a value, with the offset in units of so many bytes, which divide it. Of
  // an absent one, none.
  Place place(int32_t number, uint64_t unit = sizeof(cl_float)) const;

  // The ops on rows, as gpu/row_ops.cc has them.
  void add(const Op& op, int32_t number);
  Step step_of(const gpu::Dispatch& dispatch) const;

  // The tensor ops, in files of their own.
  void add_tensor_op(const Op& op);
  Step copy(const Op& op);
  Step convert(const Op& op);
  Step get_tensor_rows(const Op& op);
  Step unary(const Op& op);
  Step binary(const Op& op);
  Step matmul(const Op& op);
  Step conv2d(const Op& op);
  Step layer_norm(const Op& op);
  void softmax(const Op& op);
  // REDUCE and ARGMAX: the largest number or the sum, divided, of each line,
  // and the place of the largest. Either target may be absent.
  void reduce(const Op& op, bool most, const Place& to, const Place& to_places,
              float divisor);
  Step attend(const Op& op);
  Step rope(const Op& op);
  // Memory for what the steps of an op hand on.
  Place keep(int64_t elements);

  // One of `rows` rows with so many items each, in groups of `group`, which
  // takes about `work` multiply-adds a row.
  Step step(Kernel kernel, int64_t rows, int64_t items, uint32_t group,
            double work) const;

  Device& device_;
  const Tuning& tuning_;
  const gpu::PlacedProgram& program_;
  cl_mem counts_;
  std::vector<std::unique_ptr<gpu::Buffer>>& kept_;
  std::vector<Step>& target_;
};

}  // namespace rc::opencl

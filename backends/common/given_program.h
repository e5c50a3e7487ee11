// Ops and programs as a backend is given them. The plugin ABI points to
// structs, which can grow; what compiles wants them side by side, and checked.
#pragma once

#include <span>
#include <vector>

#include "runcible/plugin.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::plugin {

// An op and the values that it names, as op_supported gets them. Takes no
// memory: it is asked for each op that runs on tensors.
class GivenOp {
 public:
  // Throws RC_E_UNSUPPORTED for more values than any op that is known here has.
  GivenOp(const rc_plugin_op& op, const rc_plugin_value* const* values,
          size_t count);

  const Op op;
  std::span<const rc_plugin_value> values() const { return {values_, count_}; }

 private:
  rc_plugin_value values_[kMaxInputs + kMaxOutputs];
  size_t count_;
};

struct WeightShape {
  DType dtype;
  std::span<const int64_t> shape;
};

struct GivenProgram {
  explicit GivenProgram(const rc_plugin_program& given);

  // The shapes and sizes behind the backend's own handles, which are not NULL.
  using ShapeOf = WeightShape (*)(const rc_plugin_weight* weight);
  using BytesOf = uint64_t (*)(const rc_plugin_buffer* buffer);

  // Throws RC_E_INVALID_ARGUMENT unless every value lies where it can lie and
  // every op is as plugin.h describes it.
  void check(ShapeOf shape_of, BytesOf bytes_of) const;

  Rows limits() const { return {max_rows, max_outputs, max_sequences}; }

  std::vector<rc_plugin_value> values;
  std::vector<Op> ops;
  std::span<rc_plugin_weight* const> weights;
  std::span<rc_plugin_buffer* const> caches;
  size_t input_count;
  size_t output_count;
  uint64_t scratch_bytes;
  int64_t max_rows;
  int64_t max_outputs;
  int64_t max_sequences;

 private:
  void check_limits() const;
  void check_index(size_t number) const;
  void check_weight(size_t number, ShapeOf shape_of) const;
  void check_cache(size_t number, uint64_t bytes, BytesOf bytes_of) const;
  void check_scratch(size_t number, uint64_t bytes) const;
};

}  // namespace rc::plugin

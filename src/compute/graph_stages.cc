#include "compute/graph_stages.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compute/graph_ops.h"

namespace rc::compute {
namespace {

constexpr int32_t kNoBase = -1;

bool is_custom(const RecordedOp& op) { return op.custom != nullptr; }

}  // namespace

GraphStages::GraphStages(const std::shared_ptr<Context>& context,
                         Recorded recorded, std::span<const int32_t> results)
    : context_(context),
      recorded_(std::move(recorded)),
      results_(results.begin(), results.end()) {
  keep_needed(recorded_, results);
  const std::vector<RecordedOp>& ops = recorded_.ops;
  op_count_ = ops.size();
  for (size_t first = 0; first < ops.size();) {
    if (is_custom(ops[first])) {
      add_custom(ops[first++]);
      continue;
    }
    const auto end = static_cast<size_t>(
        std::find_if(ops.begin() + static_cast<ptrdiff_t>(first), ops.end(),
                     is_custom) -
        ops.begin());
    add_program(first, end);
    first = end;
  }
  recorded_.ops.clear();
}

bool GraphStages::read_from(size_t op, int32_t base) const {
  return std::any_of(
      recorded_.ops.begin() + static_cast<ptrdiff_t>(op), recorded_.ops.end(),
      [&](const RecordedOp& reader) {
        return std::any_of(
            std::begin(reader.inputs), std::end(reader.inputs),
            [&](int32_t value) {
              return value >= 0 &&
                     recorded_.values[static_cast<size_t>(value)].index == base;
            });
      });
}

void GraphStages::add_custom(const RecordedOp& op) {
  Stage& stage = stages_.emplace_back();
  stage.call = op.custom;
  stage.way = way_of(*op.custom, *context_);
  const size_t inputs = op.custom->inputs().size();
  stage.operands.assign(op.inputs, op.inputs + inputs);
  for (const int32_t value : op.results) {
    stage.operands.push_back(value);
    stage.results.push_back(
        value < 0 ? kNoBase
                  : recorded_.values[static_cast<size_t>(value)].index);
  }
}

void GraphStages::add_program(size_t first, size_t end) {
  Stage& stage = stages_.emplace_back();
  Recorded part;
  // By base of the whole: its number in the part.
  std::vector<int32_t> number(recorded_.bases.size(), kNoBase);
  const auto add_value = [&](int32_t given, bool made) {
    rc_plugin_value value = recorded_.values[static_cast<size_t>(given)];
    const int32_t whole = value.index;
    int32_t& here = number[static_cast<size_t>(whole)];
    if (here == kNoBase) {
      here = static_cast<int32_t>(part.bases.size());
      Base base = recorded_.bases[static_cast<size_t>(whole)];
      base.whole.index = here;
      if (made) {
        base.index = part.ops.size();
      } else if (base.kind != Base::kConstant) {
        base.kind = Base::kInput;
        base.index = stage.inputs.size();
        stage.inputs.push_back(whole);
      }
      part.bases.push_back(std::move(base));
    }
    value.index = here;
    part.values.push_back(value);
    return static_cast<int32_t>(part.values.size() - 1);
  };
  std::vector<int32_t> results;
  for (size_t i = first; i < end; ++i) {
    RecordedOp op = recorded_.ops[i];
    for (int32_t& input : op.inputs) {
      if (input >= 0) input = add_value(input, false);
    }
    const int32_t base =
        recorded_.values[static_cast<size_t>(op.outputs[0])].index;
    op.outputs[0] = add_value(op.outputs[0], true);
    part.ops.push_back(std::move(op));
    const bool wanted =
        std::find(results_.begin(), results_.end(), base) != results_.end();
    if (!wanted && !read_from(end, base)) continue;
    stage.results.push_back(base);
    results.push_back(number[static_cast<size_t>(base)]);
  }
  stage.program =
      std::make_unique<GraphProgram>(context_, std::move(part), results);
}

uint64_t GraphStages::memory() const {
  uint64_t bytes = 0;
  for (const Stage& stage : stages_) {
    if (stage.program != nullptr) bytes += stage.program->memory();
  }
  return bytes;
}

Tensor GraphStages::tensor_of(const rc_plugin_value& value,
                              std::shared_ptr<Storage> storage) const {
  Tensor tensor;
  tensor.context = context_;
  tensor.storage = std::move(storage);
  tensor.dtype = value.dtype;
  tensor.shape = Shape(value.shape, value.shape + value.rank);
  tensor.strides = dense_strides(tensor.shape);
  const DTypeInfo& type = *dtype_info(value.dtype);
  tensor.offset =
      static_cast<int64_t>(value.offset) / type.block_bytes * type.block_size;
  return tensor;
}

void GraphStages::run_custom(const Stage& stage, std::span<const Tensor> bases,
                             const runtime::RunArguments& arguments,
                             int64_t timeout_ms) const {
  const size_t inputs = stage.call->inputs().size();
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < stage.operands.size(); ++i) {
    const int32_t operand = stage.operands[i];
    if (operand < 0) {
      const CustomValue& value = stage.call->values[i];
      tensors.push_back(make_tensor(context_, value.dtype, value.shape));
      continue;
    }
    const rc_plugin_value& value =
        recorded_.values[static_cast<size_t>(operand)];
    const auto number = static_cast<size_t>(value.index);
    const Base& base = recorded_.bases[number];
    tensors.push_back(tensor_of(value, base.kind == Base::kConstant
                                           ? base.storage
                                           : bases[number].storage));
  }
  int64_t spent_ns = 0;
  compute_custom(*stage.call, stage.way, context_,
                 std::span(tensors).first(inputs),
                 std::span(tensors).subspan(inputs),
                 {arguments.should_stop, arguments.user}, timeout_ms, spent_ns);
  if (arguments.spent_ns != nullptr) *arguments.spent_ns += spent_ns;
}

void GraphStages::run(std::span<const Tensor> inputs,
                      std::span<const Tensor> results,
                      const runtime::RunArguments& arguments,
                      int64_t timeout_ms) {
  // Tensors by base.
  std::vector<Tensor> bases(recorded_.bases.size());
  for (size_t i = 0; i < bases.size(); ++i) {
    const Base& base = recorded_.bases[i];
    if (base.kind == Base::kInput) bases[i] = inputs[base.index];
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    bases[static_cast<size_t>(results_[i])] = results[i];
  }
  bool first = true;
  for (const Stage& stage : stages_) {
    if (!std::exchange(first, false) && arguments.should_stop != nullptr &&
        arguments.should_stop(arguments.user) != 0) {
      fail(RC_E_CANCELLED, "the run of a graph was asked to stop");
    }
    std::vector<Tensor> given, made;
    for (const int32_t base : stage.inputs) {
      given.push_back(bases[static_cast<size_t>(base)]);
    }
    for (const int32_t number : stage.results) {
      if (number < 0) continue;
      Tensor& tensor = bases[static_cast<size_t>(number)];
      if (tensor.storage == nullptr) {
        const rc_plugin_value& whole =
            recorded_.bases[static_cast<size_t>(number)].whole;
        tensor = make_result(context_, whole.dtype,
                             Shape(whole.shape, whole.shape + whole.rank));
      }
      made.push_back(tensor);
    }
    if (stage.program != nullptr) {
      stage.program->run(given, made, arguments, timeout_ms);
    } else {
      run_custom(stage, bases, arguments, timeout_ms);
    }
  }
}

}  // namespace rc::compute

#include "model/observation.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "model/weight_name.h"
#include "tensor/value.h"

namespace rc::model {
namespace {

using runtime::ProgramDescription;
using runtime::Value;

bool computed(const rc_plugin_value& value) {
  return value.storage == RC_STORAGE_SCRATCH ||
         value.storage == RC_STORAGE_OUTPUT;
}

// The program has no outputs any more: each is as if it had never been one.
void forget_outputs(ProgramDescription& program) {
  std::vector<Value> first(program.output_count, -1);
  for (size_t i = 0; i < program.values.size(); ++i) {
    rc_plugin_value& value = program.values[i];
    if (value.storage != RC_STORAGE_OUTPUT) continue;
    // A value precedes what shows its bytes under another shape.
    Value& base = first.at(static_cast<size_t>(value.index));
    if (base < 0) base = static_cast<Value>(i);
    value.storage = RC_STORAGE_SCRATCH;
    value.index = base;
  }
  program.output_count = 0;
}

// The number of the output that a computed value becomes, or is already.
size_t make_output(ProgramDescription& program, Value number) {
  const rc_plugin_value from = program.values.at(static_cast<size_t>(number));
  if (from.storage == RC_STORAGE_OUTPUT) return static_cast<size_t>(from.index);
  const auto index = static_cast<int32_t>(program.output_count++);
  for (rc_plugin_value& value : program.values) {
    if (value.storage != RC_STORAGE_SCRATCH || value.index != from.index) {
      continue;
    }
    value.storage = RC_STORAGE_OUTPUT;
    value.index = index;
  }
  return static_cast<size_t>(index);
}

// Leaves out all ops from `count` on, and the weights and values of theirs that
// no other op has.
void cut_behind(ProgramDescription& program, size_t count) {
  program.ops.resize(count);
  program.parts.resize(std::min(program.parts.size(), count));
  std::vector<bool> used(program.values.size());
  for (const Op& op : program.ops) {
    for (const Value value : op.inputs) {
      if (value >= 0) used[static_cast<size_t>(value)] = true;
    }
    for (const Value value : op.outputs) {
      if (value >= 0) used[static_cast<size_t>(value)] = true;
    }
  }
  for (size_t i = 0; i < program.values.size(); ++i) {
    const rc_plugin_value& value = program.values[i];
    // Inputs and caches have fixed places.
    if (value.storage == RC_STORAGE_INPUT ||
        value.storage == RC_STORAGE_CACHE) {
      used[i] = true;
    }
    if (used[i] && value.storage == RC_STORAGE_SCRATCH) {
      used[static_cast<size_t>(value.index)] = true;
    }
  }
  std::vector<Value> numbers(program.values.size(), -1);
  std::vector<int32_t> weights(program.weights.size(), -1);
  std::vector<rc_plugin_value> kept;
  std::vector<runtime::WeightInfo> kept_weights;
  for (size_t i = 0; i < program.values.size(); ++i) {
    if (!used[i]) continue;
    rc_plugin_value value = program.values[i];
    numbers[i] = static_cast<Value>(kept.size());
    if (value.storage == RC_STORAGE_SCRATCH) {
      value.index = numbers[static_cast<size_t>(value.index)];
    } else if (value.storage == RC_STORAGE_WEIGHT) {
      const auto index = static_cast<size_t>(value.index);
      if (weights[index] < 0) {
        weights[index] = static_cast<int32_t>(kept_weights.size());
        kept_weights.push_back(program.weights[index]);
      }
      value.index = weights[index];
    }
    kept.push_back(value);
  }
  program.values = std::move(kept);
  program.weights = std::move(kept_weights);
  for (Op& op : program.ops) {
    for (Value& value : op.inputs) {
      if (value >= 0) value = numbers[static_cast<size_t>(value)];
    }
    for (Value& value : op.outputs) {
      if (value >= 0) value = numbers[static_cast<size_t>(value)];
    }
  }
}

// The place among the inputs of the one that these outputs are.
ObservedInput& input_of(Observation& observation, size_t values, size_t ids) {
  for (ObservedInput& input : observation.inputs) {
    if (input.values == values && input.ids == ids) return input;
  }
  ObservedInput& added = observation.inputs.emplace_back();
  added.values = values;
  added.ids = ids;
  return added;
}

void observe(const gguf::File& file, ProgramDescription& program, const Op& op,
             Observation& observation) {
  const bool experts = op.code == RC_OP_EXPERT_LINEAR;
  const rc_plugin_value& weight =
      program.values.at(static_cast<size_t>(op.inputs[1]));
  const gguf::Tensor* tensor = tensor_of_weight(
      file, program.weights.at(static_cast<size_t>(weight.index)).name);
  if (tensor == nullptr) return;  // it was made, not read
  // A matrix for each head, of one matrix in the file, whose columns are not
  // those of this product; numbers of experts; one of several matrices.
  if (experts != (tensor->shape.size() == 3)) return;
  const rc_plugin_value x =
      program.values.at(static_cast<size_t>(op.inputs[0]));
  if (!computed(x)) {
    fail(RC_E_UNSUPPORTED, file.name(), ": the input of ", tensor->name,
         " is not computed, so it cannot be observed");
  }
  const size_t values = make_output(program, op.inputs[0]);
  // Where each has its place in every row, as heads have, they are an input.
  const size_t ids =
      experts && computed(program.values.at(static_cast<size_t>(op.inputs[2])))
          ? make_output(program, op.inputs[2])
          : ObservedInput::kNone;
  // A matrix that is used twice is observed where it is used first.
  for (const ObservedInput& other : observation.inputs) {
    if ((other.values != values || other.ids != ids) &&
        std::find(other.tensors.begin(), other.tensors.end(), tensor->name) !=
            other.tensors.end()) {
      return;
    }
  }
  ObservedInput& input = input_of(observation, values, ids);
  input.width = x.shape[x.rank - 1];
  if (experts) {
    input.experts = weight.shape[0];
    input.chosen =
        program.values.at(static_cast<size_t>(op.inputs[2])).shape[1];
    input.each_its_own = x.rank == 3;
  }
  // Some rows of a tensor, then others.
  if (std::find(input.tensors.begin(), input.tensors.end(), tensor->name) ==
      input.tensors.end()) {
    input.tensors.emplace_back(tensor->name);
  }
}

}  // namespace

uint64_t Observation::bytes_per_row() const {
  uint64_t bytes = 0;
  for (const rc_plugin_value& value : outputs) {
    bytes += value_bytes(value, {1, 1, 1}).value_or(0);
  }
  return bytes;
}

Observation observe_products(const gguf::File& file,
                             ProgramDescription& program) {
  if (!program.stages.empty()) {
    fail(RC_E_UNSUPPORTED, file.name(),
         ": the inputs of products of a model that reads a source cannot be "
         "measured");
  }
  Observation observation;
  forget_outputs(program);
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op op = program.ops[i];
    if (op.code == RC_OP_LINEAR || op.code == RC_OP_EXPERT_LINEAR) {
      observe(file, program, op, observation);
    }
  }
  size_t end = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    for (const Value output : program.ops[i].outputs) {
      if (output >= 0 && program.values[static_cast<size_t>(output)].storage ==
                             RC_STORAGE_OUTPUT) {
        end = i + 1;
      }
    }
  }
  if (end == 0) {
    fail(RC_E_UNSUPPORTED, file.name(), ": the model has no products");
  }
  cut_behind(program, end);
  observation.outputs = program.outputs();
  return observation;
}

}  // namespace rc::model

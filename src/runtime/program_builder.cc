#include <algorithm>

#include "base/error.h"
#include "runtime/program.h"
#include "tensor/op_match.h"

namespace rc::runtime {
namespace {

Op make_op(int32_t code) {
  Op op;
  op.code = code;
  return op;
}

}  // namespace

const rc_plugin_value& ProgramBuilder::at(Value x) const {
  if (x < 0 || static_cast<size_t>(x) >= description_.values.size()) {
    fail(RC_E_INVALID_ARGUMENT, "there is no value ", x, " in a program of ",
         description_.values.size(), " values");
  }
  return description_.values[x];
}

ProgramBuilder::Shape ProgramBuilder::shape(Value x) const {
  const rc_plugin_value& value = at(x);
  return Shape(value.shape, value.shape + value.rank);
}

Value ProgramBuilder::append_value(DType dtype, const Shape& shape, int storage,
                                   int32_t index) {
  if (shape.empty() || shape.size() > RC_PLUGIN_MAX_RANK) {
    fail(RC_E_INVALID_ARGUMENT, "a value of rank ", shape.size(), "; 1 to ",
         RC_PLUGIN_MAX_RANK, " are possible");
  }
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = storage;
  value.index = index;
  description_.values.push_back(value);
  return static_cast<Value>(description_.values.size() - 1);
}

std::vector<Value> ProgramBuilder::append(Op op,
                                          const std::vector<Value>& inputs,
                                          std::optional<NamedDimension> free) {
  if (inputs.size() > kMaxInputs) {
    fail(RC_E_INVALID_ARGUMENT, op_name(op.code), " has ", inputs.size(),
         " inputs; ", kMaxInputs, " is the most of any op");
  }
  std::copy(inputs.begin(), inputs.end(), op.inputs);
  OpMatch match(op, description_.values);
  match.match_inputs();
  if (free) match.dimensions().bind(free->name, free->number);
  const size_t before = description_.values.size();
  std::vector<Value> outputs;
  try {
    for (int i = 0; i < find_op(op.code)->outputs(); ++i) {
      rc_plugin_value made = match.output_schema(i);
      made.storage = RC_STORAGE_SCRATCH;
      made.index = static_cast<int32_t>(description_.values.size());
      op.outputs[i] = made.index;
      outputs.push_back(made.index);
      description_.values.push_back(made);
    }
    check_op(op, description_.values);
    description_.parts.reserve(description_.ops.size() + 1);
    description_.ops.push_back(op);
    description_.parts.push_back(
        static_cast<int32_t>(description_.part_names.size()) - 1);
  } catch (...) {
    description_.values.resize(before);
    throw;
  }
  return outputs;
}

Value ProgramBuilder::weight(const std::string& name, DType dtype,
                             const Shape& shape, uint32_t use) {
  if (const auto known = weights_.find(name); known != weights_.end()) {
    const rc_plugin_value& value = at(known->second);
    WeightInfo& info = description_.weights[value.index];
    if (info.dtype != dtype || info.shape != shape) {
      fail(RC_E_INVALID_ARGUMENT, "weight ", name, " is ", value_text(value),
           ", but is now asked for with another type or shape");
    }
    info.uses |= use;
    return known->second;
  }
  const auto index = static_cast<int32_t>(description_.weights.size());
  description_.weights.push_back({name, dtype, shape, use});
  Value value = kAbsent;
  try {
    value = append_value(dtype, shape, RC_STORAGE_WEIGHT, index);
    check_value(at(value));
    weights_.emplace(name, value);
  } catch (...) {
    description_.weights.pop_back();
    if (value != kAbsent) description_.values.pop_back();
    throw;
  }
  return value;
}

Value ProgramBuilder::cache(DType dtype, const Shape& shape) {
  const auto index = static_cast<int32_t>(description_.caches.size());
  const Value value = append_value(dtype, shape, RC_STORAGE_CACHE, index);
  try {
    check_value(at(value));
    description_.caches.push_back(at(value));
  } catch (...) {
    description_.values.pop_back();
    throw;
  }
  return value;
}

Value ProgramBuilder::input(DType dtype, const Shape& shape) {
  const Value value =
      append_value(dtype, shape, RC_STORAGE_INPUT,
                   static_cast<int32_t>(description_.input_count));
  try {
    check_value(at(value));
  } catch (...) {
    description_.values.pop_back();
    throw;
  }
  ++description_.input_count;
  return value;
}

Value ProgramBuilder::get_rows(Value table, Value ids) {
  return append(make_op(RC_OP_GET_ROWS), {table, ids})[0];
}

Value ProgramBuilder::rms_norm(Value x, Value weight, float epsilon) {
  Op op = make_op(RC_OP_RMS_NORM);
  op.params.norm.epsilon = epsilon;
  return append(op, {x, weight})[0];
}

Value ProgramBuilder::layer_norm(Value x, Value weight, Value bias,
                                 float epsilon) {
  Op op = make_op(RC_OP_LAYER_NORM);
  op.params.layer_norm.epsilon = epsilon;
  op.params.layer_norm.center = 1;
  return append(op, {x, weight, bias})[0];
}

Value ProgramBuilder::plain_norm(Value x, float epsilon) {
  Op op = make_op(RC_OP_LAYER_NORM);
  op.params.layer_norm.epsilon = epsilon;
  op.params.layer_norm.center = 0;
  return append(op, {x, kAbsent, kAbsent})[0];
}

Value ProgramBuilder::group_norm(Value x, Value weight, float epsilon) {
  Op op = make_op(RC_OP_GROUP_NORM);
  op.params.norm.epsilon = epsilon;
  return append(op, {x, weight})[0];
}

Value ProgramBuilder::linear(Value x, Value weight, Value bias,
                             Value residual) {
  return append(make_op(RC_OP_LINEAR), {x, weight, bias, residual})[0];
}

Value ProgramBuilder::rope(Value x, Value positions, Value frequencies,
                           int style, float scale) {
  Op op = make_op(RC_OP_ROPE);
  op.params.rope.style = style;
  op.params.rope.scale = scale;
  return append(op, {x, positions, frequencies})[0];
}

void ProgramBuilder::cache_store(Value x, Value positions, Value sequences,
                                 Value page_table, Value cache) {
  append(make_op(RC_OP_CACHE_STORE),
         {x, positions, sequences, page_table, cache});
}

Value ProgramBuilder::attention(Value q, Value key_cache, Value value_cache,
                                Value positions, Value sequences,
                                Value page_table, float scale, float softcap,
                                int64_t window, Value sinks, Value lengths) {
  Op op = make_op(RC_OP_ATTENTION);
  op.params.attention.scale = scale;
  op.params.attention.softcap = softcap;
  op.params.attention.window = window;
  return append(op, {q, key_cache, value_cache, positions, sequences,
                     page_table, sinks, lengths})[0];
}

Value ProgramBuilder::general_attention(const GeneralAttention& how) {
  Op op = make_op(RC_OP_GENERAL_ATTENTION);
  auto& params = op.params.general_attention;
  params.scale = how.scale;
  params.softcap = how.softcap;
  params.window = how.window;
  params.chunk = how.chunk;
  params.temperature = how.temperature;
  params.temperature_length = how.temperature_length;
  const std::optional<NamedDimension> free =
      how.value_cache == kAbsent
          ? std::optional(NamedDimension{"v", how.value_size})
          : std::nullopt;
  return append(
      op,
      {how.q, how.key_cache, how.value_cache, how.positions, how.sequences,
       how.page_table, how.sinks, how.lengths, how.slopes, how.distances},
      free)[0];
}

Value ProgramBuilder::glu(Value gate, Value up, int function, float limit,
                          float offset) {
  Op op = make_op(RC_OP_GLU);
  op.params.glu.function = function;
  op.params.glu.limit = limit;
  op.params.glu.offset = offset;
  return append(op, {gate, up})[0];
}

Value ProgramBuilder::unary(Value x, int function) {
  Op op = make_op(RC_OP_UNARY);
  op.params.unary.function = function;
  return append(op, {x})[0];
}

Value ProgramBuilder::add(Value a, Value b) {
  return append(make_op(RC_OP_ADD), {a, b})[0];
}

Value ProgramBuilder::multiply(Value a, Value b) {
  return append(make_op(RC_OP_MULTIPLY), {a, b})[0];
}

Value ProgramBuilder::scale(Value x, float factor) {
  Op op = make_op(RC_OP_SCALE);
  op.params.scale.factor = factor;
  return append(op, {x})[0];
}

Value ProgramBuilder::softcap(Value x, float cap) {
  Op op = make_op(RC_OP_SOFTCAP);
  op.params.softcap.cap = cap;
  return append(op, {x})[0];
}

ProgramBuilder::Route ProgramBuilder::route(Value x, int64_t k,
                                            bool normalize) {
  Op op = make_op(RC_OP_ROUTE);
  op.params.route.normalize = normalize ? 1 : 0;
  const std::vector<Value> made = append(op, {x}, NamedDimension{"k", k});
  return {made[0], made[1]};
}

ProgramBuilder::Route ProgramBuilder::choose(Value x, Value bias, int64_t k,
                                             int score, bool normalize) {
  Op op = make_op(RC_OP_CHOOSE);
  op.params.choose.score = score;
  op.params.choose.normalize = normalize ? 1 : 0;
  const std::vector<Value> made = append(op, {x, bias}, NamedDimension{"k", k});
  return {made[0], made[1]};
}

ProgramBuilder::Route ProgramBuilder::choose_in_groups(Value x, Value bias,
                                                       int64_t k, int score,
                                                       bool normalize,
                                                       const Groups& groups) {
  Op op = make_op(RC_OP_CHOOSE_IN_GROUPS);
  auto& params = op.params.choose_in_groups;
  params.score = score;
  params.normalize = normalize ? 1 : 0;
  params.groups = groups.count;
  params.groups_used = groups.used;
  params.best = groups.best;
  const std::vector<Value> made = append(op, {x, bias}, NamedDimension{"k", k});
  return {made[0], made[1]};
}

Value ProgramBuilder::join(Value a, Value b) {
  return append(make_op(RC_OP_JOIN), {a, b},
                NamedDimension{"s", at(a).shape[2] + at(b).shape[2]})[0];
}

Value ProgramBuilder::clamp(Value x, float limit) {
  Op op = make_op(RC_OP_CLAMP);
  op.params.clamp.limit = limit;
  return append(op, {x})[0];
}

Value ProgramBuilder::affine(Value x, Value weight, Value bias) {
  return append(make_op(RC_OP_AFFINE), {x, weight, bias})[0];
}

Value ProgramBuilder::expert_linear(Value x, Value weight, Value ids,
                                    Value bias) {
  return append(make_op(RC_OP_EXPERT_LINEAR), {x, weight, ids, bias})[0];
}

Value ProgramBuilder::expert_sum(Value x, Value weights) {
  return append(make_op(RC_OP_EXPERT_SUM), {x, weights})[0];
}

Value ProgramBuilder::short_conv(Value x, Value weight, Value bias,
                                 Value sequences, Value state_slots,
                                 Value cache, int function) {
  Op op = make_op(RC_OP_SHORT_CONV);
  op.params.short_conv.function = function;
  return append(op, {x, weight, bias, sequences, state_slots, cache})[0];
}

Value ProgramBuilder::selective_scan(const Scan& scan, Value sequences,
                                     Value state_slots, Value cache) {
  return append(make_op(RC_OP_SELECTIVE_SCAN),
                {scan.x, scan.steps, scan.b, scan.c, scan.step_bias, scan.decay,
                 scan.skip, sequences, state_slots, cache})[0];
}

Value ProgramBuilder::channel_scan(const ChannelScan& scan, Value sequences,
                                   Value state_slots, Value cache) {
  return append(make_op(RC_OP_CHANNEL_SCAN),
                {scan.x, scan.steps, scan.b, scan.c, scan.decay, scan.skip,
                 sequences, state_slots, cache})[0];
}

Value ProgramBuilder::delta_rule(const DeltaRule& rule, Value sequences,
                                 Value state_slots, Value cache) {
  Op op = make_op(RC_OP_DELTA_RULE);
  op.params.delta_rule.interleaved = rule.interleaved ? 1 : 0;
  return append(op,
                {rule.v, rule.q, rule.k, rule.steps, rule.rates, rule.step_bias,
                 rule.decay, sequences, state_slots, cache})[0];
}

Value ProgramBuilder::column_delta_rule(const ColumnDeltaRule& rule,
                                        Value sequences, Value state_slots,
                                        Value cache) {
  return append(make_op(RC_OP_COLUMN_DELTA_RULE),
                {rule.v, rule.q, rule.k, rule.steps, rule.rates, rule.step_bias,
                 rule.decay, sequences, state_slots, cache})[0];
}

ProgramBuilder::Faded ProgramBuilder::fading_state(const FadingState& state,
                                                   Value sequences,
                                                   Value state_slots,
                                                   Value cache) {
  const std::vector<Value> results =
      append(make_op(RC_OP_FADING_STATE),
             {state.v, state.q, state.k, state.decays, state.a, state.b,
              state.bonus, sequences, state_slots, cache});
  return {results[0], results[1]};
}

Value ProgramBuilder::reshape(Value x, const Shape& shape) {
  const rc_plugin_value from = at(x);
  if (from.storage == RC_STORAGE_WEIGHT || from.storage == RC_STORAGE_CACHE) {
    fail(RC_E_INVALID_ARGUMENT, "a weight or cache cannot be reshaped");
  }
  const Value y = append_value(from.dtype, shape, from.storage, from.index);
  try {
    check_value(at(y));
    const Rows one = {1, 1, 1};
    if (at(y).shape[0] != from.shape[0] ||
        value_bytes(at(y), one) != value_bytes(from, one)) {
      fail(RC_E_INVALID_ARGUMENT, value_text(from), " cannot be reshaped to ",
           value_text(at(y)),
           ": only dimensions after the first may be regrouped");
    }
  } catch (...) {
    description_.values.pop_back();
    throw;
  }
  return y;
}

int ProgramBuilder::output(Value x) {
  const rc_plugin_value from = at(x);
  if (from.storage == RC_STORAGE_OUTPUT) return from.index;
  if (from.storage != RC_STORAGE_SCRATCH) {
    fail(RC_E_INVALID_ARGUMENT, "value ", x, ", ", value_text(from),
         ", is not the result of an op, so it cannot be an output");
  }
  const auto index = static_cast<int32_t>(description_.output_count++);
  for (rc_plugin_value& value : description_.values) {
    if (value.storage != RC_STORAGE_SCRATCH || value.index != from.index) {
      continue;
    }
    value.storage = RC_STORAGE_OUTPUT;
    value.index = index;
  }
  return index;
}

ProgramDescription ProgramBuilder::take() && { return std::move(description_); }

}  // namespace rc::runtime

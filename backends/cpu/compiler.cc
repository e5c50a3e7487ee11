#include "cpu/compiler.h"

#include <algorithm>

#include "base/error.h"
#include "cpu/check.h"
#include "cpu/tiles.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::cpu {
namespace {

bool touches(const std::vector<Area>& a, const std::vector<Area>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Area& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Area& y) { return x.overlaps(y); });
  });
}

}  // namespace

// Scratch, rows and other products must stay in a range in which later
// arithmetic cannot overflow.
uint64_t product(uint64_t a, uint64_t b) {
  uint64_t result;
  if (__builtin_mul_overflow(a, b, &result) || result > INT64_MAX / 4) {
    fail(RC_E_INVALID_ARGUMENT, "a value of the program is too large");
  }
  return result;
}

Compiler::Compiler(const plugin::GivenProgram& program,
                   rc_plugin_compiled& compiled, Pool& pool)
    : program_(program), compiled_(compiled), pool_(pool) {
  check_program();
  measure();
}

int64_t Compiler::columns(int32_t i) const {
  return value(i).shape[value(i).rank - 1];
}

int64_t Compiler::row_elements(int32_t i) const {
  uint64_t elements = 1;
  for (int k = 1; k < value(i).rank; ++k) {
    elements = product(elements, static_cast<uint64_t>(value(i).shape[k]));
  }
  return static_cast<int64_t>(elements);
}

int64_t Compiler::max_rows(int64_t dimension) const {
  switch (dimension) {
    case RC_DIM_ROWS:
      return program_.max_rows;
    case RC_DIM_OUTPUTS:
      return program_.max_outputs;
    case RC_DIM_SEQUENCES:
      return program_.max_sequences;
    default:
      return dimension;
  }
}

uint64_t Compiler::max_bytes(int32_t i) const {
  const rc_plugin_value& v = value(i);
  const int last = v.rank - 1;
  const auto row =
      row_bytes(v.dtype, last == 0 ? max_rows(v.shape[last]) : v.shape[last]);
  if (!row) {
    fail(RC_E_INVALID_ARGUMENT, "value ", i, ": rows of ", v.shape[last],
         " elements are no whole blocks of type ", dtype_name(v.dtype));
  }
  uint64_t bytes = product(*row, 1);
  for (int k = 0; k < last; ++k) {
    bytes = product(bytes, static_cast<uint64_t>(max_rows(v.shape[k])));
  }
  return bytes;
}

Place Compiler::place(int32_t i) const {
  const rc_plugin_value& v = value(i);
  Place place{v.storage, v.index, v.offset};
  if (v.storage == RC_STORAGE_CACHE) {
    place.memory = cache(i).memory + v.offset;
  }
  return place;
}

Area Compiler::area(int32_t i) const {
  const rc_plugin_value& v = value(i);
  switch (v.storage) {
    case RC_STORAGE_CACHE:
      return {Area::kCache, v.index, 0, UINT64_MAX};
    case RC_STORAGE_INPUT:
      return {Area::kInput, v.index, 0, UINT64_MAX};
    case RC_STORAGE_OUTPUT:
      return {Area::kOutput, v.index, 0, UINT64_MAX};
    default:
      return {Area::kScratch, 0, v.offset, v.offset + max_bytes(i)};
  }
}

const rc_plugin_weight& Compiler::matrix(int32_t i) const {
  const rc_plugin_weight& weight = *program_.weights[value(i).index];
  if (!weight.layout.tiles) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", value(i).index,
         " is used as a matrix but was created for its elements");
  }
  return weight;
}

const float* Compiler::elements(int32_t i) const {
  const rc_plugin_value& v = value(i);
  if (v.storage != RC_STORAGE_WEIGHT) {
    fail(RC_E_INVALID_ARGUMENT, "value ", i, " should be a weight");
  }
  const rc_plugin_weight& weight = *program_.weights[v.index];
  if (weight.layout.tiles) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", v.index,
         " is used for its elements but was created as a matrix");
  }
  return weight.elements();
}

rc_plugin_buffer& Compiler::cache(int32_t i) const {
  const rc_plugin_value& v = value(i);
  if (v.storage != RC_STORAGE_CACHE) {
    fail(RC_E_INVALID_ARGUMENT, "value ", i, " should be a cache");
  }
  return *program_.caches[v.index];
}

const OpRow& Compiler::row_of(const Op& op) const {
  const OpRow* row =
      find_op_row(op.code, of_tensors(op) ? OpRow::kOnTensors : OpRow::kOnRows);
  if (row == nullptr) fail(RC_E_INTERNAL, op_name(op.code), " has no steps");
  return *row;
}

// Sizes the areas that all steps share, before any step points into them.
void Compiler::measure() {
  uint64_t thread_bytes = 0;
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    const ActivationForm form = form_of(op);
    if (form != ActivationForm::kFloats) {
      const uint64_t elements = max_bytes(op.inputs[0]) / sizeof(float);
      activation_bytes_ = std::max(activation_bytes_,
                                   static_cast<uint64_t>(activation_bytes(
                                       form, static_cast<int64_t>(elements))));
    }
    if (const OpRow& row = row_of(op); row.scratch != nullptr) {
      thread_bytes = std::max(thread_bytes, row.scratch(*this, op));
    }
  }
  if (activation_bytes_ > 0) {
    activations_ = area_of(activation_bytes_);
  }
  thread_scratch_ = scratch_of(thread_bytes);
}

ThreadScratch Compiler::scratch_of(uint64_t bytes) {
  ThreadScratch scratch;
  scratch.stride = product(bytes / 128 + 1, 128);
  scratch.base =
      area_of(product(scratch.stride, static_cast<uint64_t>(threads())));
  return scratch;
}

const ThreadScratch* Compiler::result_scratch(uint64_t bytes) {
  result_bytes_ = std::max(result_bytes_, bytes);
  return &compiled_.results_;
}

uint8_t* Compiler::area_of(uint64_t bytes) {
  auto& blocks = compiled_.areas_.blocks;
  blocks.push_back(compiled_.areas_.spare.take(bytes));
  return blocks.back().memory.get();
}

void Compiler::append(std::unique_ptr<Step> step, std::vector<Area> reads,
                      std::vector<Area> writes) {
  step->op = op_;
  step->reads = std::move(reads);
  step->writes = std::move(writes);
  auto& steps = compiled_.steps_;
  const size_t window = Walk::kWindow;
  for (size_t i = steps.size() - std::min(steps.size(), window);
       i < steps.size(); ++i) {
    if (touches(step->reads, steps[i]->writes) ||
        touches(step->writes, steps[i]->reads) ||
        touches(step->writes, steps[i]->writes)) {
      step->conflicts.push_back(static_cast<int32_t>(i));
    }
  }
  if (quantized_value_ >= 0 &&
      touches(step->writes, {area(quantized_value_)})) {
    quantized_value_ = -1;
  }
  for (Angles& known : angles_) {
    if (touches(step->writes, {area(known.positions)})) known.valid = false;
  }
  for (KnownChoices& known : choices_) {
    if (touches(step->writes, {area(known.ids)})) known.valid = false;
  }
  steps.push_back(std::move(step));
}

// Large results are about to be touched all over.
void Compiler::note_result(int32_t i) {
  const rc_plugin_value& v = value(i);
  if (v.storage != RC_STORAGE_CACHE) return;
  const uint64_t bytes = max_bytes(i);
  use_whole(cache(i).memory + v.offset, bytes);
  if (bytes >= kLargeResult) {
    compiled_.large_results_.push_back({v.index, v.offset, bytes});
  }
}

void Compiler::compile() {
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    op_ = static_cast<int32_t>(i);
    if (of_tensors(op)) note_result(op.outputs[0]);
    const OpRow& row = row_of(op);
    if (row.compile != nullptr) {
      row.compile(*this, op);
      continue;
    }
    for (size_t more = row.compile_several(*this, i); more > 1; --more) {
      note_result(program_.ops[++i].outputs[0]);
    }
  }
  if (result_bytes_ > 0) compiled_.results_ = scratch_of(result_bytes_);
}

}  // namespace rc::cpu

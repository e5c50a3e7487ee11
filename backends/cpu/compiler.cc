#include "cpu/compiler.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/check.h"
#include "cpu/failure.h"
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

// Bytes of a thread's scratch for an op.
uint64_t thread_bytes_of(const Compiler& c, const rc_plugin_op& op) {
  switch (op.code) {
    case RC_OP_GET_ROWS:
      return get_rows_scratch(c, op);
    case RC_OP_RMS_NORM:
    case RC_OP_GLU:
      return row_scratch(c, op);
    case RC_OP_LINEAR:
      return linear_scratch(c, op);
    case RC_OP_EXPERT_LINEAR:
      return expert_scratch(c, op);
    case RC_OP_ATTENTION:
      return attention_scratch(c, op);
    case RC_OP_SOFTMAX:
    case RC_OP_ROTATE:
      return reduction_scratch(c, op);
    case RC_OP_MATMUL:
      return matmul_scratch(c, op);
    case RC_OP_CONV2D:
      return conv2d_scratch(c, op);
    case RC_OP_ATTEND:
      return attend_scratch(c, op);
  }
  return 0;
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

Compiler::Compiler(const rc_plugin_program& program,
                   rc_plugin_compiled& compiled, int threads)
    : program_(program), compiled_(compiled), threads_(threads) {
  check_values();
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
    fail(RC_E_INVALID_ARGUMENT,
         "value %d: rows of %lld elements are no whole blocks of type %s", i,
         static_cast<long long>(v.shape[last]), dtype_name(v.dtype));
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
    place.memory = cache(i).memory.data() + v.offset;
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
    fail(RC_E_INVALID_ARGUMENT,
         "weight %d is used as a matrix but was created for its elements",
         value(i).index);
  }
  return weight;
}

const float* Compiler::elements(int32_t i) const {
  const rc_plugin_value& v = value(i);
  if (v.storage != RC_STORAGE_WEIGHT) {
    fail(RC_E_INVALID_ARGUMENT, "value %d should be a weight", i);
  }
  const rc_plugin_weight& weight = *program_.weights[v.index];
  if (weight.layout.tiles) {
    fail(RC_E_INVALID_ARGUMENT,
         "weight %d is used for its elements but was created as a matrix",
         v.index);
  }
  return weight.elements();
}

rc_plugin_buffer& Compiler::cache(int32_t i) const {
  const rc_plugin_value& v = value(i);
  if (v.storage != RC_STORAGE_CACHE) {
    fail(RC_E_INVALID_ARGUMENT, "value %d should be a cache", i);
  }
  return *program_.caches[v.index];
}

void Compiler::check_storage(int32_t i) const {
  const rc_plugin_value& v = value(i);
  const auto within = [&](size_t count, const char* what) {
    if (v.index < 0 || static_cast<size_t>(v.index) >= count) {
      fail(RC_E_INVALID_ARGUMENT, "value %d is %s %d of %zu", i, what, v.index,
           count);
    }
  };
  switch (v.storage) {
    case RC_STORAGE_WEIGHT: {
      within(program_.weight_count, "weight");
      const rc_plugin_weight* weight = program_.weights[v.index];
      if (weight == nullptr || weight->dtype != v.dtype ||
          weight->rank != v.rank ||
          !std::equal(v.shape, v.shape + v.rank, weight->shape)) {
        fail(RC_E_INVALID_ARGUMENT,
             "value %d differs in type or shape from weight %d", i, v.index);
      }
      return;
    }
    case RC_STORAGE_CACHE: {
      within(program_.cache_count, "cache");
      if (v.shape[0] < 1) {
        fail(RC_E_INVALID_ARGUMENT, "value %d is no cache by its shape", i);
      }
      const uint64_t bytes = max_bytes(i);
      const rc_plugin_buffer* buffer = program_.caches[v.index];
      if (buffer == nullptr || v.offset > buffer->bytes ||
          buffer->bytes - v.offset < bytes) {
        fail(RC_E_INVALID_ARGUMENT, "value %d is larger than cache %d", i,
             v.index);
      }
      const DTypeInfo& type = *dtype_info(v.dtype);
      if (type.block_size == 1 &&
          v.offset % static_cast<uint64_t>(type.block_bytes) != 0) {
        fail(RC_E_INVALID_ARGUMENT,
             "value %d does not begin at an element, but at byte %llu", i,
             static_cast<unsigned long long>(v.offset));
      }
      return;
    }
    case RC_STORAGE_INPUT:
      within(program_.input_count, "input");
      break;
    case RC_STORAGE_OUTPUT:
      within(program_.output_count, "output");
      break;
    case RC_STORAGE_SCRATCH: {
      const uint64_t bytes = max_bytes(i);
      if (v.offset % sizeof(float) != 0 || v.offset > program_.scratch_bytes ||
          bytes > program_.scratch_bytes - v.offset) {
        fail(RC_E_INVALID_ARGUMENT,
             "value %d of %llu bytes at offset %llu is not in the scratch of "
             "%llu bytes",
             i, static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(v.offset),
             static_cast<unsigned long long>(program_.scratch_bytes));
      }
      break;
    }
    default:
      fail(RC_E_INVALID_ARGUMENT, "value %d has storage %d", i, v.storage);
  }
  max_bytes(i);
}

void Compiler::check_values() const {
  if (program_.struct_size < sizeof(rc_plugin_program)) {
    fail(RC_E_INVALID_ARGUMENT, "the program has %zu bytes instead of %zu",
         program_.struct_size, sizeof(rc_plugin_program));
  }
  constexpr int64_t kMost = int64_t{1} << 31;
  if (program_.max_rows < 1 || program_.max_rows > kMost ||
      program_.max_outputs < 0 || program_.max_outputs > kMost ||
      program_.max_sequences < 0 || program_.max_sequences > kMost) {
    fail(RC_E_INVALID_ARGUMENT,
         "numbers of rows, outputs or sequences are out of range");
  }
  if (program_.value_count > INT32_MAX) {
    fail(RC_E_INVALID_ARGUMENT, "too many values");
  }
  for (size_t i = 0; i < program_.op_count; ++i) {
    const rc_plugin_op& op = program_.ops[i];
    check_op(op, program_.values, program_.value_count);
    const auto check = [&](int32_t index) {
      if (index < 0) return;
      if (static_cast<size_t>(index) >= program_.value_count) {
        fail(RC_E_INVALID_ARGUMENT, "%s: value %d of %zu", op_name(op.code),
             index, program_.value_count);
      }
      check_storage(index);
    };
    for (int32_t index : op.inputs) check(index);
    for (int32_t index : op.outputs) {
      check(index);
      if (index < 0 ||
          (is_tensor_op(op.code) && value(index).storage == RC_STORAGE_CACHE)) {
        continue;
      }
      if (value(index).storage != RC_STORAGE_SCRATCH &&
          value(index).storage != RC_STORAGE_OUTPUT) {
        fail(RC_E_INVALID_ARGUMENT, "%s writes to value %d of storage %d",
             op_name(op.code), index, value(index).storage);
      }
    }
  }
}

// Sizes the areas that all steps share, before any step points into them.
void Compiler::measure() {
  uint64_t thread_bytes = 0;
  for (size_t i = 0; i < program_.op_count; ++i) {
    const rc_plugin_op& op = program_.ops[i];
    if (op.code == RC_OP_LINEAR || op.code == RC_OP_EXPERT_LINEAR ||
        (op.code == RC_OP_MATMUL && quantizes(op))) {
      activation_bytes_ = std::max(
          activation_bytes_, product(max_bytes(op.inputs[0]) / 128 + 1, 64));
    }
    thread_bytes = std::max(thread_bytes, thread_bytes_of(*this, op));
  }
  if (activation_bytes_ > 0) {
    activations_ =
        reinterpret_cast<ActivationBlock*>(area_of(activation_bytes_));
  }
  thread_scratch_.stride = product(thread_bytes / 128 + 1, 128);
  thread_scratch_.base =
      area_of(product(thread_scratch_.stride, static_cast<uint64_t>(threads_)));
}

uint8_t* Compiler::area_of(uint64_t bytes) {
  compiled_.areas_.push_back(allocate(bytes));
  return compiled_.areas_.back().get();
}

Area Compiler::activations_area() const {
  return {Area::kActivations, 0, 0, activation_bytes_};
}

const ActivationBlock* Compiler::quantized(int32_t i, int64_t width) {
  if (quantized_value_ >= 0 && same(quantized_value_, i)) return activations_;
  const int64_t dimension = value(i).shape[0];
  const int64_t per_row = row_elements(i) / width;
  const Place x = place(i);
  ActivationBlock* y = activations_;
  add(
      {area(i)}, {activations_area()},
      [=](const Run& run) { return run.rows(dimension) * per_row * width; },
      [=](const Run& run) { return run.rows(dimension) * per_row; },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        run.each_row(share, [&](int64_t r) {
          run.kernels.quantize(from + r * width, width, y + r * (width / 32));
        });
      });
  quantized_value_ = i;
  return activations_;
}

const float* Compiler::angles(int32_t positions, int32_t frequencies,
                              float scale) {
  const int64_t pairs = columns(frequencies);
  const int64_t dimension = value(positions).shape[0];
  Angles* entry = nullptr;
  for (Angles& known : angles_) {
    if (known.positions == positions && known.frequencies == frequencies &&
        known.scale == scale) {
      if (known.valid) return known.table;
      entry = &known;
    }
  }
  if (entry == nullptr) {
    compiled_.areas_.push_back(allocate(
        product(product(static_cast<uint64_t>(max_rows(dimension)), pairs),
                2 * sizeof(float))));
    angles_.push_back({positions, frequencies, scale,
                       reinterpret_cast<float*>(compiled_.areas_.back().get()),
                       true});
    entry = &angles_.back();
  }
  entry->valid = true;
  float* table = entry->table;
  const float* frequency = elements(frequencies);
  const Place where = place(positions);
  add(
      {area(positions)}, {{Area::kAngles, 0, 0, UINT64_MAX}},
      [=](const Run& run) { return run.rows(dimension) * pairs * 40; },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const int32_t* position = run.at<const int32_t>(where);
        run.each_row(share, [&](int64_t r) {
          float* cosines = table + r * 2 * pairs;
          for (int64_t i = 0; i < pairs; ++i) {
            // In double: a float angle of 100000 is off by 0.004.
            const double angle =
                static_cast<double>(position[r]) * frequency[i];
            cosines[i] = static_cast<float>(std::cos(angle) * scale);
            cosines[pairs + i] = static_cast<float>(std::sin(angle) * scale);
          }
        });
      });
  return table;
}

const Choices* Compiler::choices(int32_t ids, int64_t experts, int64_t chunk) {
  const int64_t dimension = value(ids).shape[0];
  const int64_t k = columns(ids);
  KnownChoices* entry = nullptr;
  for (KnownChoices& known : choices_) {
    if (known.ids == ids && known.experts == experts && known.chunk == chunk) {
      if (known.valid) return known.choices;
      entry = &known;
    }
  }
  if (entry == nullptr) {
    const uint64_t most =
        product(static_cast<uint64_t>(max_rows(dimension)), k);
    auto made =
        std::make_unique<Choices>(static_cast<int32_t>(choices_.size()),
                                  static_cast<int64_t>(most), experts, chunk);
    choices_.push_back({ids, experts, chunk, made.get(), true});
    compiled_.choices_.push_back(std::move(made));
    entry = &choices_.back();
  }
  Choices* choices = entry->choices;
  const Place where = place(ids);
  add(
      {area(ids)}, {choices->area()},
      [=](const Run& run) { return run.rows(dimension) * k * 4; },
      [=](const Run&) { return int64_t{1}; },
      [=](Run& run, const Share&) {
        choices->sort(run, run.at<const int32_t>(where),
                      run.rows(dimension) * k);
      });
  for (KnownChoices& known : choices_) {
    if (known.choices == choices) known.valid = true;
  }
  return choices;
}

Place Compiler::kept(int32_t input) {
  const rc_plugin_value& v = value(input);
  if (v.storage != RC_STORAGE_INPUT) return place(input);
  kept_.resize(program_.input_count);
  uint8_t*& copy = kept_[v.index];
  if (copy == nullptr) {
    copy = area_of(max_bytes(input));
    uint8_t* to = copy;
    const Place from = place(input);
    const int64_t dimension = v.shape[0];
    const uint64_t bytes = v.rank == 1
                               ? *row_bytes(v.dtype, 1)
                               : *row_bytes(v.dtype, row_elements(input));
    add(
        {area(input)}, {kept_area(input)},
        [=](const Run& run) {
          return run.rows(dimension) * static_cast<int64_t>(bytes);
        },
        [=](const Run&) { return int64_t{1}; },
        [=](Run& run, const Share&) {
          std::memcpy(to, run.at<const uint8_t>(from),
                      run.rows(dimension) * bytes);
        });
  }
  Place place{RC_STORAGE_CACHE, 0, 0};
  place.memory = copy;
  return place;
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

void Compiler::compile() {
  for (size_t i = 0; i < program_.op_count; ++i) {
    const rc_plugin_op& op = program_.ops[i];
    op_ = static_cast<int32_t>(i);
    switch (op.code) {
      case RC_OP_GET_ROWS:
        compile_get_rows(*this, op);
        break;
      case RC_OP_LINEAR:
        compile_linear(*this, op);
        break;
      case RC_OP_ROPE:
        compile_rope(*this, op);
        break;
      case RC_OP_CACHE_STORE:
        compile_cache_store(*this, op);
        break;
      case RC_OP_ATTENTION:
        compile_attention(*this, op);
        break;
      case RC_OP_ROUTE:
        compile_route(*this, op);
        break;
      case RC_OP_EXPERT_LINEAR:
        compile_expert_linear(*this, op);
        break;
      case RC_OP_EXPERT_SUM:
        compile_expert_sum(*this, op);
        break;
      case RC_OP_COPY:
      case RC_OP_CONVERT:
      case RC_OP_GATHER:
        compile_arrangement(*this, op);
        break;
      case RC_OP_UNARY:
      case RC_OP_BINARY:
        compile_elementwise(*this, op);
        break;
      case RC_OP_LAYER_NORM:
      case RC_OP_SOFTMAX:
      case RC_OP_REDUCE:
      case RC_OP_ARGMAX:
        compile_reduction(*this, op);
        break;
      case RC_OP_ROTATE:
        compile_rotate(*this, op);
        break;
      case RC_OP_MATMUL:
        compile_matmul(*this, op);
        break;
      case RC_OP_CONV2D:
        compile_conv2d(*this, op);
        break;
      case RC_OP_ATTEND:
        compile_attend(*this, op);
        break;
      default:
        compile_row_op(*this, op);
        break;
    }
  }
}

}  // namespace rc::cpu

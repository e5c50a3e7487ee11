#include "op_programs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "random.h"
#include "random_weights.h"

namespace rc::bench {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

// Several times the last-level cache of common machines.
constexpr double kSpreadBytes = 128 << 20;
// Work of one run, so that none takes many seconds.
constexpr double kMostOperations = 30e9;

constexpr int64_t kPageSize = 32;  // positions, as the engine has them

std::vector<float> random_floats(int64_t count) {
  Random random(7);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = random.normal();
  return values;
}

std::vector<const void*> pointers(
    const std::vector<std::vector<float>>& floats,
    const std::vector<std::vector<int32_t>>& ints) {
  std::vector<const void*> all;
  for (const auto& values : floats) all.push_back(values.data());
  for (const auto& values : ints) all.push_back(values.data());
  return all;
}

}  // namespace

void OpProgram::compile(std::shared_ptr<runtime::Device> device,
                        runtime::ProgramDescription description,
                        int64_t max_rows) {
  arguments_.inputs = pointers(float_inputs_, int_inputs_);
  arguments_.outputs_data = {output_.data()};
  runtime::ProgramLimits limits;
  limits.max_rows = max_rows;
  limits.max_outputs = 1;
  limits.max_sequences = 1;
  program_ = runtime::Program::compile(
      std::move(device), std::move(description), limits, weights_, caches_);
}

void OpProgram::run(int64_t rows) {
  arguments_.rows = rows;
  if (context_ > 0) {
    arguments_.sequences = 1;
    std::vector<int32_t>& positions = int_inputs_[0];
    for (int64_t row = 0; row < rows; ++row) {
      positions[static_cast<size_t>(row)] =
          static_cast<int32_t>(context_ - rows + row);
    }
  }
  program_->run(arguments_, -1);
}

std::unique_ptr<OpProgram> OpProgram::linear(
    std::shared_ptr<runtime::Device> device, DType dtype, int64_t n, int64_t k,
    int64_t max_rows) {
  const double bytes = static_cast<double>(static_cast<uint64_t>(n) *
                                           row_bytes(dtype, k).value());
  const double operations = 2.0 * static_cast<double>(n * k);
  const auto count = static_cast<int64_t>(std::ceil(std::min(
      kSpreadBytes / bytes,
      kMostOperations / (operations * static_cast<double>(max_rows)))));

  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, k});
  Value y = runtime::kAbsent;
  for (int64_t i = 0; i < count; ++i) {
    y = builder.linear(x, builder.weight("weight " + std::to_string(i), dtype,
                                         {n, k}, RC_USE_LINEAR));
  }
  builder.output(y);
  runtime::ProgramDescription description = std::move(builder).take();

  std::unique_ptr<OpProgram> program(new OpProgram);
  Random random(1);
  const std::vector<std::byte> data = encode_random(
      dtype, n * k, 1.0f / std::sqrt(static_cast<float>(k)), &random);
  for (const runtime::WeightInfo& info : description.weights) {
    program->weights_.push_back(device->create_weight(info, data.data()));
  }
  program->float_inputs_ = {random_floats(max_rows * k)};
  program->output_.resize(static_cast<size_t>(max_rows * n));
  program->op_count_ = count;
  program->bytes_ = bytes * static_cast<double>(count);
  program->operations_per_row_ = operations * static_cast<double>(count);
  program->compile(std::move(device), std::move(description), max_rows);
  return program;
}

std::unique_ptr<OpProgram> OpProgram::attention(
    std::shared_ptr<runtime::Device> device, const Attention& shape,
    int64_t max_rows) {
  const int64_t pages = (shape.context + kPageSize - 1) / kPageSize;
  const int64_t width = shape.heads * shape.head_size;
  ProgramBuilder builder;
  const Value q =
      builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, shape.heads, shape.head_size});
  const Value positions = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value sequences = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const Value page_table =
      builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, pages});
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_size));
  Value y = runtime::kAbsent;
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    const ProgramBuilder::Shape cache = {pages, shape.kv_heads, kPageSize,
                                         shape.head_size};
    const Value keys = builder.cache(shape.cache_dtype, cache);
    const Value values = builder.cache(shape.cache_dtype, cache);
    y = builder.attention(q, keys, values, positions, sequences, page_table,
                          scale, 0.0f, 0);
  }
  builder.output(y);
  runtime::ProgramDescription description = std::move(builder).take();

  std::unique_ptr<OpProgram> program(new OpProgram);
  const uint64_t cache_bytes =
      static_cast<uint64_t>(pages * shape.kv_heads * kPageSize) *
      row_bytes(shape.cache_dtype, shape.head_size).value();
  for (size_t i = 0; i < description.caches.size(); ++i) {
    program->caches_.push_back(device->create_buffer(cache_bytes));
  }
  std::vector<int32_t> table(static_cast<size_t>(pages));
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<int32_t>(i);
  }
  program->float_inputs_ = {random_floats(max_rows * width)};
  program->int_inputs_ = {std::vector<int32_t>(static_cast<size_t>(max_rows)),
                          std::vector<int32_t>(static_cast<size_t>(max_rows)),
                          std::move(table)};
  program->output_.resize(static_cast<size_t>(max_rows * width));
  program->context_ = shape.context;
  program->op_count_ = shape.layers;
  program->bytes_ = 2.0 * static_cast<double>(cache_bytes) *
                    static_cast<double>(shape.layers);
  // Scores and the weighted sum, for each query head over the whole context;
  // a little less for the earlier ones of many rows.
  program->operations_per_row_ =
      4.0 * static_cast<double>(width * shape.context * shape.layers);
  program->compile(std::move(device), std::move(description), max_rows);
  return program;
}

std::unique_ptr<OpProgram> OpProgram::small(
    std::shared_ptr<runtime::Device> device, Small op, int64_t width,
    int64_t count, int64_t max_rows) {
  constexpr int64_t kHeadSize = 64;
  std::unique_ptr<OpProgram> program(new OpProgram);
  ProgramBuilder builder;
  const std::vector<int64_t> shape =
      op == Small::kRope
          ? std::vector<int64_t>{RC_DIM_ROWS, width / kHeadSize, kHeadSize}
          : std::vector<int64_t>{RC_DIM_ROWS, width};
  const Value x = builder.input(RC_DTYPE_F32, shape);
  Value positions = runtime::kAbsent, weight = runtime::kAbsent;
  if (op == Small::kRope) {
    positions = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
    program->int_inputs_ = {
        std::vector<int32_t>(static_cast<size_t>(max_rows), 100)};
    weight = builder.weight("frequencies", RC_DTYPE_F32, {kHeadSize / 2},
                            RC_USE_ELEMENTS);
  } else if (op == Small::kRmsNorm) {
    weight = builder.weight("norm", RC_DTYPE_F32, {width}, RC_USE_ELEMENTS);
  }
  Value y = x;
  for (int64_t i = 0; i < count; ++i) {
    switch (op) {
      case Small::kRmsNorm:
        y = builder.rms_norm(y, weight, 1e-5f);
        break;
      case Small::kRope:
        y = builder.rope(y, positions, weight, RC_ROPE_ADJACENT, 1.0f);
        break;
      case Small::kGlu:
        y = builder.glu(x, x, RC_FUNCTION_SILU);
        break;
    }
  }
  builder.output(y);
  runtime::ProgramDescription description = std::move(builder).take();
  for (const runtime::WeightInfo& info : description.weights) {
    const std::vector<float> data(static_cast<size_t>(info.shape[0]), 0.5f);
    program->weights_.push_back(device->create_weight(info, data.data()));
  }
  program->float_inputs_ = {random_floats(max_rows * width)};
  program->output_.resize(static_cast<size_t>(max_rows * width));
  program->op_count_ = count;
  program->compile(std::move(device), std::move(description), max_rows);
  return program;
}

}  // namespace rc::bench

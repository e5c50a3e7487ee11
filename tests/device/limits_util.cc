#include "device/limits_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "model/model_util.h"
#include "temporary.h"
#include "tensor/dtype.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;
using Bytes = SelfTestCase::Bytes;
using Shape = ProgramBuilder::Shape;

int64_t count_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dimension : shape) count *= dimension;
  return count;
}

// Between -1 and 1, without a period that a kernel could share; the last of
// each line are the largest, so that one that is cut short is noticed.
std::vector<float> numbers(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint64_t state = 7;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<int32_t>(state >> 32)) * 0x1p-31f;
  }
  return values;
}

Bytes encoded(DType dtype, int64_t rows, int64_t columns) {
  const std::vector<float> values = numbers(rows * columns);
  const uint64_t row = *row_bytes(dtype, columns);
  Bytes bytes(row * static_cast<uint64_t>(rows));
  for (int64_t r = 0; r < rows; ++r) {
    encode_row(dtype, values.data() + r * columns,
               bytes.data() + static_cast<uint64_t>(r) * row, columns);
  }
  return bytes;
}

struct Writer {
  explicit Writer(std::string name, int64_t rows) {
    made.name = std::move(name);
    made.row_counts = {rows};
  }
  SelfTestCase made;
  ProgramBuilder builder;

  Value input(Shape shape) {
    Shape whole = shape;
    whole[0] = made.most_rows();
    made.inputs.push_back(bytes_of(numbers(count_of(whole))));
    return builder.input(RC_DTYPE_F32, shape);
  }
  Value indices(const Shape& shape, const std::vector<int32_t>& values) {
    made.inputs.push_back(bytes_of(values));
    return builder.input(RC_DTYPE_I32, shape);
  }
  // All rows to the same number.
  Value indices(int32_t value) {
    return indices(
        {RC_DIM_ROWS},
        std::vector<int32_t>(static_cast<size_t>(made.most_rows()), value));
  }
  Value weight(DType dtype, const Shape& shape, uint32_t use) {
    made.weights.push_back(
        encoded(dtype, count_of(shape) / shape.back(), shape.back()));
    return builder.weight(cat("w", made.weights.size()), dtype, shape, use);
  }
  Value cache(const Shape& shape) {
    made.caches.push_back(bytes_of(numbers(count_of(shape))));
    return builder.cache(RC_DTYPE_F32, shape);
  }
  SelfTestCase take(Value output) {
    builder.output(output);
    made.description = std::move(builder).take();
    return std::move(made);
  }
};

struct Operand {
  DType dtype;
  Shape shape;
  Bytes bytes;
};
Operand operand(const Shape& shape) {
  return {RC_DTYPE_F32, shape, bytes_of(numbers(count_of(shape)))};
}

SelfTestCase tensor_case(Op op, const std::vector<Operand>& inputs, DType dtype,
                         const Shape& shape) {
  SelfTestCase made;
  made.name = cat(op_name(op.code));
  made.row_counts = {1};
  const auto add = [&](DType type, const Shape& dimensions) {
    rc_plugin_value value = {};
    value.dtype = type;
    value.rank = static_cast<int32_t>(dimensions.size());
    std::copy(dimensions.begin(), dimensions.end(), value.shape);
    value.storage = RC_STORAGE_CACHE;
    value.index = static_cast<int32_t>(made.description.values.size());
    made.description.values.push_back(value);
    made.name += " " + value_text(value);
    return value.index;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    op.inputs[i] = add(inputs[i].dtype, inputs[i].shape);
    made.caches.push_back(inputs[i].bytes);
  }
  op.outputs[0] = add(dtype, shape);
  made.caches.emplace_back(*value_bytes(made.description.values.back(), {}));
  made.description.caches = made.description.values;
  made.description.ops = {op};
  return made;
}

Op op_with_code(int32_t code) {
  Op op;
  op.code = code;
  return op;
}

// The largest numbers last.
Operand line(int64_t outer, int64_t n, int64_t inner) {
  std::vector<float> x = numbers(outer * n * inner);
  for (int64_t i = 1; i <= outer; ++i) {
    const auto end = x.begin() + i * n * inner;
    std::fill(end - inner, end, 2.0f);
  }
  return {RC_DTYPE_F32, {outer, n, inner}, bytes_of(x)};
}

// Returns decays below zero, so that states do not grow with the rows.
std::vector<std::byte> decays(int64_t count) {
  std::vector<float> decays = numbers(count);
  for (float& decay : decays) decay = -0.1f - std::abs(decay) / 4;
  return bytes_of(decays);
}

}  // namespace

std::shared_ptr<runtime::Device> open_tuned(const std::string& backend,
                                            const std::string& variable,
                                            const std::string& value) {
  const TemporaryVariable given(variable.c_str(), value);
  return open_device(backend);
}

SelfTestCase rms_norm_case(int64_t rows, int64_t heads, int64_t d) {
  Writer made(cat("RMS_NORM ", rows, " ", heads, " ", d), rows);
  const Value x = made.input({RC_DIM_ROWS, heads, d});
  const Value w = made.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS);
  return made.take(made.builder.rms_norm(x, w, 1e-5f));
}

SelfTestCase row_layer_norm_case(int64_t rows, int64_t heads, int64_t d) {
  Writer made(cat("LAYER_NORM ", rows, " ", heads, " ", d), rows);
  const Value x = made.input({RC_DIM_ROWS, heads, d});
  const Value w = made.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS);
  const Value b = made.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS);
  return made.take(made.builder.layer_norm(x, w, b, 1e-5f));
}

SelfTestCase row_unary_case(int64_t rows, int64_t width) {
  Writer made(cat("UNARY ", rows, " ", width), rows);
  const Value x = made.input({RC_DIM_ROWS, width});
  return made.take(made.builder.unary(x, RC_FUNCTION_TANH));
}

SelfTestCase add_case(int64_t rows, int64_t width) {
  Writer made(cat("ADD ", rows, " ", width), rows);
  const Value a = made.input({RC_DIM_ROWS, width});
  const Value b = made.input({RC_DIM_ROWS, width});
  return made.take(made.builder.add(a, b));
}

SelfTestCase linear_case(DType dtype, int64_t rows, int64_t n, int64_t k) {
  Writer made(cat("LINEAR ", rows, " ", n, " ", k), rows);
  const Value x = made.input({RC_DIM_ROWS, k});
  const Value w = made.weight(dtype, {n, k}, RC_USE_LINEAR);
  return made.take(made.builder.linear(x, w));
}

SelfTestCase expert_linear_case(int64_t rows, int64_t chosen, int64_t n) {
  Writer made(cat("EXPERT_LINEAR ", rows, " ", chosen, " ", n), rows);
  constexpr int64_t kExperts = 9;
  const Value x = made.input({RC_DIM_ROWS, 32});
  const Value w = made.weight(RC_DTYPE_F32, {kExperts, n, 32}, RC_USE_EXPERTS);
  const Value logits = made.input({RC_DIM_ROWS, kExperts});
  const auto route = made.builder.route(logits, chosen, true);
  return made.take(made.builder.expert_linear(x, w, route.ids));
}

SelfTestCase expert_sum_case(int64_t rows, int64_t chosen, int64_t n) {
  Writer made(cat("EXPERT_SUM ", rows, " ", chosen, " ", n), rows);
  const Value x = made.input({RC_DIM_ROWS, chosen, n});
  const Value weights =
      made.builder.scale(made.input({RC_DIM_ROWS, chosen}), 1.0f);
  return made.take(made.builder.expert_sum(x, weights));
}

SelfTestCase route_case(int64_t rows, int64_t experts) {
  Writer made(cat("ROUTE ", rows, " ", experts), rows);
  const Value x = made.input({RC_DIM_ROWS, experts});
  return made.take(made.builder.route(x, 1, false).weights);
}

SelfTestCase rope_case(int64_t rows, int64_t heads, int64_t d) {
  Writer made(cat("ROPE ", rows, " ", heads, " ", d), rows);
  const Value x = made.input({RC_DIM_ROWS, heads, d});
  const Value positions = made.indices(3);
  const Value w = made.weight(RC_DTYPE_F32, {d / 2}, RC_USE_ELEMENTS);
  return made.take(made.builder.rope(x, positions, w, RC_ROPE_HALVES, 1));
}

SelfTestCase get_rows_case(int64_t rows, int64_t k, bool computed) {
  Writer made(cat("GET_ROWS ", rows, " ", k, computed ? " computed" : ""),
              rows);
  Value table;
  if (computed) {
    table = made.builder.scale(made.input({RC_DIM_ROWS, k}), 0.5f);
  } else {
    table = made.weight(RC_DTYPE_F32, {3, k}, RC_USE_ROWS);
  }
  const Value ids = made.indices(computed ? 0 : 2);
  return made.take(made.builder.get_rows(table, ids));
}

SelfTestCase attention_case(int64_t rows, int64_t heads, int64_t head,
                            int64_t entries, int64_t page_size, bool whole) {
  Writer made(cat("ATTENTION ", rows, " ", heads, " ", head, " ", entries, " ",
                  page_size),
              rows);
  const Value q = made.input({RC_DIM_ROWS, heads, head});
  const auto last = static_cast<int32_t>(entries * page_size - 1);
  const Value positions = made.indices(whole ? 0 : last);
  const Value sequences = made.indices(0);
  std::vector<int32_t> pages(static_cast<size_t>(entries));
  for (size_t i = 0; i < pages.size(); ++i) pages[i] = static_cast<int32_t>(i);
  const Value table = made.indices({RC_DIM_SEQUENCES, entries}, pages);
  const Shape shape = {entries, 1, page_size, head};
  const Value keys = made.cache(shape);
  const Value values = made.cache(shape);
  const Value lengths =
      whole ? made.indices({RC_DIM_SEQUENCES}, {last + 1}) : runtime::kAbsent;
  return made.take(made.builder.attention(q, keys, values, positions, sequences,
                                          table, 0.2f, 0, 0, runtime::kAbsent,
                                          lengths));
}

SelfTestCase short_conv_case(int64_t rows, int64_t d, int64_t width) {
  Writer made(cat("SHORT_CONV ", rows, " ", d, " ", width), rows);
  const Value x = made.input({RC_DIM_ROWS, d});
  const Value w = made.weight(RC_DTYPE_F32, {d, width}, RC_USE_ELEMENTS);
  const Value bias = made.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS);
  const Value sequences = made.indices(0);
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {0, 1});
  const Value cache = made.cache({2, width - 1, d});
  return made.take(made.builder.short_conv(x, w, bias, sequences, slots, cache,
                                           RC_FUNCTION_SILU));
}

SelfTestCase scan_case(int64_t rows, int64_t heads, int64_t p, int64_t n) {
  Writer made(cat("SELECTIVE_SCAN ", rows, " ", heads, " ", p, " ", n), rows);
  ProgramBuilder::Scan scan;
  scan.x = made.input({RC_DIM_ROWS, heads, p});
  scan.steps = made.input({RC_DIM_ROWS, heads});
  scan.b = made.input({RC_DIM_ROWS, 1, n});
  scan.c = made.input({RC_DIM_ROWS, 1, n});
  scan.step_bias = made.weight(RC_DTYPE_F32, {heads}, RC_USE_ELEMENTS);
  scan.decay = made.weight(RC_DTYPE_F32, {heads}, RC_USE_ELEMENTS);
  made.made.weights.back() = decays(heads);
  scan.skip = made.weight(RC_DTYPE_F32, {heads}, RC_USE_ELEMENTS);
  const Value sequences = made.indices(0);
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {0, 1});
  const Value cache = made.cache({2, heads, p, n});
  return made.take(made.builder.selective_scan(scan, sequences, slots, cache));
}

SelfTestCase channel_scan_case(int64_t rows, int64_t d, int64_t n) {
  Writer made(cat("CHANNEL_SCAN ", rows, " ", d, " ", n), rows);
  ProgramBuilder::ChannelScan scan;
  scan.x = made.input({RC_DIM_ROWS, d});
  scan.steps = made.input({RC_DIM_ROWS, d});
  scan.b = made.input({RC_DIM_ROWS, n});
  scan.c = made.input({RC_DIM_ROWS, n});
  scan.decay = made.weight(RC_DTYPE_F32, {d, n}, RC_USE_ELEMENTS);
  made.made.weights.back() = decays(d * n);
  scan.skip = made.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS);
  const Value sequences = made.indices(0);
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {0, 1});
  const Value cache = made.cache({2, d, n});
  return made.take(made.builder.channel_scan(scan, sequences, slots, cache));
}

SelfTestCase delta_rule_case(int64_t rows, int64_t heads, int64_t p,
                             int64_t n) {
  Writer made(cat("DELTA_RULE ", rows, " ", heads, " ", p, " ", n), rows);
  // Keys of a length of at most 1, and rates of 0 to 1.
  const auto length = 1.0f / std::sqrt(static_cast<float>(n));
  const auto short_ones = [&] {
    return made.builder.scale(made.input({RC_DIM_ROWS, 1, n}), length);
  };
  ProgramBuilder::DeltaRule rule;
  rule.v = made.input({RC_DIM_ROWS, heads, p});
  rule.q = short_ones();
  rule.k = short_ones();
  rule.steps = made.input({RC_DIM_ROWS, heads});
  rule.rates =
      made.builder.unary(made.input({RC_DIM_ROWS, heads}), RC_FUNCTION_SIGMOID);
  rule.step_bias = made.weight(RC_DTYPE_F32, {heads}, RC_USE_ELEMENTS);
  rule.decay = made.weight(RC_DTYPE_F32, {heads}, RC_USE_ELEMENTS);
  made.made.weights.back() = decays(heads);
  rule.interleaved = false;
  const Value sequences = made.indices(0);
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {0, 1});
  const Value cache = made.cache({2, heads, p, n});
  return made.take(made.builder.delta_rule(rule, sequences, slots, cache));
}

SelfTestCase reduce_case(int32_t function, int64_t outer, int64_t n,
                         int64_t inner) {
  Op op = op_with_code(RC_OP_REDUCE);
  op.params.reduce.function = function;
  return tensor_case(op, {line(outer, n, inner)}, RC_DTYPE_F32, {outer, inner});
}

SelfTestCase argmax_case(int64_t outer, int64_t n, int64_t inner) {
  return tensor_case(op_with_code(RC_OP_ARGMAX), {line(outer, n, inner)},
                     RC_DTYPE_I32, {outer, inner});
}

SelfTestCase softmax_case(int64_t outer, int64_t n, int64_t inner) {
  return tensor_case(op_with_code(RC_OP_SOFTMAX), {line(outer, n, inner)},
                     RC_DTYPE_F32, {outer, n, inner});
}

SelfTestCase matmul_case(int64_t m, int64_t n, int64_t k, bool transposed,
                         DType dtype) {
  Op op = op_with_code(RC_OP_MATMUL);
  op.params.matmul.transposed = transposed ? 1 : 0;
  op.params.matmul.function = RC_FUNCTION_TANH;
  const Operand b = transposed ? Operand{dtype, {1, n, k}, encoded(dtype, n, k)}
                               : operand({1, k, n});
  // Small, for the function not to be flat where the sums are.
  std::vector<float> a = numbers(m * k);
  for (float& value : a) value /= std::sqrt(static_cast<float>(k));
  return tensor_case(op,
                     {{RC_DTYPE_F32, {1, m, k}, bytes_of(a)}, b, operand({n})},
                     RC_DTYPE_F32, {1, m, n});
}

SelfTestCase conv2d_case(int64_t channels, int64_t kernel) {
  Op op = op_with_code(RC_OP_CONV2D);
  auto& params = op.params.conv2d;
  params.groups = 1;
  for (int i = 0; i < 2; ++i) {
    params.stride[i] = params.dilation[i] = 1;
    params.padding[i] = static_cast<int32_t>(kernel / 2);
  }
  return tensor_case(op,
                     {operand({1, channels, 2, 3}),
                      operand({9, channels, kernel, kernel}), operand({9})},
                     RC_DTYPE_F32, {1, 9, 2, 3});
}

SelfTestCase attend_case(int64_t positions, int64_t d) {
  Op op = op_with_code(RC_OP_ATTEND);
  op.params.attend.scale = 1;
  return tensor_case(op,
                     {operand({1, 1, 2, d}), operand({1, positions, 1, d}),
                      operand({1, positions, 1, d})},
                     RC_DTYPE_F32, {1, 1, 2, d});
}

SelfTestCase layer_norm_case(int64_t rows, int64_t d) {
  Op op = op_with_code(RC_OP_LAYER_NORM);
  op.params.layer_norm.epsilon = 1e-5f;
  op.params.layer_norm.center = 1;
  return tensor_case(op, {operand({rows, d}), operand({d}), operand({d})},
                     RC_DTYPE_F32, {rows, d});
}

SelfTestCase unary_case(int64_t count) {
  Op op = op_with_code(RC_OP_UNARY);
  op.params.unary.function = RC_FUNCTION_TANH;
  return tensor_case(op, {operand({count})}, RC_DTYPE_F32, {count});
}

void expect_right(const std::shared_ptr<runtime::Device>& device,
                  const SelfTestCase& test, double tolerance) {
  SCOPED_TRACE(test.name);
  std::vector<runtime::SelfTestResult> actual;
  try {
    actual = results_of(test, device).front();
  } catch (const Error& error) {
    FAIL() << error.message();
  }
  const auto expected = results_of(test, open_device("reference")).front();
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t r = 0; r < expected.size(); ++r) {
    const std::vector<double>& numbers = expected[r].numbers;
    ASSERT_EQ(actual[r].numbers.size(), numbers.size());
    double difference = 0;
    double size = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double d = actual[r].numbers[i] - numbers[i];
      difference += d * d;
      size += numbers[i] * numbers[i];
    }
    EXPECT_GT(size, 0);
    // A limit that is off by one loses at least one of a few hundred thousand
    // terms.
    EXPECT_LE(difference, expected[r].exact ? 0 : tolerance * size);
  }
}

void expect_refused(const std::shared_ptr<runtime::Device>& device,
                    const SelfTestCase& test, const std::string& text) {
  SCOPED_TRACE(test.name);
  std::string refused;
  for (const Op& op : test.description.ops) {
    runtime::Message message;
    const rc_status status =
        device->op_supported(op, test.description.values.data(), message);
    if (status == RC_OK) continue;
    EXPECT_EQ(status, RC_E_UNSUPPORTED);
    refused += message.text();
  }
  EXPECT_NE(refused.find(text), std::string::npos) << refused;
}

}  // namespace rc::test

#include "runtime/self_test_case.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "runtime/self_test_data.h"
#include "runtime/self_test_rows.h"
#include "runtime/self_test_states.h"
#include "tensor/dtype.h"

namespace rc::runtime {
namespace {

using self_test::bytes_of;
using self_test::count_of;
using self_test::encoded;
using self_test::kOneAndSeveral;
using self_test::numbers;
using self_test::RowsCase;

constexpr int64_t kTimeLimitMs = 30'000;

using Bytes = SelfTestCase::Bytes;
using Kind = SelfTest::Kind;
using Shape = ProgramBuilder::Shape;

// Lengths of lines and sums for which devices have kernels of their own, or
// limits that a driver does not report: a software device may end a loop after
// 65,535 iterations of eight elements. One length stands for all above the one
// before it.
constexpr int64_t kLengths[] = {256, 20'480, 600'064};
constexpr int64_t kLongFrom[] = {0, 16'384, 65'535};

int64_t length_of(int64_t length) {
  int64_t found = kLengths[0];
  for (size_t i = 0; i < std::size(kLengths); ++i) {
    if (length > kLongFrom[i]) found = kLengths[i];
  }
  return found;
}

// Rows or columns of a product: one, a few, or enough for tiles.
int64_t side_of(int64_t size) { return size == 1 ? 1 : size < 16 ? 3 : 17; }

SelfTestCase linear(DType dtype, std::vector<int64_t> row_counts) {
  RowsCase made(cat("LINEAR with ", dtype_name(dtype)), std::move(row_counts));
  constexpr int64_t kColumns = 512;
  constexpr int64_t kSize = 40;
  const Value x = made.input({RC_DIM_ROWS, kColumns});
  const Value w = made.weight(dtype, {kSize, kColumns}, RC_USE_LINEAR);
  return made.take(made.builder.linear(x, w));
}

SelfTestCase grouped_norm() {
  RowsCase made("GROUP_NORM", kOneAndSeveral);
  const Value x = made.input({RC_DIM_ROWS, 3, 96});
  const Value w = made.weight(RC_DTYPE_F32, {3, 96}, RC_USE_ELEMENTS);
  return made.take(made.builder.group_norm(x, w, 1e-5f));
}

SelfTestCase norm(int32_t code) {
  RowsCase made(op_name(code), kOneAndSeveral);
  const Value x = made.input({RC_DIM_ROWS, 96});
  const Value w = made.weight(RC_DTYPE_F32, {96}, RC_USE_ELEMENTS);
  if (code == RC_OP_RMS_NORM) {
    return made.take(made.builder.rms_norm(x, w, 1e-5f));
  }
  const Value b = made.weight(RC_DTYPE_F32, {96}, RC_USE_ELEMENTS);
  return made.take(made.builder.layer_norm(x, w, b, 1e-5f));
}

SelfTestCase ungated(int function) {
  RowsCase made("UNARY", kOneAndSeveral);
  const Value x = made.input({RC_DIM_ROWS, 80});
  return made.take(made.builder.unary(x, function));
}

SelfTestCase gated(int function, bool limited) {
  RowsCase made("GLU", kOneAndSeveral);
  const Value gate = made.input({RC_DIM_ROWS, 80});
  const Value up = made.input({RC_DIM_ROWS, 80});
  return made.take(limited ? made.builder.glu(gate, up, function, 0.5f, 1.0f)
                           : made.builder.glu(gate, up, function));
}

// Rotary embedding, and attention over a cache that the rows are put into.
SelfTestCase attention(DType dtype, int64_t head, bool with_sinks, bool whole) {
  RowsCase made(cat("ROPE, CACHE_STORE and ATTENTION with ", dtype_name(dtype),
                    " and heads of ", head, whole ? ", whole" : ""),
                kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  constexpr int64_t kKvHeads = 2;
  const Value q = made.input({RC_DIM_ROWS, kHeads, head});
  const Value k = made.input({RC_DIM_ROWS, kKvHeads, head});
  const Value positions = made.counted_rows();
  const Value sequences = made.one_sequence();
  const Value pages = made.indices({RC_DIM_SEQUENCES, 1}, {1});
  const Shape shape = {2, kKvHeads, 16, head};
  const Value keys = made.cache(dtype, shape);
  const Value values = made.cache(dtype, shape);
  ProgramBuilder& builder = made.builder;
  Value turned_k = k;
  Value turned_q = q;
  if (head > 1) {
    const Value frequencies =
        made.weight(RC_DTYPE_F32, {head / 2}, RC_USE_ELEMENTS);
    turned_k = builder.rope(k, positions, frequencies, RC_ROPE_HALVES, 1);
    turned_q = builder.rope(q, positions, frequencies, RC_ROPE_ADJACENT, 1);
  }
  builder.cache_store(turned_k, positions, sequences, pages, keys);
  builder.cache_store(k, positions, sequences, pages, values);
  const Value sinks = with_sinks
                          ? made.weight(RC_DTYPE_F32, {kHeads}, RC_USE_ELEMENTS)
                          : kAbsent;
  // One row sees what it stored and what is zero behind it.
  const Value lengths =
      whole ? made.indices({RC_DIM_SEQUENCES},
                           {static_cast<int32_t>(made.most_rows())})
            : kAbsent;
  return made.take(builder.attention(turned_q, keys, values, positions,
                                     sequences, pages, 0.2f, 0, 0, sinks,
                                     lengths));
}

// `value` 0: values are within keys. Placed: what depends on the position, too.
SelfTestCase general_attention(DType dtype, int64_t head, int64_t value,
                               bool placed) {
  RowsCase made(
      cat("GENERAL_ATTENTION with ", dtype_name(dtype), " and heads of ", head),
      kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  ProgramBuilder& builder = made.builder;
  ProgramBuilder::GeneralAttention how = {};
  how.q = made.input({RC_DIM_ROWS, kHeads, head});
  how.positions = made.counted_rows();
  how.sequences = made.one_sequence();
  how.page_table = made.indices({RC_DIM_SEQUENCES, 1}, {1});
  const auto stored = [&](int64_t size) {
    const Value x = made.input({RC_DIM_ROWS, 1, size});
    const Value cache = made.cache(dtype, {2, 1, 16, size});
    builder.cache_store(x, how.positions, how.sequences, how.page_table, cache);
    return cache;
  };
  how.key_cache = stored(head);
  how.value_cache = value > 0 ? stored(value) : kAbsent;
  how.value_size = head;
  how.scale = 0.2f;
  if (placed) {
    how.chunk = 3;
    how.temperature = 0.5f;
    how.temperature_length = 2;
    how.slopes = made.weight(RC_DTYPE_F32, {kHeads}, RC_USE_ELEMENTS);
    how.distances = made.weight(RC_DTYPE_F32, {kHeads, 3}, RC_USE_ELEMENTS);
  }
  return made.take(builder.general_attention(how));
}

// One tensor op; all its values lie in buffers.
SelfTestCase tensor_op(Op op, std::vector<Bytes> inputs,
                       const std::vector<std::pair<DType, Shape>>& values) {
  SelfTestCase made;
  made.row_counts = {1};
  std::fill(std::begin(op.inputs), std::end(op.inputs), kAbsent);
  std::fill(std::begin(op.outputs), std::end(op.outputs), kAbsent);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& [dtype, shape] = values[i];
    rc_plugin_value value = {};
    value.dtype = dtype;
    value.rank = static_cast<int32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), value.shape);
    value.storage = RC_STORAGE_CACHE;
    value.index = static_cast<int32_t>(i);
    made.description.values.push_back(value);
    const bool output = i + 1 == values.size();
    (output ? op.outputs[0] : op.inputs[i]) = value.index;
    made.integers = dtype == RC_DTYPE_I32;
  }
  made.caches = std::move(inputs);
  made.caches.emplace_back(*value_bytes(made.description.values.back(), {}));
  made.description.caches = made.description.values;
  made.description.ops = {op};
  return made;
}

SelfTestCase line(int32_t code, int32_t function, int64_t n, int64_t inner) {
  Op op;
  op.code = code;
  if (code == RC_OP_REDUCE) op.params.reduce.function = function;
  if (code == RC_OP_ORDER) op.params.order.falling = function;
  std::vector<float> x = numbers(n * inner);
  // The last are the largest, so that a line cut short is noticed.
  std::fill(x.end() - inner, x.end(), 2.0f);
  const Shape shape = {1, n, inner};
  const bool places = code == RC_OP_ARGMAX || code == RC_OP_ORDER;
  const bool whole =
      code == RC_OP_SOFTMAX || code == RC_OP_CUMSUM || code == RC_OP_ORDER;
  SelfTestCase made = tensor_op(op, {bytes_of(x)},
                                {{RC_DTYPE_F32, shape},
                                 {places ? RC_DTYPE_I32 : RC_DTYPE_F32,
                                  whole ? shape : Shape{1, inner}}});
  made.name = cat(op_name(code), " over ", n, " elements");
  return made;
}

SelfTestCase product(DType dtype, bool transposed, int64_t m, int64_t n,
                     int64_t k) {
  Op op;
  op.code = RC_OP_MATMUL;
  op.params.matmul.transposed = transposed ? 1 : 0;
  SelfTestCase made =
      tensor_op(op,
                {bytes_of(numbers(m * k)),
                 transposed ? encoded(dtype, n, k) : bytes_of(numbers(k * n))},
                {{RC_DTYPE_F32, {1, m, k}},
                 {dtype, transposed ? Shape{1, n, k} : Shape{1, k, n}},
                 {RC_DTYPE_F32, {1, m, n}}});
  made.name = cat("MATMUL of ", k, " terms with ", dtype_name(dtype));
  return made;
}

std::vector<double> numbers_of(const SelfTestCase& test, const Buffer& buffer) {
  std::vector<double> numbers;
  const auto add = [&](auto element) {
    std::vector<decltype(element)> elements(buffer.bytes() / sizeof element);
    buffer.download(0, elements.data(), elements.size() * sizeof element);
    numbers.assign(elements.begin(), elements.end());
  };
  test.integers ? add(int32_t{}) : add(float{});
  return numbers;
}

}  // namespace

SelfTestCase opening_case() { return linear(RC_DTYPE_F32, {1, 2}); }

std::optional<Kind> kind_of(const Op& op, const rc_plugin_value* values) {
  const auto input = [&](int slot) -> const rc_plugin_value& {
    return values[op.inputs[slot]];
  };
  switch (op.code) {
    case RC_OP_LINEAR:
      if (!encodable(input(1).dtype)) return std::nullopt;
      return Kind{op.code, input(1).dtype};
    case RC_OP_RMS_NORM:
    case RC_OP_GROUP_NORM:
      return Kind{op.code};
    case RC_OP_LAYER_NORM:
      if (is_tensor_op(op, &input(0))) return std::nullopt;
      return Kind{op.code};
    case RC_OP_UNARY:
      if (is_tensor_op(op, &input(0))) return std::nullopt;
      return Kind{op.code, op.params.unary.function};
    case RC_OP_GLU:
      return Kind{op.code, op.params.glu.function,
                  op.params.glu.limit > 0 || op.params.glu.offset != 0};
    case RC_OP_ATTENTION:
      return Kind{op.code, input(1).dtype, input(1).shape[3], op.inputs[6] >= 0,
                  op.inputs[7] >= 0};
    case RC_OP_GENERAL_ATTENTION: {
      const auto& params = op.params.general_attention;
      return Kind{op.code, input(1).dtype, input(1).shape[3],
                  op.inputs[2] < 0 ? 0 : input(2).shape[3],
                  params.chunk > 0 || params.temperature > 0 ||
                      op.inputs[8] >= 0 || op.inputs[9] >= 0};
    }
    case RC_OP_SHORT_CONV:
      return Kind{op.code, input(1).shape[1], op.params.short_conv.function};
    case RC_OP_SELECTIVE_SCAN:
      return Kind{op.code, input(2).shape[2]};
    case RC_OP_CHANNEL_SCAN:
      return Kind{op.code, input(2).shape[1]};
    case RC_OP_DELTA_RULE:
      return Kind{op.code, input(1).shape[2], op.params.delta_rule.interleaved};
    case RC_OP_FADING_STATE:
      return Kind{op.code, input(1).shape[2], op.inputs[4] >= 0};
    case RC_OP_REDUCE:
    case RC_OP_ARGMAX:
    case RC_OP_SOFTMAX:
    case RC_OP_CUMSUM:
    case RC_OP_ORDER:
      return Kind{op.code,
                  op.code == RC_OP_REDUCE  ? op.params.reduce.function
                  : op.code == RC_OP_ORDER ? op.params.order.falling
                                           : 0,
                  length_of(input(0).shape[1]), input(0).shape[2] == 1 ? 1 : 3};
    case RC_OP_MATMUL: {
      const bool transposed = op.params.matmul.transposed != 0;
      if (!encodable(input(1).dtype)) return std::nullopt;
      return Kind{op.code,
                  input(1).dtype,
                  transposed,
                  side_of(input(0).shape[1]),
                  side_of(input(1).shape[transposed ? 1 : 2]),
                  length_of(input(0).shape[2])};
    }
  }
  return std::nullopt;
}

SelfTestCase case_of(const Kind& kind) {
  const auto detail = [&](size_t i) { return static_cast<int32_t>(kind[i]); };
  switch (kind[0]) {
    case RC_OP_LINEAR:
      return linear(detail(1), kOneAndSeveral);
    case RC_OP_RMS_NORM:
    case RC_OP_LAYER_NORM:
      return norm(detail(0));
    case RC_OP_UNARY:
      return ungated(detail(1));
    case RC_OP_GLU:
      return gated(detail(1), kind[2] != 0);
    case RC_OP_ATTENTION:
      return attention(detail(1), kind[2], kind[3] != 0, kind[4] != 0);
    case RC_OP_GENERAL_ATTENTION:
      return general_attention(detail(1), kind[2], kind[3], kind[4] != 0);
    case RC_OP_SHORT_CONV:
      return self_test::short_conv(kind[1], detail(2));
    case RC_OP_SELECTIVE_SCAN:
      return self_test::selective_scan(kind[1]);
    case RC_OP_CHANNEL_SCAN:
      return self_test::channel_scan(kind[1]);
    case RC_OP_DELTA_RULE:
      return self_test::delta_rule(kind[1], kind[2] != 0);
    case RC_OP_FADING_STATE:
      return self_test::fading_state(kind[1], kind[2] != 0);
    case RC_OP_GROUP_NORM:
      return grouped_norm();
    case RC_OP_MATMUL:
      return product(detail(1), kind[2] != 0, kind[3], kind[4], kind[5]);
  }
  return line(detail(0), detail(1), kind[2], kind[3]);
}

std::vector<std::vector<double>> results_of(
    const SelfTestCase& test, const std::shared_ptr<Device>& device) {
  const ProgramDescription& description = test.description;
  std::vector<std::shared_ptr<Weight>> weights;
  for (size_t i = 0; i < test.weights.size(); ++i) {
    weights.push_back(
        device->create_weight(description.weights[i], test.weights[i].data()));
  }
  std::vector<std::shared_ptr<Buffer>> caches;
  for (const SelfTestCase::Bytes& bytes : test.caches) {
    caches.push_back(device->create_buffer(bytes.size()));
    caches.back()->upload(0, bytes.data(), bytes.size());
  }
  const auto program =
      Program::compile(device, description, {test.most_rows(), 0, 1},
                       std::move(weights), caches);
  std::vector<std::vector<double>> all;
  for (const int64_t rows : test.row_counts) {
    std::vector<float> output(static_cast<size_t>(rows * test.columns));
    RunArguments arguments;
    arguments.rows = rows;
    arguments.sequences = 1;
    for (const SelfTestCase::Bytes& input : test.inputs) {
      arguments.inputs.push_back(input.data());
    }
    if (test.columns > 0) arguments.outputs_data.push_back(output.data());
    program->run(arguments, kTimeLimitMs);
    all.push_back(test.columns > 0
                      ? std::vector<double>(output.begin(), output.end())
                      : numbers_of(test, *caches.back()));
  }
  return all;
}

}  // namespace rc::runtime

#include "runtime/self_test_tensors.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "runtime/self_test_data.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::runtime::self_test {
namespace {

using Bytes = SelfTestCase::Bytes;
using Kind = SelfTest::Kind;
using Shape = ProgramBuilder::Shape;

// Numbers of elements below, at and beyond the sizes of work-groups, odd ones,
// and one.
constexpr int64_t kCounts[] = {1, 63, 256, 1031};

// Above which a length of kLengths stands for others.
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

Op op_of(int64_t code) {
  Op op;
  op.code = static_cast<int32_t>(code);
  return op;
}

SelfTestCase line(int32_t code, int32_t function, int64_t n, int64_t inner) {
  Op op = op_of(code);
  if (code == RC_OP_REDUCE) op.params.reduce.function = function;
  if (code == RC_OP_ORDER) op.params.order.falling = function;
  TensorCase made(cat(op_name(code), " over ", n, " elements"));
  const bool places = code == RC_OP_ARGMAX || code == RC_OP_ORDER;
  const DType result = places ? RC_DTYPE_I32 : RC_DTYPE_F32;
  const bool whole =
      code == RC_OP_SOFTMAX || code == RC_OP_CUMSUM || code == RC_OP_ORDER;
  const auto add = [&](int64_t outer, int64_t length) {
    const Shape shape = {outer, length, inner};
    std::vector<float> x = numbers(outer * length * inner);
    // The last are the largest, so that a line cut short is noticed.
    std::fill(x.end() - inner, x.end(), 2.0f);
    made.op(op, {made.input(RC_DTYPE_F32, shape, bytes_of(x))}, result,
            whole ? shape : Shape{outer, inner});
  };
  add(1, n);
  if (n == kLengths[0]) {
    for (const int64_t length : {1, 63, 1031}) add(5, length);
  }
  return std::move(made).take();
}

SelfTestCase product(DType dtype, bool transposed, int64_t m, int64_t n,
                     int64_t k) {
  Op op = op_of(RC_OP_MATMUL);
  op.params.matmul.transposed = transposed ? 1 : 0;
  TensorCase made(cat("MATMUL of ", k, " terms with ", dtype_name(dtype)));
  const auto add = [&](int64_t rows, int64_t columns, int64_t terms) {
    const Value a = made.input({1, rows, terms});
    const Value b = transposed ? made.input(dtype, {1, columns, terms},
                                            encoded(dtype, columns, terms))
                               : made.input(dtype, {1, terms, columns},
                                            encoded(dtype, terms, columns));
    made.op(op, {a, b}, RC_DTYPE_F32, {1, rows, columns});
  };
  add(m, n, k);
  if (k == kLengths[0]) {
    const auto larger = [](int64_t side) { return side == 17 ? 67 : side; };
    add(larger(m), larger(n), dtype_info(dtype)->block_size > 1 ? 512 : 131);
  }
  return std::move(made).take();
}

// Returns numbers for which a function is defined.
std::vector<float> operand(int64_t count, uint64_t seed, bool positive) {
  std::vector<float> values = numbers(count, seed);
  if (!positive) return values;
  for (float& value : values) value = std::abs(value) + 0.01f;
  return values;
}

SelfTestCase unary(int32_t function) {
  Op op = op_of(RC_OP_UNARY);
  op.params.unary.function = function;
  TensorCase made(cat("UNARY of tensors, function ", function));
  const bool positive = function == RC_UNARY_LOG || function == RC_UNARY_SQRT;
  for (const int64_t count : kCounts) {
    const Value x = made.input(RC_DTYPE_F32, {count},
                               bytes_of(operand(count, 1, positive)));
    made.op(op, {x}, RC_DTYPE_F32, {count});
  }
  return std::move(made).take();
}

// Every third element of b is that of a, for comparisons.
SelfTestCase binary(int32_t function) {
  Op op = op_of(RC_OP_BINARY);
  op.params.binary.function = function;
  TensorCase made(cat("BINARY, function ", function));
  const bool positive = function == RC_BINARY_POW;
  const bool divides = function == RC_BINARY_DIV;
  for (const int64_t count : kCounts) {
    const auto a = operand(count, 1, positive);
    auto b = operand(count, 2, divides);
    for (size_t i = 1; i < b.size(); i += 3) b[i] = divides ? b[i] : a[i];
    made.op(op,
            {made.input(RC_DTYPE_F32, {count}, bytes_of(a)),
             made.input(RC_DTYPE_F32, {count}, bytes_of(b))},
            RC_DTYPE_F32, {count});
  }
  // Repeated along one dimension, along all, and crosswise.
  const auto repeated = [&](const Shape& x, const Shape& y, const Shape& z) {
    const auto given = [&](const Shape& shape, uint64_t seed) {
      const int64_t count = count_of(shape, 0);
      const bool above = positive || (seed == 2 && divides);
      return made.input(RC_DTYPE_F32, shape,
                        bytes_of(operand(count, seed, above)));
    };
    made.op(op, {given(x, 1), given(y, 2)}, RC_DTYPE_F32, z);
  };
  repeated({7, 67}, {67}, {7, 67});
  repeated({7, 67}, {1}, {7, 67});
  repeated({5, 7, 1}, {1, 7, 33}, {5, 7, 33});
  return std::move(made).take();
}

SelfTestCase where() {
  TensorCase made("WHERE");
  const Op op = op_of(RC_OP_WHERE);
  const auto add = [&](const Shape& c, const Shape& a, const Shape& b,
                       const Shape& result) {
    std::vector<float> condition = numbers(count_of(c, 0));
    for (size_t i = 0; i < condition.size(); i += 2) condition[i] = 0;
    const Value chosen = made.input(RC_DTYPE_F32, c, bytes_of(condition));
    made.op(op, {chosen, made.input(a), made.input(b)}, RC_DTYPE_F32, result);
  };
  for (const int64_t count : kCounts) {
    add({count}, {count}, {count}, {count});
  }
  add({7, 67}, {67}, {7, 1}, {7, 67});
  return std::move(made).take();
}

// A strided view: transposed, where there are no blocks.
SelfTestCase copy(DType dtype) {
  TensorCase made(cat("COPY of ", dtype_name(dtype)));
  const int64_t block = dtype_info(dtype)->block_size;
  for (const int64_t rows : {1, 7, 33}) {
    const int64_t columns = block == 1 ? 31 : 2 * block;
    const Value x =
        made.input(dtype, {rows * columns}, encoded(dtype, rows, columns));
    Op op = op_of(RC_OP_COPY);
    if (block == 1) {
      op.params.copy.strides[0] = 1;
      op.params.copy.strides[1] = columns;
      made.op(op, {x}, dtype, {columns, rows});
    } else {
      op.params.copy.strides[0] = columns;
      op.params.copy.strides[1] = 1;
      made.op(op, {x}, dtype, {rows, block});
    }
  }
  return std::move(made).take();
}

SelfTestCase convert(DType from, DType to) {
  TensorCase made(cat("CONVERT of ", dtype_name(from), " to ", dtype_name(to)));
  const int64_t block =
      std::max(dtype_info(from)->block_size, dtype_info(to)->block_size);
  for (const int64_t rows : {1, 5}) {
    const int64_t columns = block == 1 ? 131 : 2 * block;
    std::vector<std::byte> bytes = encoded(from, rows, columns);
    if (from == RC_DTYPE_F32) {
      std::vector<float> values = numbers(rows * columns);
      // Of numbers below 1 integers would be 0.
      for (float& value : values) value *= 100;
      bytes = bytes_of(values);
    }
    const Value x = made.input(from, {rows, columns}, std::move(bytes));
    made.op(op_of(RC_OP_CONVERT), {x}, to, {rows, columns});
  }
  return std::move(made).take();
}

SelfTestCase layer_norm() {
  TensorCase made("LAYER_NORM of tensors");
  Op op = op_of(RC_OP_LAYER_NORM);
  op.params.layer_norm.epsilon = 1e-5f;
  for (const int64_t width : {1, 63, 256, 1031}) {
    // Of one element less its mean nothing is left.
    op.params.layer_norm.center = width == 1 ? 0 : 1;
    const Shape shape = {5, width};
    made.op(op, {made.input(shape), made.input({width}), made.input({width})},
            RC_DTYPE_F32, shape);
    op.params.layer_norm.center = 0;
    made.op(op, {made.input(shape), kAbsent, kAbsent}, RC_DTYPE_F32, shape);
  }
  return std::move(made).take();
}

SelfTestCase rope_of_tensors(int32_t style) {
  TensorCase made("ROPE of tensors");
  Op op = op_of(RC_OP_ROPE);
  op.params.rope.style = style;
  op.params.rope.scale = 1.25f;
  for (const auto& [width, pairs] : {std::pair(2, 1), {64, 32}, {131, 48}}) {
    const Shape shape = {5, 3, width};
    made.op(op,
            {made.input(shape), made.indices({0, 1, 7, 3, 1000}),
             made.input({pairs})},
            RC_DTYPE_F32, shape);
  }
  return std::move(made).take();
}

SelfTestCase rows_of_tensors(DType dtype) {
  TensorCase made(cat("GET_ROWS of tensors of ", dtype_name(dtype)));
  const int64_t block = dtype_info(dtype)->block_size;
  const int64_t width = block == 1 ? 131 : 2 * block;
  const Value table = made.input(dtype, {37, width}, encoded(dtype, 37, width));
  for (const auto& ids : {std::vector<int32_t>{36}, {5, 0, 36, 5, 17}}) {
    made.op(op_of(RC_OP_GET_ROWS), {table, made.indices(ids)}, RC_DTYPE_F32,
            {static_cast<int64_t>(ids.size()), width});
  }
  return std::move(made).take();
}

SelfTestCase conv2d() {
  TensorCase made("CONV2D");
  const auto add = [&](const Shape& x, const Shape& w, int32_t stride,
                       int32_t padding, int32_t dilation, int32_t groups,
                       bool bias) {
    Op op = op_of(RC_OP_CONV2D);
    Shape result = {x[0], w[0], 0, 0};
    for (size_t i = 0; i < 2; ++i) {
      op.params.conv2d.stride[i] = stride;
      op.params.conv2d.padding[i] = padding;
      op.params.conv2d.dilation[i] = dilation;
      result[i + 2] =
          (x[i + 2] + 2 * padding - dilation * (w[i + 2] - 1) - 1) / stride + 1;
    }
    op.params.conv2d.groups = groups;
    made.op(op,
            {made.input(x), made.input(w), bias ? made.input({w[0]}) : kAbsent},
            RC_DTYPE_F32, result);
  };
  add({1, 1, 1, 1}, {1, 1, 1, 1}, 1, 0, 1, 1, false);
  add({2, 3, 17, 13}, {5, 3, 3, 3}, 1, 1, 1, 1, true);
  add({1, 16, 33, 35}, {20, 16, 1, 1}, 1, 0, 1, 1, false);
  add({1, 6, 19, 23}, {9, 2, 5, 3}, 2, 2, 2, 3, true);
  return std::move(made).take();
}

SelfTestCase concat(DType dtype) {
  TensorCase made(cat("CONCAT of ", dtype_name(dtype)));
  const int64_t block = dtype_info(dtype)->block_size;
  const int64_t width = block == 1 ? 131 : block;
  const auto part = [&](int64_t columns) {
    return made.input(dtype, {3, columns}, encoded(dtype, 3, columns));
  };
  made.op(op_of(RC_OP_CONCAT),
          {part(width), part(2 * width), kAbsent, kAbsent, kAbsent, kAbsent,
           kAbsent, kAbsent},
          dtype, {3, 3 * width});
  return std::move(made).take();
}

SelfTestCase pad() {
  TensorCase made("PAD");
  Op op = op_of(RC_OP_PAD);
  op.params.pad.before = 2;
  op.params.pad.value = 0.5f;
  for (const auto& [length, inner] : {std::pair(1, 1), {63, 3}, {257, 5}}) {
    made.op(op, {made.input({2, length, inner})}, RC_DTYPE_F32,
            {2, length + 7, inner});
  }
  return std::move(made).take();
}

SelfTestCase take() {
  TensorCase made("TAKE");
  const std::vector<int32_t> places = {0, 4, 2, 2, 1, 3, 4, 0, 0, 1, 2, 3};
  made.op(op_of(RC_OP_TAKE),
          {made.input({2, 5, 3}),
           made.input(RC_DTYPE_I32, {2, 2, 3}, bytes_of(places))},
          RC_DTYPE_F32, {2, 2, 3});
  return std::move(made).take();
}

SelfTestCase attend(bool causal) {
  TensorCase made(cat("ATTEND", causal ? ", causal" : ""));
  for (const auto& [rows, places, head] :
       {std::tuple(1, 1, 1), {1, 67, 64}, {19, 67, 40}}) {
    Op op = op_of(RC_OP_ATTEND);
    op.params.attend.scale = 0.2f;
    op.params.attend.softcap = head == 40 ? 3.0f : 0.0f;
    op.params.attend.causal = causal ? 1 : 0;
    const Shape q = {2, rows, 4, head};
    const Shape kv = {2, places, 2, head};
    made.op(op, {made.input(q), made.input(kv), made.input(kv)}, RC_DTYPE_F32,
            q);
  }
  return std::move(made).take();
}

}  // namespace

TensorCase::TensorCase(std::string name) {
  made_.name = std::move(name);
  made_.row_counts = {1};
}

Value TensorCase::append(DType dtype, const Shape& shape, Bytes bytes) {
  auto& values = made_.description.values;
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = RC_STORAGE_CACHE;
  value.index = static_cast<int32_t>(values.size());
  values.push_back(value);
  if (bytes.empty()) bytes.resize(*value_bytes(value, {}));
  made_.caches.push_back(std::move(bytes));
  return value.index;
}

Value TensorCase::input(DType dtype, const Shape& shape, Bytes bytes) {
  return append(dtype, shape, std::move(bytes));
}

Value TensorCase::input(const Shape& shape) {
  return input(RC_DTYPE_F32, shape,
               bytes_of(numbers(count_of(shape, 0), ++seed_)));
}

Value TensorCase::indices(const std::vector<int32_t>& values) {
  return input(RC_DTYPE_I32, {static_cast<int64_t>(values.size())},
               bytes_of(values));
}

void TensorCase::op(Op op, std::initializer_list<Value> inputs, DType dtype,
                    const Shape& shape) {
  std::copy(inputs.begin(), inputs.end(), std::begin(op.inputs));
  op.outputs[0] = append(dtype, shape, {});
  made_.results.push_back(static_cast<size_t>(op.outputs[0]));
  made_.description.ops.push_back(op);
}

SelfTestCase TensorCase::take() && {
  made_.description.caches = made_.description.values;
  return std::move(made_);
}

SelfTestCase tensor_op(const Op& op, std::vector<Bytes> inputs,
                       const std::vector<std::pair<DType, Shape>>& values) {
  TensorCase made(op_name(op.code));
  Op with_inputs = op;
  for (size_t i = 0; i < inputs.size(); ++i) {
    with_inputs.inputs[i] =
        made.input(values[i].first, values[i].second, std::move(inputs[i]));
  }
  made.op(with_inputs, {}, values.back().first, values.back().second);
  return std::move(made).take();
}

std::optional<Kind> tensor_kind(const Op& op, const rc_plugin_value* values) {
  const auto input = [&](int slot) -> const rc_plugin_value& {
    return values[op.inputs[slot]];
  };
  const auto decodable = [&](int slot) {
    return find_decoder(input(slot).dtype) != nullptr;
  };
  const int32_t deciding = deciding_value(op);
  if (!is_tensor_op(op, deciding < 0 ? nullptr : &values[deciding])) {
    return std::nullopt;
  }
  switch (op.code) {
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
      if (!decodable(1)) return std::nullopt;
      return Kind{op.code,
                  input(1).dtype,
                  transposed,
                  side_of(input(0).shape[1]),
                  side_of(input(1).shape[transposed ? 1 : 2]),
                  length_of(input(0).shape[2])};
    }
    case RC_OP_COPY:
    case RC_OP_CONCAT:
      if (!decodable(0)) return std::nullopt;
      return Kind{op.code, input(0).dtype};
    case RC_OP_CONVERT:
      if (!decodable(0)) return std::nullopt;
      return Kind{op.code, input(0).dtype, values[op.outputs[0]].dtype};
    case RC_OP_UNARY:
      return Kind{op.code, op.params.unary.function, 1};
    case RC_OP_BINARY:
      return Kind{op.code, op.params.binary.function};
    case RC_OP_LAYER_NORM:
      return Kind{op.code, 1};
    case RC_OP_ROPE:
      return Kind{op.code, op.params.rope.style, 1};
    case RC_OP_GET_ROWS:
      // Of F64 there is nothing to decode.
      if (!decodable(0) || input(0).dtype == RC_DTYPE_F64) return std::nullopt;
      return Kind{op.code, input(0).dtype, 2};
    case RC_OP_ATTEND:
      return Kind{op.code, op.params.attend.causal};
    case RC_OP_CONV2D:
    case RC_OP_WHERE:
    case RC_OP_PAD:
    case RC_OP_TAKE:
      return Kind{op.code};
  }
  return std::nullopt;
}

SelfTestCase tensor_case(const Kind& kind) {
  const auto detail = [&](size_t i) { return static_cast<int32_t>(kind[i]); };
  switch (kind[0]) {
    case RC_OP_MATMUL:
      return product(detail(1), kind[2] != 0, kind[3], kind[4], kind[5]);
    case RC_OP_COPY:
      return copy(detail(1));
    case RC_OP_CONVERT:
      return convert(detail(1), detail(2));
    case RC_OP_UNARY:
      return unary(detail(1));
    case RC_OP_BINARY:
      return binary(detail(1));
    case RC_OP_LAYER_NORM:
      return layer_norm();
    case RC_OP_ROPE:
      return rope_of_tensors(detail(1));
    case RC_OP_GET_ROWS:
      return rows_of_tensors(detail(1));
    case RC_OP_ATTEND:
      return attend(kind[1] != 0);
    case RC_OP_CONV2D:
      return conv2d();
    case RC_OP_WHERE:
      return where();
    case RC_OP_CONCAT:
      return concat(detail(1));
    case RC_OP_PAD:
      return pad();
    case RC_OP_TAKE:
      return take();
  }
  return line(detail(0), detail(1), kind[2], kind[3]);
}

}  // namespace rc::runtime::self_test

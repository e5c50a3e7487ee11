#include "tensor_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "runcible/backend.h"
#include "runcible/graph.h"

namespace rc::test {
namespace {

using compute::element_count;
using compute::shape_text;

// The mean square error that rounding to a type brings, at most.
double rounding(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_F16:
      return 0x1p-22;
    case RC_DTYPE_BF16:
      return 0x1p-16;
  }
  return 0;
}

int64_t block_size(DType dtype) { return dtype_info(dtype)->block_size; }

// Rows of bytes in the order of the first dimension, with as many others
// between them.
std::vector<std::byte> spread(const std::vector<std::byte>& bytes,
                              int64_t rows) {
  const size_t row = bytes.size() / rows;
  std::vector<std::byte> result(2 * bytes.size(), std::byte{0x55});
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(result.data() + 2 * r * row, bytes.data() + r * row, row);
  }
  return result;
}

// [..., m, n] as [..., n, m].
std::vector<std::byte> exchange(const std::vector<std::byte>& bytes, int64_t m,
                                int64_t n, size_t element) {
  std::vector<std::byte> result(bytes.size());
  const size_t matrix = m * n * element;
  for (size_t first = 0; first < bytes.size(); first += matrix) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        std::memcpy(result.data() + first + (j * m + i) * element,
                    bytes.data() + first + (i * n + j) * element, element);
      }
    }
  }
  return result;
}

void require(rc_status status) {
  if (status != RC_OK) fail(status, rc_error_message());
}

// Opened once for all tests.
rc_backend* backend_of(const std::string& id) {
  static std::map<std::string, rc_backend*> open;
  rc_backend*& backend = open[id];
  if (backend == nullptr) {
    require(rc_backend_open(id.c_str(), nullptr, &backend));
  }
  return backend;
}

// The device, for the table, and whether it had the op done on the CPU.
std::string label(const std::string& id, const std::string& op) {
  const char* json = nullptr;
  require(rc_backend_explain(backend_of(id), &json));
  const std::string name = op.substr(0, op.find(','));
  const bool elsewhere =
      std::string(json).find("\"op\":\"" + name + "\"") != std::string::npos;
  return elsewhere ? id + ", cpu" : id;
}

// Returns the result of a graph that has recorded the call, in the type and
// shape of `result`.
std::vector<std::byte> recorded(rc_backend* backend,
                                const std::vector<rc_tensor*>& operands,
                                const TensorTest::Call& call,
                                rc_tensor* result) {
  rc_graph* graph = nullptr;
  require(rc_graph_begin(backend, &graph));
  std::vector<rc_tensor*> inputs;
  for (rc_tensor* operand : operands) {
    rc_dtype dtype = -1;
    int64_t shape[RC_TENSOR_MAX_RANK];
    int32_t rank = 0;
    require(rc_tensor_dtype(operand, &dtype));
    require(rc_tensor_shape(operand, shape, &rank));
    require(rc_graph_input(graph, dtype, shape, rank, &inputs.emplace_back()));
  }
  rc_tensor* output = nullptr;
  require(call(inputs.data(), &output));
  require(rc_graph_end(graph, &output, 1));
  for (rc_tensor* input : inputs) rc_tensor_release(input);
  rc_tensor_release(output);
  require(rc_graph_run(graph, operands.data(), operands.size(), nullptr,
                       &output, 1));
  rc_graph_release(graph);
  rc_dtype dtype = -1;
  rc_dtype dtype_of_result = -1;
  require(rc_tensor_dtype(output, &dtype));
  require(rc_tensor_dtype(result, &dtype_of_result));
  EXPECT_EQ(dtype, dtype_of_result);
  int64_t shape[RC_TENSOR_MAX_RANK];
  int64_t shape_of_result[RC_TENSOR_MAX_RANK];
  require(rc_tensor_shape(output, shape, nullptr));
  require(rc_tensor_shape(result, shape_of_result, nullptr));
  EXPECT_TRUE(std::equal(std::begin(shape), std::end(shape), shape_of_result));
  size_t bytes = 0;
  require(rc_tensor_size(output, nullptr, &bytes));
  std::vector<std::byte> data(bytes);
  require(rc_tensor_read(output, data.data(), bytes));
  rc_tensor_release(output);
  return data;
}

// Returns the result of the call if it writes into the middle of a larger
// tensor, in the type and shape of `result`.
std::vector<std::byte> written_into(rc_backend* backend,
                                    std::vector<rc_tensor*> operands,
                                    const TensorTest::Call& call,
                                    rc_tensor* result) {
  rc_dtype dtype = -1;
  int64_t shape[RC_TENSOR_MAX_RANK];
  int32_t rank = 0;
  size_t bytes = 0;
  require(rc_tensor_dtype(result, &dtype));
  require(rc_tensor_shape(result, shape, &rank));
  require(rc_tensor_size(result, nullptr, &bytes));
  const int64_t rows = shape[0];
  shape[0] *= 3;
  rc_tensor* whole = nullptr;
  rc_tensor* target = nullptr;
  rc_tensor* first = nullptr;
  rc_tensor* given = nullptr;
  require(rc_tensor_create(backend, dtype, shape, rank, &whole));
  require(rc_tensor_slice(whole, 0, rows, 2 * rows, 1, &target));
  require(rc_op_into(operands[0], target, &first));
  operands[0] = first;
  require(call(operands.data(), &given));
  std::vector<std::byte> data(3 * bytes);
  require(rc_tensor_read(whole, data.data(), data.size()));
  // If the result is a view, the call has not written into the target.
  if (given != target) {
    require(rc_tensor_read(given, data.data() + bytes, bytes));
  }
  for (rc_tensor* tensor : {whole, target, first, given}) {
    rc_tensor_release(tensor);
  }
  const auto begin = data.begin() + static_cast<ptrdiff_t>(bytes);
  const auto end = begin + static_cast<ptrdiff_t>(bytes);
  const auto zero = [](std::byte byte) { return byte == std::byte{}; };
  EXPECT_TRUE(std::all_of(data.begin(), begin, zero));
  EXPECT_TRUE(std::all_of(end, data.end(), zero));
  return {begin, end};
}

}  // namespace

std::vector<Case> cases(DType dtype) {
  const int64_t block = block_size(dtype);
  if (block > 1) {
    return {{{block}},       {{3, 5 * block}},
            {{2, 3, block}}, {{7, 3 * block}, Layout::kSteps},
            {{0, block}},    {{2, 0}}};
  }
  return {{{1}},
          {{7}},
          {{1, 1, 1, 1}},
          {{3, 5}},
          {{13, 127}},
          {{2, 3, 17}},
          {{2, 3, 5, 7}},
          {{5, 1024}},
          {{9}, Layout::kSteps},
          {{5, 11}, Layout::kSteps},
          {{6, 7}, Layout::kTransposed},
          {{2, 3, 13}, Layout::kTransposed},
          {{2, 2, 5, 3}, Layout::kTransposed},
          {{0}},
          {{3, 0, 2}}};
}

std::vector<DType> number_types() {
  return {RC_DTYPE_F32, RC_DTYPE_F64,  RC_DTYPE_F16, RC_DTYPE_BF16,
          RC_DTYPE_I32, RC_DTYPE_Q8_0, RC_DTYPE_Q4_K};
}

std::vector<double> TensorTest::given(DType dtype, const Shape& shape,
                                      const Data& data, Layout layout) {
  operands_.push_back({dtype, shape, data.bytes, layout});
  return data.values;
}

std::vector<double> TensorTest::random(DType dtype, const Shape& shape,
                                       Layout layout) {
  const int64_t columns = shape.back();
  const int64_t rows = columns == 0 ? 0 : element_count(shape) / columns;
  return given(dtype, shape, random_data(dtype, rows, columns), layout);
}

rc_tensor* TensorTest::make(rc_backend* backend, const Operand& operand) const {
  Shape shape = operand.shape;
  std::vector<std::byte> bytes = operand.bytes;
  if (operand.layout == Layout::kSteps) {
    bytes = spread(bytes, shape[0]);
    shape[0] *= 2;
  } else if (operand.layout == Layout::kTransposed) {
    int64_t& n = shape[shape.size() - 1];
    int64_t& m = shape[shape.size() - 2];
    bytes = exchange(bytes, m, n, dtype_info(operand.dtype)->block_bytes);
    std::swap(m, n);
  }
  rc_tensor* tensor = nullptr;
  require(rc_tensor_from_data(backend, operand.dtype, shape.data(),
                              static_cast<int32_t>(shape.size()), bytes.data(),
                              bytes.size(), &tensor));
  if (operand.layout == Layout::kDense) return tensor;
  rc_tensor* view = nullptr;
  const rc_status status =
      operand.layout == Layout::kSteps
          ? rc_tensor_slice(tensor, 0, 0, shape[0] - 1, 2, &view)
          : rc_tensor_transpose(tensor, -1, -2, &view);
  rc_tensor_release(tensor);
  require(status);
  return view;
}

void TensorTest::run(const Call& call, const Shape& shape,
                     const std::vector<double>& expected, double tolerance,
                     double squares) const {
  for (const std::string& id : device_ids()) {
    std::string what = cat(id, " ", op_, " ", detail_);
    for (const Operand& operand : operands_) {
      what += cat(" ", shape_text(operand.shape), " in layout ",
                  static_cast<int>(operand.layout));
    }
    SCOPED_TRACE(what);
    rc_backend* backend = backend_of(id);
    std::vector<rc_tensor*> operands;
    for (const Operand& operand : operands_) {
      operands.push_back(make(backend, operand));
    }
    rc_tensor* result = nullptr;
    const rc_status status = call(operands.data(), &result);
    EXPECT_EQ(status, RC_OK) << rc_error_message();
    if (status != RC_OK) {
      for (rc_tensor* operand : operands) rc_tensor_release(operand);
      continue;
    }
    int64_t dimensions[RC_TENSOR_MAX_RANK];
    int32_t rank = 0;
    rc_dtype dtype = -1;
    size_t bytes = 0;
    require(rc_tensor_shape(result, dimensions, &rank));
    require(rc_tensor_dtype(result, &dtype));
    require(rc_tensor_size(result, nullptr, &bytes));
    const Shape found(dimensions, dimensions + rank);
    std::vector<std::byte> data(bytes);
    require(rc_tensor_read(result, data.data(), bytes));
    // Recorded, it is the same op.
    const std::vector<std::byte> again =
        recorded(backend, operands, call, result);
    if (id == "cpu:0" || id == "reference:0") {
      EXPECT_EQ(again, data);
    }
    EXPECT_EQ(written_into(backend, operands, call, result), data);
    for (rc_tensor* operand : operands) rc_tensor_release(operand);
    rc_tensor_release(result);
    EXPECT_EQ(shape_text(found), shape_text(shape));
    const double rounded = rounding(dtype);
    if (bytes > 0) {
      compare(label(id, op_), op_, detail_ + ", in a graph",
              tolerance + rounded, decode(dtype, again, found.back()), expected,
              squares);
    }
    compare(
        label(id, op_), op_, detail_,
        rounded + (id == "reference:0"
                       ? std::min(tolerance, kReferenceTolerance)
                       : tolerance),
        bytes == 0 ? std::vector<double>() : decode(dtype, data, found.back()),
        expected, squares);
  }
}

void TensorTest::refuse(const Call& call,
                        const std::vector<std::string>& texts) const {
  for (const std::string& id : device_ids()) {
    SCOPED_TRACE(cat(id, " ", op_, " ", detail_));
    rc_backend* backend = backend_of(id);
    std::vector<rc_tensor*> operands;
    for (const Operand& operand : operands_) {
      operands.push_back(make(backend, operand));
    }
    rc_tensor* result = nullptr;
    EXPECT_EQ(call(operands.data(), &result), RC_E_INVALID_ARGUMENT);
    const std::string message = rc_error_message();
    for (const std::string& text : texts) {
      EXPECT_NE(message.find(text), std::string::npos) << message;
    }
    rc_tensor* sum = nullptr;
    EXPECT_EQ(rc_op_add(operands[0], operands[0], &sum), RC_OK)
        << rc_error_message();
    rc_tensor_release(sum);
    for (rc_tensor* operand : operands) rc_tensor_release(operand);
  }
}

}  // namespace rc::test

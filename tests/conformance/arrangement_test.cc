// COPY, CONVERT, and GET_ROWS of tensors.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tensor_util.h"

namespace rc::test {
namespace {

using compute::element_count;

const DType kEncodable[] = {
    RC_DTYPE_F32,  RC_DTYPE_F16,    RC_DTYPE_BF16, RC_DTYPE_F64,  RC_DTYPE_I8,
    RC_DTYPE_I16,  RC_DTYPE_I32,    RC_DTYPE_I64,  RC_DTYPE_Q4_0, RC_DTYPE_Q4_1,
    RC_DTYPE_Q5_0, RC_DTYPE_Q5_1,   RC_DTYPE_Q8_0, RC_DTYPE_Q4_K, RC_DTYPE_Q5_K,
    RC_DTYPE_Q6_K, RC_DTYPE_IQ4_NL, RC_DTYPE_TQ2_0};

TEST(Convert, EveryTypeIsDecoded) {
  for (const DType dtype : decodable_types()) {
    const OnDrivers devices(dtype);
    for (const Case& one : cases(dtype)) {
      TensorTest test("CONVERT", cat("from ", dtype_name(dtype)));
      const auto x = test.random(dtype, one.shape, one.layout);
      test.run([](rc_tensor* const* t,
                  rc_tensor** y) { return rc_op_dequantize(t[0], y); },
               one.shape, x, 0);
    }
  }
}

TEST(Convert, EveryTypeIsEncoded) {
  for (const DType dtype : kEncodable) {
    const OnDrivers devices(dtype);
    for (Case one : cases(dtype)) {
      TensorTest test("CONVERT", cat("to ", dtype_name(dtype)));
      const int64_t columns = one.shape.back();
      const auto x = test.random(RC_DTYPE_F32, one.shape, one.layout);
      std::vector<double> expected;
      if (element_count(one.shape) > 0) {
        const std::vector<float> plain(x.begin(), x.end());
        std::vector<std::byte> bytes(*row_bytes(dtype, columns) *
                                     (x.size() / columns));
        for (size_t i = 0; i < x.size() / columns; ++i) {
          encode_row(dtype, plain.data() + i * columns,
                     bytes.data() + i * *row_bytes(dtype, columns), columns);
        }
        expected = decode(dtype, bytes, columns);
      }
      test.run([&](rc_tensor* const* t,
                   rc_tensor** y) { return rc_op_quantize(t[0], dtype, y); },
               one.shape, expected, 0);
    }
  }
}

TEST(Copy, ViewsAreCopiedInOrder) {
  for (const DType dtype :
       {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_I8, RC_DTYPE_F64, RC_DTYPE_I32}) {
    TensorTest test("COPY", dtype_name(dtype));
    const Shape shape = {5, 6, 7, 9};
    const auto x = test.random(dtype, shape);
    // x[1:5:2, :, 2:6, 1:9:3] with the first and third dimensions exchanged.
    std::vector<double> expected;
    for (int64_t c : {2, 3, 4, 5}) {
      for (int64_t b = 0; b < 6; ++b) {
        for (int64_t a : {1, 3}) {
          for (int64_t d : {1, 4, 7}) {
            expected.push_back(x[((a * 6 + b) * 7 + c) * 9 + d]);
          }
        }
      }
    }
    test.run(
        [](rc_tensor* const* t, rc_tensor** y) {
          rc_tensor *u = nullptr, *v = nullptr, *w = nullptr;
          rc_status status = rc_tensor_slice(t[0], 0, 1, 5, 2, &u);
          if (status == RC_OK) status = rc_tensor_slice(u, 2, 2, 6, 1, &v);
          if (status == RC_OK) status = rc_tensor_slice(v, 3, 1, 9, 3, &w);
          if (status == RC_OK) status = rc_tensor_transpose(w, 0, 2, y);
          rc_tensor_release(u);
          rc_tensor_release(v);
          rc_tensor_release(w);
          return status;
        },
        {4, 6, 2, 3}, expected, 0);
  }
}

TEST(Copy, ViewsOfBlocksAreCopiedInOrder) {
  for (const DType dtype : decodable_types()) {
    const int64_t block = dtype_info(dtype)->block_size;
    if (block == 1) continue;
    TensorTest test("COPY", dtype_name(dtype));
    const auto x = test.random(dtype, {3, 5, 4 * block});
    std::vector<double> expected;
    for (int64_t b = 0; b < 5; ++b) {
      for (int64_t a : {0, 2}) {
        for (int64_t c = block; c < 3 * block; ++c) {
          expected.push_back(x[(a * 5 + b) * 4 * block + c]);
        }
      }
    }
    test.run(
        [&](rc_tensor* const* t, rc_tensor** y) {
          rc_tensor *u = nullptr, *v = nullptr;
          rc_status status = rc_tensor_slice(t[0], 0, 0, 3, 2, &u);
          if (status == RC_OK) {
            status = rc_tensor_slice(u, 2, block, 3 * block, 1, &v);
          }
          if (status == RC_OK) status = rc_tensor_transpose(v, 0, 1, y);
          rc_tensor_release(u);
          rc_tensor_release(v);
          return status;
        },
        {5, 2, 2 * block}, expected, 0);
  }
}

TEST(Gather, EveryTypeAndShapeMatchesDoubles) {
  for (const DType dtype : decodable_types()) {
    const OnDrivers devices(dtype);
    for (const int64_t d : column_counts(dtype)) {
      for (const Layout layout : {Layout::kDense, Layout::kSteps}) {
        TensorTest test("GET_ROWS", dtype_name(dtype));
        const auto table = test.random(dtype, {37, d}, layout);
        const std::vector<int32_t> ids = {0, 36, 5, 5, 17, 1};
        test.given(RC_DTYPE_I32, {2, 3}, numbers(ids), layout);
        std::vector<double> expected;
        for (int32_t id : ids) {
          expected.insert(expected.end(), table.begin() + id * d,
                          table.begin() + (id + 1) * d);
        }
        test.run([](rc_tensor* const* t,
                    rc_tensor** y) { return rc_op_gather_rows(t[0], t[1], y); },
                 {2, 3, d}, expected, 0);
      }
    }
  }
  TensorTest test("GET_ROWS", "F32");
  test.random(RC_DTYPE_F32, {3, 4});
  test.given(RC_DTYPE_I32, {0}, {});
  test.run([](rc_tensor* const* t,
              rc_tensor** y) { return rc_op_gather_rows(t[0], t[1], y); },
           {0, 4}, {}, 0);
}

TEST(Gather, RowNumbersOutOfRangeAreRefused) {
  const int32_t kLeast = std::numeric_limits<int32_t>::min();
  for (const DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    for (const int32_t id : {3, -1, kLeast}) {
      TensorTest test("GET_ROWS", dtype_name(dtype));
      test.random(dtype, {3, 32});
      test.given(RC_DTYPE_I32, {5}, numbers({0, 2, 1, id, 2}));
      test.refuse(
          [](rc_tensor* const* t, rc_tensor** y) {
            return rc_op_gather_rows(t[0], t[1], y);
          },
          {"GET_ROWS", std::to_string(id)});
    }
  }
}

}  // namespace
}  // namespace rc::test

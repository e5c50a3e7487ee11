// In which type ops compute, and how exactly.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "cpu/plugin.h"
#include "runcible/plugin.h"
#include "tensor/dtype.h"
#include "tensor/wide.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

template <class T>
Tensor make_of(rc_backend* backend, rc_dtype dtype, const Shape& shape,
               const std::vector<T>& numbers) {
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_from_data(
      backend, dtype, shape.data(), static_cast<int32_t>(shape.size()),
      numbers.data(), numbers.size() * sizeof(T), &tensor));
  return Tensor(tensor);
}
Tensor doubles(rc_backend* backend, const Shape& shape,
               const std::vector<double>& numbers) {
  return make_of(backend, RC_DTYPE_F64, shape, numbers);
}
std::vector<double> doubles_of(rc_tensor* tensor) {
  const std::vector<std::byte> bytes = bytes_of(tensor);
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}
rc_dtype dtype_of(rc_tensor* tensor) {
  rc_dtype dtype = -1;
  EXPECT_OK(rc_tensor_dtype(tensor, &dtype));
  return dtype;
}

// 1 in every type that has no blocks, and zeros in one that has.
Tensor ones(rc_backend* backend, rc_dtype dtype) {
  const int64_t shape[] = {32, 32};
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_ones(backend, dtype, shape, 2, &tensor));
  return Tensor(tensor);
}

// The rule of tensor.h, for all pairs of types.
TEST(TensorTypes, ResultsHaveTheTypeOfTheOperands) {
  const rc_dtype types[] = {RC_DTYPE_F32,  RC_DTYPE_F64, RC_DTYPE_F16,
                            RC_DTYPE_BF16, RC_DTYPE_I8,  RC_DTYPE_I32,
                            RC_DTYPE_I64,  RC_DTYPE_Q8_0};
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    for (const rc_dtype a : types) {
      const Tensor x = ones(backend.get(), a);
      for (const rc_dtype b : types) {
        SCOPED_TRACE(std::string(dtype_name(a)) + " " + dtype_name(b));
        const Tensor y = ones(backend.get(), b);
        const bool half = a == RC_DTYPE_F16 || a == RC_DTYPE_BF16;
        const rc_dtype wanted = a == RC_DTYPE_F64 || b == RC_DTYPE_F64
                                    ? RC_DTYPE_F64
                                : a == b && half ? a
                                                 : RC_DTYPE_F32;
        const auto expect = [&](rc_status status, rc_tensor* made,
                                double number) {
          ASSERT_EQ(status, RC_OK) << rc_error_message();
          const Tensor result(made);
          ASSERT_EQ(dtype_of(made), wanted);
          const std::vector<std::byte> bytes = bytes_of(made);
          double first = 0;
          decode_row(wanted, bytes.data(), &first, 1);
          EXPECT_NEAR(first, number, 0.5);
        };
        rc_tensor* made = nullptr;
        rc_status status = rc_op_add(x.get(), y.get(), &made);
        expect(status, made, 2);
        status = rc_op_where(x.get(), x.get(), y.get(), &made);
        expect(status, made, 1);
        status = rc_op_matmul(x.get(), y.get(), &made);
        expect(status, made, 32);
        status = rc_op_matmul_transposed(x.get(), y.get(), &made);
        expect(status, made, 32);
      }
      const rc_dtype own =
          a == RC_DTYPE_F64 || a == RC_DTYPE_F16 || a == RC_DTYPE_BF16
              ? a
              : RC_DTYPE_F32;
      const auto of_one = [&](rc_status status, rc_tensor* made) {
        ASSERT_EQ(status, RC_OK) << rc_error_message();
        EXPECT_EQ(dtype_of(made), own) << dtype_name(a);
        rc_tensor_release(made);
      };
      rc_tensor* made = nullptr;
      rc_status status = rc_op_exp(x.get(), &made);
      of_one(status, made);
      status = rc_op_softmax(x.get(), 1, &made);
      of_one(status, made);
      status = rc_op_reduce_sum(x.get(), 0, 0, &made);
      of_one(status, made);
      status = rc_op_cumsum(x.get(), 0, &made);
      of_one(status, made);
      status = rc_op_sort(x.get(), 0, 0, &made);
      of_one(status, made);
      status = rc_op_pad(x.get(), 0, 1, 1, 0, &made);
      of_one(status, made);
      status = rc_op_layer_norm(x.get(), nullptr, nullptr, 0.1f, &made);
      of_one(status, made);
    }
  }
}

// Values that F32 cannot represent.
TEST(TensorTypes, F64IsNotRoundedToF32) {
  const double next = std::nextafter(1.0, 2.0);
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    const Tensor a = doubles(backend.get(), {2}, {next, 1e300});
    const Tensor b = doubles(backend.get(), {2}, {1, -1e-300});
    rc_tensor* y = nullptr;
    ASSERT_OK(rc_op_sub(a.get(), b.get(), &y));
    EXPECT_EQ(doubles_of(y), (std::vector<double>{next - 1, 1e300}));
    rc_tensor_release(y);
    ASSERT_OK(rc_op_greater(a.get(), b.get(), &y));
    EXPECT_EQ(doubles_of(y), (std::vector<double>{1, 1}));
    rc_tensor_release(y);
    ASSERT_OK(rc_op_reduce_max(a.get(), 0, 0, &y));
    EXPECT_EQ(doubles_of(y), std::vector<double>{1e300});
    rc_tensor_release(y);
    // A view, and a column that is repeated.
    const Tensor m = doubles(backend.get(), {2, 2}, {1, next, 3, 1e300});
    rc_tensor* turned = nullptr;
    ASSERT_OK(rc_tensor_transpose(m.get(), 0, 1, &turned));
    const Tensor view(turned);
    ASSERT_OK(rc_op_neg(turned, &y));
    EXPECT_EQ(doubles_of(y), (std::vector<double>{-1, -3, -next, -1e300}));
    rc_tensor_release(y);
    // In place.
    rc_tensor* into = nullptr;
    ASSERT_OK(rc_op_into(a.get(), a.get(), &into));
    ASSERT_OK(rc_op_add(into, b.get(), &y));
    EXPECT_EQ(doubles_of(a.get()), (std::vector<double>{next + 1, 1e300}));
    rc_tensor_release(into);
    rc_tensor_release(y);
  }
}

// Sums that a double rounds away come back; the bound is that of op.h.
TEST(TensorTypes, LongSumsOfF64AreAccurate) {
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    // Several pieces and a rest of integers, whose sum is known.
    const int64_t count = 3 * (int64_t{1} << 14) + 77;
    std::vector<double> numbers;
    for (int64_t i = 0; i < count; ++i) {
      numbers.push_back(i % 2 == 0 ? 0x1p60 : -0x1p60);
      if (i % 3 == 0) numbers.back() = static_cast<double>(i % 1001);
    }
    __int128 exact = 0;
    for (const double number : numbers) exact += static_cast<__int128>(number);
    rc_tensor* y = nullptr;
    for (const Shape& shape : {Shape{1, count}, Shape{count, 1}}) {
      const Tensor x = doubles(backend.get(), shape, numbers);
      ASSERT_OK(rc_op_reduce_sum(x.get(), RC_ALL_DIMENSIONS, 0, &y));
      EXPECT_EQ(doubles_of(y)[0], static_cast<double>(exact)) << spec;
      rc_tensor_release(y);
    }
    // As columns.
    std::vector<double> two;
    for (const double number : numbers) {
      two.push_back(number);
      two.push_back(-number);
    }
    const Tensor columns = doubles(backend.get(), {count, 2}, two);
    ASSERT_OK(rc_op_reduce_sum(columns.get(), 0, 0, &y));
    EXPECT_EQ(doubles_of(y),
              (std::vector<double>{static_cast<double>(exact),
                                   -static_cast<double>(exact)}));
    rc_tensor_release(y);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Tensor infinite = doubles(
        backend.get(), {2, 3}, {1, kInfinity, 2, 1, kInfinity, -kInfinity});
    ASSERT_OK(rc_op_reduce_sum(infinite.get(), 1, 0, &y));
    EXPECT_EQ(doubles_of(y)[0], kInfinity);
    EXPECT_TRUE(std::isnan(doubles_of(y)[1]));
    rc_tensor_release(y);
  }
}

TEST(TensorTypes, SortsF64Exactly) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double next = std::nextafter(1.0, 2.0);
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    const Tensor x =
        doubles(backend.get(), {6}, {next, kNan, 1, -0.0, 0.0, -1e300});
    rc_tensor* y = nullptr;
    ASSERT_OK(rc_op_argsort(x.get(), 0, 0, &y));
    const std::vector<std::byte> bytes = bytes_of(y);
    int32_t places[6];
    ASSERT_EQ(bytes.size(), sizeof places);
    std::memcpy(places, bytes.data(), sizeof places);
    const int32_t rising[] = {5, 3, 4, 2, 0, 1};
    EXPECT_TRUE(std::equal(places, places + 6, rising));
    rc_tensor_release(y);
    ASSERT_OK(rc_op_topk(x.get(), 3, 0, &y));
    EXPECT_TRUE(std::isnan(doubles_of(y)[0]));
    EXPECT_EQ(doubles_of(y)[1], next);
    EXPECT_EQ(doubles_of(y)[2], 1);
    rc_tensor_release(y);
  }
}

// F16 and BF16 are what F32 gives of the same numbers, rounded once more.
TEST(TensorTypes, HalvesEqualRoundedResultsOfF32) {
  const Backend backend = open_backend();
  const auto check = [](rc_status status, rc_tensor** made) {
    EXPECT_EQ(status, RC_OK) << rc_error_message();
    return Tensor(*made);
  };
  for (const rc_dtype dtype : {RC_DTYPE_F16, RC_DTYPE_BF16}) {
    rc_tensor* y = nullptr;
    const auto halves = [&](const Shape& shape, uint64_t seed) {
      const Tensor x = make_random(backend.get(), shape, seed);
      rc_tensor* made = nullptr;
      return check(rc_op_quantize(x.get(), dtype, &made), &made);
    };
    const auto whole = [&](const Tensor& x) {
      rc_tensor* made = nullptr;
      return check(rc_op_dequantize(x.get(), &made), &made);
    };
    const auto expect = [&](const Tensor& found, const Tensor& exact) {
      ASSERT_EQ(dtype_of(found.get()), dtype);
      rc_tensor* made = nullptr;
      const Tensor rounded =
          check(rc_op_quantize(exact.get(), dtype, &made), &made);
      EXPECT_EQ(bytes_of(found.get()), bytes_of(rounded.get()));
    };
    const Tensor a = halves({37, 1000}, 1), b = halves({1000}, 2);
    const Tensor fa = whole(a), fb = whole(b);
    for (const auto op : {rc_op_add, rc_op_mul, rc_op_div, rc_op_less}) {
      const Tensor found = check(op(a.get(), b.get(), &y), &y);
      expect(found, check(op(fa.get(), fb.get(), &y), &y));
    }
    for (const auto op : {rc_op_exp, rc_op_gelu, rc_op_neg}) {
      const Tensor found = check(op(a.get(), &y), &y);
      expect(found, check(op(fa.get(), &y), &y));
    }
    Tensor found = check(rc_op_softmax(a.get(), 1, &y), &y);
    expect(found, check(rc_op_softmax(fa.get(), 1, &y), &y));
    found = check(rc_op_reduce_sum(a.get(), 0, 0, &y), &y);
    expect(found, check(rc_op_reduce_sum(fa.get(), 0, 0, &y), &y));
    // Products: panels and rows that are not whole, both ways round, batches.
    for (const Shape& shape : {Shape{5, 33}, Shape{2, 150, 70}}) {
      const Tensor m = halves(shape, 3), n = halves({shape.back(), 21}, 4);
      const Tensor fm = whole(m), fn = whole(n);
      found = check(rc_op_matmul(m.get(), n.get(), &y), &y);
      expect(found, check(rc_op_matmul(fm.get(), fn.get(), &y), &y));
      const Tensor w = halves({19, shape.back()}, 5), bias = halves({19}, 6);
      const Tensor fw = whole(w), fbias = whole(bias);
      found = check(rc_op_fused_linear(m.get(), w.get(), bias.get(),
                                       RC_FUNCTION_SILU, &y),
                    &y);
      expect(found, check(rc_op_fused_linear(fm.get(), fw.get(), fbias.get(),
                                             RC_FUNCTION_SILU, &y),
                          &y));
    }
  }
}

// The bits do not depend on the number of threads.
TEST(TensorTypes, BitsDoNotDependOnThreads) {
  std::vector<std::vector<std::byte>> expected;
  for (const int32_t threads : {1, 2, 5}) {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.threads = threads;
    rc_backend* opened = nullptr;
    ASSERT_OK(rc_backend_open("cpu", &options, &opened));
    const Backend backend(opened);
    std::vector<std::vector<std::byte>> found;
    const auto keep = [&](rc_status status, rc_tensor* made) {
      ASSERT_EQ(status, RC_OK) << rc_error_message();
      found.push_back(bytes_of(made));
      rc_tensor_release(made);
    };
    for (const rc_dtype dtype : {RC_DTYPE_F64, RC_DTYPE_F16, RC_DTYPE_BF16}) {
      const Tensor random = make_random(backend.get(), {150, 400}, 7);
      rc_tensor* made = nullptr;
      ASSERT_OK(rc_op_quantize(random.get(), dtype, &made));
      const Tensor x(made);
      rc_status status = rc_op_matmul_transposed(x.get(), x.get(), &made);
      keep(status, made);
      status = rc_op_tanh(x.get(), &made);
      keep(status, made);
      status = rc_op_reduce_mean(x.get(), RC_ALL_DIMENSIONS, 0, &made);
      keep(status, made);
      status = rc_op_cumsum(x.get(), 0, &made);
      keep(status, made);
      status = rc_op_softmax(x.get(), 0, &made);
      keep(status, made);
    }
    if (expected.empty()) expected = found;
    EXPECT_EQ(found, expected) << threads;
  }
}

// The cpu's table as that of a plugin that knew only F32.
const rc_plugin* older_plugin() {
  static const rc_plugin table = [] {
    rc_plugin older = *cpu::plugin();
    older.name = "older";
    older.abi_version = 3;
    older.least_abi_version = 3;
    return older;
  }();
  return &table;
}

// Halves are computed in F32 there and rounded; F64 goes to the CPU.
TEST(TensorTypes, OlderPluginsComputeInF32) {
  ASSERT_OK(rc_plugin_register(older_plugin()));
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.strict = 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("older", &options, &opened));
  const Backend strict(opened);
  const Backend cpu = open_backend();
  const auto product = [](rc_backend* backend, rc_dtype dtype) {
    const Tensor random = make_random(backend, {20, 30}, 1);
    rc_tensor *x = nullptr, *y = nullptr;
    EXPECT_OK(rc_op_quantize(random.get(), dtype, &x));
    EXPECT_OK(rc_op_matmul_transposed(x, x, &y));
    rc_tensor_release(x);
    EXPECT_EQ(dtype_of(y), dtype);
    const std::vector<std::byte> bytes = bytes_of(y);
    rc_tensor_release(y);
    return bytes;
  };
  for (const rc_dtype dtype : {RC_DTYPE_F16, RC_DTYPE_BF16}) {
    EXPECT_EQ(product(opened, dtype), product(cpu.get(), dtype));
  }
  const Tensor wide = doubles(opened, {1}, {0.5});
  rc_tensor* y = nullptr;
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_op_neg(wide.get(), &y), "version 3",
               "strict");
  const Backend falling_back = open_backend("older");
  EXPECT_EQ(product(falling_back.get(), RC_DTYPE_F64),
            product(cpu.get(), RC_DTYPE_F64));
  const char* json = nullptr;
  ASSERT_OK(rc_backend_explain(falling_back.get(), &json));
  EXPECT_NE(std::string(json).find("version 3"), std::string::npos) << json;
}

// A weight with blocks counts as F32, and is decoded within the product.
TEST(TensorTypes, MixedProductsAreComputed) {
  const Backend backend = open_backend();
  const Tensor x = ones(backend.get(), RC_DTYPE_F64);
  const Tensor w = ones(backend.get(), RC_DTYPE_Q8_0);
  rc_tensor* y = nullptr;
  ASSERT_OK(rc_op_matmul_quantized(x.get(), w.get(), &y));
  EXPECT_EQ(dtype_of(y), RC_DTYPE_F32);
  rc_tensor_release(y);
  ASSERT_OK(
      rc_op_fused_linear(x.get(), w.get(), nullptr, RC_FUNCTION_NONE, &y));
  EXPECT_EQ(dtype_of(y), RC_DTYPE_F32);
  rc_tensor_release(y);
}

}  // namespace
}  // namespace rc::test

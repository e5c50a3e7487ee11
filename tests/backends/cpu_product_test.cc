// Products of F32 tensors, and convolutions as products: the bits depend
// neither on the threads nor on the kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/cpu_util.h"

namespace rc::cpu_test {
namespace {

struct Product {
  int64_t batch, m, n, k;
  bool transposed;
};

std::vector<float> multiply(const Device& device, const Product& p,
                            const std::vector<float>& a,
                            const std::vector<float>& b) {
  Program program(device);
  const int32_t x = program.input(RC_DTYPE_F32, {p.batch, p.m, p.k}, a.data());
  const int32_t y =
      program.input(RC_DTYPE_F32,
                    p.transposed ? std::vector<int64_t>{p.batch, p.n, p.k}
                                 : std::vector<int64_t>{p.batch, p.k, p.n},
                    b.data());
  const int32_t z = program.output(RC_DTYPE_F32, {p.batch, p.m, p.n});
  program.op(RC_OP_MATMUL, {x, y, -1}, {z}).params.matmul.transposed =
      p.transposed ? 1 : 0;
  EXPECT_EQ(program.run(1), RC_OK) << program.message();
  return program.result(z);
}

// The same of a transposed view of a, each of whose columns is so much longer,
// and, if `twice`, read once more.
std::vector<float> multiply_view(const Device& device, const Product& p,
                                 const std::vector<float>& a,
                                 const std::vector<float>& b, int64_t longer,
                                 bool twice) {
  const int64_t step = p.m + longer;
  std::vector<float> across(static_cast<size_t>(p.batch * p.k * step));
  for (int64_t i = 0; i < p.batch * p.m * p.k; ++i) {
    const int64_t row = i / p.k % p.m;
    across[i / p.k / p.m * p.k * step + i % p.k * step + row] = a[i];
  }
  Program program(device);
  const int32_t x = program.input(
      RC_DTYPE_F32, {static_cast<int64_t>(across.size()) - longer},
      across.data());
  const int32_t y = program.input(RC_DTYPE_F32, {p.batch, p.k, p.n}, b.data());
  const int32_t left = program.scratch(RC_DTYPE_F32, {p.batch, p.m, p.k});
  const int32_t z = program.output(RC_DTYPE_F32, {p.batch, p.m, p.n});
  const int64_t strides[] = {p.k * step, 1, step};
  std::copy_n(strides, 3,
              program.op(RC_OP_COPY, {x}, {left}).params.copy.strides);
  program.op(RC_OP_MATMUL, {left, y, -1}, {z});
  const int32_t again =
      twice ? program.output(RC_DTYPE_F32, {p.batch, p.m, p.k}) : -1;
  if (twice) {
    program.op(RC_OP_UNARY, {left}, {again}).params.unary.function =
        RC_UNARY_NEG;
  }
  EXPECT_EQ(program.run(1), RC_OK) << program.message();
  for (size_t i = 0; twice && i < a.size(); ++i) {
    EXPECT_EQ(program.result(again)[i], -a[i]);
  }
  return program.result(z);
}

std::vector<float> rows(const std::vector<float>& from, int64_t first,
                        int64_t count, int64_t columns) {
  return {from.begin() + first * columns,
          from.begin() + (first + count) * columns};
}

TEST(CpuProduct, RowDoesNotDependOnTheNumberOfRows) {
  const Device device(2);
  for (const Product& p :
       {Product{1, 310, 100, 1030, false}, Product{1, 310, 112, 1030, false},
        Product{1, 300, 23, 16000, true}}) {
    const auto a = random_floats(static_cast<size_t>(p.m * p.k), 1);
    const auto b = random_floats(static_cast<size_t>(p.n * p.k), 2);
    const auto all = multiply(device, p, a, b);
    Product some = p;
    some.m = 5;
    for (const int64_t first : {int64_t{0}, p.m / 2, p.m - some.m}) {
      EXPECT_EQ(multiply(device, some, rows(a, first, some.m, p.k), b),
                rows(all, first, some.m, p.n))
          << p.m << " x " << p.n << " x " << p.k << ", row " << first;
    }
  }
}

// Small matrices are read as they lie, unless they are transposed.
TEST(CpuProduct, TransposedWeightGivesTheSameBits) {
  for (const std::string& level : level_names()) {
    const Device device(2, level);
    for (const int64_t n : {16, 64, 77, 160}) {
      const Product p = {1, 45, n, 391, false};
      const auto a = random_floats(static_cast<size_t>(p.m * p.k), 15);
      const auto b = random_floats(static_cast<size_t>(p.n * p.k), 16);
      std::vector<float> turned(b.size());
      for (int64_t i = 0; i < p.k * n; ++i) turned[i % n * p.k + i / n] = b[i];
      Product other = p;
      other.transposed = true;
      EXPECT_EQ(multiply(device, p, a, b), multiply(device, other, a, turned))
          << level << ", " << n << " columns";
    }
  }
}

TEST(CpuProduct, MatrixDoesNotDependOnTheBatch) {
  const Device device(3);
  const Product p = {2, 125, 103, 1020, false};
  const auto a = random_floats(static_cast<size_t>(p.batch * p.m * p.k), 3);
  const auto b = random_floats(static_cast<size_t>(p.batch * p.n * p.k), 4);
  const auto all = multiply(device, p, a, b);
  Product few = p;
  few.batch = 1;
  few.m = 7;
  for (int64_t i = 0; i < p.batch; ++i) {
    EXPECT_EQ(multiply(device, few, rows(a, i * p.m + 11, few.m, p.k),
                       rows(b, i, 1, p.n * p.k)),
              rows(all, i * p.m + 11, few.m, p.n))
        << i << " of " << p.batch;
  }
}

// With many columns a thread packs more at once; the last parts have other
// sizes.
TEST(CpuProduct, ColumnDoesNotDependOnTheNumberOfColumns) {
  for (const std::string& level : level_names()) {
    const Device device(1, level);
    for (const bool transposed : {false, true}) {
      const Product p = {2, 19, 1003, 133, transposed};
      const auto a =
          random_floats(static_cast<size_t>(p.batch * p.m * p.k), 13);
      const auto b =
          random_floats(static_cast<size_t>(p.batch * p.n * p.k), 14);
      const auto all = multiply(device, p, a, b);
      Product few = p;
      few.n = 5;
      for (const int64_t first : {int64_t{0}, int64_t{507}, p.n - few.n}) {
        std::vector<float> some;
        for (int64_t i = 0; i < p.batch * few.n * p.k; ++i) {
          const int64_t matrix = i / (few.n * p.k);
          const int64_t column =
              first + (transposed ? i / p.k % few.n : i % few.n);
          const int64_t row = transposed ? i % p.k : i / few.n % p.k;
          some.push_back(
              b[matrix * p.n * p.k +
                (transposed ? column * p.k + row : row * p.n + column)]);
        }
        const auto found = multiply(device, few, a, some);
        for (int64_t row = 0; row < p.batch * p.m; ++row) {
          const float* expected = all.data() + row * p.n + first;
          EXPECT_EQ(rows(found, row, 1, few.n),
                    std::vector<float>(expected, expected + few.n))
              << level << ", row " << row << ", columns from " << first;
        }
      }
    }
  }
}

struct Convolution {
  int64_t size, outputs;
  int32_t stride, padding;
  int64_t channels = 130;
  int64_t first = 0, height = size;  // rows of the image
};

std::vector<float> convolve(const Device& device, const Convolution& c) {
  const auto after = [&](int64_t before) {
    return (before + 2 * c.padding - 3) / c.stride + 1;
  };
  const int64_t planes = 2 * c.channels;
  const auto whole =
      random_floats(static_cast<size_t>(planes * c.size * c.size), 5);
  std::vector<float> image;
  for (int64_t plane = 0; plane < planes; ++plane) {
    const auto some = rows(whole, plane * c.size + c.first, c.height, c.size);
    image.insert(image.end(), some.begin(), some.end());
  }
  const auto window =
      random_floats(static_cast<size_t>(c.outputs * c.channels * 9), 6);
  const auto added = random_floats(static_cast<size_t>(c.outputs), 7);
  Program program(device);
  const int32_t x = program.input(
      RC_DTYPE_F32, {2, c.channels, c.height, c.size}, image.data());
  const int32_t w =
      program.input(RC_DTYPE_F32, {c.outputs, c.channels, 3, 3}, window.data());
  const int32_t bias = program.input(RC_DTYPE_F32, {c.outputs}, added.data());
  const int32_t y = program.output(
      RC_DTYPE_F32, {2, c.outputs, after(c.height), after(c.size)});
  auto& params = program.op(RC_OP_CONV2D, {x, w, bias}, {y}).params.conv2d;
  std::fill_n(params.stride, 2, c.stride);
  std::fill_n(params.padding, 2, c.padding);
  std::fill_n(params.dilation, 2, 1);
  params.groups = 1;
  EXPECT_EQ(program.run(1), RC_OK) << program.message();
  return program.result(y);
}

// Few pixels are done along another way than many.
TEST(CpuProduct, PixelDoesNotDependOnTheSizeOfTheImage) {
  for (const std::string& level : level_names()) {
    const Device device(2, level);
    const Convolution many = {25, 70, 1, 0};
    Convolution few = many;
    few.first = 11;
    few.height = 5;
    const auto all = convolve(device, many);
    const auto some = convolve(device, few);
    for (int64_t plane = 0; plane < 2 * many.outputs; ++plane) {
      EXPECT_EQ(rows(some, plane * 3, 3, 23),
                rows(all, plane * 23 + few.first, 3, 23))
          << level << ", plane " << plane;
    }
  }
}

TEST(CpuProduct, ViewReadInPlaceGivesTheBitsOfItsCopy) {
  for (const std::string& level : level_names()) {
    const Device device(2, level);
    for (const Product& p :
         {Product{1, 131, 37, 70, false}, Product{3, 9, 20, 33, false},
          Product{1, 2, 16, 2, false}, Product{1, 600, 3, 500, false}}) {
      const auto a =
          random_floats(static_cast<size_t>(p.batch * p.m * p.k), 11);
      const auto b =
          random_floats(static_cast<size_t>(p.batch * p.n * p.k), 12);
      const auto expected = multiply(device, p, a, b);
      for (const int64_t longer : {0, 3}) {
        EXPECT_EQ(multiply_view(device, p, a, b, longer, false), expected)
            << level << ", " << p.m << " x " << p.k << " + " << longer;
      }
      EXPECT_EQ(multiply_view(device, p, a, b, 0, true), expected) << level;
    }
  }
}

// Levels that fuse multiplications and additions.
TEST(CpuProduct, NeitherLevelNorThreadsChangeABit) {
  const Product p = {2, 130, 70, 150, false};
  const auto a = random_floats(static_cast<size_t>(p.batch * p.m * p.k), 8);
  const auto b = random_floats(static_cast<size_t>(p.batch * p.n * p.k), 9);
  std::vector<std::vector<float>> expected;
  for (const std::string& level : level_names()) {
    if (level == "baseline") continue;
    for (const int threads : {1, 2, 5}) {
      const Device device(threads, level);
      const std::vector<std::vector<float>> found = {
          multiply(device, p, a, b),
          convolve(device, {11, 20, 1, 1}),
          convolve(device, {11, 20, 2, 0}),
          convolve(device, {20, 33, 1, 1}),
          convolve(device, {4, 3, 3, 40}),
          convolve(device, {4, 70, 1, 40, 3}),
          convolve(device, {9, 17, 1, 1, 250}),
          convolve(device, {23, 70, 1, 1, 20}),
          convolve(device, {45, 70, 2, 1, 20}),
          convolve(device, {85, 70, 1, 1, 44})};
      if (expected.empty()) expected = found;
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i], expected[i])
            << level << ", " << threads << " threads, " << i;
      }
    }
  }
}

}  // namespace
}  // namespace rc::cpu_test

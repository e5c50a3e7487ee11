#include <gtest/gtest.h>

#include "tensor_util.h"

namespace rc::test {
namespace {

struct Convolution {
  int64_t batch = 1, channels = 1, height = 1, width = 1;
  int64_t outputs = 1, kh = 1, kw = 1;
  rc_conv2d_options options = RC_CONV2D_OPTIONS_INIT;
  bool bias = true;
  DType dtype = RC_DTYPE_F32;
  Layout layout = Layout::kDense;
};

void run_conv2d(const Convolution& c) {
  TensorTest test("CONV2D", dtype_name(c.dtype));
  const rc_conv2d_options& o = c.options;
  const int64_t inside = c.channels / o.groups;
  const auto x =
      test.random(c.dtype, {c.batch, c.channels, c.height, c.width}, c.layout);
  const auto w = test.random(RC_DTYPE_F32, {c.outputs, inside, c.kh, c.kw});
  const auto b = test.random(RC_DTYPE_F32, {c.outputs});
  const int64_t oh =
      (c.height + 2 * o.padding[0] - o.dilation[0] * (c.kh - 1) - 1) /
          o.stride[0] +
      1;
  const int64_t ow =
      (c.width + 2 * o.padding[1] - o.dilation[1] * (c.kw - 1) - 1) /
          o.stride[1] +
      1;
  std::vector<double> expected;
  double squares = 0;
  for (int64_t n = 0; n < c.batch * c.outputs * oh * ow; ++n) {
    const int64_t j = n % ow;
    const int64_t i = n / ow % oh;
    const int64_t output = n / ow / oh % c.outputs;
    const int64_t image = n / ow / oh / c.outputs;
    const int64_t group = output / (c.outputs / o.groups);
    double sum = c.bias ? b[output] : 0;
    squares += sum * sum;
    for (int64_t l = 0; l < inside * c.kh * c.kw; ++l) {
      const int64_t v = l % c.kw;
      const int64_t u = l / c.kw % c.kh;
      const int64_t channel = group * inside + l / c.kw / c.kh;
      const int64_t row = i * o.stride[0] + u * o.dilation[0] - o.padding[0];
      const int64_t column = j * o.stride[1] + v * o.dilation[1] - o.padding[1];
      if (row < 0 || row >= c.height || column < 0 || column >= c.width) {
        continue;
      }
      const double term =
          x[((image * c.channels + channel) * c.height + row) * c.width +
            column] *
          w[output * inside * c.kh * c.kw + l];
      sum += term;
      squares += term * term;
    }
    expected.push_back(sum);
  }
  test.run(
      [&](rc_tensor* const* t, rc_tensor** y) {
        return rc_op_conv2d(t[0], t[1], c.bias ? t[2] : nullptr, &o, y);
      },
      {c.batch, c.outputs, oh, ow}, expected, kF32Tolerance, squares);
}

Convolution square(int64_t channels, int64_t size, int64_t outputs,
                   int64_t window) {
  Convolution c;
  c.channels = channels;
  c.height = c.width = size;
  c.outputs = outputs;
  c.kh = c.kw = window;
  return c;
}

TEST(Conv2d, EveryShapeMatchesDoubles) {
  run_conv2d({});
  run_conv2d(square(3, 7, 5, 3));
  run_conv2d(square(2, 13, 131, 1));
  Convolution c = square(3, 11, 4, 3);
  c.batch = 2;
  c.width = 17;
  c.kw = 5;
  c.bias = false;
  run_conv2d(c);
  c.batch = 0;
  run_conv2d(c);
  c = square(4, 9, 6, 2);
  c.layout = Layout::kTransposed;
  run_conv2d(c);
  c.layout = Layout::kSteps;
  c.dtype = RC_DTYPE_F16;
  run_conv2d(c);
  c = square(2, 5, 3, 3);
  c.width = 32;
  c.dtype = RC_DTYPE_Q8_0;
  run_conv2d(c);
}

TEST(Conv2d, EveryOptionMatchesDoubles) {
  for (int32_t stride : {1, 2, 3}) {
    for (int32_t padding : {0, 1, 4}) {
      for (int32_t dilation : {1, 2}) {
        for (int32_t groups : {1, 2, 4}) {
          Convolution c = square(4, 8, 8, 3);
          c.width = 9;
          c.options.stride[0] = stride;
          c.options.stride[1] = 1 + padding % 2;
          c.options.padding[0] = padding;
          c.options.padding[1] = 1;
          c.options.dilation[0] = dilation;
          c.options.groups = groups;
          run_conv2d(c);
        }
      }
    }
  }
}

// Rows as long as vectors and longer, whose ends are no multiples of them.
TEST(Conv2d, LongRowsMatchDoubles) {
  for (int64_t width : {18, 19, 35, 99, 131}) {
    for (int32_t padding : {0, 1, 3}) {
      for (int32_t groups : {1, 2}) {
        Convolution c = square(4, 6, 6, 3);
        c.batch = 2;
        c.width = width;
        c.options.stride[0] = 1 + padding % 2;
        c.options.padding[0] = padding;
        c.options.padding[1] = padding / 2;
        c.options.dilation[0] = 2;
        c.options.groups = groups;
        c.bias = groups == 1;
        run_conv2d(c);
      }
    }
  }
  // Enough channels that a thread does all parts of a row.
  Convolution c = square(1, 60, 3, 3);
  c.batch = 2;
  for (int64_t width : {103, 120, 203}) {
    c.width = width;
    run_conv2d(c);
  }
}

TEST(Conv2d, LargeConvolutionsMatchDoubles) {
  Convolution c = square(16, 31, 48, 3);
  c.batch = 2;
  c.options.padding[0] = c.options.padding[1] = 1;
  run_conv2d(c);
  c.channels = 32;
  c.outputs = 64;
  c.options.groups = 2;
  run_conv2d(c);
}

// Few pixels in a row, many numbers in a window, and ends of all kinds.
TEST(Conv2d, SmallImagesOfManyChannelsMatchDoubles) {
  for (int32_t stride : {1, 2, 3}) {
    for (int32_t padding : {0, 1}) {
      Convolution c = square(120, 9, 19, 3);
      c.width = 7;
      c.options.stride[0] = c.options.stride[1] = stride;
      c.options.padding[0] = c.options.padding[1] = padding;
      c.bias = padding == 0;
      run_conv2d(c);
    }
  }
  Convolution c = square(70, 6, 33, 1);
  c.batch = 2;
  run_conv2d(c);
  c.options.groups = 2;
  c.outputs = 34;
  c.options.stride[1] = 5;
  run_conv2d(c);
}

// Padding far beyond the image, most of which windows step over.
TEST(Conv2d, LargePaddingMatchesDoubles) {
  for (int32_t stride : {1, 7}) {
    Convolution c = square(3, 5, 4, 3);
    c.options.stride[0] = c.options.stride[1] = stride;
    c.options.padding[0] = c.options.padding[1] = 40;
    run_conv2d(c);
  }
}

}  // namespace
}  // namespace rc::test

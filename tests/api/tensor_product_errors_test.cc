// Operands of attention and convolution that are not taken, and the nearest
// ones that are.
#include <functional>
#include <string>

#include "tensor_errors_util.h"

namespace rc::test {
namespace {

using TensorProductErrors = TensorErrors;

TEST_F(TensorProductErrors, AttentionShapesAreNamed) {
  const auto attend = [&](const std::string& text, const Shape& q,
                          const Shape& k, const Shape& v,
                          const rc_attention_options& options) {
    expect(text, [&](rc_tensor** y) {
      return rc_op_attention(zeros(q), zeros(k), zeros(v), &options, y);
    });
  };
  rc_attention_options options = RC_ATTENTION_OPTIONS_INIT;
  const char* shapes = "q [..., rows, heads, d], k and v [..., positions,";
  const char* equal = "the last dimensions, and those before the rows, must";
  const char* heads = "the heads of q must be a multiple of those of k";
  attend(kTaken, {3, 4, 8}, {5, 2, 8}, {5, 2, 8}, options);
  attend(shapes, {4, 8}, {4, 8}, {4, 8}, options);
  attend(shapes, {3, 4, 8}, {1, 5, 2, 8}, {1, 5, 2, 8}, options);
  attend(shapes, {3, 4, 8}, {5, 2, 8}, {5, 2, 4}, options);
  attend(equal, {3, 4, 8}, {5, 2, 4}, {5, 2, 4}, options);
  attend(equal, {2, 3, 4, 8}, {1, 5, 2, 8}, {1, 5, 2, 8}, options);
  attend(heads, {3, 4, 8}, {5, 3, 8}, {5, 3, 8}, options);
  attend(heads, {3, 4, 8}, {5, 0, 8}, {5, 0, 8}, options);
  attend(kTaken, {3, 0, 8}, {5, 0, 8}, {5, 0, 8}, options);
  attend(
      "attention: q is F32 [3, 4, 8], k is F32 [0, 2, 8], v is F32 "
      "[0, 2, 8]; there are no positions",
      {3, 4, 8}, {0, 2, 8}, {0, 2, 8}, options);
  attend(kTaken, {0, 4, 8}, {0, 2, 8}, {0, 2, 8}, options);
  options.causal = 1;
  attend(kTaken, {5, 4, 8}, {5, 2, 8}, {5, 2, 8}, options);
  attend("there are more causal rows than positions", {6, 4, 8}, {5, 2, 8},
         {5, 2, 8}, options);
  const auto with = [&](const std::string& text, float scale, float softcap) {
    rc_attention_options given = RC_ATTENTION_OPTIONS_INIT;
    given.scale = scale;
    given.softcap = softcap;
    attend(text, {3, 4, 8}, {5, 2, 8}, {5, 2, 8}, given);
  };
  with(kTaken, -1, 0);
  with("options: scale nan, softcap 0", kNan, 0);
  with("options: scale inf, softcap 0", kInfinity, 0);
  with("options: scale 1, softcap -0.5", 1, -0.5f);
  with("options: scale 1, softcap nan", 1, kNan);
  with("options: scale 1, softcap inf", 1, kInfinity);
}

TEST_F(TensorProductErrors, ConvolutionShapesAreNamed) {
  const auto convolve = [&](const std::string& text, const Shape& x,
                            const Shape& weight, const Shape& bias,
                            const rc_conv2d_options& options) {
    expect(text, [&](rc_tensor** y) {
      return rc_op_conv2d(zeros(x), zeros(weight),
                          bias.empty() ? nullptr : zeros(bias), &options, y);
    });
  };
  rc_conv2d_options options = RC_CONV2D_OPTIONS_INIT;
  const char* needed = "x [batch, channels, height, width], weight [outputs,";
  const char* larger = "the window is empty, or larger than x with its padding";
  const char* groups = " groups the channels of x are those of the weight";
  convolve(kTaken, {1, 2, 4, 4}, {3, 2, 4, 4}, {3}, options);
  convolve(needed, {2, 4, 4}, {3, 2, 4, 4}, {}, options);
  convolve(needed, {1, 2, 4, 4}, {3, 2, 4}, {}, options);
  convolve(needed, {1, 2, 4, 4}, {3, 2, 4, 4}, {2}, options);
  convolve(needed, {1, 2, 4, 4}, {3, 2, 4, 4}, {1, 3}, options);
  convolve(larger, {1, 2, 4, 4}, {3, 2, 5, 4}, {}, options);
  convolve(larger, {1, 2, 4, 4}, {3, 2, 4, 5}, {}, options);
  convolve(larger, {1, 2, 4, 4}, {3, 2, 0, 4}, {}, options);
  convolve(groups, {1, 2, 4, 4}, {3, 1, 2, 2}, {}, options);
  options.padding[1] = 1;
  convolve(kTaken, {1, 2, 4, 4}, {3, 2, 4, 6}, {}, options);
  convolve("larger than x with its padding of 1", {1, 2, 4, 4}, {3, 2, 4, 7},
           {}, options);
  options.padding[1] = 0;
  options.dilation[0] = 3;
  convolve(kTaken, {1, 2, 4, 4}, {3, 2, 2, 4}, {}, options);
  options.dilation[0] = 4;
  convolve(larger, {1, 2, 4, 4}, {3, 2, 2, 4}, {}, options);
  options.dilation[0] = 1;
  options.groups = 2;
  convolve(kTaken, {1, 4, 2, 2}, {6, 2, 2, 2}, {}, options);
  convolve(groups, {1, 4, 2, 2}, {5, 2, 2, 2}, {}, options);
  convolve(groups, {1, 3, 2, 2}, {6, 1, 2, 2}, {}, options);
  convolve(groups, {1, 4, 2, 2}, {6, 4, 2, 2}, {}, options);
  options.groups = 0;
  convolve("options->groups: 0", {1, 4, 2, 2}, {6, 4, 2, 2}, {}, options);
  const auto with = [&](const std::string& text, int32_t stride,
                        int32_t dilation, int32_t padding) {
    for (const int i : {0, 1}) {
      rc_conv2d_options given = RC_CONV2D_OPTIONS_INIT;
      given.stride[i] = stride;
      given.dilation[i] = dilation;
      given.padding[i] = padding;
      convolve(text, {1, 1, 4, 4}, {1, 1, 2, 2}, {}, given);
    }
  };
  with(kTaken, 1, 1, 0);
  with("options: stride 0, dilation 1, padding 0", 0, 1, 0);
  with("options: stride 1, dilation 0, padding 0", 1, 0, 0);
  with("options: stride 1, dilation 1, padding -1", 1, 1, -1);
}

}  // namespace
}  // namespace rc::test

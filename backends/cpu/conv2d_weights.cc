#include "cpu/conv2d_weights.h"

#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// Numbers of a window that are packed at a time.
constexpr int64_t kPackedAtOnce = 256;

}  // namespace

Conv2dWeights::Conv2dWeights(Compiler& c, const Op& op,
                             const Conv2dSizes& sizes, int64_t width)
    : width_(width),
      blocks_((sizes.outputs + width - 1) / width),
      window_(sizes.window()),
      area_(c.own_area(op.inputs[1])) {
  const int64_t all = sizes.groups * blocks_;
  weights_ = reinterpret_cast<float*>(
      c.area_of(product(product(static_cast<uint64_t>(all), window_ + 1),
                        static_cast<uint64_t>(width) * sizeof(float))));
  biases_ = weights_ + all * window_ * width;
  const bool has_bias = op.inputs[2] >= 0;
  const Place weight = c.place(op.inputs[1]);
  const Place bias = has_bias ? c.place(op.inputs[2]) : Place{};
  std::vector<Area> reads = {c.area(op.inputs[1])};
  if (has_bias) reads.push_back(c.area(op.inputs[2]));
  const int64_t stretches = (window_ + kPackedAtOnce - 1) / kPackedAtOnce;
  c.add(
      std::move(reads), {area_},
      [=, window = window_](const Run&) {
        return sizes.groups * sizes.outputs * window * 2;
      },
      [=](const Run&) { return all * stretches; },
      [=, packed = *this](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t block = unit / stretches;
          const Part part(packed.window_, static_cast<int>(unit % stretches),
                          static_cast<int>(stretches));
          const int64_t group = block / packed.blocks_;
          const int64_t first = block % packed.blocks_ * width;
          const int64_t there = std::min(width, sizes.outputs - first);
          const int64_t output = group * sizes.outputs + first;
          float* to =
              packed.weights_ + (block * packed.window_ + part.begin) * width;
          run.kernels.transpose(run.at<const float>(weight) +
                                    output * packed.window_ + part.begin,
                                packed.window_, there, part.end - part.begin,
                                to, width);
          for (int64_t i = part.begin; i < part.end; ++i, to += width) {
            std::fill(to + there, to + width, 0.0f);
          }
          if (part.begin > 0) return;
          float* biases = packed.biases_ + block * width;
          std::fill_n(biases, width, 0.0f);
          if (has_bias) {
            std::copy_n(run.at<const float>(bias) + output, there, biases);
          }
        });
      });
}

}  // namespace rc::cpu

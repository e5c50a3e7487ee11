// The weight of a convolution as kernels take it: blocks of some outputs.
#pragma once

#include "cpu/conv2d_sizes.h"

namespace rc::cpu {

class Conv2dWeights {
 public:
  // Adds the step that packs it, for blocks of `width` outputs.
  Conv2dWeights(Compiler& c, const Op& op, const Conv2dSizes& sizes,
                int64_t width);

  int64_t blocks() const { return blocks_; }  // of a group
  Area area() const { return area_; }
  // Those of a block: [window, width]. Outputs that there are not are 0.
  const float* weights(int64_t group, int64_t block) const {
    return weights_ + (group * blocks_ + block) * window_ * width_;
  }
  const float* bias(int64_t group, int64_t block) const {
    return biases_ + (group * blocks_ + block) * width_;
  }

 private:
  int64_t width_, blocks_, window_;
  Area area_;
  float* weights_;
  float* biases_;
};

}  // namespace rc::cpu

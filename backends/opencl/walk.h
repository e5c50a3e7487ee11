// How a kernel goes over all elements of a tensor: see walk.cl.
#pragma once

#include <array>
#include <vector>

#include "opencl/api.h"
#include "opencl/step.h"
#include "opencl/tuning.h"

namespace rc::opencl {

// Distances from element to element, by dimension.
using Strides = std::array<int64_t, RC_PLUGIN_MAX_RANK>;

// Those of an operand of BINARY: 0 along dimensions that are repeated.
Strides broadcast_strides(const rc_plugin_value& operand,
                          const rc_plugin_value& output);

// Gives it so many rows, whatever the run.
void set_rows(int64_t rows, Step* step);

// Over rows of `items` work-items each, which take about `work` multiply-adds;
// short rows share a group. There may be more items and rows than asked for.
Step shared_step(Kernel kernel, int64_t rows, int64_t items, double work,
                 const Tuning& tuning);

class Walk {
 public:
  // Over `rank` dimensions, slowest first; of each operand the distances.
  // Neighbouring dimensions that every operand walks along as along one are
  // joined to one, so that rows are long.
  Walk(const int64_t* shape, int rank, std::vector<Strides> strides);

  cl_long4 sizes() const { return four(sizes_); }
  cl_long4 strides(size_t operand) const { return four(strides_[operand]); }

  // What the kernels are compiled with.
  static std::string definitions();
  // Of a kernel whose work-items take `lanes` elements.
  Step step(Kernel kernel, const Tuning& tuning, int lanes) const;

 private:
  static cl_long4 four(const Strides& numbers);

  Strides sizes_ = {1, 1, 1, 1};
  std::vector<Strides> strides_;
};

}  // namespace rc::opencl

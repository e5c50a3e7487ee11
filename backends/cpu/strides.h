// Walking tensors of up to four dimensions line by line of the last one.
#pragma once

#include <cstdint>

#include "runcible/plugin.h"

namespace rc::cpu {

// `inputs` tensors that are read for each element of one shape.
template <int inputs>
struct Strided {
  explicit Strided(int rank) : rank(rank) {}

  int rank;
  int64_t sizes[RC_PLUGIN_MAX_RANK] = {};
  int64_t strides[inputs][RC_PLUGIN_MAX_RANK] = {};

  // Makes one of two neighbouring dimensions wherever all inputs go on without
  // a gap, so that lines are as long as they can be.
  void merge() {
    int kept = 0;
    for (int i = 1; i < rank; ++i) {
      bool joins = true;
      for (int k = 0; k < inputs; ++k) {
        joins = joins && (sizes[kept] == 1 || sizes[i] == 1 ||
                          strides[k][kept] == strides[k][i] * sizes[i]);
      }
      if (!joins) ++kept;
      for (int k = 0; k < inputs; ++k) {
        // A dimension of 1 says nothing about distances.
        if (!joins || sizes[i] != 1) strides[k][kept] = strides[k][i];
      }
      sizes[kept] = joins ? sizes[kept] * sizes[i] : sizes[i];
    }
    rank = kept + 1;
  }

  int64_t columns() const { return sizes[rank - 1]; }
  int64_t lines() const {
    int64_t count = 1;
    for (int i = 0; i + 1 < rank; ++i) count *= sizes[i];
    return count;
  }
  // Where a line begins, and the distance from element to element in it.
  int64_t offset(int input, int64_t line) const {
    int64_t offset = 0;
    for (int i = rank - 2; i >= 0; --i) {
      offset += line % sizes[i] * strides[input][i];
      line /= sizes[i];
    }
    return offset;
  }
  int64_t step(int input) const { return strides[input][rank - 1]; }
};

}  // namespace rc::cpu

// The matrix whose columns are what pixels see, of which panels are packed for
// the kernels that multiply.
#pragma once

#include "cpu/conv2d_sizes.h"
#include "cpu/kernels.h"

namespace rc::cpu {

class Conv2dPanels {
  static constexpr int64_t kMostTaps = 49;
  static constexpr int64_t kLeastWidth = 7;
  static constexpr int kLanes = 16;
  static constexpr int kVectors = kProductColumns / kLanes;
  static constexpr int kMostLoads = 4;  // of rows of kLeastWidth pixels

 public:
  // Adds the step that copies x, where that is needed.
  Conv2dPanels(Compiler& c, const Op& op, const Conv2dSizes& sizes);

  Area reads() const { return reads_; }

  // Whether so many columns need no panel: rows of x are rows of the matrix.
  bool lie_there(int columns) const {
    return sizes_.kh == 1 && sizes_.kw == 1 && sizes_.height == 1 &&
           sizes_.width == sizes_.ow && !sizes_.needs_copy() &&
           columns % kLanes == 0;
  }
  // The input of an image, or of a group of one.
  const float* input(const Run& run, int64_t image) const {
    return (copy_ != nullptr ? copy_ : run.at<const float>(x_)) +
           image * sizes_.channels * plane();
  }

  // Of some columns: those of the pixels of an image from one on.
  class Panel {
   public:
    // At most kProductColumns; `to` has room for 16 floats after the rows that
    // are made at a time.
    Panel(const Conv2dPanels& of, const Run& run, int64_t image, int64_t pixel,
          int columns, float* to);
    // Puts rows from `first` on there.
    void make(int64_t first, int64_t rows);

   private:
    void find_loads();
    void find_pieces();

    const Conv2dPanels& of_;
    const Kernels& kernels_;
    const float* const x_;  // of the image
    float* const to_;
    const int64_t pixel_;
    const int columns_;
    PanelPiece pieces_[kProductColumns];
    TapLoad loads_[kMostTaps * kVectors * kMostLoads];
    TapTask taps_;
    PanelTask panel_;
  };

 private:
  // The way in which the windows of pixels get into a panel.
  enum class Way {
    kTaps,    // from x, by kernels that leave lanes out
    kPieces,  // from x or a copy with its padding, by the others
    kPick     // from x, number by number: a copy would be too large
  };

  // From channel to channel of what is read.
  int64_t plane() const {
    return way_ == Way::kPieces ? sizes_.plane() : sizes_.height * sizes_.width;
  }

  const Conv2dSizes sizes_;
  Way way_;
  const float* copy_ = nullptr;  // NULL: x itself
  const int64_t* offsets_ = nullptr;
  Place x_;
  Area reads_;
};

}  // namespace rc::cpu

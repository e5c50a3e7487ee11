// Sums of many doubles.
#pragma once

#include <cmath>

namespace rc {

// A sum of doubles with what each addition has rounded away (Ogita, Rump and
// Oishi 2005, "Accurate sum and dot product", Sum2).
class LongSum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    const double added = next - sum_;
    lost_ += (sum_ - (next - added)) + (x - added);
    sum_ = next;
  }
  void add(const LongSum& other) {
    add(other.sum_);
    lost_ += other.lost_;
  }
  // A sum that is infinite or NaN has lost nothing.
  double rounded() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace rc

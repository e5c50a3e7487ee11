// Means of what is measured once for each token or question, with the errors
// that follow from how far the measurements differ.
#pragma once

#include <cmath>
#include <cstdint>

namespace rc::engine {

// Welford's way (1962, Technometrics 4): no two large sums are subtracted.
class Mean {
 public:
  void add(double value) {
    ++count_;
    const double off = value - mean_;
    mean_ += off / static_cast<double>(count_);
    squares_ += off * (value - mean_);
  }
  int64_t count() const { return count_; }
  double value() const { return mean_; }
  // The standard error of the mean: the square root of the variance of the
  // measurements over their number; 0 for fewer than two.
  double error() const {
    if (count_ < 2) return 0.0;
    const auto n = static_cast<double>(count_);
    return std::sqrt(squares_ / (n * (n - 1.0)));
  }

 private:
  int64_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;  // of the distances to the mean
};

struct Measured {
  double value = 0.0;
  double error = 0.0;  // one standard error
};

inline Measured measured(const Mean& mean) {
  return {mean.value(), mean.error()};
}

}  // namespace rc::engine

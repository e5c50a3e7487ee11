// The progress of searching for devices and opening one, for a caller that may
// cancel it.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "base/error.h"

namespace rc::runtime {

class SearchProgress {
 public:
  // Gets the fraction done, 0 to 1, of which modules are the first half; false
  // wants an end.
  using Report = std::function<bool(double)>;

  SearchProgress() = default;
  explicit SearchProgress(Report report) : report_(std::move(report)) {}

  // Throws RC_E_CANCELLED if the caller wants an end. So do the others.
  void reached(double fraction) {
    fraction_ = fraction;
    waiting();
  }
  void reached_modules(size_t done, size_t all) {
    reached(0.5 * static_cast<double>(done) / static_cast<double>(all));
  }
  void reached_devices(size_t done, size_t all) {
    reached(0.5 + 0.5 * static_cast<double>(done) / static_cast<double>(all));
  }
  // While nothing new is done.
  void waiting() const {
    if (report_ && !report_(fraction_)) {
      fail(RC_E_CANCELLED, "looking for devices was cancelled");
    }
  }

 private:
  Report report_;
  double fraction_ = 0;
};

}  // namespace rc::runtime

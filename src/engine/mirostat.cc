#include "engine/mirostat.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "engine/logit.h"

namespace rc::engine {
namespace {

// Exponents within the range of a double.
double bounded_exp(double x) {
  return portable_exp(std::clamp(x, -700.0, 700.0));
}

}  // namespace

// Algorithm 1 of the paper; k = (eps * 2^mu / (1 - N^-eps))^(1/s).
size_t Mirostat::count(std::span<const double> best, size_t vocabulary) const {
  double products = 0.0;
  double squares = 0.0;
  const size_t count = std::min(best.size(), looked_at());
  for (size_t i = 0; i + 1 < count; ++i) {
    const double t =
        portable_log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products += t * (best[i] - best[i + 1]);
    squares += t * t;
  }
  if (squares == 0.0) return 1;
  const double s = products / squares;
  // Equal probabilities: all that surprise allows.
  if (!(s > 1e-6)) {
    const double all = bounded_exp(most_ * kLn2);
    return static_cast<size_t>(
        std::clamp(all, 1.0, static_cast<double>(vocabulary)));
  }
  const double eps = s - 1.0;
  const double log_n = portable_log(static_cast<double>(vocabulary));
  const double divisor = 1.0 - bounded_exp(-eps * log_n);
  // Where the exponent is 1 the quotient has a limit.
  const double quotient =
      std::abs(eps) < 1e-9 || divisor == 0.0 ? 1.0 / log_n : eps / divisor;
  const double log_k = (portable_log(quotient) + most_ * kLn2) / s;
  const double k = std::floor(bounded_exp(log_k) + 0.5);
  return static_cast<size_t>(
      std::clamp(k, 1.0, static_cast<double>(vocabulary)));
}

}  // namespace rc::engine

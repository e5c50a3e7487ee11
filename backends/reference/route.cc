#include <algorithm>
#include <cmath>

#include "reference/ops.h"

namespace rc::reference {

void route(const Call& call) {
  const Tensor& x = call.inputs[0];
  int32_t* ids = reinterpret_cast<int32_t*>(call.outputs[0].data);
  float* weights = call.outputs[1].floats();
  const int64_t experts = x.columns();
  const int64_t chosen = call.outputs[0].columns();
  std::vector<double> p(experts);
  std::vector<bool> taken(experts);
  for (int64_t r = 0; r < x.rows(); ++r) {
    call.check_stop();
    const float* from = x.floats() + r * experts;
    const double largest = *std::max_element(from, from + experts);
    double total = 0;
    for (int64_t e = 0; e < experts; ++e) {
      p[e] = std::exp(from[e] - largest);
      total += p[e];
    }
    for (double& probability : p) probability /= total;

    std::fill(taken.begin(), taken.end(), false);
    double sum = 0;
    for (int64_t c = 0; c < chosen; ++c) {
      // Begins with an expert that is free, so that NaNs too give a valid
      // number.
      int64_t best =
          std::find(taken.begin(), taken.end(), false) - taken.begin();
      for (int64_t e = best + 1; e < experts; ++e) {
        if (!taken[e] && p[e] > p[best]) best = e;
      }
      taken[best] = true;
      ids[r * chosen + c] = static_cast<int32_t>(best);
      weights[r * chosen + c] = static_cast<float>(p[best]);
      sum += p[best];
    }
    if (call.op.params.route.normalize == 0) continue;
    for (int64_t c = 0; c < chosen; ++c) {
      const int64_t i = r * chosen + c;
      weights[i] = static_cast<float>(p[ids[i]] / sum);
    }
  }
}

void choose(const Call& call) {
  const Tensor& x = call.inputs[0];
  const float* bias = call.inputs[1].floats();
  int32_t* ids = reinterpret_cast<int32_t*>(call.outputs[0].data);
  float* weights = call.outputs[1].floats();
  const auto& params = call.op.params.choose;
  const int64_t experts = x.columns();
  const int64_t chosen = call.outputs[0].columns();
  std::vector<double> p(experts);
  std::vector<bool> taken(experts);
  for (int64_t r = 0; r < x.rows(); ++r) {
    call.check_stop();
    const float* from = x.floats() + r * experts;
    const double largest = *std::max_element(from, from + experts);
    double total = 0;
    for (int64_t e = 0; e < experts; ++e) {
      p[e] = params.score == RC_SCORE_SIGMOID
                 ? 1 / (1 + std::exp(-static_cast<double>(from[e])))
                 : std::exp(from[e] - largest);
      total += p[e];
    }
    if (params.score == RC_SCORE_SOFTMAX) {
      for (double& probability : p) probability /= total;
    }

    std::fill(taken.begin(), taken.end(), false);
    double sum = 0;
    for (int64_t c = 0; c < chosen; ++c) {
      int64_t best =
          std::find(taken.begin(), taken.end(), false) - taken.begin();
      for (int64_t e = best + 1; e < experts; ++e) {
        if (!taken[e] && p[e] + bias[e] > p[best] + bias[best]) best = e;
      }
      taken[best] = true;
      ids[r * chosen + c] = static_cast<int32_t>(best);
      sum += p[best];
    }
    for (int64_t c = 0; c < chosen; ++c) {
      const int64_t i = r * chosen + c;
      weights[i] = static_cast<float>(params.normalize != 0 ? p[ids[i]] / sum
                                                            : p[ids[i]]);
    }
  }
}

void sparse_mix(const Call& call) {
  const Tensor& x = call.inputs[0];
  int32_t* ids = reinterpret_cast<int32_t*>(call.outputs[0].data);
  float* weights = call.outputs[1].floats();
  const double margin = call.op.params.sparse_mix.margin;
  const int64_t experts = x.columns();
  const int64_t chosen = call.outputs[0].columns();
  std::vector<bool> taken(experts);
  for (int64_t r = 0; r < x.rows(); ++r) {
    call.check_stop();
    const float* from = x.floats() + r * experts;
    std::fill(taken.begin(), taken.end(), false);
    for (int64_t c = 0; c < chosen; ++c) {
      int64_t best =
          std::find(taken.begin(), taken.end(), false) - taken.begin();
      for (int64_t e = best + 1; e < experts; ++e) {
        if (!taken[e] && from[e] > from[best]) best = e;
      }
      const double largest = from[best];
      double total = 0;
      for (int64_t e = 0; e < experts; ++e) {
        const double scale = std::max(std::abs(double{from[e]}), largest);
        const bool far = largest - from[e] > margin * scale;
        if (!taken[e] && !far) total += std::exp(from[e] - largest);
      }
      taken[best] = true;
      ids[r * chosen + c] = static_cast<int32_t>(best);
      weights[r * chosen + c] = static_cast<float>(1 / total);
    }
  }
}

}  // namespace rc::reference

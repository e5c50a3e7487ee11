#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "reference/ops.h"

namespace rc::reference {
namespace {

struct Groups {
  int64_t count = 1;
  int64_t used = 1;
  int best = 1;  // experts of a group whose scores are its own
};

// Marks as taken what no chosen group has; `orders` are the scores.
void leave_groups(const Groups& groups, const std::vector<double>& orders,
                  std::vector<bool>& taken) {
  const int64_t each = static_cast<int64_t>(orders.size()) / groups.count;
  std::vector<double> scores;
  for (int64_t g = 0; g < groups.count; ++g) {
    std::vector<double> sorted(orders.begin() + g * each,
                               orders.begin() + (g + 1) * each);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    scores.push_back(groups.best == 2 ? sorted[0] + sorted[1] : sorted[0]);
  }
  std::fill(taken.begin(), taken.end(), true);
  for (int64_t u = 0; u < groups.used; ++u) {
    int64_t best = -1;
    for (int64_t g = 0; g < groups.count; ++g) {
      if (!taken[g * each]) continue;
      if (best < 0 || scores[g] > scores[best]) best = g;
    }
    std::fill_n(taken.begin() + best * each, each, false);
  }
}

void choose_among(const Call& call, int32_t score, bool normalize,
                  const Groups& groups) {
  const Tensor& x = call.inputs[0];
  const Tensor& bias = call.inputs[1];
  int32_t* ids = reinterpret_cast<int32_t*>(call.outputs[0].data);
  float* weights = call.outputs[1].floats();
  const int64_t experts = x.columns();
  const int64_t chosen = call.outputs[0].columns();
  std::vector<double> p(experts);
  std::vector<double> orders(experts);
  std::vector<bool> taken(experts);
  for (int64_t r = 0; r < x.rows(); ++r) {
    call.check_stop();
    const float* from = x.floats() + r * experts;
    const double largest = *std::max_element(from, from + experts);
    double total = 0;
    for (int64_t e = 0; e < experts; ++e) {
      p[e] = score == RC_SCORE_SIGMOID
                 ? 1 / (1 + std::exp(-static_cast<double>(from[e])))
                 : std::exp(from[e] - largest);
      total += p[e];
    }
    for (int64_t e = 0; e < experts; ++e) {
      if (score == RC_SCORE_SOFTMAX) p[e] /= total;
      orders[e] = p[e] + (bias ? bias.floats()[e] : 0);
      // Sorting needs an order; NaN comes last.
      if (std::isnan(orders[e])) orders[e] = -HUGE_VAL;
    }

    std::fill(taken.begin(), taken.end(), false);
    if (groups.used < groups.count) leave_groups(groups, orders, taken);
    double sum = 0;
    for (int64_t c = 0; c < chosen; ++c) {
      int64_t best =
          std::find(taken.begin(), taken.end(), false) - taken.begin();
      for (int64_t e = best + 1; e < experts; ++e) {
        if (!taken[e] && orders[e] > orders[best]) best = e;
      }
      taken[best] = true;
      ids[r * chosen + c] = static_cast<int32_t>(best);
      sum += p[best];
    }
    for (int64_t c = 0; c < chosen; ++c) {
      const int64_t i = r * chosen + c;
      weights[i] = static_cast<float>(normalize ? p[ids[i]] / sum : p[ids[i]]);
    }
  }
}

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
  const auto& params = call.op.params.choose;
  choose_among(call, params.score, params.normalize != 0, {});
}

void choose_in_groups(const Call& call) {
  const auto& params = call.op.params.choose_in_groups;
  choose_among(call, params.score, params.normalize != 0,
               {params.groups, params.groups_used, params.best});
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

}  // namespace

std::span<const OpRow> route_ops() {
  static constexpr OpRow kOps[] = {{RC_OP_ROUTE, route},
                                   {RC_OP_CHOOSE, choose},
                                   {RC_OP_CHOOSE_IN_GROUPS, choose_in_groups},
                                   {RC_OP_SPARSE_MIX, sparse_mix}};
  return kOps;
}

}  // namespace rc::reference

// CHOOSE and SPARSE_MIX: experts by their score and a bias, or one after
// another.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/compiler.h"

namespace rc::cpu {
namespace {

// The scores of one row; see RC_OP_CHOOSE.
void score_experts(const float* x, int64_t experts, int32_t score, double* p) {
  if (score == RC_SCORE_SIGMOID) {
    for (int64_t e = 0; e < experts; ++e) {
      p[e] = 1.0 / (1.0 + std::exp(-static_cast<double>(x[e])));
    }
    return;
  }
  const double most = *std::max_element(x, x + experts);
  double total = 0;
  for (int64_t e = 0; e < experts; ++e) {
    p[e] = std::exp(x[e] - most);
    total += p[e];
  }
  for (int64_t e = 0; e < experts; ++e) p[e] /= total;
}

// One row of SPARSE_MIX. Of `left` an expert that is chosen is taken away by
// -infinity.
void mix_row(const float* x, int64_t experts, int64_t k, double margin,
             double* left, int32_t* ids, float* weights) {
  constexpr double kTaken = -std::numeric_limits<double>::infinity();
  // So that what is no number is chosen last, but is a valid choice.
  constexpr double kLeast = std::numeric_limits<double>::lowest();
  for (int64_t e = 0; e < experts; ++e) {
    left[e] = x[e] > kLeast ? x[e] : kLeast;
  }
  for (int64_t i = 0; i < k; ++i) {
    const int64_t best = std::max_element(left, left + experts) - left;
    const double most = left[best];
    double total = 0;
    for (int64_t e = 0; e < experts; ++e) {
      const bool far =
          most - left[e] > margin * std::max(std::abs(left[e]), most);
      if (left[e] != kTaken && !far) total += std::exp(left[e] - most);
    }
    left[best] = kTaken;
    ids[i] = static_cast<int32_t>(best);
    weights[i] = static_cast<float>(1.0 / total);
  }
}

}  // namespace

// The scores of a row; of SPARSE_MIX those that are not chosen yet.
uint64_t choose_scratch(const Compiler& c, const Op& op) {
  return product(static_cast<uint64_t>(c.columns(op.inputs[0])),
                 sizeof(double));
}

void compile_choose(Compiler& c, const Op& op) {
  const auto params = op.params.choose;
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t experts = c.columns(op.inputs[0]);
  const int64_t k = c.columns(op.outputs[0]);
  const float* bias = c.elements(op.inputs[1]);
  const Place x = c.place(op.inputs[0]);
  const Place ids = c.place(op.outputs[0]);
  const Place weights = c.place(op.outputs[1]);
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0]), c.area(op.outputs[1])},
      [=](const Run& run) { return run.rows(dimension) * experts * (20 + k); },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        auto* p = scratch.of<double>(share.thread);
        const float* from = run.at<const float>(x);
        int32_t* id = run.at<int32_t>(ids);
        float* weight = run.at<float>(weights);
        run.each_row(share, [&](int64_t r) {
          score_experts(from + r * experts, experts, params.score, p);
          const int32_t* before = id + r * k;
          double sum = 0;
          for (int64_t i = 0; i < k; ++i) {
            int64_t best = -1;
            for (int64_t e = 0; e < experts; ++e) {
              if (std::find(before, before + i, e) != before + i) continue;
              if (best < 0 || p[e] + bias[e] > p[best] + bias[best]) best = e;
            }
            id[r * k + i] = static_cast<int32_t>(best);
            sum += p[best];
          }
          for (int64_t i = 0; i < k; ++i) {
            const double share_of = p[before[i]];
            weight[r * k + i] = static_cast<float>(
                params.normalize != 0 ? share_of / sum : share_of);
          }
        });
      });
}

void compile_sparse_mix(Compiler& c, const Op& op) {
  const double margin = op.params.sparse_mix.margin;
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t experts = c.columns(op.inputs[0]);
  const int64_t k = c.columns(op.outputs[0]);
  const Place x = c.place(op.inputs[0]);
  const Place ids = c.place(op.outputs[0]);
  const Place weights = c.place(op.outputs[1]);
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0]), c.area(op.outputs[1])},
      [=](const Run& run) { return run.rows(dimension) * experts * (20 * k); },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t r) {
          mix_row(run.at<const float>(x) + r * experts, experts, k, margin,
                  scratch.of<double>(share.thread),
                  run.at<int32_t>(ids) + r * k, run.at<float>(weights) + r * k);
        });
      });
}

}  // namespace rc::cpu

// The choice of experts: ROUTE by their score, CHOOSE and CHOOSE_IN_GROUPS by
// score and bias, SPARSE_MIX one after another; and EXPERT_SUM of their
// results.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cpu/chunks.h"
#include "cpu/compiler.h"
#include "cpu/kernels.h"

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
  // A NaN is chosen last, but is a valid choice.
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

// The parameters of CHOOSE_IN_GROUPS beyond those of CHOOSE.
struct ExpertGroups {
  int64_t count = 1;
  int64_t used = 1;
  int32_t best = 1;
};

// Lowers the orders of the experts of all groups but the best ones below all
// others; see RC_OP_CHOOSE_IN_GROUPS.
void leave_expert_groups(const ExpertGroups& groups, int64_t experts,
                         double* orders, double* scores) {
  const int64_t each = experts / groups.count;
  for (int64_t g = 0; g < groups.count; ++g) {
    double first = -HUGE_VAL;
    double second = -HUGE_VAL;
    for (int64_t e = g * each; e < (g + 1) * each; ++e) {
      if (orders[e] > first) {
        second = std::exchange(first, orders[e]);
      } else {
        second = std::max(second, orders[e]);
      }
    }
    scores[g] = groups.best == 2 ? first + second : first;
  }
  for (int64_t g = 0; g < groups.count; ++g) {
    int64_t better = 0;
    for (int64_t o = 0; o < groups.count; ++o) {
      if (scores[o] > scores[g] || (scores[o] == scores[g] && o < g)) ++better;
    }
    if (better >= groups.used) {
      std::fill_n(orders + g * each, each, std::nan(""));
    }
  }
}

// The scores of a row and their orders, and the scores of groups; of SPARSE_MIX
// those that are not chosen yet.
uint64_t choose_scratch(const Compiler& c, const Op& op) {
  return product(static_cast<uint64_t>(c.columns(op.inputs[0])),
                 3 * sizeof(double));
}

void compile_choose(Compiler& c, const Op& op) {
  const auto& grouped = op.params.choose_in_groups;
  const bool in_groups = op.code == RC_OP_CHOOSE_IN_GROUPS;
  const int32_t kind = in_groups ? grouped.score : op.params.choose.score;
  const bool normalize =
      (in_groups ? grouped.normalize : op.params.choose.normalize) != 0;
  const ExpertGroups groups =
      in_groups
          ? ExpertGroups{grouped.groups, grouped.groups_used, grouped.best}
          : ExpertGroups{};
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t experts = c.columns(op.inputs[0]);
  const int64_t k = c.columns(op.outputs[0]);
  const float* bias = op.inputs[1] < 0 ? nullptr : c.elements(op.inputs[1]);
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
        double* orders = p + experts;
        const float* from = run.at<const float>(x);
        int32_t* id = run.at<int32_t>(ids);
        float* weight = run.at<float>(weights);
        run.each_row(share, [&](int64_t r) {
          score_experts(from + r * experts, experts, kind, p);
          // NaN is chosen last.
          for (int64_t e = 0; e < experts; ++e) {
            const double order = p[e] + (bias != nullptr ? bias[e] : 0);
            orders[e] = std::isnan(order) ? -HUGE_VAL : order;
          }
          if (groups.used < groups.count) {
            leave_expert_groups(groups, experts, orders, orders + experts);
          }
          const int32_t* before = id + r * k;
          double sum = 0;
          for (int64_t i = 0; i < k; ++i) {
            int64_t best = -1;
            for (int64_t e = 0; e < experts; ++e) {
              // Of a group that is not used.
              if (std::isnan(orders[e])) continue;
              if (std::find(before, before + i, e) != before + i) continue;
              if (best < 0 || orders[e] > orders[best]) best = e;
            }
            id[r * k + i] = static_cast<int32_t>(best);
            sum += p[best];
          }
          for (int64_t i = 0; i < k; ++i) {
            const double share_of = p[before[i]];
            weight[r * k + i] =
                static_cast<float>(normalize ? share_of / sum : share_of);
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

void compile_route(Compiler& c, const Op& op) {
  const bool normalize = op.params.route.normalize != 0;
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t experts = c.columns(op.inputs[0]);
  const int64_t k = c.columns(op.outputs[0]);
  const Place x = c.place(op.inputs[0]);
  const Place ids = c.place(op.outputs[0]);
  const Place weights = c.place(op.outputs[1]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0]), c.area(op.outputs[1])},
      [=](const Run& run) { return run.rows(dimension) * experts * (20 + k); },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        int32_t* id = run.at<int32_t>(ids);
        float* weight = run.at<float>(weights);
        run.each_row(share, [&](int64_t r) {
          const float* row = from + r * experts;
          const double most = *std::max_element(row, row + experts);
          double total = 0;
          for (int64_t e = 0; e < experts; ++e) {
            total += std::exp(row[e] - most);
          }
          double chosen = 0;
          for (int64_t i = 0; i < k; ++i) {
            const int32_t* before = id + r * k;
            int64_t best = -1;
            for (int64_t e = 0; e < experts; ++e) {
              if (std::find(before, before + i, e) != before + i) continue;
              if (best < 0 || row[e] > row[best]) best = e;
            }
            const double p = std::exp(row[best] - most) / total;
            chosen += p;
            id[r * k + i] = static_cast<int32_t>(best);
            weight[r * k + i] = static_cast<float>(p);
          }
          for (int64_t i = 0; normalize && i < k; ++i) {
            weight[r * k + i] = static_cast<float>(weight[r * k + i] / chosen);
          }
        });
      });
}

void compile_expert_sum(Compiler& c, const Op& op) {
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t k = value.shape[1];
  const int64_t n = value.shape[2];
  const Place x = c.place(op.inputs[0]);
  const Place weights = c.place(op.inputs[1]);
  add_chunks(c, {c.area(op.inputs[0]), c.area(op.inputs[1])}, op.outputs[0],
             {nullptr, ActivationForm::kFloats, true},
             {value.shape[0], n, n, k},
             [=](Run& run, int, int64_t at, int64_t, float* y, uint8_t*) {
               run.kernels.weighted_sum(
                   run.at<const float>(x) + at * k,
                   run.at<const float>(weights) + at / n * k, k, n, y);
             });
}

}  // namespace

std::span<const OpRow> choose_ops() {
  static constexpr OpRow kOps[] = {
      {.code = RC_OP_ROUTE, .form = OpRow::kOnRows, .compile = compile_route},
      {.code = RC_OP_EXPERT_SUM,
       .form = OpRow::kOnRows,
       .compile = compile_expert_sum},
      {.code = RC_OP_CHOOSE,
       .form = OpRow::kOnRows,
       .compile = compile_choose,
       .scratch = choose_scratch},
      {.code = RC_OP_CHOOSE_IN_GROUPS,
       .form = OpRow::kOnRows,
       .compile = compile_choose,
       .scratch = choose_scratch},
      {.code = RC_OP_SPARSE_MIX,
       .form = OpRow::kOnRows,
       .compile = compile_sparse_mix,
       .scratch = choose_scratch}};
  return kOps;
}

}  // namespace rc::cpu

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

void run_route(int64_t rows, int64_t experts, int64_t k, bool normalize,
               const Data& x) {
  OpTest test("ROUTE", normalize ? "normalized" : "", {rows, 0, 0});
  std::vector<double> ids;
  std::vector<double> weights;
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = x.values.begin() + r * experts;
    std::vector<int64_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return row[a] > row[b]; });
    double total = 0;
    for (int64_t e = 0; e < experts; ++e) total += std::exp(row[e]);
    double chosen = 0;
    for (int64_t c = 0; c < k; ++c) chosen += std::exp(row[order[c]]);
    for (int64_t c = 0; c < k; ++c) {
      ids.push_back(static_cast<double>(order[c]));
      weights.push_back(std::exp(row[order[c]]) / (normalize ? chosen : total));
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, experts}, x);
  const auto route = test.builder.route(xv, k, normalize);
  test.expect(route.ids, ids);
  test.expect(route.weights, weights);
  test.run(kF32Tolerance);
}

// The same by a score and a bias.
void run_choice(int64_t rows, int64_t experts, int64_t k, int score,
                bool normalize, const Data& x, const Data& bias) {
  const bool sigmoid = score == RC_SCORE_SIGMOID;
  OpTest test("CHOOSE", sigmoid ? "sigmoid" : "softmax", {rows, 0, 0});
  std::vector<double> ids;
  std::vector<double> weights;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> p(experts);
    double total = 0;
    for (int64_t e = 0; e < experts; ++e) {
      const double one = x.values[r * experts + e];
      p[e] = sigmoid ? 1 / (1 + std::exp(-one)) : std::exp(one);
      total += p[e];
    }
    for (double& one : p) one = sigmoid ? one : one / total;
    std::vector<int64_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return p[a] + bias.values[a] > p[b] + bias.values[b];
    });
    double chosen = 0;
    for (int64_t c = 0; c < k; ++c) chosen += p[order[c]];
    for (int64_t c = 0; c < k; ++c) {
      ids.push_back(static_cast<double>(order[c]));
      weights.push_back(p[order[c]] / (normalize ? chosen : 1.0));
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, experts}, x);
  const Value bv = test.weight(RC_DTYPE_F32, {experts}, RC_USE_ELEMENTS, bias);
  const auto choice = test.builder.choose(xv, bv, k, score, normalize);
  test.expect(choice.ids, ids);
  test.expect(choice.weights, weights);
  test.run(kF32Tolerance);
}

TEST(Choose, OrdersByScoreAndBiasAndWeighsByScore) {
  for (const int score : {RC_SCORE_SOFTMAX, RC_SCORE_SIGMOID}) {
    for (const bool normalize : {false, true}) {
      run_choice(1, 1, 1, score, normalize, random_f32(1), random_f32(1));
      run_choice(3, 8, 2, score, normalize, random_f32(3 * 8), random_f32(8));
      run_choice(7, 127, 5, score, normalize, random_f32(7 * 127),
                 random_f32(127));
      run_choice(2, 5, 5, score, normalize, random_f32(2 * 5, 10),
                 random_f32(5));
    }
  }
}

// The same among the experts of the best groups. `bias` may be empty.
void run_in_groups(int64_t rows, int64_t experts, int64_t k, int score,
                   const runtime::ProgramBuilder::Groups& groups, const Data& x,
                   const Data& bias) {
  const bool sigmoid = score == RC_SCORE_SIGMOID;
  OpTest test("CHOOSE_IN_GROUPS", sigmoid ? "sigmoid" : "softmax",
              {rows, 0, 0});
  std::vector<double> ids;
  std::vector<double> weights;
  const int64_t each = experts / groups.count;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> p(experts);
    std::vector<double> sums(experts);
    double total = 0;
    for (int64_t e = 0; e < experts; ++e) {
      const double one = x.values[r * experts + e];
      p[e] = sigmoid ? 1 / (1 + std::exp(-one)) : std::exp(one);
      total += p[e];
    }
    for (int64_t e = 0; e < experts; ++e) {
      if (!sigmoid) p[e] /= total;
      sums[e] = p[e] + (bias.values.empty() ? 0 : bias.values[e]);
    }
    std::vector<double> of_group;
    for (int64_t g = 0; g < groups.count; ++g) {
      std::vector<double> sorted(sums.begin() + g * each,
                                 sums.begin() + (g + 1) * each);
      std::sort(sorted.rbegin(), sorted.rend());
      of_group.push_back(
          std::accumulate(sorted.begin(), sorted.begin() + groups.best, 0.0));
    }
    std::vector<int64_t> best(groups.count);
    std::iota(best.begin(), best.end(), 0);
    std::stable_sort(best.begin(), best.end(), [&](int64_t a, int64_t b) {
      return of_group[a] > of_group[b];
    });
    std::vector<int64_t> order;
    for (int64_t g = 0; g < groups.used; ++g) {
      for (int64_t i = 0; i < each; ++i) order.push_back(best[g] * each + i);
    }
    std::sort(order.begin(), order.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return sums[a] > sums[b]; });
    for (int64_t c = 0; c < k; ++c) {
      ids.push_back(static_cast<double>(order[c]));
      weights.push_back(p[order[c]]);
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, experts}, x);
  const Value bv = bias.values.empty() ? runtime::kAbsent
                                       : test.weight(RC_DTYPE_F32, {experts},
                                                     RC_USE_ELEMENTS, bias);
  const auto choice =
      test.builder.choose_in_groups(xv, bv, k, score, false, groups);
  test.expect(choice.ids, ids);
  test.expect(choice.weights, weights);
  test.run(kF32Tolerance);
}

// One after another, each by its share of those that are left and near.
void run_mix(int64_t rows, int64_t experts, int64_t k, double margin,
             const Data& x) {
  OpTest test("SPARSE_MIX", "", {rows, 0, 0});
  std::vector<double> ids;
  std::vector<double> weights;
  for (int64_t r = 0; r < rows; ++r) {
    const double* row = &x.values[r * experts];
    std::vector<int64_t> left(experts);
    std::iota(left.begin(), left.end(), 0);
    for (int64_t c = 0; c < k; ++c) {
      const auto best = std::max_element(
          left.begin(), left.end(),
          [&](int64_t a, int64_t b) { return row[a] < row[b]; });
      const double most = row[*best];
      double total = 0;
      for (const int64_t e : left) {
        const double size = std::max(std::abs(row[e]), most);
        if ((most - row[e]) / size <= margin) total += std::exp(row[e] - most);
      }
      ids.push_back(static_cast<double>(*best));
      weights.push_back(1 / total);
      left.erase(best);
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, experts}, x);
  Op op = {.code = RC_OP_SPARSE_MIX};
  op.params.sparse_mix.margin = static_cast<float>(margin);
  const std::vector<Value> chosen = test.builder.append(op, {xv}, {{"k", k}});
  test.expect(chosen[0], ids);
  test.expect(chosen[1], weights);
  test.run(kF32Tolerance);
}

TEST(Choose, ChoosesWithinGroups) {
  for (const int score : {RC_SCORE_SOFTMAX, RC_SCORE_SIGMOID}) {
    run_in_groups(3, 8, 2, score, {1, 1, 1}, random_f32(3 * 8), {});
    run_in_groups(5, 12, 3, score, {4, 2, 1}, random_f32(5 * 12), {});
    run_in_groups(5, 64, 6, score, {8, 3, 2}, random_f32(5 * 64),
                  random_f32(64));
    run_in_groups(2, 160, 6, score, {8, 3, 1}, random_f32(2 * 160),
                  random_f32(160));
    run_in_groups(2, 64, 2, score, {64, 2, 1}, random_f32(2 * 64),
                  random_f32(64));
  }
}

TEST(SparseMix, WeighsEachChoiceAmongTheRemaining) {
  for (const double margin : {0.015625, 0.25, 2.0}) {
    run_mix(1, 1, 1, margin, random_f32(1));
    run_mix(3, 8, 2, margin, random_f32(3 * 8, 2));
    run_mix(7, 127, 5, margin, random_f32(7 * 127, 3));
    run_mix(2, 5, 5, margin, random_f32(2 * 5, 10));
  }
}

TEST(Route, ChoosesTheLargest) {
  for (bool normalize : {false, true}) {
    run_route(1, 1, 1, normalize, random_f32(1));
    run_route(3, 8, 2, normalize, random_f32(3 * 8));
    run_route(7, 127, 5, normalize, random_f32(7 * 127));
    run_route(2, 5, 5, normalize, random_f32(2 * 5, 10));
  }
}

TEST(Route, TiesGoToTheLowerNumber) {
  Data x = random_f32(8);
  const float equals[8] = {0, 1, 0, 1, 1, 0, 1, 0};
  std::copy(equals, equals + 8, x.values.begin());
  std::copy(equals, equals + 8, reinterpret_cast<float*>(x.bytes.data()));
  run_route(1, 8, 6, true, x);
}

}  // namespace
}  // namespace rc::test

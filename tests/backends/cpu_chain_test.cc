// Chains of element-wise ops, compared with the same ops computed one by one in
// plain C++: the results are equal, whichever values are read again or kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/cpu_util.h"

namespace rc::cpu_test {
namespace {

struct Kind {
  int32_t code, function;
};
constexpr Kind kKinds[] = {
    {RC_OP_BINARY, RC_BINARY_ADD},     {RC_OP_BINARY, RC_BINARY_MUL},
    {RC_OP_BINARY, RC_BINARY_SUB},     {RC_OP_BINARY, RC_BINARY_DIV},
    {RC_OP_UNARY, RC_FUNCTION_RELU},   {RC_OP_UNARY, RC_UNARY_NEG},
    {RC_OP_BINARY, RC_BINARY_MAXIMUM}, {RC_OP_UNARY, RC_UNARY_ABS}};

float computed(const Kind& kind, float a, float b) {
  if (kind.code == RC_OP_UNARY) {
    switch (kind.function) {
      case RC_FUNCTION_RELU:
        return a > 0 || std::isnan(a) ? a : 0;
      case RC_UNARY_NEG:
        return -a;
      default:
        return std::fabs(a);
    }
  }
  switch (kind.function) {
    case RC_BINARY_ADD:
      return a + b;
    case RC_BINARY_MUL:
      return a * b;
    case RC_BINARY_SUB:
      return a - b;
    case RC_BINARY_DIV:
      return a / b;
    default:
      return std::isnan(a) || a > b ? a : b;
  }
}

// The operand of an op: of the full shape, of one row, or one number.
struct Found {
  int32_t value;
  std::vector<float> numbers;

  float at(size_t i) const { return numbers[i % numbers.size()]; }
};

// Ops at random, most of what the one before has made.
void run_chain(const Device& device, int64_t rows, int64_t columns, int ops,
               uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t count) { return random() % count; };
  const auto all = static_cast<size_t>(rows * columns);
  Program program(device);
  std::vector<Found> others;
  for (const auto& shape :
       {std::vector<int64_t>{rows, columns}, std::vector<int64_t>{1, columns},
        std::vector<int64_t>{1, 1}}) {
    others.push_back(
        {0, random_floats(static_cast<size_t>(shape[0] * shape[1]),
                          seed + static_cast<uint32_t>(others.size()))});
    // Nothing grows or shrinks away.
    for (float& x : others.back().numbers) {
      x = std::copysign(std::clamp(std::fabs(x), 0.8f, 1.25f), x);
    }
    others.back().value =
        program.input(RC_DTYPE_F32, shape, others.back().numbers.data());
  }
  std::vector<Found> made = {others[0]};
  std::vector<size_t> outputs;
  for (int i = 0; i < ops; ++i) {
    Kind kind = kKinds[below(std::size(kKinds))];
    const Found& last = made.back();
    const size_t which = below(5);
    const Found& other = which < 3   ? others[which]
                         : which < 4 ? made[below(made.size())]
                                     : last;
    const bool second = below(3) == 0;
    const Found& a = second ? other : last;
    const Found& b = second ? last : other;
    // Which zero there is, of which levels differ, is not to be asked.
    if (kind.code == RC_OP_BINARY && kind.function == RC_BINARY_DIV &&
        std::count(b.numbers.begin(), b.numbers.end(), 0.0f) > 0) {
      kind.function = RC_BINARY_MUL;
    }
    const bool is_unary = kind.code == RC_OP_UNARY;
    const bool stays = i + 1 == ops || below(8) == 0;
    Found result = {stays ? program.output(RC_DTYPE_F32, {rows, columns})
                          : program.scratch(RC_DTYPE_F32, {rows, columns}),
                    std::vector<float>(all)};
    if (stays) outputs.push_back(made.size());
    for (size_t k = 0; k < all; ++k) {
      result.numbers[k] =
          computed(kind, is_unary ? last.at(k) : a.at(k), b.at(k));
    }
    if (is_unary) {
      program.op(RC_OP_UNARY, {last.value}, {result.value})
          .params.unary.function = kind.function;
    } else {
      program.op(RC_OP_BINARY, {a.value, b.value}, {result.value})
          .params.binary.function = kind.function;
    }
    made.push_back(std::move(result));
  }
  ASSERT_EQ(program.run(1), RC_OK) << program.message();
  for (const size_t number : outputs) {
    const std::vector<float>& actual = program.result(made[number].value);
    for (size_t k = 0; k < all; ++k) {
      const float expected = made[number].numbers[k];
      if (std::isnan(expected) && std::isnan(actual[k])) continue;
      ASSERT_EQ(actual[k], expected)
          << rows << " x " << columns << ", seed " << seed << ", op "
          << number - 1 << ", element " << k;
    }
  }
}

TEST(CpuChain, EqualsTheSameOpsOneByOne) {
  for (const std::string& level : level_names()) {
    SCOPED_TRACE(level);
    const Device device(2, level);
    for (uint32_t seed = 0; seed < 150; ++seed) {
      run_chain(device, 1 + seed % 3, 1 + seed * 7 % 200, 3 + seed % 60, seed);
    }
    run_chain(device, 3, 4100, 40, 1000);
    run_chain(device, 1, 20011, 45, 1001);
  }
}

}  // namespace
}  // namespace rc::cpu_test

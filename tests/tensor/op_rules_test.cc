// The rules of ops: the first values that each refuses, by the message, and the
// nearest ones that it accepts.
#include "tensor/op_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "expect_error.h"
#include "tensor/dtype.h"
#include "tensor/op.h"
#include "value_util.h"

namespace rc {
namespace {

using Shape = std::vector<int64_t>;
using Values = std::vector<rc_plugin_value>;

constexpr int64_t kSequences = RC_DIM_SEQUENCES;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

rc_plugin_value rows(const Shape& shape, DType dtype = RC_DTYPE_F32) {
  return value(RC_STORAGE_SCRATCH, dtype, shape);
}
rc_plugin_value weight(const Shape& shape) {
  return value(RC_STORAGE_WEIGHT, RC_DTYPE_F32, shape);
}
rc_plugin_value tensor(const Shape& shape, DType dtype = RC_DTYPE_F32) {
  return value(RC_STORAGE_CACHE, dtype, shape);
}

Op op_of(int32_t code, const std::vector<int32_t>& inputs,
         const std::vector<int32_t>& outputs) {
  Op op;
  op.code = code;
  std::copy(inputs.begin(), inputs.end(), op.inputs);
  std::copy(outputs.begin(), outputs.end(), op.outputs);
  return op;
}

// kTaken, or the whole message.
void expect(const std::string& text, const Op& op, const Values& values) {
  const auto check = [&] { check_op(op, values); };
  if (text == kTaken) {
    EXPECT_NO_THROW(check());
  } else {
    test::expect_error(RC_E_INVALID_ARGUMENT, text, check);
  }
}

TEST(OpRules, FlagsAreZeroOrOne) {
  const Values values = {rows({kRows, 4}), rows({kRows, 4})};
  Op op = op_of(RC_OP_LAYER_NORM, {0}, {1});
  const auto center = [&](const std::string& text, int32_t flag) {
    op.params.layer_norm.center = flag;
    expect(text, op, values);
  };
  center(kTaken, 0);
  center(kTaken, 1);
  center("LAYER_NORM: center is -1, neither 0 nor 1", -1);
  center("LAYER_NORM: center is 2, neither 0 nor 1", 2);
}

TEST(OpRules, NumberOfDistancesIsOdd) {
  const auto attend = [](const std::string& text, int64_t span) {
    const auto indices = [](const Shape& shape) {
      return value(RC_STORAGE_INPUT, RC_DTYPE_I32, shape);
    };
    const Op op =
        op_of(RC_OP_GENERAL_ATTENTION, {0, 1, 1, 2, 3, 4, -1, -1, -1, 5}, {6});
    expect(text, op,
           {rows({kRows, 4, 8}), tensor({3, 2, 16, 8}), indices({kRows}),
            indices({kRows}), indices({kSequences, 5}), weight({4, span}),
            rows({kRows, 4, 8})});
  };
  attend(kTaken, 1);
  attend(
      "GENERAL_ATTENTION: distances are F32 [4, 2]; their number must be odd",
      2);
  attend(kTaken, 3);
}

TEST(OpRules, ChoicesAreAmongTheExperts) {
  const auto choose = [](const std::string& text, int64_t k) {
    expect(text, op_of(RC_OP_CHOOSE, {0, 1}, {2, 3}),
           {rows({kRows, 4}), weight({4}), rows({kRows, k}, RC_DTYPE_I32),
            rows({kRows, k})});
  };
  choose(kTaken, 1);
  choose(kTaken, 4);
  choose("CHOOSE: cannot choose 5 of 4 experts", 5);
}

TEST(OpRules, ChoicesAreInTheGroupsUsed) {
  const auto choose = [](const std::string& text, int64_t groups, int64_t used,
                         int32_t best, int64_t k) {
    Op op = op_of(RC_OP_CHOOSE_IN_GROUPS, {0}, {1, 2});
    op.params.choose_in_groups = {
        .score = RC_SCORE_SOFTMAX,
        .normalize = 0,
        .groups = groups,
        .groups_used = used,
        .best = best,
    };
    expect(
        text, op,
        {rows({kRows, 8}), rows({kRows, k}, RC_DTYPE_I32), rows({kRows, k})});
  };
  // Two experts in each of four groups.
  choose(kTaken, 4, 2, 2, 4);
  choose("CHOOSE_IN_GROUPS: cannot choose 5 of 4 experts", 4, 2, 2, 5);
  choose(kTaken, 4, 4, 2, 8);
  choose(kTaken, 4, 1, 2, 1);
  choose("CHOOSE_IN_GROUPS: 0 of 4 groups of 8 experts cannot be used", 4, 0, 2,
         1);
  choose("CHOOSE_IN_GROUPS: 5 of 4 groups of 8 experts cannot be used", 4, 5, 2,
         1);
  choose("CHOOSE_IN_GROUPS: 1 of 3 groups of 8 experts cannot be used", 3, 1, 2,
         1);
  choose("CHOOSE_IN_GROUPS: 1 of 0 groups of 8 experts cannot be used", 0, 1, 2,
         1);
  choose(kTaken, 1, 1, 2, 8);
  choose(kTaken, 8, 8, 1, 8);
  choose("CHOOSE_IN_GROUPS: groups of 1 experts have no 2 best ones", 8, 8, 2,
         8);
}

TEST(OpRules, GroupsDivideHeads) {
  const auto scan = [](const std::string& text, int64_t heads, int64_t groups) {
    const auto indices = [](const Shape& shape) {
      return value(RC_STORAGE_INPUT, RC_DTYPE_I32, shape);
    };
    expect(text,
           op_of(RC_OP_SELECTIVE_SCAN, {0, 1, 2, 2, 3, 3, 3, 4, 5, 6}, {7}),
           {rows({kRows, heads, 8}), rows({kRows, heads}),
            rows({kRows, groups, 16}), weight({heads}), indices({kRows}),
            indices({kSequences, 2}), tensor({3, heads, 8, 16}),
            rows({kRows, heads, 8})});
  };
  scan(kTaken, 4, 1);
  scan(kTaken, 4, 2);
  scan(kTaken, 4, 4);
  scan(
      "SELECTIVE_SCAN: x is F32 [rows, 4, 8], b is F32 [rows, 3, 16]; the "
      "groups of b must divide the heads of x",
      4, 3);
  scan(
      "SELECTIVE_SCAN: x is F32 [rows, 4, 8], b is F32 [rows, 8, 16]; the "
      "groups of b must divide the heads of x",
      4, 8);
}

TEST(OpRules, GroupsOfKeysDivideHeads) {
  const auto rule = [](const std::string& text, int64_t heads, int64_t groups) {
    const auto indices = [](const Shape& shape) {
      return value(RC_STORAGE_INPUT, RC_DTYPE_I32, shape);
    };
    expect(text, op_of(RC_OP_DELTA_RULE, {0, 1, 1, 2, 2, 3, 3, 4, 5, 6}, {7}),
           {rows({kRows, heads, 8}), rows({kRows, groups, 16}),
            rows({kRows, heads}), weight({heads}), indices({kRows}),
            indices({kSequences, 2}), tensor({3, heads, 8, 16}),
            rows({kRows, heads, 8})});
  };
  rule(kTaken, 4, 1);
  rule(kTaken, 4, 2);
  rule(kTaken, 4, 4);
  rule(
      "DELTA_RULE: v is F32 [rows, 4, 8], q is F32 [rows, 3, 16]; the groups "
      "of q must divide the heads of v",
      4, 3);
  rule(
      "DELTA_RULE: v is F32 [rows, 4, 8], q is F32 [rows, 8, 16]; the groups "
      "of q must divide the heads of v",
      4, 8);
}

TEST(OpRules, JoinedHeadsAreAsLongAsBothParts) {
  const auto join = [](const std::string& text, int64_t s) {
    expect(text, op_of(RC_OP_JOIN, {0, 1}, {2}),
           {rows({kRows, 2, 3}), rows({kRows, 2, 4}), rows({kRows, 2, s})});
  };
  join(kTaken, 7);
  join("JOIN: heads of 3 and 4 elements cannot be joined to 6", 6);
  join("JOIN: heads of 3 and 4 elements cannot be joined to 8", 8);
}

TEST(OpRules, ViewsStayWithinTheirTensor) {
  const auto view = [](const std::string& text, const rc_plugin_value& x,
                       const rc_plugin_value& y, const Shape& strides) {
    Op op = op_of(RC_OP_COPY, {0}, {1});
    std::copy(strides.begin(), strides.end(), op.params.copy.strides);
    expect(text, op, {x, y});
  };
  view(kTaken, tensor({4}), tensor({4}), {1});
  view("COPY: x is F32 [4], the output is F16 [4]; their types must be equal",
       tensor({4}), tensor({4}, RC_DTYPE_F16), {1});
  view(kTaken, tensor({1}), tensor({4}), {0});
  view("COPY: the stride of dimension 0 of F32 [4] is -1", tensor({4}),
       tensor({4}), {-1});
  // The last element is the one at 2 * 4 + 1 * 1.
  view(kTaken, tensor({10}), tensor({3, 2}), {4, 1});
  view("COPY: a view as F32 [3, 2] reaches beyond F32 [9]", tensor({9}),
       tensor({3, 2}), {4, 1});
  // Distances that cannot be counted: of a dimension, and of two together.
  view("COPY: a view as F32 [3, 2] reaches beyond F32 [10]", tensor({10}),
       tensor({3, 2}), {kMost, 1});
  view("COPY: a view as F32 [2, 2] reaches beyond F32 [10]", tensor({10}),
       tensor({2, 2}), {kMost - 1, 1});

  const rc_plugin_value blocks = tensor({2, 32}, RC_DTYPE_Q8_0);
  const auto of_blocks = [&](const std::string& text, int64_t elements,
                             const Shape& strides) {
    view(text, tensor({elements}, RC_DTYPE_Q8_0), blocks, strides);
  };
  of_blocks(kTaken, 64, {32, 1});
  of_blocks(kTaken, 32, {0, 1});
  of_blocks(kTaken, 96, {64, 1});
  of_blocks("COPY: a view as Q8_0 [2, 32] reaches beyond Q8_0 [64]", 64,
            {64, 1});
  for (const int64_t stride : {31, 33, -32}) {
    of_blocks("COPY: the stride of dimension 0 of Q8_0 [2, 32] is " +
                  std::to_string(stride),
              96, {stride, 1});
  }
  for (const int64_t stride : {0, 2, 32}) {
    of_blocks("COPY: the stride of dimension 1 of Q8_0 [2, 32] is " +
                  std::to_string(stride),
              96, {32, stride});
  }
}

TEST(OpRules, ConversionsAreFromOrToF32OrBetweenPlainTypesAndF64) {
  const auto convert = [](bool taken, DType from, DType to) {
    const std::string text =
        std::string("CONVERT: x is ") + dtype_name(from) + " [32]" +
        ", the output is " + dtype_name(to) +
        " [32]; one of them must be F32, or F64 and the other without blocks";
    expect(taken ? kTaken : text, op_of(RC_OP_CONVERT, {0}, {1}),
           {tensor({32}, from), tensor({32}, to)});
  };
  convert(false, RC_DTYPE_F16, RC_DTYPE_BF16);
  convert(false, RC_DTYPE_F64, RC_DTYPE_Q8_0);
  convert(false, RC_DTYPE_Q8_0, RC_DTYPE_F64);
  convert(false, RC_DTYPE_Q8_0, RC_DTYPE_Q8_0);
  convert(true, RC_DTYPE_F32, RC_DTYPE_Q8_0);
  convert(true, RC_DTYPE_Q8_0, RC_DTYPE_F32);
  convert(true, RC_DTYPE_F64, RC_DTYPE_BF16);
  convert(true, RC_DTYPE_I32, RC_DTYPE_F64);
}

TEST(OpRules, RepeatedDimensionsAreEqualOrOne) {
  const auto add = [](const std::string& text, const Shape& a, const Shape& b,
                      const Shape& y) {
    expect(text, op_of(RC_OP_BINARY, {0, 1}, {2}),
           {tensor(a), tensor(b), tensor(y)});
  };
  add(kTaken, {2, 3}, {3}, {2, 3});
  add(kTaken, {3}, {2, 1}, {2, 3});
  add(kTaken, {2, 1}, {1, 3}, {2, 3});
  add("BINARY: the inputs are F32 [2, 3] and F32 [2]; dimensions 3 and 2 are "
      "neither equal nor 1",
      {2, 3}, {2}, {2, 3});
  add("BINARY: the inputs are F32 [2, 3] and F32 [4, 3]; dimensions 2 and 4 "
      "are neither equal nor 1",
      {2, 3}, {4, 3}, {4, 3});
  add("BINARY: the output is F32 [3, 2] where F32 [2, 3] is needed", {2, 3},
      {3}, {3, 2});
  add("BINARY: the output is F32 [1, 2, 3] where F32 [2, 3] is needed", {2, 3},
      {3}, {1, 2, 3});
  const auto where = [](const std::string& text, const Shape& b) {
    expect(text, op_of(RC_OP_WHERE, {0, 1, 2}, {3}),
           {tensor({2, 1}), tensor({1, 3}), tensor(b), tensor({2, 3})});
  };
  where(kTaken, {2, 3});
  where(kTaken, {1});
  where(
      "WHERE: the inputs are F32 [2, 3] and F32 [2, 2]; dimensions 3 and 2 "
      "are neither equal nor 1",
      {2, 2});
}

TEST(OpRules, AttendedPositionsAreI32) {
  const auto attend = [](const std::string& text, int64_t positions) {
    const Shape k = {1, positions, 1, 1};
    expect(text, op_of(RC_OP_ATTEND, {0, 1, 2}, {3}),
           {tensor({1, 1, 1, 1}), tensor(k), tensor(k), tensor({1, 1, 1, 1})});
  };
  constexpr int64_t kFirst = int64_t{1} << 31;
  attend(kTaken, kFirst - 1);
  attend("ATTEND: k is F32 [1, 2147483648, 1, 1]: too long", kFirst);
}

TEST(OpRules, ConcatenatedRowsMatchTheOutput) {
  const auto join = [](const std::string& text, const rc_plugin_value& a,
                       const rc_plugin_value& b, const rc_plugin_value& y) {
    expect(text, op_of(RC_OP_CONCAT, {0, 1}, {2}), {a, b, y});
    // Absent ones do not count.
    expect(text, op_of(RC_OP_CONCAT, {0, -1, -1, 1}, {2}), {a, b, y});
  };
  const rc_plugin_value a = tensor({2, 3});
  const rc_plugin_value b = tensor({2, 4});
  join(kTaken, a, b, tensor({2, 7}));
  join(
      "CONCAT: a is F32 [2, 3], another is F16 [2, 4]; their types must be "
      "equal",
      a, tensor({2, 4}, RC_DTYPE_F16), tensor({2, 7}));
  for (const int64_t size : {6, 8}) {
    join("CONCAT: a is F32 [2, 3], the output is F32 [2, " +
             std::to_string(size) + "] where rows of 7 of that type are needed",
         a, b, tensor({2, size}));
  }
  join(
      "CONCAT: a is F32 [2, 3], the output is F16 [2, 7] where rows of 7 of "
      "that type are needed",
      a, b, tensor({2, 7}, RC_DTYPE_F16));
}

TEST(OpRules, ConcatenatedRowsCanBeCounted) {
  const auto join = [](const std::string& text, int64_t size) {
    expect(text, op_of(RC_OP_CONCAT, {0, 1}, {2}),
           {tensor({1, kMost - 1}, RC_DTYPE_I8), tensor({1, size}, RC_DTYPE_I8),
            tensor({1, kMost}, RC_DTYPE_I8)});
  };
  join(kTaken, 1);
  join(
      "CONCAT: a is I8 [1, 9223372036854775806], another is I8 [1, 2]; the "
      "rows are longer together than can be counted",
      2);
}

}  // namespace
}  // namespace rc

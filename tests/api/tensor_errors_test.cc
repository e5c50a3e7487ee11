// Operands that no op takes, by the message, and the nearest ones that it does.
// The results of these shapes are compared with NumPy's elsewhere
// (tensor_golden_test.cc).
#include <functional>
#include <limits>
#include <string>

#include "tensor_errors_util.h"

namespace rc::test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST_F(TensorErrors, InvalidShapesAreNamed) {
  const auto create = [&](const std::string& text, rc_dtype dtype,
                          const std::vector<int64_t>& shape) {
    expect(text, [&](rc_tensor** y) {
      return rc_tensor_create(backend_.get(), dtype, shape.data(),
                              static_cast<int32_t>(shape.size()), y);
    });
  };
  create("F32 [2, -1]: dimensions cannot be negative", RC_DTYPE_F32, {2, -1});
  create(kTaken, RC_DTYPE_F32, {2, 0});
  create(kTaken, RC_DTYPE_F32, {1, 1, 1, 1});
  create("rank: 5 is not within 1 to 4", RC_DTYPE_F32, {1, 1, 1, 1, 1});
  create(kTaken, RC_DTYPE_Q8_0, {2, 32});
  create("the last dimension is no multiple of 32", RC_DTYPE_Q8_0, {32, 31});
  create("more elements than can be addressed", RC_DTYPE_F32,
         {int64_t{1} << 62});
  const auto reshape = [&](const std::string& text, rc_tensor* x,
                           const std::vector<int64_t>& shape) {
    expect(text, [&](rc_tensor** y) {
      return rc_tensor_reshape(x, shape.data(),
                               static_cast<int32_t>(shape.size()), y);
    });
  };
  rc_tensor* four = zeros({4});
  reshape(kTaken, four, {-1, 2});
  reshape(kTaken, four, {-1});
  reshape("F32 [4] cannot be reshaped to [-1, 3]: no number fits", four,
          {-1, 3});
  reshape("no number fits in place of -1", four, {-1, 0});
  reshape("no number fits in place of -1", four, {-1, -1});
  reshape("no number fits in place of -1", four, {-1, kMost, 2});
  reshape("cannot be reshaped to [3]: 4 and 3 elements", four, {3});
  reshape("of types with blocks the last dimension stays",
          zeros({2, 32}, RC_DTYPE_Q8_0), {64});
  reshape(kTaken, zeros({2, 32}, RC_DTYPE_Q8_0), {1, 2, 32});
}

TEST_F(TensorErrors, MismatchedOperandsAreNamed) {
  const auto where = [&](const std::string& text, const Shape& condition,
                         const Shape& a, const Shape& b) {
    expect(text, [&](rc_tensor** y) {
      return rc_op_where(zeros(condition), zeros(a), zeros(b), y);
    });
  };
  where(kTaken, {3}, {2, 1}, {1, 3});
  where("where: condition is F32 [2], a is F32 [2, 1], b is F32 [1, 3]", {2},
        {2, 1}, {1, 3});
  where("where: condition is F32 [3], a is F32 [2], b is F32 [3]", {3}, {2},
        {3});
  const auto product = [&](const std::string& text, const Shape& a,
                           const Shape& b) {
    expect(text,
           [&](rc_tensor** y) { return rc_op_matmul(zeros(a), zeros(b), y); });
  };
  product(kTaken, {2, 3}, {3, 4});
  product("both need rank 2 at least", {3}, {3, 4});
  product("both need rank 2 at least", {2, 3}, {3});
  product("the last dimension of a and the next to last of b", {2, 3}, {4, 3});
  product(kTaken, {5, 2, 3}, {1, 3, 4});
  product("the dimensions before the last two", {5, 2, 3}, {2, 3, 4});
  expect("their last dimensions must be equal", [&](rc_tensor** y) {
    return rc_op_matmul_transposed(zeros({2, 3}), zeros({3, 4}), y);
  });
  const auto pad = [&](const std::string& text, int64_t before, int64_t after) {
    expect(text, [&](rc_tensor** y) {
      return rc_op_pad(zeros({2}), 0, before, after, 0, y);
    });
  };
  pad(kTaken, 0, 0);
  pad("pad: before is -1, after is 2, x is F32 [2]", -1, 2);
  pad("pad: before is 2, after is -1, x is F32 [2]", 2, -1);
  pad("pad: before is 9223372036854775807, after is 1", kMost, 1);
  pad("both are at least 0 and can be counted", kMost - 1, 0);
}

TEST_F(TensorErrors, InvalidIndicesAreNamed) {
  const auto gather = [&](const std::string& text, rc_tensor* table,
                          rc_tensor* ids) {
    expect(text,
           [&](rc_tensor** y) { return rc_op_gather_rows(table, ids, y); });
  };
  const char* needed = "a table [n, d] and ids I32 of rank 1 to 3 are needed";
  gather(kTaken, zeros({2, 3}), places({1, 2, 2}));
  gather(needed, zeros({2, 3}), places({1, 1, 1, 1}));
  gather(needed, zeros({6}), places({1}));
  gather(needed, zeros({1, 2, 3}), places({1}));
  gather(needed, zeros({2, 3}), zeros({1}));
  gather("gather_rows: table is F32 [0, 3], ids are I32 [1]: there are no rows",
         zeros({0, 3}), places({1}));
  gather(kTaken, zeros({0, 3}), places({0}));
  const auto take = [&](const std::string& text, rc_tensor* x,
                        rc_tensor* indices) {
    expect(text,
           [&](rc_tensor** y) { return rc_op_take_along(x, indices, 1, y); });
  };
  const char* same = "I32 indices of the same other dimensions are needed";
  take(kTaken, zeros({2, 3}), places({2, 5}));
  take(same, zeros({2, 3}), places({3, 3}));
  take(same, zeros({2, 3}), places({2, 3, 1}));
  take(same, zeros({2, 3}), zeros({2, 3}));
  take(
      "take_along: x is F32 [2, 0], indices are I32 [2, 1], dimension 1; "
      "there are no elements",
      zeros({2, 0}), places({2, 1}));
  take(kTaken, zeros({2, 0}), places({2, 0}));
  const auto top = [&](const std::string& text, int64_t k) {
    expect(text, [&](rc_tensor** y) {
      return rc_op_argtopk(zeros({2, 3}), k, 1, y);
    });
  };
  top(kTaken, 3);
  top("k is 4, but dimension 1 of x, F32 [2, 3], has 3 elements", 4);
  // Indices are I32.
  const int64_t beyond = int64_t{1} << 31;
  for (const bool sorts : {false, true}) {
    const auto index = [&](const std::string& text, int64_t size) {
      expect(text, [&](rc_tensor** y) {
        return sorts ? rc_op_argsort(outline({size}), 0, 0, y)
                     : rc_op_argmax(outline({size}), 0, 0, y);
      });
    };
    index(kTaken, beyond - 1);
    index(std::string(sorts ? "argsort" : "argmax") +
              ": x is F32 [2147483648]: I32 cannot hold indices",
          beyond);
  }
}

TEST_F(TensorErrors, InvalidRotationsAreNamed) {
  rc_tensor* x = zeros({3, 2, 4});
  const auto rope = [&](const std::string& text, rc_tensor* turned,
                        rc_tensor* at, rc_tensor* frequencies,
                        const rc_rope_options& options) {
    expect(text, [&](rc_tensor** y) {
      return rc_op_rope(turned, at, frequencies, &options, y);
    });
  };
  const rc_rope_options standard = RC_ROPE_OPTIONS_INIT;
  const char* needed =
      "x [..., rows, heads, d] and positions I32 [rows] are needed";
  rope(kTaken, x, places({3}), nullptr, standard);
  rope(needed, zeros({2, 4}), places({2}), nullptr, standard);
  rope(needed, x, zeros({3}), nullptr, standard);
  rope(needed, x, places({2}), nullptr, standard);
  rope(needed, x, places({1, 3}), nullptr, standard);
  rope(kTaken, zeros({5, 3, 2, 4}), places({3}), nullptr, standard);
  rope(kTaken, x, places({3}), zeros({2}), standard);
  rope("one for each of at most 2 pairs is needed", x, places({3}), zeros({3}),
       standard);
  rope("one for each of at most 2 pairs is needed", x, places({3}),
       zeros({1, 2}), standard);
  const auto with = [&](const std::string& text,
                        const std::function<void(rc_rope_options&)>& change) {
    rc_rope_options options = standard;
    change(options);
    rope(text, x, places({3}), nullptr, options);
  };
  for (const int32_t style : {-1, 2}) {
    with("options->style: " + std::to_string(style),
         [&](auto& options) { options.style = style; });
  }
  for (const int32_t dimensions : {-2, 1, 3, 6}) {
    with("options->dimensions: " + std::to_string(dimensions) +
             ", but x is F32 [3, 2, 4]: an even number up to 4 is needed",
         [&](auto& options) { options.dimensions = dimensions; });
  }
  for (const int32_t dimensions : {0, 2, 4}) {
    with(kTaken, [&](auto& options) { options.dimensions = dimensions; });
  }
  with("options->theta: 0", [](auto& options) { options.theta = 0; });
  with("options->theta: -1", [](auto& options) { options.theta = -1; });
  with("options->theta: inf", [](auto& options) { options.theta = kInfinity; });
  with("options->theta: nan", [](auto& options) { options.theta = kNan; });
  with(kTaken, [](auto& options) { options.theta = 1e-6f; });
  with("options->scale: inf", [](auto& options) { options.scale = kInfinity; });
  with("options->scale: nan", [](auto& options) { options.scale = kNan; });
  with(kTaken, [](auto& options) { options.scale = -1; });
}

}  // namespace
}  // namespace rc::test

// Ops that come again run what was compiled for the first of their kind: with
// other operands, some of them the same tensor or a part of one, results have
// the bits that an op compiled for them has.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "api/tensor_util.h"
#include "conformance_util.h"

namespace rc::test {
namespace {

using Pair = std::pair<rc_tensor*, rc_tensor*>;
using OfTwo =
    std::function<rc_status(rc_tensor* a, rc_tensor* b, rc_tensor** result)>;

struct NamedOp {
  const char* name;
  OfTwo run;
};

const std::vector<NamedOp>& repeated_ops() {
  static const std::vector<NamedOp> ops = {
      {"add", [](auto* a, auto* b, auto** y) { return rc_op_add(a, b, y); }},
      {"matmul",
       [](auto* a, auto* b, auto** y) { return rc_op_matmul(a, b, y); }},
      {"softmax",
       [](auto* a, auto*, auto** y) { return rc_op_softmax(a, 1, y); }},
      {"reduce_sum",
       [](auto*, auto* b, auto** y) { return rc_op_reduce_sum(b, 0, 1, y); }},
      {"maximum",
       [](auto* a, auto* b, auto** y) { return rc_op_maximum(a, b, y); }},
  };
  return ops;
}

std::vector<std::byte> result_of(const NamedOp& op, Pair operands) {
  rc_tensor* made = nullptr;
  EXPECT_OK(op.run(operands.first, operands.second, &made)) << op.name;
  const Tensor owned(made);
  return made == nullptr ? std::vector<std::byte>() : bytes_of(made);
}

TEST(KeptPrograms, ComputeWithOtherAndRepeatedOperands) {
  constexpr int64_t kSide = 24;
  const Shape square = {kSide, kSide};
  for (const std::string& id : device_ids()) {
    const Backend backend = open_backend(id.c_str());
    const Tensor one = make_random(backend.get(), square, 1);
    const Tensor two = make_random(backend.get(), square, 2);
    const Tensor tall = make_random(backend.get(), {3 * kSide, kSide}, 3);
    rc_tensor* rows = nullptr;
    ASSERT_OK(rc_tensor_slice(tall.get(), 0, kSide, 2 * kSide, 1, &rows));
    const Tensor part(rows);
    const std::vector<Pair> pairs = {
        {one.get(), two.get()},   {two.get(), one.get()},
        {one.get(), one.get()},   {part.get(), two.get()},
        {part.get(), part.get()}, {one.get(), two.get()}};
    for (size_t i = 0; i < pairs.size(); ++i) {
      // Has compiled nothing yet.
      const Backend fresh = open_backend(id.c_str());
      const Tensor a = make(fresh.get(), square, numbers_of(pairs[i].first));
      const Tensor b = make(fresh.get(), square, numbers_of(pairs[i].second));
      for (const NamedOp& op : repeated_ops()) {
        SCOPED_TRACE(testing::Message() << id << " " << op.name << " " << i);
        EXPECT_EQ(result_of(op, pairs[i]), result_of(op, {a.get(), b.get()}));
      }
    }
  }
}

}  // namespace
}  // namespace rc::test

// Results that are written into tensors of the caller's. That every op of every
// device can is in conformance/tensor_util.cc.
#include <string>

#include "runcible/graph.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

Tensor into(const Tensor& x, const Tensor& target) {
  rc_tensor* made = nullptr;
  EXPECT_OK(rc_op_into(x.get(), target.get(), &made));
  return Tensor(made);
}

using Numbers = std::vector<float>;

class Into : public testing::TestWithParam<const char*> {
 protected:
  const Backend backend_ = open_backend(GetParam());
  rc_tensor* y_ = nullptr;
};

TEST_P(Into, ResultIsWrittenIntoTheTarget) {
  const Tensor a = make(backend_.get(), {2, 2}, {1, 2, 3, 4});
  const Tensor b = make(backend_.get(), {2, 2}, {10, 20, 30, 40});
  const Tensor sum = make(backend_.get(), {2, 2}, {0, 0, 0, 0});
  const Tensor to_sum = into(a, sum);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(rc_op_add(to_sum.get(), b.get(), &y_));
    EXPECT_EQ(y_, sum.get());
    const Tensor result(y_);
    EXPECT_EQ(numbers_of(y_), (Numbers{11, 22, 33, 44}));
  }
  EXPECT_EQ(numbers_of(sum.get()), (Numbers{11, 22, 33, 44}));
  // It is a view of the operand otherwise, and as another operand, too.
  EXPECT_EQ(numbers_of(to_sum.get()), (Numbers{1, 2, 3, 4}));
  ASSERT_OK(rc_op_sub(b.get(), to_sum.get(), &y_));
  const Tensor difference(y_);
  EXPECT_NE(y_, sum.get());
  EXPECT_EQ(numbers_of(y_), (Numbers{9, 18, 27, 36}));
  ASSERT_OK(rc_tensor_transpose(to_sum.get(), 0, 1, &y_));
  const Tensor view(y_);
  ASSERT_OK(rc_op_relu(view.get(), &y_));
  const Tensor copied(y_);
  EXPECT_NE(y_, sum.get());
  EXPECT_EQ(numbers_of(sum.get()), (Numbers{11, 22, 33, 44}));
}

// The operand keeps the target.
TEST_P(Into, OperandHoldsItsTarget) {
  const Tensor a = make(backend_.get(), {2}, {1, 2});
  Tensor target = make(backend_.get(), {2}, {0, 0});
  Tensor operand = into(a, target);
  rc_tensor* const handle = target.get();
  target.reset();
  ASSERT_OK(rc_op_neg(operand.get(), &y_));
  const Tensor result(y_);
  EXPECT_EQ(y_, handle);
  operand.reset();
  EXPECT_EQ(numbers_of(y_), (Numbers{-1, -2}));
}

TEST_P(Into, TargetMayBeAnOperand) {
  const Tensor a = make(backend_.get(), {2, 2}, {1, 2, 3, 4});
  const Tensor row = make(backend_.get(), {2}, {10, 20});
  const Tensor in_place = into(a, a);
  ASSERT_OK(rc_op_add(in_place.get(), row.get(), &y_));
  const Tensor sum(y_);
  EXPECT_EQ(numbers_of(a.get()), (Numbers{11, 22, 13, 24}));
  ASSERT_OK(rc_op_mul(in_place.get(), a.get(), &y_));
  const Tensor square(y_);
  EXPECT_EQ(numbers_of(a.get()), (Numbers{121, 484, 169, 576}));
  ASSERT_OK(rc_op_sqrt(in_place.get(), &y_));
  const Tensor root(y_);
  EXPECT_EQ(numbers_of(a.get()), (Numbers{11, 22, 13, 24}));
  // As the second operand, and the third.
  const Tensor b = make(backend_.get(), {2, 2}, {1, 1, 1, 1});
  const Tensor to_b = into(a, b);
  ASSERT_OK(rc_op_sub(to_b.get(), b.get(), &y_));
  const Tensor less(y_);
  EXPECT_EQ(numbers_of(b.get()), (Numbers{10, 21, 12, 23}));
  const Tensor condition = make(backend_.get(), {2, 2}, {1, 0, 0, 1});
  const Tensor where = into(condition, b);
  ASSERT_OK(rc_op_where(where.get(), a.get(), b.get(), &y_));
  const Tensor chosen(y_);
  EXPECT_EQ(numbers_of(b.get()), (Numbers{11, 21, 12, 24}));
  // Temporary copies of an op do not conflict with the target.
  rc_tensor* view = nullptr;
  ASSERT_OK(rc_tensor_transpose(a.get(), 0, 1, &view));
  const Tensor transposed(view);
  ASSERT_OK(rc_op_add(in_place.get(), view, &y_));
  const Tensor symmetric(y_);
  EXPECT_EQ(numbers_of(a.get()), (Numbers{22, 35, 35, 48}));
}

// Large enough for threads and programs.
TEST_P(Into, TargetOfManyElementsMayBeAnOperand) {
  const int64_t count = 300'007;
  const Tensor a = make_random(backend_.get(), {count}, 1);
  const Numbers before = numbers_of(a.get());
  const Tensor in_place = into(a, a);
  ASSERT_OK(rc_op_mul(in_place.get(), a.get(), &y_));
  const Tensor result(y_);
  const Numbers after = numbers_of(a.get());
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(after[i], before[i] * before[i]) << i;
  }
}

TEST_P(Into, TargetMayBeAView) {
  const Tensor whole = make(backend_.get(), {3, 2}, {0, 0, 0, 0, 0, 0});
  rc_tensor* part = nullptr;
  ASSERT_OK(rc_tensor_slice(whole.get(), 0, 1, 2, 1, &part));
  const Tensor row(part);
  const Tensor a = make(backend_.get(), {1, 2}, {3, -4});
  const Tensor to_row = into(a, row);
  ASSERT_OK(rc_op_abs(to_row.get(), &y_));
  const Tensor result(y_);
  EXPECT_EQ(numbers_of(whole.get()), (Numbers{0, 0, 3, 4, 0, 0}));
}

// Results without any computation are copied or filled.
TEST_P(Into, CopiesIntoTheTargetWhereNothingIsComputed) {
  const Tensor a = make(backend_.get(), {2}, {1, 2});
  const Tensor target = make(backend_.get(), {2}, {0, 0});
  const Tensor operand = into(a, target);
  ASSERT_OK(rc_op_dequantize(operand.get(), &y_));
  EXPECT_EQ(y_, target.get());
  const Tensor result(y_);
  EXPECT_EQ(numbers_of(target.get()), (Numbers{1, 2}));
  // Products without terms are 0.
  const Tensor no_columns = make(backend_.get(), {2, 0}, {});
  const Tensor no_rows = make(backend_.get(), {0, 1}, {});
  const Tensor column = make(backend_.get(), {2, 1}, {5, 5});
  const Tensor nothing = into(no_columns, column);
  ASSERT_OK(rc_op_matmul(nothing.get(), no_rows.get(), &y_));
  EXPECT_EQ(y_, column.get());
  const Tensor zeros(y_);
  EXPECT_EQ(numbers_of(column.get()), (Numbers{0, 0}));
  const Tensor to_empty = into(no_columns, no_columns);
  ASSERT_OK(rc_op_relu(to_empty.get(), &y_));
  EXPECT_EQ(y_, no_columns.get());
  const Tensor empty(y_);
}

TEST_P(Into, MismatchedTargetsAreRefused) {
  const Tensor a = make(backend_.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = make(backend_.get(), {3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor to_b = into(a, b);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_relu(to_b.get(), &y_),
               "relu: ", "F32 [2, 3]", "F32 [3, 2]");
  EXPECT_EQ(y_, nullptr);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_quantize(into(b, b).get(), RC_DTYPE_F16, &y_),
               "quantize: ", "F16 [3, 2]", "F32 [3, 2]");
  // Elements that do not lie in order.
  rc_tensor* view = nullptr;
  ASSERT_OK(rc_tensor_transpose(b.get(), 0, 1, &view));
  const Tensor transposed(view);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_relu(into(a, transposed).get(), &y_),
               "relu: ", "in order");
  // Ops that cannot be computed in place.
  const Tensor square = make(backend_.get(), {2, 2}, {1, 2, 3, 4});
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_matmul(into(square, square).get(), square.get(), &y_),
               "matmul: ", "operand 0", "F32 [2, 2]", "in place");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_softmax(into(square, square).get(), 0, &y_),
               "softmax: ", "in place");
  // In place of a part that is repeated.
  rc_tensor* part = nullptr;
  ASSERT_OK(rc_tensor_slice(square.get(), 0, 0, 1, 1, &part));
  const Tensor row(part);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_add(into(square, square).get(), row.get(), &y_),
               "add: ", "operand 1", "repeated");
  EXPECT_EQ(numbers_of(square.get()), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers_of(b.get()), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_into(a.get(), nullptr, &y_),
               "target");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_into(nullptr, a.get(), &y_), "x");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_into(a.get(), b.get(), nullptr),
               "result");
}

TEST_P(Into, GraphsAndOutlinesAreRefused) {
  const int64_t shape[] = {2};
  const Tensor a = make(backend_.get(), {2}, {1, 2});
  rc_graph* graph = nullptr;
  rc_tensor* input = nullptr;
  ASSERT_OK(rc_graph_begin(backend_.get(), &graph));
  ASSERT_OK(rc_graph_input(graph, RC_DTYPE_F32, shape, 1, &input));
  const Tensor recorded(input);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_relu(into(recorded, a).get(), &y_),
               "relu: ", "graph");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_add(into(a, a).get(), input, &y_),
               "add: ", "graph");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_relu(into(a, recorded).get(), &y_),
               "relu: ", "graph");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_dequantize(into(recorded, a).get(), &y_),
               "dequantize: ", "graph");
  rc_graph_release(graph);
  rc_tensor* made = nullptr;
  ASSERT_OK(rc_tensor_outline(backend_.get(), RC_DTYPE_F32, shape, 1, &made));
  const Tensor outline(made);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_relu(into(outline, a).get(), &y_),
               "relu: ", "outline");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_relu(into(a, outline).get(), &y_),
               "relu: ", "outline");
}

INSTANTIATE_TEST_SUITE_P(Backends, Into, testing::Values("cpu", "reference"));

TEST(IntoDevices, TargetMustBeOnTheDeviceOfTheOperands) {
  const Backend cpu = open_backend("cpu");
  const Backend reference = open_backend("reference");
  const Tensor here = make(cpu.get(), {2}, {1, 2});
  const Tensor there = make(reference.get(), {2}, {0, 0});
  rc_tensor* y = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_relu(into(here, there).get(), &y),
               "relu: ", "cpu:0", "reference:0", "rc_tensor_to");
  EXPECT_EQ(numbers_of(there.get()), (Numbers{0, 0}));
}

// A handle that chooses devices computes where the target lies.
TEST(IntoDevices, OpsRunOnTheDeviceOfTheTarget) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.placement = RC_PLACEMENT_EACH_OP;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu,reference", &options, &opened));
  const Backend backend(opened);
  const Tensor a = make(opened, {2}, {-1, 2});
  const Tensor b = make(opened, {2}, {0, 0});
  rc_tensor* moved = nullptr;
  ASSERT_OK(rc_tensor_to(b.get(), nullptr, "reference:0", &moved));
  const Tensor target(moved);
  rc_tensor* y = nullptr;
  ASSERT_OK(rc_op_add(into(a, target).get(), b.get(), &y));
  const Tensor result(y);
  EXPECT_EQ(y, moved);
  const char* device = nullptr;
  ASSERT_OK(rc_tensor_device(y, &device));
  EXPECT_STREQ(device, "reference:0");
  EXPECT_EQ(numbers_of(y), (Numbers{-1, 2}));
}

// Each run reads the constants of a graph again.
TEST(IntoDevices, GraphsReadChangedConstants) {
  const Backend backend = open_backend("cpu");
  const int64_t shape[] = {2};
  const Tensor constant = make(backend.get(), {2}, {1, 2});
  const Tensor other = make(backend.get(), {2}, {10, 20});
  rc_graph* graph = nullptr;
  rc_tensor *input = nullptr, *sum = nullptr, *y = nullptr;
  ASSERT_OK(rc_graph_begin(backend.get(), &graph));
  ASSERT_OK(rc_graph_input(graph, RC_DTYPE_F32, shape, 1, &input));
  ASSERT_OK(rc_op_add(input, constant.get(), &sum));
  ASSERT_OK(rc_graph_end(graph, &sum, 1));
  const Tensor recorded(input), recorded_sum(sum);
  const auto run = [&] {
    rc_tensor* given = other.get();
    EXPECT_OK(rc_graph_run(graph, &given, 1, nullptr, &y, 1));
    const Tensor result(y);
    return numbers_of(y);
  };
  EXPECT_EQ(run(), (Numbers{11, 22}));
  ASSERT_OK(rc_op_neg(into(constant, constant).get(), &y));
  rc_tensor_release(y);
  EXPECT_EQ(run(), (Numbers{9, 18}));
  rc_graph_release(graph);
}

}  // namespace
}  // namespace rc::test

// Small ops are computed without a compiled program: the results do not depend
// on the number of threads, and equal those of a program.
#include <cmath>
#include <functional>

#include "graph_util.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

using BinaryOp =
    std::function<rc_status(rc_tensor* x, rc_tensor* y, rc_tensor**)>;

struct NamedOp {
  const char* name;
  BinaryOp op;
};

const NamedOp kCases[] = {
    {"add", [](auto* x, auto* y, auto** z) { return rc_op_add(x, y, z); }},
    {"div", [](auto* x, auto* y, auto** z) { return rc_op_div(x, y, z); }},
    {"relu", [](auto* x, auto*, auto** z) { return rc_op_relu(x, z); }},
    {"gelu", [](auto* x, auto*, auto** z) { return rc_op_gelu(x, z); }},
    {"neg", [](auto* x, auto*, auto** z) { return rc_op_neg(x, z); }},
    {"sum",
     [](auto* x, auto*, auto** z) { return rc_op_reduce_sum(x, -1, 0, z); }},
    {"sum of all",
     [](auto* x, auto*, auto** z) {
       return rc_op_reduce_sum(x, RC_ALL_DIMENSIONS, 0, z);
     }},
    {"mean",
     [](auto* x, auto*, auto** z) { return rc_op_reduce_mean(x, -1, 0, z); }},
    {"softmax",
     [](auto* x, auto*, auto** z) { return rc_op_softmax(x, -1, z); }},
    {"softmax of columns",
     [](auto* x, auto*, auto** z) { return rc_op_softmax(x, 0, z); }},
};

Backend open_with(int threads) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = threads;
  rc_backend* backend = nullptr;
  EXPECT_OK(rc_backend_open("cpu", &options, &backend));
  return Backend(backend);
}

std::vector<std::byte> bits(const BinaryOp& op, rc_backend* backend,
                            const Shape& shape) {
  const Tensor x = make_random(backend, shape, 1);
  const Tensor y = make_random(backend, shape, 2);
  rc_tensor* made = nullptr;
  EXPECT_OK(op(x.get(), y.get(), &made));
  return bytes_of(Tensor(made).get());
}

// Around where threads help, and where a program is made.
const Shape kShapes[] = {{1},        {3},          {1000},    {64, 1000},
                         {16383, 1}, {2, 20000},   {100000},  {70, 4097},
                         {1, 1},     {1 << 20, 1}, {2097169}, {3, 5, 7, 11},
                         {4096},     {3, 349526}};

TEST(TensorAtOnce, ResultsDoNotDependOnThreads) {
  const Backend one = open_with(1);
  const Backend two = open_with(2);
  const Backend five = open_with(5);
  for (const NamedOp& each : kCases) {
    for (const Shape& shape : kShapes) {
      SCOPED_TRACE(testing::Message() << each.name << " of " << shape[0] << ", "
                                      << (shape.size() > 1 ? shape[1] : 0));
      const auto wanted = bits(each.op, one.get(), shape);
      EXPECT_EQ(bits(each.op, two.get(), shape), wanted);
      EXPECT_EQ(bits(each.op, five.get(), shape), wanted);
    }
  }
}

TEST(TensorAtOnce, ResultsEqualThoseOfAProgram) {
  const Backend backend = open_with(2);
  for (const NamedOp& each : kCases) {
    for (const Shape& shape : {Shape{5}, Shape{64, 1000}, Shape{100000}}) {
      SCOPED_TRACE(each.name);
      const Tensor x = make_random(backend.get(), shape, 1);
      const Tensor y = make_random(backend.get(), shape, 2);
      RecordedGraph graph(backend.get());
      rc_tensor* recorded = nullptr;
      rc_tensor* const first = graph.input(shape);
      ASSERT_OK(each.op(first, graph.input(shape), &recorded));
      std::vector<Tensor> outputs;
      outputs.emplace_back(recorded);
      graph.end(std::move(outputs));
      const std::vector<Tensor> made = graph.run({x.get(), y.get()});
      EXPECT_EQ(bytes_of(made[0].get()), bits(each.op, backend.get(), shape));
    }
  }
}

// Products with the columns of whole vectors and others, of several matrices,
// and of sizes around those that a program is made for.
TEST(TensorAtOnce, ProductsEqualThoseOfAProgram) {
  struct Sizes {
    int64_t batch, m, k, n;
  };
  const Backend one = open_with(1);
  const Backend five = open_with(5);
  for (const Sizes& s :
       {Sizes{1, 8, 8, 8}, Sizes{1, 1, 1, 1}, Sizes{1, 3, 128, 20},
        Sizes{1, 3, 129, 20}, Sizes{3, 17, 64, 50}, Sizes{1, 64, 64, 64},
        Sizes{2, 100, 33, 96}, Sizes{1, 130, 130, 112}, Sizes{1, 1, 300, 512},
        Sizes{1, 150, 200, 160}}) {
    SCOPED_TRACE(testing::Message()
                 << s.batch << " x " << s.m << " x " << s.k << " x " << s.n);
    const Shape left = {s.batch, s.m, s.k}, right = {s.batch, s.k, s.n};
    const auto product = [&](rc_backend* backend) {
      const Tensor x = make_random(backend, left, 1);
      const Tensor y = make_random(backend, right, 2);
      rc_tensor* made = nullptr;
      EXPECT_OK(rc_op_matmul(x.get(), y.get(), &made));
      return bytes_of(Tensor(made).get());
    };
    const Tensor x = make_random(one.get(), left, 1);
    const Tensor y = make_random(one.get(), right, 2);
    RecordedGraph graph(one.get());
    rc_tensor* recorded = nullptr;
    rc_tensor* const first = graph.input(left);
    ASSERT_OK(rc_op_matmul(first, graph.input(right), &recorded));
    std::vector<Tensor> outputs;
    outputs.emplace_back(recorded);
    graph.end(std::move(outputs));
    const auto wanted = bytes_of(graph.run({x.get(), y.get()})[0].get());
    EXPECT_EQ(product(one.get()), wanted);
    EXPECT_EQ(product(five.get()), wanted);
  }
}

// In place, with threads that help.
TEST(TensorAtOnce, ComputesInPlace) {
  const Backend backend = open_with(2);
  const Tensor x = make_random(backend.get(), {100000}, 1);
  const Tensor y = make_random(backend.get(), {100000}, 2);
  const std::vector<float> a = numbers_of(x.get());
  const std::vector<float> b = numbers_of(y.get());
  rc_tensor* into = nullptr;
  ASSERT_OK(rc_op_into(x.get(), x.get(), &into));
  const Tensor operand(into);
  rc_tensor* sum = nullptr;
  ASSERT_OK(rc_op_add(into, y.get(), &sum));
  EXPECT_EQ(Tensor(sum).get(), x.get());
  const std::vector<float> found = numbers_of(x.get());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], a[i] + b[i]);
}

// Memory of small results is kept for the next ones, and is not charged to the
// handle.
TEST(TensorAtOnce, MemoryOfSmallResultsIsReused) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = 4 * 12;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &opened));
  const Backend backend(opened);
  const Tensor x = make(opened, {3}, {1, 2, 3});
  const auto memory = [&] {
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    EXPECT_OK(rc_backend_usage(opened, &usage));
    return usage.memory;
  };
  for (int i = 0; i < 100; ++i) {
    rc_tensor* made = nullptr;
    ASSERT_OK(rc_op_add(x.get(), x.get(), &made));
    const Tensor y(made);
    EXPECT_EQ(memory(), 24u);
    ASSERT_OK(rc_op_relu(made, &made));
    EXPECT_EQ(numbers_of(Tensor(made).get()), (std::vector<float>{2, 4, 6}));
  }
  EXPECT_EQ(memory(), 12u);
  // New ones are zero all the same.
  rc_tensor* made = nullptr;
  const int64_t three = 3;
  ASSERT_OK(rc_tensor_create(opened, RC_DTYPE_F32, &three, 1, &made));
  EXPECT_EQ(numbers_of(Tensor(made).get()), (std::vector<float>{0, 0, 0}));
}

}  // namespace
}  // namespace rc::test

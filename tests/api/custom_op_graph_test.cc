// Custom ops in graphs, on devices that compute in host memory.
#include <algorithm>

#include "custom_op_util.h"
#include "graph_util.h"

namespace rc::test {
namespace {

using Numbers = std::vector<float>;

class CustomOpGraphs : public CustomOpTest {};
INSTANTIATE_TEST_SUITE_P(Devices, CustomOpGraphs,
                         testing::Values("cpu", "reference"));

TEST_P(CustomOpGraphs, MatchTheSingleOps) {
  const CustomOp op = create(scale_options());
  const Tensor scale = make(backend_.get(), {3}, {1, 10, 100});
  RecordedGraph graph(backend_.get());
  rc_tensor* x = graph.input({2, 3});
  // Ops before, between, next to and after the custom op; a view of a result;
  // an unused op.
  rc_tensor *doubled = nullptr, *row = nullptr, *sum = nullptr,
            *again = nullptr, *last = nullptr;
  ASSERT_OK(rc_op_add(x, x, &doubled));
  const Tensor keep_doubled(doubled);
  ASSERT_OK(compute(op, {doubled, scale.get()}, {1}, &made_));
  ASSERT_OK(compute(op, {x, scale.get()}, {1}, &made_));
  ASSERT_OK(rc_tensor_slice(made_[0].get(), 0, 1, 2, 1, &row));
  const Tensor keep_row(row);
  ASSERT_OK(rc_op_add(row, doubled, &sum));
  const Tensor keep_sum(sum);
  ASSERT_OK(compute(op, {sum, scale.get()}, {0}, &made_));
  ASSERT_OK(rc_op_neg(made_[2].get(), &again));
  std::vector<Tensor> outputs;
  outputs.emplace_back(again);
  outputs.push_back(std::move(made_[0]));
  ASSERT_OK(rc_op_relu(x, &last));
  outputs.emplace_back(last);
  graph.end(std::move(outputs));
  for (const float f : {1.0f, -2.0f}) {
    const Numbers given = {f, 2 * f, 3 * f, 4 * f, 5 * f, 6 * f};
    const Tensor input = make(backend_.get(), {2, 3}, given);
    const auto found = graph.run({input.get()});
    Numbers first, second, third;
    const float scales[] = {1, 10, 100};
    for (size_t i = 0; i < 6; ++i) {
      second.push_back(2 * given[i] * scales[i % 3] + 1);
    }
    for (size_t i = 0; i < 6; ++i) {
      first.push_back(-(second[3 + i % 3] + 2 * given[i]) * scales[i % 3]);
      third.push_back(std::max(given[i], 0.0f));
    }
    EXPECT_EQ(numbers_of(found[0].get()), first);
    EXPECT_EQ(numbers_of(found[1].get()), second);
    EXPECT_EQ(numbers_of(found[2].get()), third);
  }
  rc_graph_report report = RC_GRAPH_REPORT_INIT;
  ASSERT_OK(rc_graph_info(graph.get(), &report));
  EXPECT_EQ(report.ops, 6u);  // without the unused one
}

// Outputs before and between those that are needed are left out.
TEST_P(CustomOpGraphs, UnusedOutputsAreAllowed) {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "three";
  options.signature = "x F32 [n] -> a F32 [n], b F32 [n], c F32 [n]";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    for (int64_t i = 0; i < call->inputs[0]->shape[0]; ++i) {
      for (int k = 0; k < 3; ++k) {
        static_cast<float*>(call->outputs[k]->data)[i] =
            floats(call->inputs[0])[i] + static_cast<float>(10 * k);
      }
    }
    return RC_OK;
  };
  const CustomOp op = create(options);
  for (size_t i = 0; i < 6; ++i) {
    const size_t needed = i / 2;
    const bool direct = i % 2 == 1;
    RecordedGraph graph(backend_.get());
    rc_tensor* x = graph.input({2});
    std::vector<Tensor> made, outputs;
    ASSERT_OK(compute(op, {x}, {}, &made, 3));
    // Also where it is only read by another op.
    rc_tensor* negative = nullptr;
    ASSERT_OK(rc_op_neg(made[needed].get(), &negative));
    outputs.emplace_back(negative);
    if (direct) outputs.push_back(std::move(made[needed]));
    made.clear();
    graph.end(std::move(outputs));
    const Tensor input = make(backend_.get(), {2}, {1, 2});
    const auto found = graph.run({input.get()});
    const auto more = static_cast<float>(10 * needed);
    EXPECT_EQ(numbers_of(found[0].get()), (Numbers{-1 - more, -2 - more}));
    if (!direct) continue;
    EXPECT_EQ(numbers_of(found[1].get()), (Numbers{1 + more, 2 + more}));
  }
}

// A tensor without elements has no memory in a graph; those behind it have.
TEST_P(CustomOpGraphs, EmptyOutputsAreAllowed) {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "none";
  options.signature = "x F32 [n] -> a F32 [n - n], b F32 [n]";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    EXPECT_EQ(call->outputs[0]->bytes, 0u);
    for (int64_t i = 0; i < call->inputs[0]->shape[0]; ++i) {
      static_cast<float*>(call->outputs[1]->data)[i] =
          floats(call->inputs[0])[i] + 1;
    }
    return RC_OK;
  };
  const CustomOp op = create(options);
  RecordedGraph graph(backend_.get());
  rc_tensor* x = graph.input({2});
  ASSERT_OK(compute(op, {x}, {}, &made_, 2));
  EXPECT_EQ(shape_of(made_[0].get()), Shape{0});
  rc_tensor* negative = nullptr;
  ASSERT_OK(rc_op_neg(made_[1].get(), &negative));
  std::vector<Tensor> outputs;
  outputs.emplace_back(negative);
  graph.end(std::move(outputs));
  const Tensor input = make(backend_.get(), {2}, {1, 2});
  const auto found = graph.run({input.get()});
  EXPECT_EQ(numbers_of(found[0].get()), (Numbers{-2, -3}));
}

TEST_P(CustomOpGraphs, HoldAReferenceToTheOp) {
  static int released;
  released = 0;
  rc_custom_op_options options = scale_options();
  options.release = [](void*) { ++released; };
  {
    RecordedGraph graph(backend_.get());
    {
      const CustomOp op = create(options);
      const Tensor scale = make(backend_.get(), {2}, {2, 3});
      ASSERT_OK(compute(op, {graph.input({1, 2}), scale.get()}, {0}, &made_));
      graph.end(std::move(made_));
    }
    EXPECT_EQ(released, 0);
    const Tensor x = make(backend_.get(), {1, 2}, {1, 1});
    EXPECT_EQ(numbers_of(graph.run({x.get()})[0].get()), (Numbers{2, 3}));
  }
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace rc::test

// Custom ops on devices that compute in host memory. Kernels are tested on
// every device by conformance/custom_op_test.cc.
#include "runcible/custom_op.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <string>
#include <thread>

#include "custom_op_util.h"
#include "graph_util.h"

namespace rc::test {
namespace {

using Numbers = std::vector<float>;

class CustomOps : public CustomOpTest {};

TEST_P(CustomOps, ComputesRows) {
  const CustomOp op = create(scale_options());
  const Tensor x = make(backend_.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor scale = make(backend_.get(), {3}, {1, 10, 100});
  ASSERT_OK(compute(op, {x.get(), scale.get()}, {0.5}, &made_));
  EXPECT_EQ(numbers_of(made_[0].get()),
            (Numbers{1.5, 20.5, 300.5, 4.5, 50.5, 600.5}));
  EXPECT_EQ(shape_of(made_[0].get()), (Shape{2, 3}));
  // A view whose elements do not lie in order is given in order.
  rc_tensor* view = nullptr;
  ASSERT_OK(rc_tensor_transpose(x.get(), 0, 1, &view));
  const Tensor transposed(view);
  const Tensor two = make(backend_.get(), {2}, {1, -1});
  ASSERT_OK(compute(op, {view, two.get()}, {0}, &made_));
  EXPECT_EQ(numbers_of(made_[1].get()), (Numbers{1, -4, 2, -5, 3, -6}));
}

TEST_P(CustomOps, FunctionReceivesShapesTypesAndAttributes) {
  static rc_custom_call seen;
  static std::string name;
  static double attributes[2];
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "look";
  options.signature = "x F32 [n], z F32 [k] -> y F32 [n], a F32 [1], b x [k]";
  options.attributes = "first float, second int";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    seen = *call;
    name = call->name;
    std::copy(call->attributes, call->attributes + 2, attributes);
    EXPECT_EQ(call->inputs[1]->struct_size, sizeof(rc_op_value));
    EXPECT_EQ(call->inputs[1]->dtype, RC_DTYPE_F32);
    EXPECT_EQ(call->inputs[1]->bytes, 3 * sizeof(float));
    EXPECT_EQ(call->outputs[2]->shape[0], 3);
    EXPECT_EQ(call->should_stop(call->stop_user), 0);
    return RC_OK;
  };
  const CustomOp op = create(options);
  const Tensor x = make(backend_.get(), {2}, {1, 2});
  const Tensor z = make(backend_.get(), {3}, {1, 2, 3});
  ASSERT_OK(compute(op, {x.get(), z.get()}, {0.5, 7}, &made_, 3));
  EXPECT_EQ(seen.struct_size, sizeof seen);
  EXPECT_EQ(name, "look");
  EXPECT_EQ(seen.input_count, 2u);
  EXPECT_EQ(seen.output_count, 3u);
  ASSERT_EQ(seen.attribute_count, 2u);
  EXPECT_EQ(attributes[0], 0.5);
  EXPECT_EQ(attributes[1], 7);
}

TEST_P(CustomOps, ComputesEveryItemOnce) {
  static std::atomic<int> counts[10007];
  for (std::atomic<int>& count : counts) count = 0;
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "count";
  options.signature = "x F32 [n] -> y I32 [1]";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    EXPECT_LT(call->begin, call->end);
    for (int64_t i = call->begin; i < call->end; ++i) ++counts[i];
    return RC_OK;
  };
  options.items = "n";
  const CustomOp op = create(options);
  const Tensor x = make_random(backend_.get(), {10007}, 1);
  for (int run = 0; run < 20; ++run) {
    ASSERT_OK(compute(op, {x.get()}, {}, &made_));
  }
  for (const std::atomic<int>& count : counts) ASSERT_EQ(count, 20);
}

TEST_P(CustomOps, WithoutItemsTheCallerMakesOneCall) {
  static std::thread::id thread;
  static int calls;
  calls = 0;
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "once";
  options.signature = "x F32 [...] -> y x [...]";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    EXPECT_EQ(call->begin, 0);
    EXPECT_EQ(call->end, 1);
    thread = std::this_thread::get_id();
    ++calls;
    return RC_OK;
  };
  const CustomOp op = create(options);
  const Tensor x = make_random(backend_.get(), {100, 100}, 1);
  ASSERT_OK(compute(op, {x.get()}, {}, &made_));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(thread, std::this_thread::get_id());
}

// The largest of each row and where it is: two outputs of two types, with
// shapes that are computed.
TEST_P(CustomOps, HasSeveralOutputs) {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "largest";
  options.signature =
      "x F32 [m, n] -> value F32 [m, 1], place I32 [m], all F32 [(m + 1) * n - "
      "n / 2 + k, min(m, 1), 2 - 1]";
  options.attributes = "k int";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    const rc_op_value& x = *call->inputs[0];
    EXPECT_EQ(x.rank, 2);
    EXPECT_EQ(x.writable, 0);
    EXPECT_EQ(call->outputs[0]->writable, 1);
    EXPECT_EQ(
        call->outputs[2]->bytes,
        sizeof(float) * static_cast<uint64_t>(call->outputs[2]->shape[0]));
    for (int64_t row = 0; row < x.shape[0]; ++row) {
      const float* from = floats(&x) + row * x.shape[1];
      const float* best = std::max_element(from, from + x.shape[1]);
      static_cast<float*>(call->outputs[0]->data)[row] = *best;
      static_cast<int32_t*>(call->outputs[1]->data)[row] =
          static_cast<int32_t>(best - from);
    }
    return RC_OK;
  };
  const CustomOp op = create(options);
  const Tensor x = make(backend_.get(), {2, 3}, {1, 5, 3, 9, 8, 7});
  ASSERT_OK(compute(op, {x.get()}, {-2}, &made_, 3));
  EXPECT_EQ(shape_of(made_[0].get()), (Shape{2, 1}));
  EXPECT_EQ(numbers_of(made_[0].get()), (Numbers{5, 9}));
  int32_t places[2];
  ASSERT_OK(rc_tensor_read(made_[1].get(), places, sizeof places));
  EXPECT_EQ(places[0], 1);
  EXPECT_EQ(places[1], 0);
  EXPECT_EQ(shape_of(made_[2].get()), (Shape{9 - 1 - 2, 1, 1}));
}

TEST_P(CustomOps, TakesEmptyTensors) {
  const CustomOp op = create(scale_options());
  const Tensor none = make(backend_.get(), {0, 3}, {});
  const Tensor scale = make(backend_.get(), {3}, {1, 2, 3});
  ASSERT_OK(compute(op, {none.get(), scale.get()}, {0}, &made_));
  EXPECT_EQ(shape_of(made_[0].get()), (Shape{0, 3}));
  // An op may compute elements from an empty tensor.
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "total";
  options.signature = "x F32 [n] -> y F32 [1]";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    EXPECT_EQ(call->inputs[0]->bytes, 0u);
    *static_cast<float*>(call->outputs[0]->data) = 42;
    return RC_OK;
  };
  const Tensor empty = make(backend_.get(), {0}, {});
  ASSERT_OK(compute(create(options), {empty.get()}, {}, &made_));
  EXPECT_EQ(numbers_of(made_[1].get()), (Numbers{42}));
}

TEST_P(CustomOps, FailureOfTheFunctionIsReported) {
  rc_custom_op_options options = scale_options();
  options.function = [](void* user, const rc_custom_call*,
                        char* message) -> rc_status {
    std::strcpy(message, "there is no ice");
    return *static_cast<rc_status*>(user);
  };
  rc_status status = RC_E_IO;
  options.user = &status;
  const CustomOp op = create(options);
  const Tensor x = make_random(backend_.get(), {64, 2}, 1);
  const Tensor scale = make(backend_.get(), {2}, {2, 3});
  EXPECT_FAILS(RC_E_IO, compute(op, {x.get(), scale.get()}, {0}, &made_),
               "scale_rows", "there is no ice");
  status = 1234;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), scale.get()}, {0}, &made_), "1234",
               "there is no ice");
  options.function = [](void*, const rc_custom_call*, char*) -> rc_status {
    throw std::runtime_error("thrown");
  };
  EXPECT_FAILS(RC_E_INTERNAL,
               compute(create(options), {x.get(), scale.get()}, {0}, &made_),
               "rc_custom_op_options.function", "thrown");
  // In a graph, too, which can be run again.
  RecordedGraph graph(backend_.get());
  made_.clear();
  ASSERT_OK(compute(op, {graph.input({64, 2}), scale.get()}, {0}, &made_));
  graph.end(std::move(made_));
  rc_tensor* given = x.get();
  rc_tensor* found = nullptr;
  status = RC_E_IO;
  EXPECT_FAILS(RC_E_IO,
               rc_graph_run(graph.get(), &given, 1, nullptr, &found, 1),
               "there is no ice");
  status = RC_OK;
  EXPECT_EQ(graph.run({x.get()}).size(), 1u);
}

TEST_P(CustomOps, MismatchedTensorsAreRefused) {
  const CustomOp op = create(scale_options());
  const Tensor x = make(backend_.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor two = make(backend_.get(), {2}, {1, 2});
  const Tensor three = make(backend_.get(), {3}, {1, 2, 3});
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), two.get()}, {0}, &made_), "scale_rows",
               "scale is F32 [2]", "n is 3", "F32 [n]");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), x.get()}, {0}, &made_),
               "scale is F32 [2, "
               "3]");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(op, {x.get()}, {0}, &made_),
               "1 inputs", "has 2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), three.get()}, {}, &made_), "0 attributes",
               "has 1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), three.get()}, {1e300}, &made_), "shift",
               "float");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), nullptr}, {0}, &made_), "inputs[1]");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), three.get()}, {0}, &made_, 2),
               "output_count: 2");
  rc_tensor* other = nullptr;
  const int64_t shape[] = {3};
  const int32_t whole[] = {1, 2, 3};
  ASSERT_OK(rc_tensor_from_data(backend_.get(), RC_DTYPE_I32, shape, 1, whole,
                                sizeof whole, &other));
  const Tensor integers(other);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), integers.get()}, {0}, &made_),
               "scale is I32 [3]", "F32 [n] is wanted");
  ASSERT_OK(rc_tensor_outline(backend_.get(), RC_DTYPE_F32, shape, 1, &other));
  const Tensor outline(other);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), outline.get()}, {0}, &made_), "outline");
  ASSERT_OK(rc_op_into(x.get(), x.get(), &other));
  const Tensor operand(other);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {operand.get(), three.get()}, {0}, &made_),
               "rc_op_into");
  const Backend elsewhere =
      open_backend(std::string(GetParam()) == "cpu" ? "reference" : "cpu");
  const Tensor far = make(elsewhere.get(), {3}, {1, 2, 3});
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(op, {x.get(), far.get()}, {0}, &made_), "scale lives on",
               "rc_tensor_to");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_custom_op_compute(nullptr, nullptr, 0, nullptr, 0, nullptr, 0),
      "op: NULL");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_custom_op_compute(op.get(), nullptr, 2, nullptr, 0, nullptr, 0),
      "inputs: NULL");
}

TEST_P(CustomOps, ImpossibleOutputSizesAreRefused) {
  rc_custom_op_options options = scale_options();
  options.signature = "x F32 [n] -> y F32 [n - 5]";
  options.attributes = nullptr;
  options.items = nullptr;
  const Tensor x = make(backend_.get(), {3}, {1, 2, 3});
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(create(options), {x.get()}, {}, &made_), "output y",
               "-2");
  options.signature =
      "x F32 [n] -> y F32 [n * 2147483647 * 2147483647 * 2147483647]";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(create(options), {x.get()}, {}, &made_), "output y",
               "beyond 64 bits");
  options.signature =
      "x F32 [n] -> y F32 [n * 2147483647, 2147483647, 2147483647]";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(create(options), {x.get()}, {}, &made_),
               "more elements than can be addressed");
  options.signature = "x F32 [n] -> y F32 [n / (n - 3)]";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(create(options), {x.get()}, {}, &made_), "divided by 0");
  options.signature = "x F32 [n] -> y F32 [1]";
  options.items = "n - 5";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute(create(options), {x.get()}, {}, &made_),
               "options->items", "-2");
}

// A kernel alone cannot run here.
TEST_P(CustomOps, KernelAloneIsUnsupportedOnTheCpu) {
  rc_custom_op_options options = scale_options();
  options.function = nullptr;
  options.opencl_c = "y[0] = 0;";
  options.grid = "1";
  const Tensor x = make(backend_.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor scale = make(backend_.get(), {3}, {1, 2, 3});
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               compute(create(options), {x.get(), scale.get()}, {0}, &made_),
               "scale_rows", GetParam(), "no function");
}

TEST_P(CustomOps, StopsAtTheTimeout) {
  rc_backend_options limited = RC_BACKEND_OPTIONS_INIT;
  limited.timeout_ms = 20;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open(GetParam(), &limited, &opened));
  const Backend backend(opened);
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "endless";
  options.signature = "x F32 [n] -> y F32 [n]";
  options.items = "n";
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    while (call->should_stop(call->stop_user) == 0) {
    }
    return RC_E_CANCELLED;
  };
  const Tensor x = make(backend.get(), {3}, {1, 2, 3});
  EXPECT_FAILS(RC_E_TIMEOUT, compute(create(options), {x.get()}, {}, &made_),
               "endless", "20 ms");
}

INSTANTIATE_TEST_SUITE_P(Devices, CustomOps,
                         testing::Values("cpu", "reference"));

}  // namespace
}  // namespace rc::test

// Tensors that cannot be made or read, and the nearest ones that can.
#include <functional>
#include <string>
#include <vector>

#include "graph_util.h"

namespace rc::test {
namespace {

rc_tensor* outline_of(rc_backend* backend, const Shape& shape) {
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_outline(backend, RC_DTYPE_F32, shape.data(),
                              static_cast<int32_t>(shape.size()), &tensor));
  return tensor;
}

TEST(TensorMaking, RandomOptionsAreChecked) {
  const Backend backend = open_backend();
  using Options = rc_random_options;
  const struct {
    std::function<void(Options&)> change;
    const char* text;
  } cases[] = {
      {[](Options&) {}, ""},
      {[](Options& o) { o.distribution = -1; }, "options->distribution: -1"},
      {[](Options& o) { o.distribution = 2; }, "options->distribution: 2"},
      {[](Options& o) { o.mean = kNan; }, "options->mean: nan is not finite"},
      {[](Options& o) { o.mean = -kInfinity; },
       "options->mean: -inf is not finite"},
      {[](Options& o) { o.deviation = kInfinity; },
       "options->deviation: inf is not finite"},
      {[](Options& o) { o.deviation = -0.5f; },
       "options->deviation: -0.5 is negative"},
      {[](Options& o) { o.deviation = 0; }, ""},
      {[](Options& o) { o.low = -kInfinity; },
       "options->low: -inf is not finite"},
      {[](Options& o) { o.high = kNan; }, "options->high: nan is not finite"},
      {[](Options& o) { o.low = 1.5f; },
       "options->low: 1.5 is above options->high, 1"},
      {[](Options& o) { o.low = 1; }, ""},
  };
  const int64_t shape[] = {5};
  for (const auto& item : cases) {
    Options options = RC_RANDOM_OPTIONS_INIT;
    item.change(options);
    rc_tensor* made = nullptr;
    const rc_status status =
        rc_tensor_random(backend.get(), shape, 1, &options, &made);
    const Tensor tensor(made);
    if (*item.text == '\0') {
      EXPECT_EQ(status, RC_OK) << rc_error_message();
      continue;
    }
    EXPECT_EQ(status, RC_E_INVALID_ARGUMENT) << item.text;
    EXPECT_NE(std::string(rc_error_message()).find(item.text),
              std::string::npos)
        << rc_error_message();
  }
  // Numbers of no deviation are the mean.
  Options options = RC_RANDOM_OPTIONS_INIT;
  options.mean = 2.5f;
  options.deviation = 0;
  rc_tensor* made = nullptr;
  ASSERT_OK(rc_tensor_random(backend.get(), shape, 1, &options, &made));
  EXPECT_EQ(numbers_of(Tensor(made).get()), std::vector<float>(5, 2.5f));
}

TEST(TensorMaking, SeriesAreChecked) {
  const Backend backend = open_backend();
  const auto arange = [&](rc_dtype dtype, double start, double stop,
                          double step) {
    rc_tensor* made = nullptr;
    const rc_status status =
        rc_tensor_arange(backend.get(), dtype, start, stop, step, &made);
    rc_tensor_release(made);
    return status;
  };
  for (const rc_dtype dtype :
       {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_BF16, RC_DTYPE_F64, RC_DTYPE_I8,
        RC_DTYPE_I16, RC_DTYPE_I32, RC_DTYPE_I64}) {
    EXPECT_OK(arange(dtype, 0, 32, 1));
  }
  EXPECT_FAILS(RC_E_UNSUPPORTED, arange(RC_DTYPE_Q8_0, 0, 32, 1),
               "arange of Q8_0; F32, F16, BF16, F64 and I8 to I64 are");
  const char* finite = "finite numbers and a step other than 0 are needed";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, arange(RC_DTYPE_F32, 0, 1, 0), finite);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, arange(RC_DTYPE_F32, kNan, 1, 1), finite);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, arange(RC_DTYPE_F32, 0, kInfinity, 1),
               finite);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, arange(RC_DTYPE_F32, 0, 1, kInfinity),
               finite);
  // 2^53 of them.
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, arange(RC_DTYPE_F32, 0, 0x1p53, 1),
               "more elements than can be counted");
  EXPECT_FAILS(RC_E_DEVICE_MEMORY, arange(RC_DTYPE_F32, 0, 0x1p53 - 1, 1),
               std::to_string(4 * ((int64_t{1} << 53) - 1)));
  EXPECT_OK(arange(RC_DTYPE_F32, 0, -5, 1));
}

// One part is filled whatever it takes; more of them end with the timeout, see
// TensorLimit.FillingEndsWithTheTimeout.
TEST(TensorMaking, TimeoutDoesNotStopASinglePart) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.timeout_ms = 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("reference", &options, &opened));
  const Backend backend(opened);
  rc_tensor* made = nullptr;
  ASSERT_OK(rc_tensor_arange(opened, RC_DTYPE_F32, 0, 1 << 16, 1, &made));
  EXPECT_EQ(numbers_of(Tensor(made).get()).back(), 65535.0f);
}

TEST(TensorMaking, FitsIntoTheBackendsMemory) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = 1000;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("reference", &options, &opened));
  const Backend backend(opened);
  const auto create = [&](int64_t bytes, rc_tensor** tensor) {
    return rc_tensor_create(opened, RC_DTYPE_I8, &bytes, 1, tensor);
  };
  rc_tensor* made = nullptr;
  EXPECT_FAILS(RC_E_DEVICE_MEMORY, create(1001, &made),
               "a tensor takes 1001 bytes of device memory; of the backend "
               "handle's memory_limit of 1000 bytes, 0 are in use");
  ASSERT_OK(create(1000, &made));
  const Tensor whole(made);
  rc_tensor* more = nullptr;
  EXPECT_FAILS(RC_E_DEVICE_MEMORY, create(1, &more),
               "a tensor takes 1 bytes of device memory", "1000 are in use");
}

TEST(TensorMaking, OutlinesHaveNoNumbers) {
  const Backend backend = open_backend();
  const Tensor outline(outline_of(backend.get(), {2, 2}));
  const Tensor none(outline_of(backend.get(), {0, 2}));
  const Tensor numbers = make(backend.get(), {2, 2}, {1, 2, 3, 4});
  float data[4];
  void* memory = nullptr;
  char* json = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_read(outline.get(), data, sizeof data),
               "the F32 [2, 2] is an outline, which has no numbers");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_memory(outline.get(), &memory),
               "the F32 [2, 2] is an outline, which has no numbers");
  EXPECT_OK(rc_tensor_read(none.get(), data, 0));
  EXPECT_OK(rc_tensor_read(numbers.get(), data, sizeof data));
  for (const size_t bytes : {15, 17}) {
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_tensor_read(numbers.get(), data, bytes),
                 "bytes: " + std::to_string(bytes) + ", but F32 [2, 2] has 16");
  }
  rc_tensor* view = nullptr;
  ASSERT_OK(rc_tensor_transpose(numbers.get(), 0, 1, &view));
  const Tensor transposed(view);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_memory(view, &memory),
               "is a view whose elements do not lie in order");
  EXPECT_OK(rc_tensor_memory(numbers.get(), &memory));
  EXPECT_EQ(static_cast<float*>(memory)[3], 4.0f);
  // rc_op_choose is an op.
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_choose(numbers.get(), &json),
               "outline: the F32 [2, 2] is none; make one of its operands");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_choose(outline.get(), &json),
               "outline: no op gave the F32 [2, 2]");
  rc_tensor* sum = nullptr;
  ASSERT_OK(rc_op_add(outline.get(), numbers.get(), &sum));
  const Tensor kept(sum);
  EXPECT_OK(rc_op_choose(sum, &json));
  EXPECT_NE(std::string(json).find("BINARY"), std::string::npos) << json;
  rc_free(json);
}

TEST(TensorMaking, TargetsAreChecked) {
  const Backend backend = open_backend();
  const Backend other = open_backend("cpu");
  const Tensor x = make(backend.get(), {4}, {1, 2, 3, 4});
  const Tensor far = make(other.get(), {4}, {0, 0, 0, 0});
  const auto part = [&](int64_t begin, int64_t end) {
    rc_tensor* view = nullptr;
    EXPECT_OK(rc_tensor_slice(x.get(), 0, begin, end, 1, &view));
    return Tensor(view);
  };
  const auto negate = [](rc_tensor* from, rc_tensor* target) {
    rc_tensor* into = nullptr;
    EXPECT_OK(rc_op_into(from, target, &into));
    const Tensor kept(into);
    rc_tensor* result = nullptr;
    const rc_status status = rc_op_neg(into, &result);
    rc_tensor_release(result);
    return status;
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, negate(x.get(), far.get()),
               ": the operands lie on reference:0, the target on cpu:0");
  // A part that the target has, or all of it, or none.
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               negate(part(0, 2).get(), part(1, 3).get()), ": operand 0, ",
               "shares memory with the target",
               "in place of an operand the target has to be all of it");
  EXPECT_OK(negate(part(0, 2).get(), part(0, 2).get()));
  EXPECT_OK(negate(part(0, 2).get(), part(2, 4).get()));
  EXPECT_EQ(numbers_of(x.get()), (std::vector<float>{-1, -2, 1, 2}));
  rc_tensor* into = nullptr;
  ASSERT_OK(rc_op_into(x.get(), x.get(), &into));
  const Tensor kept(into);
  rc_tensor* result = nullptr;
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT, rc_op_cumsum(into, 0, &result),
      "operand 0, F32 [1, 4, 1], shares memory with the target, F32 [4]",
      "this op cannot be computed in place");
}

TEST(TensorMaking, ValuesOfGraphsHaveNoNumbers) {
  const Backend backend = open_backend();
  RecordedGraph graph(backend.get());
  rc_tensor* a = graph.input({2});
  rc_tensor* b = graph.input({2});
  rc_tensor* sum = nullptr;
  ASSERT_OK(rc_op_add(a, b, &sum));
  float data[2];
  void* memory = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_read(sum, data, sizeof data),
               "the F32 [2] was recorded in a graph and has no numbers");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_memory(sum, &memory),
               "the F32 [2] was recorded in a graph and has no numbers");
  std::vector<Tensor> outputs;
  outputs.emplace_back(sum);
  rc_tensor* result = nullptr;
  rc_tensor* one[] = {a};
  rc_tensor* three[] = {a, a, a};
  rc_tensor* const ended[] = {sum};
  rc_tensor_retain(sum);
  graph.end(std::move(outputs));
  const Tensor kept(sum);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_graph_end(graph.get(), ended, 1),
               "the graph has been ended before");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_neg(sum, &result),
               "an operand was recorded in a graph that has been ended");
  const int64_t shape[] = {2};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_input(graph.get(), RC_DTYPE_F32, shape, 1, &result),
               "the graph has been ended; inputs come before that");
  const Tensor x = make(backend.get(), {2}, {1, 2});
  one[0] = three[0] = three[1] = three[2] = x.get();
  const auto run = [&](rc_tensor* const* inputs, size_t count) {
    return rc_graph_run(graph.get(), inputs, count, nullptr, &result, 1);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, run(one, 1),
               "a run with 1 inputs of a graph with 2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, run(three, 3),
               "a run with 3 inputs of a graph with 2");
  ASSERT_OK(run(three, 2));
  EXPECT_EQ(numbers_of(Tensor(result).get()), (std::vector<float>{2, 4}));
}

}  // namespace
}  // namespace rc::test

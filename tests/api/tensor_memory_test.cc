// Memory that tensors take from the limit of their handle, and memory that the
// handle keeps.
#include <limits>

#include "graph_util.h"

namespace rc::test {
namespace {

TEST(TensorMemory, LimitOfTheHandleIsEnforced) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = 1000;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("reference", &options, &opened));
  const Backend backend(opened);
  const Tensor a = make_random(opened, {100}, 1);
  Tensor b = make_random(opened, {100}, 2);
  rc_tensor* sum = nullptr;
  EXPECT_FAILS(RC_E_DEVICE_MEMORY, rc_op_add(a.get(), b.get(), &sum), "1000",
               "800");
  // A view takes nothing.
  rc_tensor* view = nullptr;
  ASSERT_OK(rc_tensor_slice(b.get(), 0, 10, 20, 1, &view));
  b.reset();
  EXPECT_FAILS(RC_E_DEVICE_MEMORY, rc_op_add(a.get(), a.get(), &sum), "800");
  rc_tensor_release(view);
  ASSERT_OK(rc_op_add(a.get(), a.get(), &sum));
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  ASSERT_OK(rc_backend_usage(opened, &usage));
  EXPECT_EQ(usage.memory, 800u);
  EXPECT_EQ(usage.peak_memory, 800u);
  rc_tensor_release(sum);
  ASSERT_OK(rc_backend_usage(opened, &usage));
  EXPECT_EQ(usage.memory, 400u);
}

// Memory is in use when it is there, not when it is asked for.
TEST(TensorMemory, RefusedAllocationsDoNotCountAsPeak) {
  constexpr int64_t kBeyond = 1l << 50;
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    const Tensor x = make(backend.get(), {3}, {1, 2, 3});
    const auto unchanged = [&] {
      rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
      EXPECT_OK(rc_backend_usage(backend.get(), &usage));
      EXPECT_EQ(usage.memory, 12u);
      EXPECT_EQ(usage.peak_memory, 12u);
    };
    rc_tensor* tensor = nullptr;
    EXPECT_FAILS(
        RC_E_DEVICE_MEMORY,
        rc_tensor_create(backend.get(), RC_DTYPE_F32, &kBeyond, 1, &tensor));
    unchanged();
    // More than any allocator is asked for.
    rc_pinned* pinned = nullptr;
    const rc_status status = rc_pinned_create(
        backend.get(), nullptr, std::numeric_limits<size_t>::max(), &pinned);
    EXPECT_TRUE(status == RC_E_OUT_OF_MEMORY || status == RC_E_DEVICE_MEMORY)
        << rc_error_message();
    unchanged();
// Sanitizers end the process where so much is asked for.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // The intermediate results of a graph, 2^50 bytes, besides its inputs.
    RecordedGraph graph(backend.get());
    rc_tensor* row = graph.input({1, 1 << 24});
    rc_tensor* column = graph.input({1 << 24, 1});
    rc_tensor *all = nullptr, *product = nullptr;
    ASSERT_OK(rc_op_add(row, column, &all));
    const Tensor recorded(all);
    ASSERT_OK(rc_op_matmul(all, column, &product));
    const Tensor result(product);
    EXPECT_NE(rc_graph_end(graph.get(), &product, 1), RC_OK);
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    EXPECT_OK(rc_backend_usage(backend.get(), &usage));
    EXPECT_LT(usage.peak_memory, uint64_t{1} << 30);
#endif
  }
}

// Large results leave their memory to the next ones of their handle, and to
// whatever else needs it.
TEST(TensorMemory, MemoryOfLargeResultsIsReused) {
  constexpr int64_t kCount = 100000;
  constexpr uint64_t kBytes = kCount * sizeof(float);
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = 3 * kBytes;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &opened));
  Backend backend(opened);
  const auto memory = [&] {
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    EXPECT_OK(rc_backend_usage(opened, &usage));
    return usage.memory;
  };
  Tensor x = make_random(opened, {kCount}, 1);
  const std::vector<float> numbers = numbers_of(x.get());
  for (int i = 0; i < 5; ++i) {
    rc_tensor* y = nullptr;
    ASSERT_OK(rc_op_add(x.get(), x.get(), &y));
    EXPECT_EQ(memory(), 2 * kBytes);
    EXPECT_EQ(numbers_of(y)[7], 2 * numbers[7]);
    rc_tensor_release(y);
    EXPECT_EQ(memory(), 2 * kBytes);
  }
  // New tensors are zero all the same.
  rc_tensor* zeros = nullptr;
  ASSERT_OK(rc_tensor_create(opened, RC_DTYPE_F32, &kCount, 1, &zeros));
  EXPECT_EQ(numbers_of(zeros), std::vector<float>(kCount));
  rc_tensor_release(zeros);
  EXPECT_EQ(memory(), 3 * kBytes);
  // Kept memory is freed before a request of another size exceeds the limit.
  const int64_t twice = 2 * kCount;
  rc_tensor* large = nullptr;
  ASSERT_OK(rc_tensor_create(opened, RC_DTYPE_F32, &twice, 1, &large));
  EXPECT_EQ(memory(), 3 * kBytes);
  rc_tensor_release(large);
  // Tensors outlive the handle.
  backend.reset();
  EXPECT_EQ(numbers_of(x.get()), numbers);
}

}  // namespace
}  // namespace rc::test

// Tensors of the caller's memory.
#include <atomic>
#include <string>
#include <thread>

#include "runcible/graph.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

using Numbers = std::vector<float>;

void count_end(void* user) { ++*static_cast<std::atomic<int>*>(user); }

class Borrowed : public testing::TestWithParam<const char*> {
 protected:
  Tensor borrow(const Shape& shape, void* data, size_t bytes,
                rc_dtype dtype = RC_DTYPE_F32) {
    rc_tensor* made = nullptr;
    EXPECT_OK(rc_tensor_borrow(backend_.get(), dtype, shape.data(),
                               static_cast<int32_t>(shape.size()), data, bytes,
                               count_end, &ended_, &made));
    return Tensor(made);
  }

  std::atomic<int> ended_{0};
  Backend backend_ = open_backend(GetParam());
  rc_tensor* y_ = nullptr;
};

TEST_P(Borrowed, SharesTheMemoryOfTheCaller) {
  Numbers memory = {1, 2, 3, 4, 5, 6};
  Tensor x = borrow({2, 3}, memory.data(), sizeof(float) * 6);
  EXPECT_EQ(numbers_of(x.get()), memory);
  memory[5] = 7;
  EXPECT_EQ(numbers_of(x.get()), memory);
  ASSERT_OK(rc_op_reduce_sum(x.get(), 1, 0, &y_));
  const Tensor sum(y_);
  EXPECT_EQ(numbers_of(y_), (Numbers{6, 16}));
  // Written to where it lies.
  rc_tensor* to_itself = nullptr;
  ASSERT_OK(rc_op_into(x.get(), x.get(), &to_itself));
  ASSERT_OK(rc_op_neg(to_itself, &y_));
  rc_tensor_release(y_);
  rc_tensor_release(to_itself);
  EXPECT_EQ(memory, (Numbers{-1, -2, -3, -4, -5, -7}));
  EXPECT_EQ(ended_, 0);
  x.reset();
  EXPECT_EQ(ended_, 1);
}

TEST_P(Borrowed, TakesNoMemoryOfTheHandle) {
  Numbers memory(1 << 20);
  const Tensor x = borrow({1 << 20}, memory.data(), sizeof(float) << 20);
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  ASSERT_OK(rc_backend_usage(backend_.get(), &usage));
  EXPECT_EQ(usage.memory, 0u);
}

// Views, graphs and handles that outlive each other.
TEST_P(Borrowed, ReleasedAfterTheLastUse) {
  Numbers memory = {1, 2, 3, 4};
  const int64_t shape[] = {2};
  Tensor x = borrow({4}, memory.data(), sizeof(float) * 4);
  rc_tensor *part = nullptr, *input = nullptr, *sum = nullptr;
  ASSERT_OK(rc_tensor_slice(x.get(), 0, 1, 3, 1, &part));
  x.reset();
  EXPECT_EQ(ended_, 0);
  rc_graph* graph = nullptr;
  ASSERT_OK(rc_graph_begin(backend_.get(), &graph));
  ASSERT_OK(rc_graph_input(graph, RC_DTYPE_F32, shape, 1, &input));
  ASSERT_OK(rc_op_add(input, part, &sum));
  rc_tensor_release(part);
  ASSERT_OK(rc_graph_end(graph, &sum, 1));
  rc_tensor_release(input);
  rc_tensor_release(sum);
  EXPECT_EQ(ended_, 0);
  const Tensor given = make(backend_.get(), {2}, {10, 20});
  rc_tensor* numbers = given.get();
  ASSERT_OK(rc_graph_run(graph, &numbers, 1, nullptr, &y_, 1));
  EXPECT_EQ(numbers_of(y_), (Numbers{12, 23}));
  rc_tensor_release(y_);
  backend_.reset();
  EXPECT_EQ(ended_, 0);
  rc_graph_release(graph);
  EXPECT_EQ(ended_, 1);
}

TEST_P(Borrowed, ReleasedOnTheThreadOfTheLastRelease) {
  Numbers memory = {1};
  struct Seen {
    std::thread::id thread;
    int calls = 0;
  } seen;
  const int64_t shape[] = {1};
  rc_tensor* x = nullptr;
  ASSERT_OK(rc_tensor_borrow(
      backend_.get(), RC_DTYPE_F32, shape, 1, memory.data(), sizeof(float),
      [](void* user) {
        auto& here = *static_cast<Seen*>(user);
        here.thread = std::this_thread::get_id();
        ++here.calls;
      },
      &seen, &x));
  std::thread other([&] { rc_tensor_release(x); });
  const std::thread::id id = other.get_id();
  other.join();
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.thread, id);
}

TEST_P(Borrowed, AcceptsBlocksAndOtherTypes) {
  const Tensor x = make_random(backend_.get(), {3, 256}, 5);
  for (const rc_dtype dtype :
       {RC_DTYPE_F16, RC_DTYPE_Q8_0, RC_DTYPE_Q4_K, RC_DTYPE_I8}) {
    ASSERT_OK(rc_op_quantize(x.get(), dtype, &y_));
    const Tensor quantized(y_);
    std::vector<std::byte> bytes = bytes_of(y_);
    const Tensor lent = borrow({3, 256}, bytes.data(), bytes.size(), dtype);
    ASSERT_OK(rc_op_matmul_transposed(x.get(), quantized.get(), &y_));
    const Tensor expected(y_);
    ASSERT_OK(rc_op_matmul_transposed(x.get(), lent.get(), &y_));
    const Tensor found(y_);
    EXPECT_EQ(numbers_of(found.get()), numbers_of(expected.get()));
  }
  EXPECT_EQ(ended_, 4);
}

TEST_P(Borrowed, EmptyTensorIsReleasedAtOnce) {
  const Tensor x = borrow({0, 3}, nullptr, 0);
  EXPECT_EQ(ended_, 1);
  EXPECT_EQ(numbers_of(x.get()), Numbers{});
}

TEST_P(Borrowed, FailureBorrowsNothing) {
  alignas(16) std::byte memory[32] = {};
  const int64_t shape[] = {3};
  const auto lend = [&](rc_dtype dtype, void* data, size_t bytes) {
    y_ = reinterpret_cast<rc_tensor*>(memory);
    return rc_tensor_borrow(backend_.get(), dtype, shape, 1, data, bytes,
                            count_end, &ended_, &y_);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, lend(RC_DTYPE_F32, memory + 2, 12),
               "data", "multiple of 4", "F32");
  EXPECT_EQ(y_, nullptr);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, lend(RC_DTYPE_F64, memory + 4, 24),
               "multiple of 8");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, lend(RC_DTYPE_F32, memory, 11), "11",
               "takes 12");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, lend(RC_DTYPE_F32, nullptr, 12), "data");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, lend(RC_DTYPE_Q8_0, memory, 12), "Q8_0");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_borrow(nullptr, RC_DTYPE_F32, shape, 1, memory, 12,
                                count_end, &ended_, &y_),
               "backend");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_borrow(backend_.get(), RC_DTYPE_F32, shape, 1, memory,
                                12, count_end, &ended_, nullptr),
               "tensor");
  EXPECT_EQ(ended_, 0);
  ASSERT_OK(rc_tensor_borrow(backend_.get(), RC_DTYPE_F32, shape, 1, memory, 12,
                             nullptr, nullptr, &y_));
  rc_tensor_release(y_);
}

TEST_P(Borrowed, ThrowingReleaseCallbackIsTolerated) {
  Numbers memory = {1};
  const int64_t shape[] = {1};
  ASSERT_OK(rc_tensor_borrow(
      backend_.get(), RC_DTYPE_F32, shape, 1, memory.data(), sizeof(float),
      [](void*) { throw 1; }, nullptr, &y_));
  rc_tensor_release(y_);
}

// Any tensor in host memory gives out its address.
TEST_P(Borrowed, TensorMemoryCanBeReadAndWritten) {
  const Tensor x = make(backend_.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  void* data = nullptr;
  ASSERT_OK(rc_tensor_memory(x.get(), &data));
  auto* numbers = static_cast<float*>(data);
  EXPECT_EQ(numbers[5], 6);
  numbers[5] = 7;
  EXPECT_EQ(numbers_of(x.get()), (Numbers{1, 2, 3, 4, 5, 7}));
  ASSERT_OK(rc_tensor_slice(x.get(), 0, 1, 2, 1, &y_));
  const Tensor row(y_);
  ASSERT_OK(rc_tensor_memory(y_, &data));
  EXPECT_EQ(data, numbers + 3);
  ASSERT_OK(rc_tensor_transpose(x.get(), 0, 1, &y_));
  const Tensor turned(y_);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_memory(y_, &data), "F32 [3, 2]",
               "in order");
  EXPECT_EQ(data, nullptr);
  Numbers memory = {1, 2};
  const Tensor lent = borrow({2}, memory.data(), 2 * sizeof(float));
  ASSERT_OK(rc_tensor_memory(lent.get(), &data));
  EXPECT_EQ(data, memory.data());
  const Tensor empty = make(backend_.get(), {0}, {});
  ASSERT_OK(rc_tensor_memory(empty.get(), &data));
  EXPECT_EQ(data, nullptr);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_memory(nullptr, &data),
               "tensor");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_memory(x.get(), nullptr),
               "data");
}

INSTANTIATE_TEST_SUITE_P(Backends, Borrowed,
                         testing::Values("cpu", "reference"));

}  // namespace
}  // namespace rc::test

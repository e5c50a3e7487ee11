// Handles of tensors, of which there are many: which pointers are some.
#include <thread>

#include "tensor_util.h"

namespace rc::test {
namespace {

bool is_tensor(const void* pointer) {
  rc_dtype dtype = 0;
  return rc_tensor_dtype(static_cast<rc_tensor*>(const_cast<void*>(pointer)),
                         &dtype) == RC_OK;
}

TEST(TensorSlots, OtherPointersAreNotTensors) {
  const Backend backend = open_backend("reference");
  const Tensor x = make_random(backend.get(), {3}, 1);
  ASSERT_TRUE(is_tensor(x.get()));
  // Addresses near the tensor, inside it, at the beginning of its page, and
  // anywhere.
  const auto address = reinterpret_cast<uintptr_t>(x.get());
  for (const ptrdiff_t distance : {-64, -16, -8, -1, 1, 8, 16, 64}) {
    EXPECT_FALSE(is_tensor(reinterpret_cast<void*>(address + distance)))
        << distance;
  }
  EXPECT_FALSE(is_tensor(reinterpret_cast<void*>(address / 65536 * 65536)));
  EXPECT_FALSE(is_tensor(reinterpret_cast<void*>(uintptr_t{16})));
  EXPECT_FALSE(is_tensor(reinterpret_cast<void*>(UINTPTR_MAX)));
  EXPECT_FALSE(is_tensor(backend.get()));
  EXPECT_FALSE(is_tensor(&address));
}

// More than lie together, released in another order than they were made in.
TEST(TensorSlots, ManyTensorsAreTrackedInAnyOrder) {
  const Backend backend = open_backend("reference");
  constexpr size_t kCount = 3000;
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> made;
    for (size_t i = 0; i < kCount; ++i) {
      made.push_back(make(backend.get(), {1}, {static_cast<float>(i)}));
    }
    std::vector<void*> released;
    for (size_t i = 0; i < kCount; i += 2) {
      released.push_back(made[i].get());
      made[i].reset();
    }
    for (void* pointer : released) {
      EXPECT_FALSE(is_tensor(pointer));
      auto* const tensor = static_cast<rc_tensor*>(pointer);
      EXPECT_EQ(rc_tensor_retain(tensor), nullptr);
      rc_tensor_release(tensor);
    }
    for (size_t i = 1; i < kCount; i += 2) {
      ASSERT_EQ(numbers_of(made[i].get())[0], static_cast<float>(i));
    }
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    ASSERT_OK(rc_backend_usage(backend.get(), &usage));
    EXPECT_EQ(usage.memory, kCount / 2 * sizeof(float));
  }
}

// Made by one thread, released by another, which ends.
TEST(TensorSlots, TensorsMayBeReleasedOnAnotherThread) {
  const Backend backend = open_backend("reference");
  std::vector<Tensor> made;
  for (int i = 0; i < 200; ++i) {
    made.push_back(make(backend.get(), {1}, {1.0f}));
  }
  std::thread([&] { made.clear(); }).join();
  std::vector<std::thread> threads;
  std::vector<std::vector<Tensor>> of_threads(4);
  for (size_t k = 0; k < of_threads.size(); ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < 300; ++i) {
        Tensor x = make(backend.get(), {1}, {static_cast<float>(k)});
        rc_tensor* sum = nullptr;
        ASSERT_OK(rc_op_add(x.get(), x.get(), &sum));
        of_threads[k].emplace_back(sum);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t k = 0; k < of_threads.size(); ++k) {
    for (const Tensor& sum : of_threads[k]) {
      ASSERT_EQ(numbers_of(sum.get())[0], static_cast<float>(2 * k));
    }
  }
}

TEST(TensorSlots, ReferencesAreCounted) {
  const Backend backend = open_backend("reference");
  Tensor x = make_random(backend.get(), {3}, 1);
  rc_tensor* const other = rc_tensor_retain(x.get());
  ASSERT_EQ(other, x.get());
  x.reset();
  EXPECT_TRUE(is_tensor(other));
  rc_tensor_release(other);
  EXPECT_FALSE(is_tensor(other));
}

}  // namespace
}  // namespace rc::test

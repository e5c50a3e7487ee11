// Ops of one kind are compiled once: a backend of the tests computes as the CPU
// does, but for ops that are done at once, and counts what it compiles.
#include <atomic>
#include <thread>

#include "api/tensor_util.h"
#include "runtime/plugin_list.h"

namespace rc::test {
namespace {

constexpr const char* kCounting = "counting";

const rc_plugin& counted() {
  static const rc_plugin& plugin =
      runtime::PluginList::instance().find("cpu")->table;
  return plugin;
}

std::atomic<int> compiled = 0;

rc_status count_and_compile(rc_plugin_device* device,
                            const rc_plugin_program* program,
                            rc_plugin_compiled** made, char* message) {
  ++compiled;
  return counted().compile(device, program, made, message);
}

class OpPrograms : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const rc_plugin plugin = [] {
      rc_plugin table = counted();
      table.name = kCounting;
      table.run_op = nullptr;
      table.compile = count_and_compile;
      return table;
    }();
    ASSERT_OK(rc_plugin_register(&plugin));
  }
  void SetUp() override { compiled = 0; }

  Tensor ones(int64_t columns) {
    rc_tensor* made = nullptr;
    EXPECT_OK(rc_tensor_ones(backend_.get(), RC_DTYPE_F32, &columns, 1, &made));
    return Tensor(made);
  }
  static Tensor sum(const Tensor& a, const Tensor& b) {
    rc_tensor* made = nullptr;
    EXPECT_OK(rc_op_add(a.get(), b.get(), &made));
    return Tensor(made);
  }

  const Backend backend_ = open_backend(kCounting);
};

TEST_F(OpPrograms, AreCompiledOncePerKind) {
  const Tensor one = ones(8);
  const Tensor two = sum(one, one);
  EXPECT_EQ(compiled, 1);
  const Tensor three = sum(one, two);
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(numbers_of(three.get()), std::vector<float>(8, 3));
  EXPECT_EQ(numbers_of(sum(three, three).get()), std::vector<float>(8, 6));
  EXPECT_EQ(compiled, 1);
  sum(ones(9), ones(9));
  EXPECT_EQ(compiled, 2);
  // Parameters are of the kind, too.
  const Tensor matrix = make(backend_.get(), {2, 2}, {1, 2, 3, 4});
  for (const int32_t dimension : {0, 1, 0}) {
    rc_tensor* made = nullptr;
    ASSERT_OK(rc_op_reduce_sum(matrix.get(), dimension, 0, &made));
    const Tensor owned(made);
    EXPECT_EQ(numbers_of(made), dimension == 0 ? (std::vector<float>{4, 6})
                                               : (std::vector<float>{3, 7}));
  }
  EXPECT_EQ(compiled, 4);
}

TEST_F(OpPrograms, KeepsTheMostRecentlyUsed) {
  constexpr int64_t kKinds = 70;
  for (int64_t n = 1; n <= kKinds; ++n) {
    sum(ones(n), ones(n));
    sum(ones(1), ones(1));
  }
  EXPECT_EQ(compiled, kKinds);
  sum(ones(kKinds), ones(kKinds));
  sum(ones(1), ones(1));
  EXPECT_EQ(compiled, kKinds);
  sum(ones(2), ones(2));
  EXPECT_EQ(compiled, kKinds + 1);
}

TEST_F(OpPrograms, DoesNotKeepThoseOfLargeTensors) {
  constexpr int64_t kLarge = int64_t{6} << 20;
  const Tensor large = ones(kLarge);
  sum(large, large);
  sum(large, large);
  EXPECT_EQ(compiled, 2);
}

TEST_F(OpPrograms, RunForManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) {
    threads.emplace_back([this, i] {
      Tensor mine = ones(64);
      for (int k = 1; k < i; ++k) mine = sum(mine, ones(64));
      for (int k = 0; k < 200; ++k) {
        EXPECT_EQ(numbers_of(sum(mine, mine).get()),
                  std::vector<float>(64, 2.0f * static_cast<float>(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(compiled, 4);
}

}  // namespace
}  // namespace rc::test

// Planted mistakes: what the host driver is there to find, it finds.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "host_driver/module/address_sanitizer.h"
#include "host_driver/module/buffer.h"
#include "host_driver/module/group_runner.h"
#include "host_driver/module/kernel_library.h"

namespace rc::test {
namespace {

constexpr uint64_t kItems = 8;
constexpr uint64_t kGroups = 4;

// Every work-item gives the number of the item whose place is the mirror of its
// own, as that item has written it into memory that the group shares.
std::string mirror(const std::string& barrier) {
  return cat(R"(
#include "common.cl"
#define BUFFERS(INPUT, OUTPUT) INPUT(float, x) OUTPUT(float, out)
#define PARAMETERS(P) P(uint, n) P(float, factor)
KERNEL(mirror) {
  OPEN
  SHARED float shared[GROUP_ITEMS];
  const int item = get_local_id(0);
  const int i = get_global_id(0);
  shared[item] = x[i];
  )",
             barrier, R"(
  if (i < (int)n) out[i] = factor * shared[GROUP_ITEMS - 1 - item];
}
)");
}

class HostKernels : public testing::Test {
 protected:
  static uint64_t place_of(std::span<const float> numbers) {
    return reinterpret_cast<uint64_t>(numbers.data());
  }

  // Returns the results of the kernel for 0, 1, 2, ...
  std::vector<float> run(const std::string& text, uint64_t seed) {
    std::vector<float> x(kItems * kGroups), out(x.size(), -1.0f);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const float factor = 2;
    uint32_t bits = 0;
    std::memcpy(&bits, &factor, sizeof bits);
    // Memory, places, and both parameters.
    const std::vector<uint64_t> arguments = {place_of(x), place_of(out), 0, 0,
                                             x.size() | uint64_t{bits} << 32};
    host::GroupRunner runner(seed);
    runner.run({"mirror",
                kernel(text),
                arguments,
                {kItems, 1, 1},
                {kGroups, 1, 1},
                0});
    return out;
  }

  HostKernel* kernel(const std::string& text) {
    return library_.kernel(text, "mirror",
                           cat(" -DLANES=1 -DGROUP_ITEMS=", kItems));
  }

  void expect_error(const std::string& barrier, rc_status status,
                    const std::string& part) {
    try {
      run(mirror(barrier), 1);
      ADD_FAILURE() << barrier;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status);
      EXPECT_NE(error.message().find(part), std::string::npos)
          << error.message();
    }
  }

 private:
  host::KernelLibrary library_;
};

TEST_F(HostKernels, DoNotDependOnTheOrderOfItems) {
  const std::string text = mirror("barrier(CLK_LOCAL_MEM_FENCE);");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> out = run(text, seed);
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t from = i / kItems * kItems + kItems - 1 - i % kItems;
      EXPECT_EQ(out[i], 2 * static_cast<float>(from)) << i;
    }
  }
}

TEST_F(HostKernels, MissingBarrierIsDetected) {
  std::set<std::vector<float>> results;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    results.insert(run(mirror(""), seed));
  }
  EXPECT_GT(results.size(), 10u);
}

TEST_F(HostKernels, BarrierThatSomeItemsSkipIsAnError) {
  expect_error("if (item != 3) barrier(CLK_LOCAL_MEM_FENCE);", RC_E_DEVICE,
               "has ended");
  expect_error("if (item == 3) return; barrier(CLK_LOCAL_MEM_FENCE);",
               RC_E_DEVICE, "waits at the barrier");
  expect_error(
      "if (item < 3) barrier(CLK_LOCAL_MEM_FENCE);\n"
      "else barrier(CLK_LOCAL_MEM_FENCE);",
      RC_E_DEVICE, "waits at the barrier");
  // The next group has its stacks all the same.
  run(mirror("barrier(CLK_LOCAL_MEM_FENCE);"), 1);
}

// Against arithmetic alone, of which common.cl makes one of the two ways.
TEST_F(HostKernels, HalvesAreExact) {
  const std::string text = R"(
#include "common.cl"
#define BUFFERS(INPUT, OUTPUT) OUTPUT(uint, out)
#define PARAMETERS(P)
KERNEL(mirror) {
  OPEN
  for (uint i = get_local_id(0); i < 65536; i += GROUP_ITEMS) {
    half h[1] = {(ushort)i};
    const float x = vload_half(0, h);
    const bool number = (i & 0x7FFF) <= 0x7C00;
    out[0] += as_uint(x) != as_uint(half_bits((int)i));
    vstore_half_rte(x, 0, h);
    out[1] += number && h[0].bits != i;
    // Halfway to the next goes to the even one, anything else to the nearest.
    const float next = half_bits((int)i + 1);
    if ((i & 0x7FFF) >= 0x7BFF) continue;
    const float middle = (x + next) * 0.5f;
    vstore_half_rte(middle, 0, h);
    out[2] += h[0].bits != (i + 1) / 2 * 2;
    vstore_half_rte(as_float(as_uint(middle) - 1), 0, h);
    out[3] += h[0].bits != i;
    vstore_half_rte(as_float(as_uint(middle) + 1), 0, h);
    out[4] += h[0].bits != i + 1;
  }
}
)";
  std::vector<uint32_t> wrong(5);
  const std::vector<uint64_t> arguments = {
      reinterpret_cast<uint64_t>(wrong.data()), 0};
  host::GroupRunner runner(1);
  runner.run({"halves", kernel(text), arguments, {kItems, 1, 1}, {1, 1, 1}, 0});
  EXPECT_EQ(wrong, std::vector<uint32_t>(5));
}

TEST_F(HostKernels, CompileErrorContainsTheMessageOfTheCompiler) {
  expect_error("no_such_thing();", RC_E_DEVICE, "no_such_thing");
}

TEST_F(HostKernels, WrongNumberOfArgumentsIsAnError) {
  HostKernel* found = kernel(mirror(""));
  const std::vector<uint64_t> arguments(4);
  host::GroupRunner runner(1);
  EXPECT_THROW(
      runner.run(
          {"mirror", found, arguments, {kItems, 1, 1}, {kGroups, 1, 1}, 0}),
      Error);
}

using HostKernelsDeathTest = HostKernels;

TEST_F(HostKernelsDeathTest, AccessBeyondSharedMemoryIsDetected) {
  if (!host::kAddressSanitizer) {
    GTEST_SKIP() << "only the address sanitizer sees it";
  }
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::string barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
  EXPECT_DEATH(
      run(mirror("float* at = shared + GROUP_ITEMS - item; *at = 0;" + barrier),
          1),
      "global-buffer-overflow");
  EXPECT_DEATH(run(mirror(barrier + "out[i] = x[i + 1];"), 1),
               "heap-buffer-overflow");
  EXPECT_DEATH(run(mirror("float own[2]; float* at = own + n / 16;" + barrier +
                          "own[0] = *at = 0;"),
                   1),
               "stack-buffer-overflow");
}

TEST_F(HostKernelsDeathTest, AccessToUnboundMemoryIsDetected) {
  if (!host::kAddressSanitizer) {
    GTEST_SKIP() << "only the address sanitizer sees it";
  }
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const host::Buffer buffer(256);
  const auto touch = [&](int i) {
    static_cast<volatile std::byte*>(buffer.data())[i] = std::byte{0};
  };
  const gpu::Region bound[] = {{&buffer, 64, 20}, {&buffer, 80, 20}};
  {
    const host::BoundAlone alone(bound);
    touch(64);
    touch(99);
    EXPECT_DEATH(touch(63), "use-after-poison");
    EXPECT_DEATH(touch(100), "use-after-poison");
  }
  touch(63);
  touch(100);
}

}  // namespace
}  // namespace rc::test

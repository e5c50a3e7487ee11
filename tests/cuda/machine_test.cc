// The machine that runs PTX in tests, with planted mistakes: it finds each.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "cuda/ptx.h"
#include "cuda/stand_in/machine.h"
#include "cuda/tuning.h"
#include "cuda/variants.h"
#include "runcible/types.h"

namespace rc::test {
namespace {

constexpr uint32_t kThreads = 64;

// A kernel of a buffer of integers, of which each thread has one.
std::string kernel(const std::string& body) {
  return cat(R"(.version 6.3
.target sm_61
.address_size 64
.visible .entry test(
	.param .u64 test_param_0
)
.reqntid 64, 1, 1
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<8>;
	.reg .f32 	%f<8>;
	.reg .b64 	%rd<8>;
	.shared .align 4 .b8 room[256];
	ld.param.u64 	%rd1, [test_param_0];
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd2, %r1, 4;
	add.s64 	%rd3, %rd1, %rd2;
	mov.u64 	%rd4, room;
	add.s64 	%rd5, %rd4, %rd2;
)",
             body, "\tret;\n}\n");
}

class PtxMachine : public testing::Test {
 protected:
  // The buffer after a run.
  std::vector<uint32_t> run(const std::string& body, uint64_t seed = 1) {
    const ptx::Module module = ptx::parse(kernel(body));
    std::vector<uint32_t> buffer(kThreads, 7);
    const auto address = reinterpret_cast<uint64_t>(buffer.data());
    stand_in::Ranges memory;
    memory.add(address, kThreads * sizeof(uint32_t));
    ptx::Grid grid = {&module,
                      &module.entries.at("test"),
                      {1, 1, 1},
                      kThreads,
                      std::vector<std::byte>(sizeof address)};
    std::memcpy(grid.parameters.data(), &address, sizeof address);
    std::mt19937_64 random(seed);
    ptx::run(grid, memory, &random);
    return buffer;
  }

  void expect_error(const std::string& body, const std::string& part) {
    try {
      run(body);
      ADD_FAILURE() << body;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << error.what();
    }
  }
};

// Each thread gives what its mirror has written.
constexpr char kWrite[] = "st.shared.u32 [%rd5], %r1;\n";
constexpr char kRead[] =
    "sub.s32 %r2, 63, %r1;\n"
    "mul.wide.u32 %rd6, %r2, 4;\n"
    "add.s64 %rd7, %rd4, %rd6;\n"
    "ld.shared.u32 %r3, [%rd7];\n"
    "st.global.u32 [%rd3], %r3;\n";

TEST_F(PtxMachine, ThreadsMeetAtBarriers) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto buffer = run(cat(kWrite, "bar.sync 0;\n", kRead), seed);
    for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(buffer[i], 63 - i);
  }
}

TEST_F(PtxMachine, MissingBarrierIsDetected) {
  std::set<std::vector<uint32_t>> results;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    results.insert(run(cat(kWrite, kRead), seed));
  }
  EXPECT_GT(results.size(), 10u);
}

TEST_F(PtxMachine, BarrierThatSomeThreadsSkipIsAnError) {
  expect_error("setp.eq.s32 %p1, %r1, 3;\n@%p1 bra END;\nbar.sync 0;\nEND:\n",
               "waits or has ended");
}

TEST_F(PtxMachine, AccessBeyondMemoryIsAnError) {
  expect_error("st.global.u32 [%rd3+4], %r1;\n", "not its own");
  expect_error("ld.global.u32 %r2, [%rd3+-4];\n", "not its own");
  expect_error("st.shared.u32 [%rd5+4], %r1;\n", "not its own");
  expect_error("ld.global.v2.u32 {%r2, %r3}, [%rd3];\n", "not ");
  expect_error("st.global.u32 [%rd3+2], %r1;\n", "not ");
}

TEST_F(PtxMachine, WarpsExchangeValues) {
  const auto buffer =
      run("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n"
          "shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;\n"
          "st.global.u32 [%rd3], %r3;\n");
  for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(buffer[i], i ^ 17);
}

TEST_F(PtxMachine, ExchangeThatSomeThreadsSkipIsAnError) {
  expect_error(
      "setp.eq.s32 %p1, %r1, 3;\n@%p1 bra END;\n"
      "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nEND:\n",
      "waits or has ended");
}

TEST_F(PtxMachine, UnknownTextIsAnErrorWithItsLine) {
  expect_error("fly.away.s32 %r1, %r2;\n", "line 20: unknown instruction");
  expect_error("bra NOWHERE;\n", "no label NOWHERE");
  EXPECT_THROW(ptx::parse("what\n"), std::runtime_error);
  EXPECT_THROW(ptx::parse(""), std::runtime_error);
}

// Every kernel that the module carries is one that the machine can run, and
// nothing is left open in it.
TEST(CudaKernels, AllAreCompleteOnceConstantsAreFilledIn) {
  const std::vector<cuda::Compilation> all = cuda::compilations();
  EXPECT_GT(all.size(), 300u);
  const gpu::Tuning tuning = cuda::tuning(cuda::kOfTensorCores);
  const auto check = [](const gpu::Variant& variant) {
    const std::string text = cuda::complete_ptx(variant);
    EXPECT_EQ(text.find("RC_OPEN_"), std::string::npos);
    const ptx::Module module = ptx::parse(text);
    const ptx::Entry& entry =
        module.entries.at(gpu::kernel_name(variant.first));
    EXPECT_EQ(entry.group[0], variant.second[0]);
    // Every device has so much.
    EXPECT_LE(entry.shared_bytes, 48u << 10);
  };
  check({gpu::Kernel::kLinear,
         {128, tuning.tile, RC_DTYPE_Q4_K, tuning.batch, 1, 0, 0, 0, 4,
          gpu::kByLanes}});
  check({gpu::Kernel::kLinear,
         {gpu::kMatrixLanes, tuning.tile, RC_DTYPE_Q4_K, 1, 1, 0, 0, 0, 4,
          gpu::kByMatrices}});
  check({gpu::Kernel::kAttention, {32, 1, 128, 1, 128, 128, 0}});
  check({gpu::Kernel::kRowNorm, {128, 1}});
}

TEST(CudaKernels, VariantThatWasNotCompiledIsUnsupported) {
  try {
    cuda::complete_ptx({gpu::Kernel::kAttention, {32, 1, 128, 9, 128, 128, 0}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    EXPECT_NE(error.message().find("RANGES=9"), std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace rc::test

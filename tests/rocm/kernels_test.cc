// Code of the kernels: by the compiler of AMD that is installed, and kept.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/cat.h"
#include "base/error.h"
#include "gpu/tuning.h"
#include "labels.h"
#include "rocm/code_objects.h"
#include "rocm/rocm_stand_in.h"
#include "runcible/types.h"
#include "temporary.h"

namespace rc::test {
namespace {

using gpu::Kernel;

constexpr char kStandInsGpu[] = "gfx90a:sramecc+:xnack-";
const gpu::Variant kNorm = {Kernel::kRowNorm, {128, 1}};

// In a process that has loaded no compiler yet: how many kernels it does not
// take, for three kinds of GPUs.
int failures_of_amds_compiler() {
  unsetenv("RUNCIBLE_COMGR_LIBRARY");
  const TemporaryFolder folder;
  const TemporaryVariable cache("XDG_CACHE_HOME", folder.path().c_str());
  const gpu::Variant variants[] = {
      kNorm,
      {Kernel::kLinear,
       {128, 32, RC_DTYPE_Q4_K, 8, 1, 0, 0, 0, 4, gpu::kByLanes}},
      {Kernel::kAttention, {32, 1, 128, 1, 128, 128, 0}}};
  int failures = 0;
  for (const char* isa : {"gfx906", "gfx90a", "gfx1030"}) {
    for (const gpu::Variant& variant : variants) {
      try {
        const std::string code = rocm::code_object(variant, isa);
        if (!code.starts_with("\x7F"
                              "ELF"))
          ++failures;
      } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.message().c_str());
        ++failures;
      }
    }
  }
  return failures;
}

// Loading it here would keep PoCL's out of the process.
bool amds_compiler_is_here() {
  return std::system(
             "PATH=$PATH:/sbin:/usr/sbin ldconfig -p | "
             "grep -q libamd_comgr.so.2") == 0;
}

TEST(RocmKernelsDeathTest, AmdsCompilerTakesThem) {
  RC_TEST_LABELS(kDriver);
  if (!amds_compiler_is_here()) GTEST_SKIP() << "AMD's compiler is not here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(failures_of_amds_compiler()),
              testing::ExitedWithCode(0), "");
}

// A kernel that the caller wrote, with functions of OpenCL C, and one with a
// mistake in its third line: what the compiler makes of them, or says.
std::string made_by_amds_compiler(const char* body) {
  const std::string text = cat(R"(kernel
__attribute__((reqd_work_group_size(64, 2, 1)))
void custom_op(global const uchar* x_memory, global uchar* y_memory,
               const ulong x_at, const ulong y_at, const int n) {
  global const float* x = (global const float*)(x_memory + x_at);
  global float* y = (global float*)(y_memory + y_at);
#line 1 "an_op"
)",
                               body, "}\n");
  rc_plugin_kernel_info info{};
  info.name = "an_op";
  info.source = text.data();
  info.source_bytes = text.size();
  std::string log;
  info.log = [](void* user, const char* said) {
    static_cast<std::string*>(user)->append(said);
  };
  info.log_user = &log;
  try {
    return rocm::code_object(info, "gfx1030");
  } catch (const Error& error) {
    const bool has_words = error.status() == RC_E_FORMAT && !log.empty() &&
                           error.message().find(log) != std::string::npos;
    return has_words ? log : "an error without its words";
  }
}

int failures_with_opencl_c() {
  unsetenv("RUNCIBLE_COMGR_LIBRARY");
  const std::string right = made_by_amds_compiler(
      "int i = get_global_id(0) + get_global_id(1);\n"
      "if (i < n) y[i] = erf(sin(x[i])) + native_exp(x[i]);\n");
  const std::string wrong =
      made_by_amds_compiler("int i = 0;\n\ny[i] = there_is_none;\n");
  const bool compiles = right.starts_with(
      "\x7F"
      "ELF");
  const bool says_where = wrong.find("an_op:3:") != std::string::npos &&
                          wrong.find("there_is_none") != std::string::npos;
  if (!compiles) std::fprintf(stderr, "%s\n", right.c_str());
  if (!says_where) std::fprintf(stderr, "%s\n", wrong.c_str());
  return (compiles ? 0 : 1) + (says_where ? 0 : 2);
}

TEST(RocmKernelsDeathTest, AmdsCompilerTakesOpenClC) {
  RC_TEST_LABELS(kDriver);
  if (!amds_compiler_is_here()) GTEST_SKIP() << "AMD's compiler is not here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(failures_with_opencl_c()), testing::ExitedWithCode(0),
              "");
}

TEST(RocmKernels, CodeIsKeptInAFile) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  const TemporaryFolder folder;
  const TemporaryVariable cache("XDG_CACHE_HOME", folder.path().c_str());
  const std::string first = rocm::code_object(kNorm, kStandInsGpu);
  EXPECT_NE(first.find("row_norm"), std::string::npos);
  const auto kept = folder.path() / "runcible" / "rocm";
  ASSERT_TRUE(std::filesystem::exists(kept));
  // The compiler is not asked again.
  const TemporaryVariable fails("RUNCIBLE_COMGR_STAND_IN_FAILS", "1");
  EXPECT_EQ(rocm::code_object(kNorm, kStandInsGpu), first);
  // A damaged file counts as none.
  for (const auto& file : std::filesystem::directory_iterator(kept)) {
    std::filesystem::resize_file(file, 100);
  }
  EXPECT_THROW(rocm::code_object(kNorm, kStandInsGpu), Error);
}

TEST(RocmKernels, FailureHasTheCompilersWords) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  const TemporaryVariable cache("XDG_CACHE_HOME", "");
  const TemporaryVariable home("HOME", "");
  const TemporaryVariable fails("RUNCIBLE_COMGR_STAND_IN_FAILS", "1");
  try {
    rocm::code_object(kNorm, kStandInsGpu);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_DEVICE);
    EXPECT_NE(error.message().find("row_norm.cl"), std::string::npos)
        << error.message();
    EXPECT_NE(error.message().find("this is what a compiler says"),
              std::string::npos)
        << error.message();
  }
}

TEST(RocmKernels, GpuThatTheCompilerDoesNotKnowIsUnsupported) {
  RC_NEEDS_STAND_IN(hip_stand_in);
  try {
    rocm::code_object(kNorm, "gfx9999");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    EXPECT_NE(error.message().find("gfx9999; update ROCm"), std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace rc::test

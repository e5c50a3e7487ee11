// Code of the kernels: by the compiler of AMD that is installed, and kept.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

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

TEST(RocmKernelsDeathTest, AmdsCompilerTakesThem) {
  RC_TEST_LABELS(kDriver);
  // Loading it here would keep PoCL's out of the process.
  if (std::system("PATH=$PATH:/sbin:/usr/sbin ldconfig -p | "
                  "grep -q libamd_comgr.so.2") != 0) {
    GTEST_SKIP() << "AMD's compiler is not here";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(failures_of_amds_compiler()),
              testing::ExitedWithCode(0), "");
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

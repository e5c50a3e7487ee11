// Whole models on the stand-in of NVIDIA's driver, which runs the PTX.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "device/whole_model_util.h"
#include "labels.h"

namespace rc::test {
namespace {

// The stand-in is slower than any GPU: so runs have several portions.
constexpr char kTuning[] = "RUNCIBLE_CUDA_TUNING";
constexpr char kSlow[] = "speed=10";

TEST(CudaModel, FableLogitsMatchTransformers) {
  RC_TEST_LABELS(kDriver);
  RC_NEEDS_DEVICE("cuda");
  expect_fable_logits(*load_fable("cuda"));
}

TEST(CudaModel, ArchitecturesMatchTransformers) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("cuda");
  expect_architectures("cuda");
}

// Tensor cores, which only long prompts get, round in another way.
TEST(CudaModel, NeitherBatchNorCutsMatter) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("cuda");
  const TemporaryVariable tuning(kTuning, "matrices=0");
  expect_neither_batch_nor_cuts_matter(*load_fable("cuda"));
}

TEST(CudaModel, RunCanBeCancelledAndRepeated) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("cuda");
  const TemporaryVariable tuning(kTuning, kSlow);
  expect_a_run_can_be_stopped(*load_fable("cuda"));
}

TEST(CudaModel, RunCanTimeOutAndBeRepeated) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("cuda");
  const TemporaryVariable tuning(kTuning, kSlow);
  expect_a_run_can_time_out(*load_fable("cuda"));
}

TEST(CudaPlugin, TimesOfOpsAreReported) {
  RC_NEEDS_DEVICE("cuda");
  expect_times_of_ops("cuda");
}

}  // namespace
}  // namespace rc::test

// Whole models on the stand-in of HIP, which runs the kernels on the host.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "device/whole_model_util.h"
#include "labels.h"

namespace rc::test {
namespace {

// The stand-in is slower than any GPU: so runs have several portions.
constexpr char kTuning[] = "RUNCIBLE_ROCM_TUNING";
constexpr char kSlow[] = "speed=10";

TEST(RocmModel, FableLogitsMatchTransformers) {
  RC_TEST_LABELS(kDriver);
  RC_NEEDS_DEVICE("rocm");
  expect_fable_logits(*load_fable("rocm"));
}

TEST(RocmModel, ArchitecturesMatchTransformers) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("rocm");
  expect_architectures("rocm");
}

TEST(RocmModel, NeitherBatchNorCutsMatter) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("rocm");
  expect_neither_batch_nor_cuts_matter(*load_fable("rocm"));
}

TEST(RocmModel, RunCanBeCancelledAndRepeated) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("rocm");
  const TemporaryVariable tuning(kTuning, kSlow);
  expect_a_run_can_be_stopped(*load_fable("rocm"));
}

TEST(RocmModel, RunCanTimeOutAndBeRepeated) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_DEVICE("rocm");
  const TemporaryVariable tuning(kTuning, kSlow);
  expect_a_run_can_time_out(*load_fable("rocm"));
}

TEST(RocmPlugin, TimesOfOpsAreReported) {
  RC_NEEDS_DEVICE("rocm");
  expect_times_of_ops("rocm");
}

}  // namespace
}  // namespace rc::test

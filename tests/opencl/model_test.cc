// Whole models on an OpenCL device.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "device/whole_model_util.h"
#include "labels.h"

namespace rc::test {
namespace {

// The tuning of GPUs in small: work-items act as lanes, and share columns,
// vectors and heads.
constexpr char kGpuTuning[] =
    "lanes=1,tile=32,batch=4,few=2,parts=3,reduce=16,"
    "attention=4,plain=16";

TEST(OpenclModel, FableLogitsMatchTransformers) {
  RC_NEEDS_DEVICE("opencl");
  expect_fable_logits(*load_fable("opencl"));
}

TEST(OpenclModel, FableTextMatchesTransformers) {
  RC_NEEDS_DEVICE("opencl");
  expect_fable_text("opencl");
}

TEST(OpenclModel, ArchitecturesMatchTransformers) {
  RC_TEST_LABELS(kDriver);
  RC_NEEDS_DEVICE("opencl");
  expect_architectures("opencl");
}

// The way of GPUs, on whatever device there is.
TEST(OpenclModel, FableLogitsMatchWithTheTuningOfGpus) {
  RC_NEEDS_DEVICE("opencl");
  const TemporaryVariable tuning("RUNCIBLE_OPENCL_TUNING", kGpuTuning);
  expect_fable_logits(*load_fable("opencl"));
}

// On devices that do not share the columns of a product.
TEST(OpenclModel, DoesNotDependOnBatchOrChunks) {
  RC_NEEDS_DEVICE("opencl");
  if (open_device("opencl")->info().kind != RC_DEVICE_SOFTWARE) {
    GTEST_SKIP() << "only processors promise it";
  }
  expect_neither_batch_nor_cuts_matter(*load_fable("opencl"));
}

TEST(OpenclModel, RunCanBeCancelledAndRepeated) {
  RC_NEEDS_DEVICE("opencl");
  expect_a_run_can_be_stopped(*load_fable("opencl"));
}

TEST(OpenclModel, RunCanTimeOutAndBeRepeated) {
  RC_NEEDS_DEVICE("opencl");
  expect_a_run_can_time_out(*load_fable("opencl"));
}

}  // namespace
}  // namespace rc::test

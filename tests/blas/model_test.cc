// Whole models whose products the BLAS library computes, and the CPU the rest.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "device/whole_model_util.h"

namespace rc::test {
namespace {

// The CPU computes the quantized products of the model, with rounded factors.
constexpr double kAllowed = 1e-3;

TEST(BlasModel, ArchitecturesMatchTransformers) {
  RC_NEEDS_DEVICE("blas");
  expect_architectures("blas");
}

TEST(BlasModel, RunCanBeCancelledAndRepeated) {
  RC_NEEDS_DEVICE("blas");
  expect_a_run_can_be_stopped(*load_fable("blas"), kAllowed);
}

TEST(BlasModel, RunCanTimeOutAndBeRepeated) {
  RC_NEEDS_DEVICE("blas");
  expect_a_run_can_time_out(*load_fable("blas"), kAllowed);
}

}  // namespace
}  // namespace rc::test

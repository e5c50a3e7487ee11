// Whole models whose products the BLAS library computes, and the CPU the rest.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "device/whole_model_util.h"

namespace rc::test {
namespace {

TEST(BlasModel, ArchitecturesAreThoseOfTransformers) {
  RC_NEEDS_DEVICE("blas");
  expect_architectures("blas");
}

TEST(BlasModel, ARunCanBeStopped) {
  RC_NEEDS_DEVICE("blas");
  expect_a_run_can_be_stopped(*load_fable("blas"));
}

TEST(BlasModel, ARunCanTimeOut) {
  RC_NEEDS_DEVICE("blas");
  expect_a_run_can_time_out(*load_fable("blas"));
}

}  // namespace
}  // namespace rc::test

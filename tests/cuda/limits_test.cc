// Sizes beyond those that the kernels have arrays for.
#include <gtest/gtest.h>

#include <vector>

#include "api/api_util.h"
#include "cuda/tuning.h"
#include "cuda/variants.h"
#include "device/module_util.h"
#include "runcible/tensor.h"
#include "temporary.h"

namespace rc::test {
namespace {

TEST(CudaLimits, ResultsOfAttentionHaveRoom) {
  for (const char* choice :
       {"", "attention=1", "attention=20", "attention=256"}) {
    const TemporaryVariable tuning("RUNCIBLE_CUDA_TUNING", choice);
    const streams::Tuning choices = cuda::tuning(cuda::kLeastCapability);
    for (uint32_t head = 1; head <= cuda::kHeadRoom; ++head) {
      const uint32_t lanes = choices.attention_lanes(head);
      ASSERT_LE(lanes * head, cuda::kResultsRoom) << head << choice;
      ASSERT_LE(lanes, cuda::kGroupRoom);
    }
  }
}

TEST(CudaLimits, InvalidTuningIsRefused) {
  RC_NEEDS_DEVICE("cuda");
  expect_refused("cuda", "RUNCIBLE_CUDA_TUNING",
                 {"tile=8", "parts=9", "attention=257", "graphs=2", "few"});
}

rc_status attend(const char* spec, int32_t strict, int64_t head,
                 std::vector<float>* result) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.strict = strict;
  rc_backend* made = nullptr;
  EXPECT_OK(rc_backend_open(spec, &options, &made));
  const Backend backend(made);
  const int64_t shape[] = {1, 1, head};
  rc_tensor* ones = nullptr;
  EXPECT_OK(rc_tensor_ones(made, RC_DTYPE_F32, shape, 3, &ones));
  rc_tensor* y = nullptr;
  const rc_status status = rc_op_attention(ones, ones, ones, nullptr, &y);
  if (status == RC_OK) {
    result->resize(static_cast<size_t>(head));
    EXPECT_OK(
        rc_tensor_read(y, result->data(), result->size() * sizeof(float)));
  }
  rc_tensor_release(y);
  rc_tensor_release(ones);
  return status;
}

TEST(CudaLimits, LargerHeadsAreRefusedOrComputedElsewhere) {
  RC_NEEDS_DEVICE("cuda");
  std::vector<float> result;
  EXPECT_EQ(attend("cuda", 1, cuda::kHeadRoom, &result), RC_OK);
  EXPECT_EQ(result, std::vector<float>(cuda::kHeadRoom, 1));
  const int64_t larger = cuda::kHeadRoom + 1;
  EXPECT_FAILS(RC_E_UNSUPPORTED, attend("cuda", 1, larger, &result), "577",
               "room for 576");
  EXPECT_EQ(attend("cuda,cpu", 0, larger, &result), RC_OK);
  EXPECT_EQ(result, std::vector<float>(static_cast<size_t>(larger), 1));
}

}  // namespace
}  // namespace rc::test

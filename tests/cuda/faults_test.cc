// Each call of the driver fails once: the C ABI answers with a status and a
// message, nothing is left allocated, and the device opens again.
#include <gtest/gtest.h>

#include <string>

#include "api/api_util.h"
#include "cuda/api.h"
#include "cuda/stand_in_util.h"
#include "device/module_util.h"
#include "labels.h"

namespace rc::test {
namespace {

// Opens, loads and generates; the text, or the message of the first failure.
struct Outcome {
  rc_status status = RC_OK;
  std::string text;
};

Outcome walk() {
  const auto failed = [](rc_status status) {
    return Outcome{status, rc_error_message()};
  };
  rc_backend_options backend_options = RC_BACKEND_OPTIONS_INIT;
  backend_options.threads = 1;
  rc_backend* backend = nullptr;
  rc_status status = rc_backend_open("cuda", &backend_options, &backend);
  if (status != RC_OK) return failed(status);
  const Backend holds_backend(backend);
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  model_options.context_length = 64;
  rc_model* model = nullptr;
  status = rc_model_load(backend, model_path().c_str(), &model_options, &model);
  if (status != RC_OK) return failed(status);
  const Model holds_model(model);
  rc_session* session = nullptr;
  status = rc_session_create(model, nullptr, &session);
  if (status != RC_OK) return failed(status);
  const Session holds_session(session);
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = 3;
  options.temperature = 0;
  options.ignore_eos = 1;
  char* text = nullptr;
  status = rc_generate(session, &options, &text, nullptr, nullptr);
  if (status != RC_OK) return failed(status);
  Outcome outcome{RC_OK, text};
  rc_free(text);
  return outcome;
}

TEST(CudaFaults, EachCallFailsOnceAndTheDeviceOpensAgain) {
  RC_TEST_LABELS(kFull);
  RC_NEEDS_STAND_IN();
  RC_NEEDS_DEVICE("cuda");
  const Outcome good = walk();
  ASSERT_EQ(good.status, RC_OK) << good.text;
  const long before = calls();
  ASSERT_EQ(walk().text, good.text);
  const long total = calls() - before;
  EXPECT_GT(total, 100);
  long failures = 0;
  for (const cuda::CUresult result :
       {cuda::CUDA_ERROR_OUT_OF_MEMORY, cuda::CUDA_ERROR_ILLEGAL_ADDRESS}) {
    for (long at = 0; at < total; at += 1 + total / 300) {
      SCOPED_TRACE(at);
      fail_after("", at, result);
      const Outcome outcome = walk();
      fail_after("", -1, cuda::CUDA_SUCCESS);
      if (outcome.status == RC_OK) {
        EXPECT_EQ(outcome.text, good.text);
      } else {
        ++failures;
        EXPECT_LT(outcome.status, 0);
        EXPECT_NE(outcome.status, RC_E_INTERNAL) << outcome.text;
        EXPECT_FALSE(outcome.text.empty());
      }
      wait_until_closed("cuda");
      ASSERT_EQ(bytes(), 0) << outcome.text;
    }
  }
  EXPECT_GT(failures, 100);
  EXPECT_EQ(walk().text, good.text);
}

TEST(CudaFaults, LackOfMemoryNamesTheBytes) {
  RC_NEEDS_STAND_IN();
  RC_NEEDS_DEVICE("cuda");
  walk();  // tests the device first
  fail_after("cuMemAlloc_v2", 0, cuda::CUDA_ERROR_OUT_OF_MEMORY);
  const Outcome outcome = walk();
  fail_after("", -1, cuda::CUDA_SUCCESS);
  EXPECT_EQ(outcome.status, RC_E_DEVICE_MEMORY) << outcome.text;
  EXPECT_NE(outcome.text.find("no memory for a buffer of"), std::string::npos)
      << outcome.text;
}

TEST(CudaFaults, LossOfTheDeviceIsAStatus) {
  RC_NEEDS_STAND_IN();
  RC_NEEDS_DEVICE("cuda");
  const Outcome good = walk();
  fail_after("cuLaunchKernel", 5, cuda::CUDA_ERROR_LAUNCH_FAILED);
  const Outcome outcome = walk();
  fail_after("", -1, cuda::CUDA_SUCCESS);
  EXPECT_EQ(outcome.status, RC_E_DEVICE_LOST);
  EXPECT_NE(outcome.text.find("CUDA_ERROR_LAUNCH_FAILED"), std::string::npos)
      << outcome.text;
  wait_until_closed("cuda");
  EXPECT_EQ(walk().text, good.text);
}

}  // namespace
}  // namespace rc::test

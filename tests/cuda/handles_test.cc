// Handles on cuda: next to those on other backends, and two on one device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/api_util.h"
#include "cuda/stand_in_util.h"
#include "device/module_util.h"

namespace rc::test {
namespace {

std::string text_of(rc_model* model) {
  return generate(create_session(model).get());
}

TEST(CudaHandles, EachHandleIsOnItsBackendAndGivesTheSameText) {
  RC_NEEDS_DEVICE("cuda");
  std::vector<std::string> specs = {"reference", "cuda"};
  for (const char* other : {"opencl", "vulkan"}) {
    if (why_no_device(other).empty()) specs.emplace_back(other);
  }
  std::vector<Backend> backends;
  std::vector<Model> models;
  for (const std::string& spec : specs) {
    backends.push_back(open_backend(spec.c_str()));
    models.push_back(load_model(backends.back().get()));
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    rc_model_report report = RC_MODEL_REPORT_INIT;
    EXPECT_OK(rc_model_describe(models[i].get(), &report));
    EXPECT_EQ(std::string(report.device), specs[i] + ":0");
    EXPECT_EQ(text_of(models[i].get()), text_of(models[0].get())) << specs[i];
  }
}

// Steps of one text are the same launches each time.
TEST(CudaHandles, StepsThatComeAgainAreGraphs) {
  RC_NEEDS_STAND_IN();
  RC_NEEDS_DEVICE("cuda");
  const auto text = [] {
    const Backend backend = open_backend("cuda");
    return text_of(load_model(backend.get()).get());
  };
  const long before = graphs();
  const std::string by_graphs = text();
  EXPECT_GT(graphs(), before);
  wait_until_closed("cuda");
  const TemporaryVariable without("RUNCIBLE_CUDA_TUNING", "graphs=0");
  const long between = graphs();
  EXPECT_EQ(text(), by_graphs);
  EXPECT_EQ(graphs(), between);
  wait_until_closed("cuda");
}

// The second handle takes a KV cache, and shares the weights of the first.
TEST(CudaHandles, WeightsAreOnTheDeviceOnce) {
  RC_NEEDS_STAND_IN();
  RC_NEEDS_DEVICE("cuda");
  const Backend first = open_backend("cuda");
  const long empty = bytes();
  const Model model = load_model(first.get());
  const long one = bytes() - empty;
  const Backend second = open_backend("cuda");
  const Model same = load_model(second.get());
  EXPECT_LT(bytes() - empty, one + one / 2);
  EXPECT_EQ(text_of(same.get()), text_of(model.get()));
}

}  // namespace
}  // namespace rc::test

// Several backends for GPUs in one process, each handle on the one that it
// asked for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/api_util.h"
#include "cuda/stand_in_util.h"
#include "device/module_util.h"

namespace rc::test {
namespace {

std::string greedy_text(rc_model* model) {
  const Session session = create_session(model);
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = 4;
  options.temperature = 0;
  options.ignore_eos = 1;
  char* text = nullptr;
  size_t length = 0;
  EXPECT_OK(rc_generate(session.get(), &options, &text, &length, nullptr));
  const std::string result(text, length);
  rc_free(text);
  return result;
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
    EXPECT_EQ(greedy_text(models[i].get()), greedy_text(models[0].get()))
        << specs[i];
  }
}

// Steps of one text are the same launches each time.
TEST(CudaHandles, StepsThatComeAgainAreGraphs) {
  RC_NEEDS_STAND_IN();
  RC_NEEDS_DEVICE("cuda");
  const auto text = [] {
    const Backend backend = open_backend("cuda");
    const Model model = load_model(backend.get());
    greedy_text(model.get());  // the device's speed is known then
    return greedy_text(model.get());
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
  EXPECT_EQ(greedy_text(same.get()), greedy_text(model.get()));
}

}  // namespace
}  // namespace rc::test

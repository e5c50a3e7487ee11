// Plans say how much of the weights may lie in huge pages, and on which nodes.
#include <nlohmann/json.hpp>

#include "api_util.h"

namespace rc::test {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

// Returns the description of a model of F16 with matrices of [1024, 1024],
// [512, 1024] and [2048, 1024], and two of [5000, 1024].
std::string model() {
  return nlohmann::json{{"architecture", "llama"},
                        {"vocab_size", 5000},
                        {"context_length", 1024},
                        {"block_count", 2},
                        {"embedding_length", 1024},
                        {"feed_forward_length", 2048},
                        {"attention.head_count", 8},
                        {"attention.head_count_kv", 4},
                        {"attention.layer_norm_rms_epsilon", 1e-5},
                        {"rope.freq_base", 10000},
                        {"tensors", {"output.weight"}}}
      .dump();
}

Plan estimate(const Backend& backend) {
  rc_plan* made = nullptr;
  EXPECT_OK(
      rc_model_estimate(model().c_str(), "F16", nullptr, backend.get(), &made));
  return Plan(made);
}

rc_device_report device_report(const Backend& backend) {
  rc_device_report report = RC_DEVICE_REPORT_INIT;
  EXPECT_OK(rc_backend_device(backend.get(), &report));
  return report;
}

TEST(PlanPages, CountWholeHugePagesOfTheWeights) {
  const Backend backend = open_backend("cpu");
  const rc_device_report device = device_report(backend);
  const Plan plan = estimate(backend);
  const rc_plan_device_report here = device_of(plan.get(), 0);
  EXPECT_EQ(here.huge_pages, device.huge_pages);
  // In each layer q and the output of attention have 2 MiB, k and v 1 MiB, and
  // three matrices 4 MiB, plus a 32nd for scales; the embedding has 9.8 MiB,
  // the output 10.1.
  const bool may = device.huge_pages == RC_HUGE_PAGES_MADVISE ||
                   device.huge_pages == RC_HUGE_PAGES_ALWAYS;
  EXPECT_EQ(here.huge_page_weights,
            may ? (2 * (2 * 2 + 3 * 4) + 8 + 10) * kMebibyte : 0);
  EXPECT_LT(here.huge_page_weights, here.weights);
}

TEST(PlanPages, AreUnknownForDevicesWithoutTheInfo) {
  const Backend backend = open_backend("reference");
  const Plan plan = estimate(backend);
  const rc_plan_device_report here = device_of(plan.get(), 0);
  EXPECT_EQ(here.huge_pages, RC_HUGE_PAGES_UNKNOWN);
  EXPECT_EQ(here.huge_page_weights, 0u);
  EXPECT_EQ(here.numa, RC_NUMA_OFF);
  EXPECT_EQ(device_report(backend).numa_nodes, 0);
}

TEST(PlanPages, ReportTheNumaModeOfTheDevice) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  for (const rc_numa numa :
       {RC_NUMA_AUTO, RC_NUMA_OFF, RC_NUMA_INTERLEAVE, RC_NUMA_LOCAL}) {
    options.numa = numa;
    rc_backend* opened = nullptr;
    ASSERT_OK(rc_backend_open("cpu", &options, &opened));
    const Backend backend(opened);
    const bool several = device_report(backend).numa_nodes > 1;
    EXPECT_EQ(device_of(estimate(backend).get(), 0).numa,
              !several               ? RC_NUMA_OFF
              : numa == RC_NUMA_AUTO ? RC_NUMA_INTERLEAVE
                                     : numa);
    const char* json = nullptr;
    ASSERT_OK(rc_backend_explain(opened, &json));
    const auto account = nlohmann::json::parse(json);
    EXPECT_TRUE(account["numa"].is_string());
    EXPECT_TRUE(account["device"].contains("numa_nodes"));
    EXPECT_TRUE(account["device"].contains("huge_pages"));
  }
  options.numa = 4;
  rc_backend* opened = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_backend_open("cpu", &options, &opened),
               "options->numa", "4", "0 to 3");
  options.numa = RC_NUMA_AUTO;
  options.reserved = 1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_backend_open("cpu", &options, &opened),
               "reserved", "1");
}

}  // namespace
}  // namespace rc::test

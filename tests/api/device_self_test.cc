// rc_device_test and rc_quarantine_forget.
#include <nlohmann/json.hpp>
#include <string>

#include "api_util.h"
#include "labels.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

Json test_of(const char* spec) {
  char* text = nullptr;
  EXPECT_OK(rc_device_test(spec, nullptr, nullptr, nullptr, &text));
  if (text == nullptr) return {};
  Json json = Json::parse(text);
  rc_free(text);
  return json;
}

TEST(DeviceTest, ReportsEachTest) {
  RC_TEST_LABELS(kSerial);
  const Json found = test_of("cpu");
  ASSERT_EQ(found["devices"].size(), 1u);
  const Json& device = found["devices"][0];
  EXPECT_EQ(device["id"], "cpu:0");
  EXPECT_TRUE(device["failure"].is_null());
  EXPECT_GT(device["seconds"], 0);
  EXPECT_GT(device["tests"].size(), 200u);
  for (const Json& test : device["tests"]) {
    EXPECT_EQ(test["outcome"], "passed") << test;
    EXPECT_TRUE(test["reason"].is_null()) << test;
  }
}

TEST(DeviceTest, ReportsFailedAndUnsupportedOps) {
  RC_TEST_LABELS(kSerial);
  WrappedState& state = wrap_backend("api_liar", "cpu");
  state.missing_ops = {RC_OP_SCALE};
  state.on_run = [](const rc_plugin_run& run, char*, const auto& inner) {
    const rc_status status = inner();
    if (run.outputs_data != nullptr && run.rows == 11) {
      static_cast<float*>(run.outputs_data[0])[0] = 1e9f;
    }
    return status;
  };
  const Json found = test_of("api_liar");
  ASSERT_EQ(found["devices"].size(), 1u);
  size_t failed = 0;
  for (const Json& test : found["devices"][0]["tests"]) {
    if (test["test"] == "SCALE") {
      EXPECT_EQ(test["outcome"], "lacking");
      EXPECT_TRUE(test["reason"].is_null());
    }
    if (test["test"] == "ADD") {
      EXPECT_EQ(test["outcome"], "failed");
      EXPECT_NE(test["reason"].get<std::string>().find("ADD of 11 rows is off"),
                std::string::npos)
          << test;
      ++failed;
    }
  }
  EXPECT_EQ(failed, 1u);
}

TEST(DeviceTest, CanBeCancelled) {
  int calls = 0;
  const auto progress = [](void* user, double) -> int32_t {
    return ++*static_cast<int*>(user) == 5 ? 1 : 0;
  };
  char* text = nullptr;
  EXPECT_FAILS(RC_E_CANCELLED,
               rc_device_test("cpu", nullptr, progress, &calls, &text),
               "the test of cpu:0 was cancelled");
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(text, nullptr);
}

TEST(DeviceTest, RefusesInvalidArguments) {
  RC_TEST_LABELS(kSerial);
  EXPECT_FAILS(RC_E_NOT_FOUND,
               rc_device_test("quantum", nullptr, nullptr, nullptr, nullptr),
               "quantum");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_device_test("cpu:", nullptr, nullptr, nullptr, nullptr));
  EXPECT_OK(rc_device_test("cpu", nullptr, nullptr, nullptr, nullptr));
}

TEST(QuarantineForget, TakesBackendsAndDevices) {
  const TemporaryFolder cache;
  const TemporaryVariable variable("XDG_CACHE_HOME", cache.path().string());
  int32_t lifted = -1;
  for (const char* name : {"cpu", "cpu:0", "CPU"}) {
    EXPECT_OK(rc_quarantine_forget(name, &lifted));
    EXPECT_EQ(lifted, 0);
  }
  EXPECT_OK(rc_quarantine_forget(nullptr, nullptr));
  EXPECT_FAILS(RC_E_NOT_FOUND, rc_quarantine_forget("quantum", &lifted),
               "quantum");
  EXPECT_FAILS(RC_E_NOT_FOUND, rc_quarantine_forget("cpu:9", &lifted), "cpu:9");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_quarantine_forget("gpu", &lifted),
               "gpu");
}

}  // namespace
}  // namespace rc::test

#include "runtime/self_test.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "runtime/plugin_list.h"
#include "runtime/registry.h"
#include "temporary.h"

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;

class SelfTest : public testing::Test {
 protected:
  const test::TemporaryFolder folder_;
  const fs::path cache_ = folder_.path() / "cache";
  const test::TemporaryVariable variable_{"XDG_CACHE_HOME", cache_.string()};
};

TEST_F(SelfTest, GoodDevicesPass) {
  for (const char* spec : {"cpu", "reference"}) {
    const auto device = select({spec, 0, {}}).device;
    EXPECT_EQ(self_test(device, "no module"), "") << spec;
    EXPECT_FALSE(fs::is_empty(cache_ / "runcible"));
    EXPECT_EQ(self_test(device, "no module"), "") << spec;
  }
}

// Its kernels report success and leave the output as it was.
TEST_F(SelfTest, AnIdleDeviceIsPassedOver) {
  load_plugin(RC_MODULE_LIES);
  const Selected selected = select({"lies,cpu", 0, {}});
  EXPECT_EQ(selected.device->id(), "cpu:0");
  ASSERT_FALSE(selected.candidates.empty());
  EXPECT_EQ(selected.candidates[0].id, "lies:0");
  EXPECT_NE(selected.candidates[0].reason.find("fails its self-test: LINEAR"),
            std::string::npos)
      << selected.candidates[0].reason;
  EXPECT_THROW(select({"lies", 0, {}}), Error);
  EXPECT_FALSE(fs::exists(cache_ / "runcible"));
}

}  // namespace
}  // namespace rc::runtime

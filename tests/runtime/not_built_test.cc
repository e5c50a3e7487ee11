#include "runtime/not_built.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

TEST(NotBuilt, NamesTheMissingDependencies) {
  EXPECT_TRUE(parse_not_built("").empty());
  const auto list = parse_not_built(
      "opencl=opencl-c-headers|vulkan=glslc, libvulkan-dev|"
      "webgpu:it takes threads = headers|cuda!vulkan or opencl");
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].name, "opencl");
  EXPECT_EQ(
      list[0].reason.rfind(
          "not built: Runcible was compiled without opencl-c-headers;", 0),
      0u);
  EXPECT_EQ(list[1].name, "vulkan");
  EXPECT_NE(list[1].reason.find("glslc, libvulkan-dev"), std::string::npos);
  // A backend that was not built for another reason.
  EXPECT_EQ(list[2].name, "webgpu");
  EXPECT_EQ(list[2].reason, "it takes threads = headers");
  EXPECT_EQ(list[3].name, "cuda");
  EXPECT_EQ(
      list[3].reason.rfind("this version of Runcible has no backend cuda; "
                           "use vulkan or opencl, or ",
                           0),
      0u)
      << list[3].reason;
}

// Backends that this build does not have are listed and skipped with the
// reason, unless a module of that name exists.
TEST(NotBuilt, IsListedWithTheReason) {
  const Discovery discovery = discover();
  // One that programs ask for by name is listed in every build.
  EXPECT_TRUE(std::any_of(discovery.backends.begin(), discovery.backends.end(),
                          [](const BackendReport& report) {
                            return std::string_view(report.name) == "metal" &&
                                   !report.reason.empty();
                          }));
  for (const NotBuilt& lacking : not_built()) {
    const auto found =
        std::find_if(discovery.backends.begin(), discovery.backends.end(),
                     [&](const BackendReport& report) {
                       return report.name == lacking.name;
                     });
    ASSERT_NE(found, discovery.backends.end()) << lacking.name;
    if (!found->path.empty()) continue;
    EXPECT_EQ(found->reason, lacking.reason);
    try {
      select({lacking.name, 0, {}});
      ADD_FAILURE() << "opened " << lacking.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_BACKEND_UNAVAILABLE);
      EXPECT_NE(error.message().find(lacking.reason), std::string::npos)
          << error.message();
    }
  }
}

}  // namespace
}  // namespace rc::runtime

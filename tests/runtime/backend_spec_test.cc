#include "runtime/backend_spec.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace rc::runtime {
namespace {

TEST(BackendSpec, ReadsChains) {
  const auto items = parse_spec("cuda, vulkan:12 ,auto,my_backend2");
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].name, "cuda");
  EXPECT_FALSE(items[0].index);
  EXPECT_EQ(items[1].name, "vulkan");
  EXPECT_EQ(items[1].index, 12);
  EXPECT_EQ(items[2].name, "auto");
  EXPECT_EQ(items[3].name, "my_backend2");
}

TEST(BackendSpec, KnowsOtherNames) {
  const auto items = parse_spec("GPU,Vulkan:1,hip,HIP:2,Auto");
  ASSERT_EQ(items.size(), 5u);
  EXPECT_EQ(items[0].name, "gpu");
  EXPECT_TRUE(items[0].is_any());
  EXPECT_EQ(items[1].name, "vulkan");
  EXPECT_EQ(items[1].index, 1);
  EXPECT_FALSE(items[1].is_any());
  EXPECT_EQ(items[2].name, "rocm");
  EXPECT_EQ(items[3].name, "rocm");
  EXPECT_EQ(items[3].index, 2);
  EXPECT_EQ(items[4].name, "auto");
  for (const char* name : {"auto", "gpu", "hip"}) {
    EXPECT_TRUE(is_reserved_name(name));
  }
  EXPECT_FALSE(is_reserved_name("rocm"));
}

TEST(BackendSpec, MalformedSpecIsNamedInTheError) {
  for (const char* spec :
       {"",         ",",      "cpu,",   ",cpu",   "cpu,,cpu",        "cpu:",
        "cpu:x",    "cpu:-1", "cpu:1x", "cpu: 1", "cpu:99999999999", "cpu:1:2",
        ":1",       "c pu",   "auto:0", "gpu:0",  "GPU:1",           "cpu;auto",
        "\xff\xfe", " "}) {
    try {
      parse_spec(spec);
      ADD_FAILURE() << "accepted: " << spec;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      if (static_cast<unsigned char>(spec[0]) < 0x80) {
        EXPECT_NE(error.message().find(spec), std::string::npos)
            << error.message();
      }
      EXPECT_NE(error.message().find("vulkan:1"), std::string::npos)
          << error.message();
    }
  }
}

}  // namespace
}  // namespace rc::runtime

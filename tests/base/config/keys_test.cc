#include "base/config/keys.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/config/value.h"

namespace rc::config {
namespace {

TEST(ConfigKeys, HaveUniqueNames) {
  std::set<std::string> names;
  std::set<std::string> variables;
  for (const Key& key : keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_TRUE(variables.insert(key.variable).second) << key.variable;
    EXPECT_EQ(std::string(key.variable).rfind("RUNCIBLE_", 0), 0u);
    EXPECT_EQ(find_key(key.name), &key);
    EXPECT_STRNE(key.meaning, "");
    EXPECT_NE(allowed(key), "");
  }
  EXPECT_GT(names.size(), 40u);
  EXPECT_EQ(find_key("backend"), nullptr);
  EXPECT_EQ(find_key("backend.thread"), nullptr);
  EXPECT_EQ(find_key(""), nullptr);
}

TEST(ConfigKeys, HaveValidInitialValues) {
  for (const Key& key : keys()) {
    if (key.initial == nullptr) continue;
    EXPECT_NO_THROW(initial_value(key)) << key.name;
  }
}

TEST(ConfigKeys, DescribeTheirValues) {
  const auto of = [](const char* name) { return allowed(*find_key(name)); };
  EXPECT_EQ(of("backend.threads"), "an integer from 0 to 1024");
  EXPECT_EQ(of("backend.memory_limit"), "an integer of at least 0");
  EXPECT_EQ(of("model.cache_dtype"), "one of f16, f32, q8_0");
  EXPECT_EQ(of("backend.strict"), "true (1) or false (0)");
  EXPECT_EQ(of("generate.top_p"), "a number above 0 and at most 1");
  EXPECT_EQ(of("generate.min_p"), "a number from 0 to 1");
  EXPECT_EQ(of("generate.repetition_penalty"), "a number above 0");
  EXPECT_EQ(of("generate.presence_penalty"), "a number");
}

TEST(ConfigKeys, FindTheNearestKey) {
  const auto nearest = [](const char* name) {
    return std::string(nearest_key(name)->name);
  };
  EXPECT_EQ(nearest("backend.thread"), "backend.threads");
  EXPECT_EQ(nearest("backend.therads"), "backend.threads");
  EXPECT_EQ(nearest("threads"), "backend.threads");
  EXPECT_EQ(nearest("backnd.spec"), "backend.spec");
  EXPECT_EQ(nearest("generate.temprature"), "generate.temperature");
  EXPECT_EQ(nearest("model.cache_type"), "model.cache_dtype");
  EXPECT_EQ(nearest("modle.context_length"), "model.context_length");
  EXPECT_NE(nearest_key(""), nullptr);
  EXPECT_NE(nearest_key(std::string(1 << 20, 'x')), nullptr);
  EXPECT_STREQ(nearest_variable("RUNCIBLE_THREAD")->variable,
               "RUNCIBLE_THREADS");
}

}  // namespace
}  // namespace rc::config

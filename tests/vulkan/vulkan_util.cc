#include "vulkan/vulkan_util.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "runtime/registry.h"

namespace rc::test {
namespace {

class SilentValidation : public testing::Environment {
  void SetUp() override {
    if (std::getenv("RUNCIBLE_VULKAN_VALIDATION") == nullptr) return;
    rc_log_set(
        [](void* messages, rc_log_level, const char* message) {
          ++*static_cast<std::atomic<int>*>(messages);
          std::fprintf(stderr, "%s\n", message);
        },
        &messages_, RC_LOG_ERROR);
  }
  void TearDown() override {
    rc_log_set(nullptr, nullptr, RC_LOG_NONE);
    EXPECT_EQ(messages_, 0);
  }
  std::atomic<int> messages_ = 0;
};
const auto* const g_silent_validation =
    testing::AddGlobalTestEnvironment(new SilentValidation);

}  // namespace

Variable::Variable(const char* name, const std::string& value) : name_(name) {
  if (const char* old = std::getenv(name)) old_ = old;
  setenv(name, value.c_str(), 1);
}

Variable::~Variable() {
  if (old_) {
    setenv(name_, old_->c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

Folder::Folder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "vulkanXXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::bad_alloc();
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string why_no_device() {
  for (const auto& backend : runtime::discover().backends) {
    if (backend.name == "vulkan") return backend.reason;
  }
  return "there is no module";
}

}  // namespace rc::test

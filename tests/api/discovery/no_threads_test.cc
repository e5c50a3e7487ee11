// The choice of a device on a system that starts no threads, or too few.
#include "no_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runcible/runcible.h"
#include "temporary.h"

namespace rc::test {
namespace {

class NoThreads : public testing::Test {
 protected:
  // Runs the body in a child that has never used the library.
  template <class Body>
  void in_child(const Body& body) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      rc_log_set(
          [](void* user, rc_log_level, const char* message) {
            static_cast<std::vector<std::string>*>(user)->push_back(message);
          },
          &logged_, RC_LOG_WARNING);
      body();
      std::fflush(stdout);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  static nlohmann::json explain(const char* spec, int threads) {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.threads = threads;
    rc_backend* backend = nullptr;
    EXPECT_EQ(rc_backend_open(spec, &options, &backend), RC_OK)
        << rc_error_message();
    const char* json = "{}";
    EXPECT_EQ(rc_backend_explain(backend, &json), RC_OK);
    const auto explained = nlohmann::json::parse(json);
    // It computes.
    const int64_t count = 3;
    const float numbers[] = {1, 2, 3};
    float sums[3] = {};
    rc_tensor *tensor = nullptr, *sum = nullptr;
    EXPECT_EQ(rc_tensor_from_data(backend, RC_DTYPE_F32, &count, 1, numbers,
                                  sizeof numbers, &tensor),
              RC_OK)
        << rc_error_message();
    EXPECT_EQ(rc_op_add(tensor, tensor, &sum), RC_OK) << rc_error_message();
    EXPECT_EQ(rc_tensor_read(sum, sums, sizeof sums), RC_OK);
    EXPECT_EQ(sums[2], 6);
    rc_tensor_release(sum);
    rc_tensor_release(tensor);
    rc_backend_release(backend);
    return explained;
  }

  std::vector<std::string> logged_;
  const TemporaryFolder folder_;
  const TemporaryVariable cache_{"XDG_CACHE_HOME", folder_.path().string()};
  const TemporaryVariable modules_{"RUNCIBLE_PLUGIN_PATH", RC_MODULES};
};

TEST_F(NoThreads, CpuIsOpenedWithOneThreadAndAWarning) {
  for (const char* spec : {"auto", "cpu", "cpu,reference"}) {
    for (const int left : {0, 1}) {
      in_child([&] {
        allow_threads(left);
        const auto explained = explain(spec, 5);
        EXPECT_EQ(explained["device"]["id"], "cpu:0") << spec;
        ASSERT_EQ(explained["warnings"].size(), 1u) << explained;
        const std::string warning = explained["warnings"][0];
        EXPECT_NE(warning.find("one thread"), std::string::npos) << warning;
        EXPECT_NE(std::find(logged_.begin(), logged_.end(), warning),
                  logged_.end());
      });
    }
  }
}

// Modules that were not probed without threads are probed once threads can
// start.
TEST_F(NoThreads, ModulesAreProbedOnceThreadsCanStart) {
  const auto listed = [] {
    rc_device_list* list = nullptr;
    EXPECT_EQ(rc_discover(&list), RC_OK) << rc_error_message();
    std::vector<std::string> reasons;
    for (size_t i = 0; i < rc_device_list_count(list); ++i) {
      rc_device_report report = RC_DEVICE_REPORT_INIT;
      EXPECT_EQ(rc_device_list_get(list, i, &report), RC_OK);
      reasons.push_back(std::string(report.id) + report.reason);
    }
    rc_device_list_release(list);
    return reasons;
  };
  const auto mentions_threads = [](const std::vector<std::string>& reasons) {
    return std::any_of(reasons.begin(), reasons.end(), [](const auto& reason) {
      return reason.find("thread") != std::string::npos;
    });
  };
  in_child([&] {
    allow_threads(0);
    const auto without = listed();
    allow_threads(-1);
    const auto with = listed();
    EXPECT_NE(std::find(without.begin(), without.end(), "cpu:0"),
              without.end());
    EXPECT_NE(std::find(with.begin(), with.end(), "cpu:0"), with.end());
    EXPECT_FALSE(mentions_threads(with));
    // Unless this build has no modules.
    EXPECT_EQ(mentions_threads(without), with.size() > 2);
  });
}

}  // namespace
}  // namespace rc::test

// Discovery and the opening of devices with an allocation failing at every
// place in turn, at the first call of a process, when everything is made that
// is made once, and at later ones.
//
// Each walk is made by a child of a process that has never used the library.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "api/allocation/failing_new.h"
#include "labels.h"
#include "runcible/runcible.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

// The report of a child, in memory shared with its parent: it may crash.
struct Report {
  int64_t at;          // the place that is tried
  bool failed;         // whether an allocation failed at the last place tried
  bool module_failed;  // whether one of a module did, anywhere
  bool skipped;        // what is tried does not work here at all
  char wrong[1024];
};

// "" if the call did what it should with an allocation that failed or not.
using Call = std::string (*)(const char* spec);

std::string wrong_status(rc_status status) {
  if (status == RC_OK || status == RC_E_OUT_OF_MEMORY) return "";
  return std::string(rc_status_name(status)) + ": " + rc_error_message();
}

std::string discovery_walk(const char*) {
  rc_device_list* list = nullptr;
  const rc_status status = rc_discover(&list);
  bool has_cpu = false;
  for (size_t i = 0; i < rc_device_list_count(list); ++i) {
    rc_device_report report = RC_DEVICE_REPORT_INIT;
    has_cpu = has_cpu || (rc_device_list_get(list, i, &report) == RC_OK &&
                          std::strcmp(report.id, "cpu:0") == 0);
  }
  rc_device_list_release(list);
  if (status == RC_OK && !has_cpu) return "cpu:0 is not listed";
  return wrong_status(status);
}

std::string opening_walk(const char* spec) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  rc_backend* backend = nullptr;
  const rc_status status = rc_backend_open(spec, &options, &backend);
  rc_device_report report = RC_DEVICE_REPORT_INIT;
  const bool fell_back = status == RC_OK &&
                         rc_backend_device(backend, &report) == RC_OK &&
                         std::strcmp(report.backend, "reference") == 0;
  rc_backend_release(backend);
  if (fell_back) return "fell to the reference backend";
  return wrong_status(status);
}

struct Walk {
  const char* name;
  Call call;
  const char* spec;
  // The modules: none, a small one that is probed each time, or the real ones.
  enum { kNone, kProbed, kReal } modules;
  // Leaves out about n / thinning of n successive places.
  int64_t thinning;
};

// For GoogleTest, which would print the bytes.
void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }

class FailedDiscovery : public testing::TestWithParam<Walk> {
 protected:
  void SetUp() override {
    report_ = static_cast<Report*>(mmap(nullptr, sizeof(Report),
                                        PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(report_, MAP_FAILED);
    // A process reads the configuration of its user when it first needs it.
    std::ofstream(folder_.path() / "config.toml") << "[generate]\n"
                                                     "temperature = 0.5\n";
    fs::create_directories(modules_);
    switch (GetParam().modules) {
      case Walk::kNone:
        break;
      case Walk::kProbed:
        fs::copy(RC_MODULE_FOUND, modules_ / "librunciblebackend-found.so");
        break;
      case Walk::kReal:
        for (const auto& file : fs::directory_iterator(RC_MODULES)) {
          const std::string name = file.path().filename();
          if (name.starts_with("librunciblebackend-")) {
            fs::create_symlink(file.path(), modules_ / name);
          }
        }
    }
  }
  void TearDown() override { munmap(report_, sizeof(Report)); }

  // The call with the n-th allocation failing.
  std::string failing_call(int64_t n) {
    report_->at = n;
    fail_allocation(n);
    std::string wrong = call();
    report_->failed = allocation_failed();
    report_->module_failed |= allocation_of_module_failed();
    fail_allocation(-1);
    return wrong;
  }

  // Opening a device of a module allocates in the module, too.
  void expect_failures_in_modules() const {
    const bool opens_one = GetParam().modules == Walk::kReal &&
                           GetParam().call == opening_walk &&
                           std::strcmp(GetParam().spec, "auto") != 0;
    EXPECT_TRUE(report_->module_failed || !opens_one);
  }

  static std::string call() { return GetParam().call(GetParam().spec); }
  static int64_t after(int64_t n) {
    // Few of the places are in modules, where each walk is to find one.
    const bool all = is_full_set() || GetParam().modules == Walk::kReal;
    const int64_t thinning = GetParam().thinning;
    return n + 1 + n / (all ? thinning : std::min<int64_t>(thinning, 7));
  }

  // Runs the body in a child.
  template <class Body>
  void in_child(const Body& body) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string wrong = body();
      std::snprintf(report_->wrong, sizeof report_->wrong, "%s", wrong.c_str());
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "allocation " << report_->at << ": status " << status;
    ASSERT_STREQ(report_->wrong, "") << "allocation " << report_->at;
  }

  // Whether the call works here; what takes long is then remembered.
  bool works() {
    in_child([&]() -> std::string {
      const std::string wrong = call();
      report_->skipped = !wrong.empty();
      return "";
    });
    return !report_->skipped;
  }

  Report* report_ = nullptr;
  const TemporaryFolder folder_;
  const fs::path modules_ = folder_.path() / "modules";
  const TemporaryVariable cache_{"XDG_CACHE_HOME", folder_.path().string()};
  const TemporaryVariable config_{"RUNCIBLE_CONFIG",
                                  (folder_.path() / "config.toml").string()};
  const TemporaryVariable path_{"RUNCIBLE_PLUGIN_PATH", modules_.string()};
};

TEST_P(FailedDiscovery, FirstCallSurvivesFailedAllocations) {
  if (!works()) GTEST_SKIP() << GetParam().spec << " does not work here";
  int64_t n = 0;
  do {
    if (GetParam().modules == Walk::kProbed) {
      fs::remove_all(folder_.path() / "runcible");
    }
    in_child([&]() -> std::string {
      std::string wrong = failing_call(n);
      if (!wrong.empty()) return wrong;
      // A failed call leaves no partial state.
      wrong = call();
      return wrong.empty() ? "" : "afterwards: " + wrong;
    });
    if (HasFatalFailure()) return;
    n = after(n);
  } while (report_->failed);
  EXPECT_GT(n, 20);
  expect_failures_in_modules();
}

TEST_P(FailedDiscovery, LaterCallsSurviveFailedAllocations) {
  if (!works()) GTEST_SKIP() << GetParam().spec << " does not work here";
  in_child([&]() -> std::string {
    std::string wrong = call();
    report_->failed = true;
    for (int64_t n = 0; wrong.empty() && report_->failed; n = after(n)) {
      wrong = failing_call(n);
    }
    return wrong;
  });
  EXPECT_GT(report_->at, 10);
  expect_failures_in_modules();
}

INSTANTIATE_TEST_SUITE_P(
    Calls, FailedDiscovery,
    testing::Values(
        Walk{"discover", discovery_walk, "", Walk::kNone, 100000},
        Walk{"discover_and_probe", discovery_walk, "", Walk::kProbed, 100000},
        Walk{"discover_everything", discovery_walk, "", Walk::kReal, 20},
        Walk{"cpu", opening_walk, "cpu", Walk::kNone, 100000},
        Walk{"automatic", opening_walk, "auto", Walk::kProbed, 100000},
        Walk{"automatic_everything", opening_walk, "auto", Walk::kReal, 20},
        Walk{"opencl", opening_walk, "opencl", Walk::kReal, 20},
        Walk{"vulkan", opening_walk, "vulkan", Walk::kReal, 20}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace rc::test

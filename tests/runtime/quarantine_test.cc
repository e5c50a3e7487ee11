// A device that fails its self-test is passed over until its driver changes.
#include "runtime/quarantine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "base/checksum.h"
#include "base/disk_cache.h"
#include "base/error.h"
#include "runtime/device_order.h"
#include "runtime/program.h"
#include "runtime/registry.h"
#include "runtime/self_test.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;

class Quarantines : public testing::Test {
 protected:
  Quarantines() {
    if (PluginList::instance().find("lies") == nullptr) {
      load_plugin(RC_MODULE_LIES);
    }
  }

  // Returns the number of times that the device was opened.
  size_t opened() const {
    std::error_code none;
    const auto size = fs::file_size(opened_, none);
    return none ? 0 : size;
  }
  // Why it is passed over.
  static std::string reason() {
    for (const Candidate& one : select({"lies,cpu", 0, {}}).candidates) {
      if (one.id == "lies:0") return one.reason;
    }
    return "it is not listed";
  }
  fs::path only_file() const {
    const fs::directory_iterator files(cache_ / "runcible");
    EXPECT_EQ(std::distance(files, fs::directory_iterator()), 1);
    return fs::directory_iterator(cache_ / "runcible")->path();
  }

  const test::TemporaryFolder folder_;
  const fs::path cache_ = folder_.path() / "cache";
  const fs::path opened_ = folder_.path() / "opened";
  const test::TemporaryVariable cache_variable_{"XDG_CACHE_HOME",
                                                cache_.string()};
  const test::TemporaryVariable opened_variable_{"RUNCIBLE_TEST_OPENED",
                                                 opened_.string()};
  const test::TemporaryVariable driver_{"RUNCIBLE_TEST_DRIVER", "Fake 1.0"};
};

TEST_F(Quarantines, HoldsUntilTheDriverChanges) {
  EXPECT_EQ(reason().find("lies:0: it fails its self-test: LINEAR"), 0u)
      << reason();
  EXPECT_EQ(opened(), 1u);
  for (int i = 0; i < 2; ++i) {
    const std::string again = reason();
    EXPECT_EQ(again.find("quarantined until its driver (Fake 1.0) or module "
                         "changes: it fails its self-test: LINEAR"),
              0u)
        << again;
  }
  EXPECT_EQ(opened(), 1u);
  {
    const test::TemporaryVariable newer("RUNCIBLE_TEST_DRIVER", "Fake 1.1");
    EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << reason();
    EXPECT_EQ(opened(), 2u);
    EXPECT_NE(reason().find("(Fake 1.1)"), std::string::npos) << reason();
    EXPECT_EQ(opened(), 2u);
  }
  // The record is of one version.
  EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << reason();
  EXPECT_EQ(opened(), 3u);
}

TEST_F(Quarantines, ReasonIsReported) {
  EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << reason();
  try {
    select({"lies", 0, {}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_BACKEND_UNAVAILABLE);
    EXPECT_NE(error.message().find("quarantined"), std::string::npos)
        << error.message();
  }
  bool found = false;
  for (const BackendReport& backend : discover().backends) {
    if (backend.name != "lies") continue;
    ASSERT_EQ(backend.devices.size(), 1u);
    EXPECT_STREQ(backend.devices[0].info.name, "fake");
    EXPECT_STREQ(backend.devices[0].info.driver, "Fake 1.0");
    EXPECT_EQ(backend.devices[0].reason.find("quarantined"), 0u)
        << backend.devices[0].reason;
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST_F(Quarantines, CanBeLifted) {
  for (const char* name : {"lies:0", "lies", "LIES", ""}) {
    const size_t before = opened();
    EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << reason();
    EXPECT_EQ(reason().find("quarantined"), 0u) << reason();
    EXPECT_EQ(opened(), before + 1);
    EXPECT_EQ(forget_quarantine(name), 1) << name;
    EXPECT_EQ(forget_quarantine(name), 0) << name;
  }
  const auto status_of = [](const char* name) -> rc_status {
    try {
      forget_quarantine(name);
      return RC_OK;
    } catch (const Error& error) {
      return error.status();
    }
  };
  EXPECT_EQ(status_of("cpu"), RC_OK);
  EXPECT_EQ(status_of("quantum"), RC_E_NOT_FOUND);
  EXPECT_EQ(status_of("lies:7"), RC_E_NOT_FOUND);
  EXPECT_EQ(status_of("lies,cpu"), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of("auto"), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of("lies:x"), RC_E_INVALID_ARGUMENT);
}

TEST_F(Quarantines, CanBeIgnoredByConfiguration) {
  EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << reason();
  const test::TemporaryVariable ignored("RUNCIBLE_QUARANTINE", "0");
  for (size_t i = 2; i < 4; ++i) {
    EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << reason();
    EXPECT_EQ(opened(), i);
  }
}

TEST_F(Quarantines, UnreadableRecordsAreReplaced) {
  EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << reason();
  const fs::path file = only_file();
  std::string good;
  {
    std::ifstream in(file, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  const size_t first_line = good.find('\n') + 1;
  const std::string heading = good.substr(0, first_line);
  const size_t entry = good.find("0\tdevice\t");
  ASSERT_NE(entry, std::string::npos) << good;
  const std::string before = good.substr(0, entry);
  const std::string whole = good.substr(entry);
  const std::string bad[] = {
      "",
      std::string(70'000, 'x'),
      heading,
      heading + "quarantine 2\n",
      good.substr(0, good.size() - 1),
      good.substr(0, good.size() - 5),
      before + "end\nend\n",
      before + "device\tit fails\nend\n",
      before + "-1\tdevice\tit fails\nend\n",
      before + "99999999999999999999\tdevice\tit fails\nend\n",
      before + "0x\tdevice\tit fails\nend\n",
      before + "0\t\tit fails\nend\n",
      before + "0\tdevice\t\nend\n",
      before + "0\tdevice\tit \x1b[31mfails\nend\n",
      before + "0\tdevice\tit fails \xff\nend\n",
      before + std::string("0\tdevice\tit\0fails\nend\n", 21),
      before + "0\tdevice\t" + std::string(5000, 'x') + "\nend\n",
  };
  for (const std::string& content : bad) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    const size_t was = opened();
    EXPECT_EQ(reason().find("lies:0: it fails"), 0u) << content;
    EXPECT_EQ(opened(), was + 1) << content;
    EXPECT_EQ(reason().find("quarantined"), 0u) << content;
    EXPECT_EQ(opened(), was + 1) << content;
  }
  // A failure that a busy machine may have caused is believed for an hour, and
  // so is none that is said to be of a time to come.
  for (const auto& [seconds, holds] :
       {std::pair(1000, true), {-1000, false}, {1'000'000, false}}) {
    const auto until = time(nullptr) + seconds;
    // The file begins with a line that has the checksum of the rest.
    constexpr size_t kSum = 17;
    const std::string rest =
        before.substr(kSum) + std::to_string(until) + whole.substr(1);
    char sum[kSum + 1];
    std::snprintf(sum, sizeof sum, "%016llx\n",
                  static_cast<unsigned long long>(
                      checksum(std::as_bytes(std::span(rest)))));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << sum << rest;
    EXPECT_EQ(reason().find("quarantined") == 0, holds) << seconds;
  }
}

TEST_F(Quarantines, FailedOpIsUnsupportedInLaterProcesses) {
  test::WrappedState& state = test::wrap_backend("quarantined_op", "cpu");
  const auto device = test::open_wrapped("quarantined_op");
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 32});
  builder.output(builder.scale(x, 2));
  const ProgramDescription program = std::move(builder).take();
  const auto reason_of = [&] {
    return SelfTest(device, "no module")
        .of_op(program.ops[0], program.values.data());
  };
  state.on_run = [](const rc_plugin_run&, char*, const auto&) { return RC_OK; };
  state.on_wait = [](int64_t, char*, const auto&) { return RC_OK; };
  const std::string reason = reason_of();
  EXPECT_EQ(reason.find("it fails its self-test: SCALE"), 0u) << reason;
  state.on_run = {};
  state.on_wait = {};
  state.runs = 0;
  EXPECT_EQ(reason_of(), reason);
  EXPECT_EQ(state.runs, 0);
  Quarantine quarantine("quarantined_op", "no module", device->info());
  ASSERT_EQ(quarantine.entries().size(), 1u);
  EXPECT_EQ(quarantine.entries()[0].reason, reason);
  EXPECT_EQ(quarantine.reason_of(Quarantine::kDevice), "");
  EXPECT_TRUE(quarantine.forget());
  EXPECT_FALSE(quarantine.forget());
  EXPECT_EQ(reason_of(), "");
  EXPECT_GT(state.runs, 0);
}

TEST_F(Quarantines, ReasonsOfPluginsBecomeOneLine) {
  rc_plugin_device_info info = {};
  Quarantine quarantine("rude", "no module", info);
  quarantine.add(Quarantine::kDevice,
                 "one\ntwo\t\x1b[0m\xff" + std::string(3000, 'x'), true);
  ASSERT_EQ(quarantine.entries().size(), 1u);
  const std::string kept = quarantine.reason_of(Quarantine::kDevice);
  EXPECT_EQ(kept.find("one two  [0m\xEF\xBF\xBDxxx"), 0u) << kept;
  EXPECT_LE(kept.size(), 1010u);
  for (int i = 0; i < 300; ++i) {
    quarantine.add(cat("op ", i), std::string(100, 'r'), true);
  }
  EXPECT_EQ(quarantine.entries().size(), 256u);
}

// A module that crashed when it was asked for its devices.
TEST_F(Quarantines, AModuleThatCrashedIsTriedAgain) {
  const test::TemporaryFolder made;
  fs::copy(RC_MODULE_CRASH, made.path() / "librunciblebackend-crash.so");
  const test::TemporaryVariable path("RUNCIBLE_PLUGIN_PATH",
                                     made.path().string());
  const fs::path crashes = folder_.path() / "crashes";
  const test::TemporaryVariable count("RUNCIBLE_TEST_CRASHES",
                                      crashes.string());
  const auto listed = [] {
    for (const BackendReport& backend : discover().backends) {
      if (backend.name == "crash") return backend.reason;
    }
    return std::string("it is not listed");
  };
  EXPECT_NE(listed().find("crashed"), std::string::npos) << listed();
  EXPECT_EQ(fs::file_size(crashes), 1u);
  EXPECT_EQ(forget_quarantine("crash"), 1);
  EXPECT_EQ(fs::file_size(crashes), 2u);  // and was found to crash again
  EXPECT_NE(listed().find("crashed"), std::string::npos) << listed();
  EXPECT_EQ(fs::file_size(crashes), 2u);
}

}  // namespace
}  // namespace rc::runtime

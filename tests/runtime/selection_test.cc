#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "fake_plugin.h"
#include "runtime/device_chain.h"
#include "runtime/explain.h"
#include "runtime/registry.h"
#include "temporary.h"

namespace rc::runtime {
namespace {

using test::FakeDevice;
using test::FakePlugin;
using test::FakeState;

// Registered plugins stay for the life of the process, so every name is
// registered once, and without devices between tests.
FakeState& fake(const std::string& name) {
  static auto* plugins = new std::map<std::string, FakePlugin>;
  auto known = plugins->find(name);
  if (known == plugins->end()) {
    known = plugins->emplace(name, test::make_fake_plugin(nullptr)).first;
    known->second.table.name = known->first.c_str();
    register_plugin(known->second.table);
  }
  return known->second.state;
}

class SelectionTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"cuda", "vulkan", "opencl", "other"}) {
      FakeState& state = fake(name);
      EXPECT_EQ(state.alive, 0) << name;
      state.devices.clear();
      state.count_status = RC_OK;
      state.count_override = -1000;
      state.unterminated_message = false;
      state.null_handles = false;
      state.write_handles_on_failure = false;
      state.opened = state.closed = 0;
    }
    for (const char* name :
         {"RUNCIBLE_BACKEND", "RUNCIBLE_THREADS", "RUNCIBLE_PROFILE"}) {
      unsetenv(name);
    }
  }

  static FakeDevice device(rc_device_kind kind, const char* id = "",
                           uint64_t memory = 0) {
    FakeDevice device;
    device.kind = kind;
    device.physical_id = id;
    device.total_memory = memory;
    return device;
  }
  static std::string chosen(const std::string& spec, uint64_t memory = 0) {
    return select({spec, memory, {}}).device->id();
  }
  static Error failure(const Selection& selection) {
    try {
      select(selection);
    } catch (const Error& error) {
      return error;
    }
    return Error(RC_OK, "nothing was thrown");
  }
  static std::string reason(const Selected& selected, const std::string& id) {
    for (const Candidate& candidate : selected.candidates) {
      if (candidate.id == id) return candidate.reason;
    }
    return "no such candidate";
  }
};

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(SelectionTest, AutoTakesTheReferenceLast) {
  FakeState& other = fake("other");
  other.devices = {device(RC_DEVICE_SOFTWARE)};
  EXPECT_NE(chosen("auto"), "reference:0");
  EXPECT_EQ(chosen("reference"), "reference:0");
}

TEST_F(SelectionTest, AutoPrefersDiscreteToIntegratedToCpuToSoftware) {
  FakeState& vulkan = fake("vulkan");
  FakeState& other = fake("other");
  vulkan.devices = {device(RC_DEVICE_SOFTWARE),
                    device(RC_DEVICE_GPU_INTEGRATED),
                    device(RC_DEVICE_GPU_DISCRETE)};
  other.devices = {device(RC_DEVICE_CPU)};
  EXPECT_EQ(chosen("auto"), "vulkan:2");
  vulkan.devices.pop_back();
  EXPECT_EQ(chosen("auto"), "vulkan:1");
  vulkan.devices.pop_back();
  // A CPU of whatever plugin.
  const std::string cpu = chosen("auto");
  EXPECT_TRUE(cpu == "cpu:0" || cpu == "other:0") << cpu;
  EXPECT_EQ(discover().automatic, cpu);
  // Asked for by name a software device is taken.
  EXPECT_EQ(chosen("vulkan"), "vulkan:0");
}

// A software device computes in the memory of the host and is slower than the
// CPU; under a limit some end the process.
TEST_F(SelectionTest, AutoSkipsSoftwareDevicesIfThereIsACpu) {
  FakeState& vulkan = fake("vulkan");
  vulkan.devices = {device(RC_DEVICE_SOFTWARE)};
  const Selected selected = select({"auto", 0, {}});
  EXPECT_EQ(selected.device->id(), "cpu:0");
  expect_text(reason(selected, "vulkan:0"), "software");
  // It is skipped, too, if the CPU is skipped for its memory, which is also
  // that of the reference backend.
  const Error error = failure({"cpu,reference", uint64_t{1} << 60, {}});
  EXPECT_EQ(error.status(), RC_E_BACKEND_UNAVAILABLE);
  expect_text(error.message(), "cpu:0: has ");
  expect_text(error.message(), "reference:0: has ");
  try {
    // Another plugin of this process may not report its memory.
    const std::string other = chosen("auto", uint64_t{1} << 60);
    EXPECT_NE(other, "vulkan:0");
    EXPECT_NE(other, "reference:0");
  } catch (const Error& none) {
    EXPECT_EQ(none.status(), RC_E_BACKEND_UNAVAILABLE);
    expect_text(none.message(), "vulkan:0: it is software");
  }
  EXPECT_EQ(vulkan.opened, 0);
  EXPECT_EQ(chosen("cpu,vulkan", uint64_t{1} << 60), "vulkan:0");
}

TEST_F(SelectionTest, WarnsOfTheReplacementOfAFailedDevice) {
  EXPECT_TRUE(select({"auto", 0, {}}).warnings.empty());
  FakeState& cuda = fake("cuda");
  cuda.devices = {device(RC_DEVICE_GPU_DISCRETE),
                  device(RC_DEVICE_GPU_DISCRETE)};
  cuda.devices[0].open_status = RC_E_DEVICE;
  cuda.devices[1].info_status = RC_E_DEVICE;
  for (const char* spec : {"auto", "cuda,cpu"}) {
    const Selected selected = select({spec, 0, {}});
    EXPECT_EQ(selected.device->id(), "cpu:0");
    // A device of unknown kind comes after the CPU.
    ASSERT_EQ(selected.warnings.size(), spec[0] == 'a' ? 1u : 2u);
    for (const std::string& warning : selected.warnings) {
      expect_text(warning, "cpu:0 stands in for cuda:");
    }
    const auto explained =
        nlohmann::json::parse(Explanation(selected).text({}, {}, "null"));
    EXPECT_EQ(explained["warnings"], selected.warnings);
  }
}

// To do something else would hide what is wrong.
TEST_F(SelectionTest, InvalidEnvironmentIsAnError) {
  for (const char* spec : {"auto", "cpu", "cpu,reference"}) {
    const test::TemporaryVariable level("RUNCIBLE_ISA", "sse9");
    const Error error = failure({spec, 0, {}});
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << spec;
    expect_text(error.message(), "RUNCIBLE_ISA is \"sse9\"");
#if defined(__x86_64__)
    expect_text(error.message(), "this processor supports baseline");
#endif
  }
  FakeState& cuda = fake("cuda");
  cuda.devices = {device(RC_DEVICE_GPU_DISCRETE)};
  cuda.devices[0].open_status = RC_E_INVALID_ARGUMENT;
  EXPECT_EQ(failure({"auto", 0, {}}).status(), RC_E_INVALID_ARGUMENT);
  // An unsupported device is no failure.
  cuda.devices[0].open_status = RC_E_UNSUPPORTED;
  EXPECT_EQ(chosen("auto"), "cpu:0");
}

// A driver says that there is no memory for any reason it has.
TEST_F(SelectionTest, DriverWithoutMemoryIsSkipped) {
  FakeState& cuda = fake("cuda");
  cuda.devices = {device(RC_DEVICE_GPU_DISCRETE)};
  cuda.count_status = RC_E_OUT_OF_MEMORY;
  EXPECT_EQ(chosen("auto"), "cpu:0");
  EXPECT_EQ(failure({"cuda", 0, {}}).status(), RC_E_OUT_OF_MEMORY);
  cuda.count_status = RC_OK;
  cuda.devices[0].info_status = RC_E_OUT_OF_MEMORY;
  EXPECT_EQ(chosen("auto"), "cpu:0");
  EXPECT_EQ(failure({"cuda", 0, {}}).status(), RC_E_OUT_OF_MEMORY);
}

TEST_F(SelectionTest, TakesOnePhysicalDeviceThroughThePreferredBackend) {
  // Registered in another order than that of preference.
  fake("opencl").devices = {device(RC_DEVICE_GPU_DISCRETE, "0000:01:00.0")};
  fake("vulkan").devices = {device(RC_DEVICE_GPU_DISCRETE, "0000:01:00.0")};
  fake("cuda").devices = {device(RC_DEVICE_GPU_DISCRETE, "0000:01:00.0")};
  const Selected selected = select({"auto", 0, {}});
  EXPECT_EQ(selected.device->id(), "vulkan:0");
  expect_text(reason(selected, "cuda:0"),
              "the same physical device (0000:01:00.0)");
  expect_text(reason(selected, "opencl:0"), "the same physical device");
  expect_text(reason(selected, "reference:0"), "after vulkan:0");
  fake("vulkan").devices.clear();
  EXPECT_EQ(chosen("auto"), "cuda:0");
}

TEST_F(SelectionTest, TriesTheNextDeviceIfOneCannotBeOpened) {
  FakeState& cuda = fake("cuda");
  cuda.devices = {device(RC_DEVICE_GPU_DISCRETE),
                  device(RC_DEVICE_GPU_DISCRETE)};
  cuda.devices[0].open_status = RC_E_DEVICE;
  const Selected selected = select({"cuda,reference", 0, {}});
  EXPECT_EQ(selected.device->id(), "cuda:1");
  expect_text(reason(selected, "cuda:0"), "fake failure");
  EXPECT_EQ(chosen("cuda:0,reference"), "reference:0");
}

TEST_F(SelectionTest, SkipsDevicesKnownToHaveTooLittleMemory) {
  FakeState& cuda = fake("cuda");
  cuda.devices = {device(RC_DEVICE_GPU_DISCRETE, "", 8'000'000'000),
                  device(RC_DEVICE_GPU_DISCRETE, "", 24'000'000'000),
                  device(RC_DEVICE_GPU_DISCRETE)};
  EXPECT_EQ(chosen("cuda", 8'000'000'000), "cuda:0");
  const Selected selected = select({"cuda", 8'000'000'001, {}});
  EXPECT_EQ(selected.device->id(), "cuda:1");
  expect_text(reason(selected, "cuda:0"), "8000 MB");
  // Free memory counts where it is known; unknown memory is believed.
  cuda.devices[1].free_memory = 1'000'000'000;
  EXPECT_EQ(chosen("cuda", 9'000'000'000), "cuda:2");
}

TEST_F(SelectionTest, TriesTheChainInOrder) {
  EXPECT_EQ(chosen("cuda,vulkan:0,opencl,reference"), "reference:0");
  fake("opencl").devices = {device(RC_DEVICE_GPU_INTEGRATED)};
  EXPECT_EQ(chosen("cuda,vulkan:0,opencl,reference"), "opencl:0");
  // An unknown name does not prevent the use of the names after it.
  EXPECT_EQ(chosen("nope,opencl"), "opencl:0");
}

TEST_F(SelectionTest, OpensAllowedDevicesOnly) {
  fake("vulkan").devices = {device(RC_DEVICE_GPU_INTEGRATED),
                            device(RC_DEVICE_GPU_DISCRETE)};
  fake("other").devices = {device(RC_DEVICE_SOFTWARE)};
  const auto select_allowed = [](const char* spec, const char* allowed) {
    return select({spec, 0, {}, parse_spec(allowed)});
  };
  const Selected selected = select_allowed("auto", "vulkan:0,cpu");
  EXPECT_EQ(selected.device->id(), "vulkan:0");
  EXPECT_EQ(reason(selected, "vulkan:1"), "its tenant may not use it");
  EXPECT_EQ(select_allowed("auto", "vulkan").device->id(), "vulkan:1");
  EXPECT_EQ(select_allowed("gpu", "GPU").device->id(), "vulkan:1");
  EXPECT_EQ(select_allowed("vulkan:1,cpu", "cpu").device->id(), "cpu:0");
  const Error error =
      failure({"vulkan,other", 0, {}, parse_spec("cpu,other:1")});
  EXPECT_EQ(error.status(), RC_E_BACKEND_UNAVAILABLE);
  expect_text(error.message(), "vulkan:0: its tenant may not use it");
  expect_text(error.message(), "other:0: its tenant may not use it");
  EXPECT_EQ(fake("other").opened, 0);

  // The rest of a chain as well, but not the CPU for ops.
  const DeviceChain chain(selected.device, {"vulkan:1", "reference", "cpu"},
                          false, parse_spec("vulkan:0,cpu"));
  std::string opened;
  for (const auto& each : chain.open()) opened += each->id() + " ";
  EXPECT_EQ(opened, "vulkan:0 cpu:0 ");
  const DeviceChain narrow(selected.device, {"cpu"}, false,
                           parse_spec("vulkan:0"));
  EXPECT_EQ(narrow.open().size(), 1u);
  EXPECT_EQ(narrow.open_fallback()->id(), "cpu:0");
}

TEST_F(SelectionTest, TakesAnyGpu) {
  fake("other").devices = {device(RC_DEVICE_SOFTWARE),
                           device(RC_DEVICE_ACCELERATOR)};
  const Error error = failure({"gpu", 0, {}});
  EXPECT_EQ(error.status(), RC_E_BACKEND_UNAVAILABLE);
  expect_text(error.message(), "cpu:0: it is no GPU");
  expect_text(error.message(), "other:1: it is no GPU");
  EXPECT_EQ(chosen("gpu,cpu"), "cpu:0");
  fake("vulkan").devices = {device(RC_DEVICE_GPU_INTEGRATED),
                            device(RC_DEVICE_GPU_DISCRETE)};
  fake("cuda").devices = {device(RC_DEVICE_GPU_INTEGRATED)};
  EXPECT_EQ(chosen("GPU,cpu"), "vulkan:1");
  EXPECT_EQ(chosen("cpu,gpu"), "cpu:0");
  const Selected selected = select({"gpu,Reference,cpu:0", 0, {}});
  EXPECT_EQ(selected.device->id(), "vulkan:1");
  EXPECT_EQ(selected.next, (std::vector<std::string>{"reference", "cpu:0"}));
  fake("vulkan").devices.clear();
  EXPECT_EQ(chosen("gpu"), "cuda:0");
}

TEST_F(SelectionTest, FailureListsEveryReason) {
  Error error = failure({"nope", 0, {}});
  EXPECT_EQ(error.status(), RC_E_NOT_FOUND);
  expect_text(error.message(), "nope");
  expect_text(error.message(), "reference");

  fake("cuda").devices = {device(RC_DEVICE_GPU_DISCRETE, "", 1)};
  fake("vulkan").count_status = RC_E_UNSUPPORTED;
  error = failure({"cuda,vulkan,reference:7", 1'000'000, {}});
  EXPECT_EQ(error.status(), RC_E_BACKEND_UNAVAILABLE);
  expect_text(error.message(), "cuda:0: has 1 MB");
  expect_text(error.message(), "vulkan: fake failure");
  expect_text(error.message(), "reference:7: the backend has 1 devices");

  EXPECT_EQ(failure({"cpu:x", 0, {}}).status(), RC_E_INVALID_ARGUMENT);
}

TEST_F(SelectionTest, ToleratesInvalidDeviceCounts) {
  FakeState& cuda = fake("cuda");
  for (int32_t count : {-3, INT32_MIN, 0}) {
    cuda.count_override = count;
    EXPECT_EQ(chosen("cuda,reference"), "reference:0");
  }
  cuda.count_override = INT32_MAX;
  cuda.devices = {device(99)};
  EXPECT_EQ(chosen("cuda,reference"), "cuda:0");
  EXPECT_EQ(discover().backends.empty(), false);
  cuda.count_override = -1000;

  // A message without an end, and a status that is none.
  cuda.devices[0].open_status = 77;
  cuda.unterminated_message = true;
  const Error error = failure({"cuda", 0, {}});
  EXPECT_EQ(error.status(), RC_E_BACKEND_UNAVAILABLE);
  expect_text(error.message(), "status 77");
  EXPECT_LT(error.message().size(), 1000u);
  cuda.unterminated_message = false;

  // Handles from a failure are not given back; a success without one is none.
  cuda.devices[0].open_status = RC_E_DEVICE_MEMORY;
  cuda.write_handles_on_failure = true;
  EXPECT_EQ(failure({"cuda", 0, {}}).status(), RC_E_BACKEND_UNAVAILABLE);
  cuda.devices[0].open_status = RC_OK;
  cuda.null_handles = true;
  EXPECT_EQ(failure({"cuda", 0, {}}).status(), RC_E_BACKEND_UNAVAILABLE);

  cuda.null_handles = false;
  cuda.devices[0].info_status = RC_E_DEVICE;
  EXPECT_EQ(chosen("cuda,reference"), "reference:0");
}

TEST_F(SelectionTest, SharesOpenDevices) {
  FakeState& cuda = fake("cuda");
  cuda.devices = {device(RC_DEVICE_GPU_DISCRETE)};
  DeviceOptions two_threads;
  two_threads.threads = 2;
  auto first = select({"cuda", 0, {}}).device;
  const auto second = select({"auto", 0, {}}).device;
  const auto third = select({"cuda:0", 0, two_threads}).device;
  EXPECT_EQ(first, second);
  EXPECT_NE(first, third);
  EXPECT_EQ(cuda.opened, 2);
  // A lost device is not handed out again.
  first->abandon();
  const auto fourth = select({"cuda", 0, {}}).device;
  EXPECT_NE(first, fourth);
  EXPECT_EQ(cuda.opened, 3);
  cuda.alive -= 1;  // the abandoned one is never given back
}

TEST_F(SelectionTest, ClosesUnusedDevices) {
  FakeState& cuda = fake("cuda");
  cuda.devices = {device(RC_DEVICE_GPU_DISCRETE)};
  for (int i = 0; i < 3; ++i) chosen("cuda");
  EXPECT_EQ(cuda.opened, 3);
  EXPECT_EQ(cuda.closed, 3);
}

TEST_F(SelectionTest, EmptySpecIsReadFromTheEnvironment) {
  setenv("RUNCIBLE_BACKEND", "opencl,reference", 1);
  const Selected selected = select({"", 0, {}});
  EXPECT_EQ(selected.device->id(), "reference:0");
  EXPECT_EQ(selected.spec, "opencl,reference");
  fake("cuda").devices = {device(RC_DEVICE_GPU_DISCRETE)};
  EXPECT_EQ(chosen("cuda"), "cuda:0");
  setenv("RUNCIBLE_BACKEND", "cpu:x", 1);
  EXPECT_EQ(failure({"", 0, {}}).status(), RC_E_INVALID_ARGUMENT);

  // Options of a device are not among it: callers give each a value, and zero
  // is one.
  setenv("RUNCIBLE_THREADS", "2", 1);
  DeviceOptions two;
  two.threads = 2;
  const auto device = select({"cuda", 0, two}).device;
  EXPECT_NE(select({"cuda", 0, {}}).device, device);
  unsetenv("RUNCIBLE_THREADS");
  DeviceOptions negative;
  negative.threads = -1;
  EXPECT_EQ(failure({"cuda", 0, negative}).status(), RC_E_INVALID_ARGUMENT);
}

TEST_F(SelectionTest, ExplanationListsTheCandidates) {
  fake("cuda").devices = {device(RC_DEVICE_GPU_DISCRETE, "uuid \xff", 1)};
  fake("cuda").devices[0].name = "Fake \"9000\"";
  fake("opencl").count_status = RC_E_UNSUPPORTED;
  const auto account = nlohmann::json::parse(
      Explanation(select({"opencl,auto", 0, {}})).text({}, {}, "null"));
  EXPECT_EQ(account["spec"], "opencl,auto");
  EXPECT_EQ(account["device"]["id"], "cuda:0");
  EXPECT_EQ(account["device"]["name"], "Fake \"9000\"");
  EXPECT_EQ(account["device"]["kind"], "gpu");
  EXPECT_EQ(account["device"]["total_memory"], 1);
  EXPECT_TRUE(account["device"]["free_memory"].is_null());
  EXPECT_EQ(account["candidates"][0]["id"], "opencl");
  EXPECT_EQ(account["candidates"][0]["chosen"], false);
  expect_text(account["candidates"][0]["reason"], "fake failure");
  int chosen = 0;
  for (const auto& candidate : account["candidates"]) {
    chosen += candidate["chosen"] == true;
    EXPECT_NE(candidate["chosen"], !candidate["reason"].is_null());
  }
  EXPECT_EQ(chosen, 1);
}

TEST_F(SelectionTest, DiscoveryListsAvailableAndMissingBackends) {
  fake("cuda").devices = {device(RC_DEVICE_GPU_DISCRETE),
                          device(RC_DEVICE_GPU_DISCRETE)};
  fake("cuda").devices[0].info_status = RC_E_DEVICE;
  fake("vulkan").count_status = RC_E_UNSUPPORTED;
  const Discovery discovery = discover();
  EXPECT_EQ(discovery.automatic, "cuda:1");
  bool reference = false, cuda = false, vulkan = false;
  for (const BackendReport& backend : discovery.backends) {
    if (backend.name == "reference") {
      reference = true;
      EXPECT_TRUE(backend.built_in);
      EXPECT_EQ(backend.devices.size(), 1u);
    }
    if (backend.name == "cuda") {
      cuda = true;
      EXPECT_FALSE(backend.built_in);
      ASSERT_EQ(backend.devices.size(), 2u);
      EXPECT_EQ(std::string(backend.devices[0].info.name).find("unavailable"),
                0u);
      EXPECT_NE(backend.devices[0].reason, "");
      EXPECT_STREQ(backend.devices[1].info.name, "fake");
      EXPECT_EQ(backend.devices[1].reason, "");
    }
    if (backend.name == "vulkan") {
      vulkan = true;
      expect_text(backend.reason, "fake failure");
    }
  }
  EXPECT_TRUE(reference && cuda && vulkan);
}

}  // namespace
}  // namespace rc::runtime

// The driver itself, where the table cannot see: a device that is lost, and
// where values lie.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/module_util.h"
#include "temporary.h"
#include "webgpu/pipelines.h"
#include "webgpu/places.h"
#include "webgpu/webgpu_device.h"

namespace rc::test {
namespace {

rc_plugin_open_options options() {
  return {sizeof(rc_plugin_open_options),
          0,
          0,
          [](rc_log_level, const char*) {},
          RC_PLUGIN_ABI_VERSION,
          RC_NUMA_OFF};
}

TEST(WebgpuDevice, LossIsAStatusAndTheDeviceOpensAgain) {
  RC_NEEDS_DEVICE("webgpu");
  const uint32_t written = 1234;
  {
    webgpu::WebGpuDevice device(0, options());
    const auto buffer = device.allocate(16, gpu::MemoryUse::kDevice);
    buffer->write(0, &written, sizeof written);
    {
      const webgpu::Lock lock;
      webgpu::wgpu().DeviceDestroy(device.get());
    }
    uint32_t read = 0;
    for (int i = 0; i < 2; ++i) {
      try {
        buffer->read(0, &read, sizeof read);
        ADD_FAILURE() << "read " << read;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), RC_E_DEVICE_LOST) << error.message();
        EXPECT_NE(error.message().find("open it again"), std::string::npos);
      }
    }
  }
  webgpu::WebGpuDevice again(0, options());
  const auto buffer = again.allocate(16, gpu::MemoryUse::kDevice);
  buffer->write(0, &written, sizeof written);
  uint32_t read = 0;
  buffer->read(0, &read, sizeof read);
  EXPECT_EQ(read, written);
}

TEST(WebgpuDevice, ABufferBeyondItsLimitsIsRefused) {
  RC_NEEDS_DEVICE("webgpu");
  webgpu::WebGpuDevice device(0, options());
  try {
    device.allocate(device.largest_buffer() + 1, gpu::MemoryUse::kDevice);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_DEVICE_MEMORY);
    EXPECT_NE(error.message().find(std::to_string(device.largest_buffer())),
              std::string::npos);
  }
}

// "begin-end:number", in order.
std::string found(const webgpu::ScratchMap& map, uint64_t offset,
                  uint64_t bytes) {
  std::string text;
  for (const auto& part : map.find(offset, bytes)) {
    text += cat(text.empty() ? "" : " ", part.begin, "-", part.end, ":",
                part.number);
  }
  return text;
}

TEST(WebgpuScratch, IsReadFromTheLastWrite) {
  webgpu::ScratchMap map;
  EXPECT_EQ(found(map, 0, 100), "0-100:0");
  map.write(0, 256, 0);
  map.write(256, 256, 1);
  EXPECT_EQ(found(map, 0, 256), "0-256:0");
  EXPECT_EQ(found(map, 300, 10), "300-310:1");
  EXPECT_EQ(found(map, 600, 10), "600-610:0");
  // Both ends of the earlier range are left.
  map.write(64, 64, 2);
  EXPECT_EQ(found(map, 0, 64), "0-64:0");
  EXPECT_EQ(found(map, 64, 64), "64-128:2");
  EXPECT_EQ(found(map, 128, 128), "128-256:0");
  // A range that several have written is found in all of them.
  EXPECT_EQ(found(map, 16, 400), "16-64:0 64-128:2 128-256:0 256-416:1");
  // Unwritten bytes belong to the neighbouring range.
  EXPECT_EQ(found(map, 500, 100), "500-600:1");
  map.write(0, 512, 1);
  EXPECT_EQ(found(map, 0, 512), "0-512:1");
  EXPECT_EQ(map.buffers(), 3u);
}

TEST(WebgpuScratch, IsWrittenToABufferThatIsNotRead) {
  EXPECT_EQ(webgpu::least_without({}), 0u);
  EXPECT_EQ(webgpu::least_without({1, 2}), 0u);
  EXPECT_EQ(webgpu::least_without({1, 0, 0}), 2u);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The description of a kernel for implementations: its constants, and that it
// writes only its outputs.
TEST(WebgpuShaders, HaveTheirConstantsAndWriteOutputsOnly) {
  for (int i = 0; i < static_cast<int>(gpu::Kernel::kCount); ++i) {
    const auto kernel = static_cast<gpu::Kernel>(i);
    const std::string text = webgpu::shader_source({kernel, {64, 7}});
    SCOPED_TRACE(gpu::kernel_name(kernel));
    EXPECT_EQ(text.rfind("const constant_0: u32 = 64u;\n"
                         "const constant_1: u32 = 7u;\n",
                         0),
              0u);
    EXPECT_NE(text.find("@workgroup_size(kLanes)"), std::string::npos);
    EXPECT_EQ(text.find("override"), std::string::npos);
    const std::string written = "var<storage, read_write>";
    size_t outputs = 0;
    for (size_t at = text.find(written); at != std::string::npos;
         at = text.find(written, at + 1)) {
      ++outputs;
    }
    // The counts are no storage.
    EXPECT_EQ(
        outputs,
        static_cast<size_t>(std::popcount(gpu::slots_of(kernel).outputs)) - 1);
  }
}

// A device of a browser binds few buffers, so that none is bound twice.
TEST(WebgpuShaders, BindNoRegionTwice) {
  gpu::Dispatch dispatch;
  dispatch.kernel = gpu::Kernel::kAttention;
  const auto* q = reinterpret_cast<const gpu::Buffer*>(16);
  const auto* cache = reinterpret_cast<const gpu::Buffer*>(32);
  dispatch.bindings.push_back({1, {q, 0, 64}});
  for (const uint32_t slot : {2, 9}) {
    dispatch.bindings.push_back({slot, {q, 64, 64}});
  }
  for (const uint32_t slot : {3, 5, 6, 7}) {
    dispatch.bindings.push_back({slot, {q, 128, 64}});
  }
  dispatch.bindings.push_back({4, {q, 128, 32}});
  for (uint32_t slot = 10; slot < 18; ++slot) {
    dispatch.bindings.push_back({slot, {cache, slot < 14 ? 0u : 512u, 512}});
  }
  dispatch.bindings.push_back({8, {q, 256, 64}});
  const webgpu::Aliases aliases = webgpu::aliases_of(dispatch);
  EXPECT_EQ(aliases, (webgpu::Aliases{{5, 3},
                                      {6, 3},
                                      {7, 3},
                                      {9, 2},
                                      {11, 10},
                                      {12, 10},
                                      {13, 10},
                                      {15, 14},
                                      {16, 14},
                                      {17, 14}}));
  EXPECT_EQ(webgpu::bound_slots(dispatch.kernel, aliases),
            1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 8 |
                1u << 10 | 1u << 14);
  std::string text = webgpu::shader_source({dispatch.kernel, {64}}, aliases);
  size_t bindings = 0;
  for (size_t at = text.find("@binding("); at != std::string::npos;
       at = text.find("@binding(", at + 1)) {
    ++bindings;
  }
  EXPECT_EQ(bindings, 9u);  // and the parameters
  // All buffers are bound if there are few.
  dispatch.kernel = gpu::Kernel::kAffine;
  EXPECT_TRUE(webgpu::aliases_of(dispatch).empty());
}

// Shaders that naga has written are accepted by the other implementation, whose
// rules are stricter about where lanes meet.
TEST(WebgpuShaders, AreAcceptedByTint) {
  const std::string tint = RC_TINT;
  // The tests may have been built on another machine.
  if (!std::filesystem::exists(tint)) GTEST_SKIP() << "there is no tint";
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "shader.wgsl").string();
  const std::string log = (folder.path() / "log").string();
  for (int i = 0; i < static_cast<int>(gpu::Kernel::kCount); ++i) {
    const auto kernel = static_cast<gpu::Kernel>(i);
    // As many as any kernel has; arrays are of some size whatever these mean.
    std::vector<uint32_t> constants(18, 4);
    constants[0] = 32;
    // LINEAR by squares.
    constants[14] = 1;
    // As attention has them where its cache is one range.
    std::vector<webgpu::Aliases> all = {{}};
    if (kernel == gpu::Kernel::kAttention) {
      all.push_back({{5, 3}, {9, 2}, {11, 10}, {12, 10}, {13, 10}});
    }
    for (const webgpu::Aliases& aliases : all) {
      std::ofstream(file) << webgpu::shader_source({kernel, constants},
                                                   aliases);
      const std::string command =
          tint + " --format wgsl " + file + " > " + log + " 2>&1";
      EXPECT_EQ(std::system(command.c_str()), 0)
          << gpu::kernel_name(kernel) << ": " << text_of(log);
    }
  }
}

}  // namespace
}  // namespace rc::test

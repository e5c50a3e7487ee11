// Whole models on a Vulkan device.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "device/module_util.h"
#include "device/whole_model_util.h"
#include "labels.h"
#include "test_data.h"

namespace rc::test {
namespace {

using nlohmann::json;

// The tuning of GPUs in small, with everything in pieces: the cache of the
// fable model is bound in three ranges, its table in five, rows by the dozen.
constexpr char kGpuTuning[] =
    "texels=0,tile=16,parts=2,chunk=2,batch=4,few=2,many=24,"
    "most=36,wide=64,reduce=32,attention=16,attention_rows=6";
constexpr char kSmallRange[] = "98304";

TEST(VulkanModel, FableLogitsMatchTransformers) {
  RC_NEEDS_DEVICE("vulkan");
  expect_fable_logits(*load_fable("vulkan"));
}

TEST(VulkanModel, FableTextMatchesTransformers) {
  RC_NEEDS_DEVICE("vulkan");
  expect_fable_text("vulkan");
}

TEST(VulkanModel, ArchitecturesMatchTransformers) {
  RC_TEST_LABELS(kDriver);
  RC_NEEDS_DEVICE("vulkan");
  expect_architectures("vulkan");
}

TEST(VulkanModel, DoesNotDependOnBatchOrChunks) {
  RC_NEEDS_DEVICE("vulkan");
  expect_neither_batch_nor_cuts_matter(*load_fable("vulkan"));
}

// The way of GPUs, on whatever device there is.
TEST(VulkanModel, FableLogitsMatchWithTheTuningOfGpus) {
  RC_NEEDS_DEVICE("vulkan");
  const TemporaryVariable tuning("RUNCIBLE_VULKAN_TUNING", kGpuTuning);
  const auto resident = load_fable("vulkan");
  expect_fable_logits(*resident);
  expect_neither_batch_nor_cuts_matter(*resident);
}

// Windows, sinks and chunks: rows that a work-group does together begin at
// different positions.
TEST(VulkanModel, DoesNotDependOnBatchWithWindowsOnGpus) {
  RC_NEEDS_DEVICE("vulkan");
  const TemporaryVariable tuning("RUNCIBLE_VULKAN_TUNING", kGpuTuning);
  const auto folder = source_path("tests/golden/architectures");
  Room room;
  room.cache = RC_DTYPE_F16;
  for (const std::string name : {"gpt-oss", "llama4"}) {
    SCOPED_TRACE(name);
    const json records = json::parse(std::ifstream(folder / (name + ".json")));
    const auto resident =
        load(model::ModelFile::open(folder / (name + ".gguf")), "vulkan", room);
    expect_neither_batch_nor_cuts_matter(*resident, records.at("tokens"));
  }
}

TEST(VulkanModel, DoesNotDependOnBatchWithAQuantizedCacheOnGpus) {
  RC_NEEDS_DEVICE("vulkan");
  const TemporaryVariable tuning("RUNCIBLE_VULKAN_TUNING", kGpuTuning);
  Room room;
  room.cache = RC_DTYPE_Q8_0;
  expect_neither_batch_nor_cuts_matter(*load_fable("vulkan", room));
}

TEST(VulkanModel, FableIsTheSameWithSmallBindings) {
  RC_NEEDS_DEVICE("vulkan");
  const TemporaryVariable range("RUNCIBLE_VULKAN_RANGE", kSmallRange);
  {
    const auto resident = load_fable("vulkan");
    expect_fable_logits(*resident);
    if (is_full_set()) expect_neither_batch_nor_cuts_matter(*resident);
  }
  const TemporaryVariable tuning("RUNCIBLE_VULKAN_TUNING", kGpuTuning);
  expect_fable_logits(*load_fable("vulkan"));
}

TEST(VulkanModel, ExpertsInPiecesGiveTheSameLogits) {
  RC_NEEDS_DEVICE("vulkan");
  const auto folder = source_path("tests/golden/architectures");
  const json records = json::parse(std::ifstream(folder / "mixtral.json"));
  const auto file = model::ModelFile::open(folder / "mixtral.gguf");
  const std::vector<float> whole =
      evaluate(*load(file, "vulkan"), records.at("tokens"));
  const TemporaryVariable range("RUNCIBLE_VULKAN_RANGE", kSmallRange);
  EXPECT_EQ(evaluate(*load(file, "vulkan"), records.at("tokens")), whole);
}

TEST(VulkanModel, RunCanBeCancelledAndRepeated) {
  RC_NEEDS_DEVICE("vulkan");
  expect_a_run_can_be_stopped(*load_fable("vulkan"));
}

TEST(VulkanModel, RunCanTimeOutAndBeRepeated) {
  RC_NEEDS_DEVICE("vulkan");
  expect_a_run_can_time_out(*load_fable("vulkan"));
}

// Compiled pipelines are kept in a file, which may be damaged.
TEST(VulkanModel, DamagedPipelineCacheIsReplaced) {
  RC_NEEDS_DEVICE("vulkan");
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const TemporaryVariable place("XDG_CACHE_HOME", folder.path().string());
  const auto evaluated = [] {
    const auto logits = evaluate(*load_fable("vulkan"), {1, 2, 3});
    wait_until_closed("vulkan");
    return logits;
  };
  const std::vector<float> expected = evaluated();
  const fs::path kept = folder.path() / "runcible" / "vulkan";
  ASSERT_TRUE(fs::exists(kept));
  const fs::path file = fs::directory_iterator(kept)->path();
  const auto size = fs::file_size(file);
  ASSERT_GT(size, 24u);
  fs::resize_file(file, size - 1);
  EXPECT_EQ(evaluated(), expected);
  // It has been written again, which drivers do in their own order and size.
  EXPECT_NE(fs::file_size(file), size - 1);
  {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(static_cast<std::streamoff>(size) - 1);
    damaged.put('\x5a');
    damaged.seekp(8);
    damaged.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  }
  EXPECT_EQ(evaluated(), expected);
  fs::remove_all(folder.path() / "runcible");
  std::ofstream(folder.path() / "runcible") << "a file where a folder must be";
  EXPECT_EQ(evaluated(), expected);
}

}  // namespace
}  // namespace rc::test

// Whole models on a Vulkan device. Activations stay in floating point there, so
// that logits are those of other implementations to rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/model_util.h"
#include "test_data.h"
#include "vulkan/vulkan_util.h"

namespace rc::test {
namespace {

using nlohmann::json;

std::unique_ptr<model::ResidentModel> load_fable() {
  return load(model::ModelFile::open(source_path("examples/model/fable.gguf")),
              "vulkan");
}

json fable_records() {
  return json::parse(
      std::ifstream(source_path("tests/golden/fable/fable.json")));
}

void expect_fables(model::ResidentModel& resident) {
  const json records = fable_records();
  for (const json& prompt : records.at("prompts")) {
    const auto name = prompt.at("name").get<std::string>();
    SCOPED_TRACE(name);
    auto tokens = prompt.at("tokens").get<std::vector<int32_t>>();
    tokens.resize(records.at("rows"));
    EXPECT_LT(
        normalized_error(evaluate(resident, tokens),
                         read_floats(source_path(
                             cat("tests/golden/fable/", name, ".logits.f32")))),
        1e-9);
  }
}

// Bit for bit: every kernel sums in one order, whatever the rows.
void expect_neither_batch_nor_cuts_matter(model::ResidentModel& resident) {
  auto tokens = fable_records()
                    .at("prompts")
                    .at(0)
                    .at("tokens")
                    .get<std::vector<int32_t>>();
  tokens.resize(std::min<size_t>(tokens.size(), 40));
  const std::vector<float> whole = evaluate(resident, tokens);
  for (size_t chunk : {1, 2, 7}) {
    EXPECT_EQ(evaluate(resident, tokens, chunk), whole) << chunk;
  }
  std::vector<int32_t> others = tokens;
  std::reverse(others.begin(), others.end());
  const auto together = evaluate(
      resident,
      {{others, pages_from(16, 16), 0}, {tokens, pages_from(32, 16), 0}}, 13);
  EXPECT_EQ(together[1], whole);
}

TEST(VulkanModel, FableLogitsAreThoseOfTransformers) {
  RC_NEEDS_VULKAN();
  expect_fables(*load_fable());
}

TEST(VulkanModel, ArchitecturesAreThoseOfTransformers) {
  RC_NEEDS_VULKAN();
  const auto folder = source_path("tests/golden/architectures");
  for (const char* name : {"llama3", "mixtral", "qwen3moe", "gemma2"}) {
    SCOPED_TRACE(name);
    const json records =
        json::parse(std::ifstream(folder / cat(name, ".json")));
    const auto resident =
        load(model::ModelFile::open(folder / cat(name, ".gguf")), "vulkan");
    EXPECT_LT(relative_error(evaluate(*resident, records.at("tokens")),
                             read_floats(folder / cat(name, ".logits.f32"))),
              1e-4);
  }
}

TEST(VulkanModel, NeitherTheBatchNorItsCutsMatter) {
  RC_NEEDS_VULKAN();
  expect_neither_batch_nor_cuts_matter(*load_fable());
}

// The way of GPUs, on whatever device there is.
TEST(VulkanModel, FableIsTheSameToGpus) {
  RC_NEEDS_VULKAN();
  const Variable tuning("RUNCIBLE_VULKAN_TUNING", kGpuTuning);
  const auto resident = load_fable();
  expect_fables(*resident);
  expect_neither_batch_nor_cuts_matter(*resident);
}

TEST(VulkanModel, FableIsTheSameWhereLittleCanBeBound) {
  RC_NEEDS_VULKAN();
  const Variable range("RUNCIBLE_VULKAN_RANGE", kSmallRange);
  {
    const auto resident = load_fable();
    expect_fables(*resident);
    expect_neither_batch_nor_cuts_matter(*resident);
  }
  const Variable tuning("RUNCIBLE_VULKAN_TUNING", kGpuTuning);
  expect_fables(*load_fable());
}

TEST(VulkanModel, ExpertsInPiecesAreTheSame) {
  RC_NEEDS_VULKAN();
  const auto folder = source_path("tests/golden/architectures");
  const json records = json::parse(std::ifstream(folder / "mixtral.json"));
  const auto file = model::ModelFile::open(folder / "mixtral.gguf");
  const std::vector<float> whole =
      evaluate(*load(file, "vulkan"), records.at("tokens"));
  const Variable range("RUNCIBLE_VULKAN_RANGE", kSmallRange);
  EXPECT_EQ(evaluate(*load(file, "vulkan"), records.at("tokens")), whole);
}

rc_status status_of_run(model::ResidentModel& resident,
                        int32_t (*should_stop)(void*), void* user,
                        int64_t timeout_ms) {
  model::Batch batch;
  for (int32_t i = 0; i < 256; ++i) {
    batch.tokens.push_back(i);
    batch.positions.push_back(i);
    batch.sequences.push_back(0);
  }
  batch.page_table = pages_from(0, 16);
  batch.output_rows = {255};
  batch.sequence_count = 1;
  std::vector<float> logits(2048);
  try {
    resident.run(batch, logits.data(), should_stop, user, timeout_ms);
  } catch (const Error& error) {
    return error.status();
  }
  return RC_OK;
}

TEST(VulkanModel, ARunStopsWhenAskedAndTheNextIsAsGoodAsEver) {
  RC_NEEDS_VULKAN();
  const auto resident = load_fable();
  for (int after : {0, 1, 2}) {
    std::atomic<int> left = after;
    const rc_status status = status_of_run(
        *resident,
        [](void* user) -> int32_t {
          return (*static_cast<std::atomic<int>*>(user))-- <= 0;
        },
        &left, -1);
    // Later it may be over before it is asked.
    EXPECT_TRUE(status == RC_E_CANCELLED || (after > 0 && status == RC_OK));
  }
  expect_fables(*resident);
}

TEST(VulkanModel, ATimeoutEndsARunAndTheNextIsAsGoodAsEver) {
  RC_NEEDS_VULKAN();
  const auto resident = load_fable();
  EXPECT_EQ(status_of_run(*resident, nullptr, nullptr, 0), RC_E_TIMEOUT);
  EXPECT_EQ(status_of_run(*resident, nullptr, nullptr, 600 * 1000), RC_OK);
  expect_fables(*resident);
}

// What drivers compiled is kept in a file, which may be damaged or impossible.
TEST(VulkanModel, TheCacheOfPipelinesMayBeDamaged) {
  RC_NEEDS_VULKAN();
  namespace fs = std::filesystem;
  const Folder folder;
  const Variable place("XDG_CACHE_HOME", folder.path().string());
  const auto evaluated = [] { return evaluate(*load_fable(), {1, 2, 3}); };
  const std::vector<float> expected = evaluated();
  const fs::path kept = folder.path() / "runcible" / "vulkan";
  ASSERT_TRUE(fs::exists(kept));
  const fs::path file = fs::directory_iterator(kept)->path();
  const auto size = fs::file_size(file);
  ASSERT_GT(size, 24u);
  fs::resize_file(file, size - 1);
  EXPECT_EQ(evaluated(), expected);
  // It has been written again.
  EXPECT_EQ(fs::file_size(file), size);
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

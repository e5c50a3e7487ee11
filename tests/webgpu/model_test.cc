// Whole models on a device of WebGPU.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "device/module_util.h"
#include "device/whole_model_util.h"
#include "labels.h"
#include "test_data.h"

namespace rc::test {
namespace {

using nlohmann::json;

// Everything by pieces: the cache of the fable model is bound in ranges, its
// table in several, rows by the dozen.
constexpr char kSmallRange[] = "98304";

TEST(WebgpuModel, FableLogitsMatchTransformers) {
  RC_NEEDS_DEVICE("webgpu");
  expect_fable_logits(*load_fable("webgpu"));
}

TEST(WebgpuModel, FableTextMatchesTransformers) {
  RC_NEEDS_DEVICE("webgpu");
  expect_fable_text("webgpu");
}

TEST(WebgpuModel, ArchitecturesMatchTransformers) {
  RC_TEST_LABELS(kDriver);
  RC_NEEDS_DEVICE("webgpu");
  expect_architectures("webgpu");
}

TEST(WebgpuModel, FableIsTheSameWithSmallBindings) {
  RC_NEEDS_DEVICE("webgpu");
  const TemporaryVariable range("RUNCIBLE_WEBGPU_RANGE", kSmallRange);
  expect_fable_logits(*load_fable("webgpu"));
}

// Adapters for processors are tuned otherwise.
TEST(WebgpuModel, FableMatchesWithTheTuningOfGpus) {
  RC_NEEDS_DEVICE("webgpu");
  const TemporaryVariable tuning(
      "RUNCIBLE_WEBGPU_TUNING",
      "tile=16,parts=4,chunk=1,batch=4,many=24,tiles=1,batch_tiles=1,"
      "attention_rows=3,each=2,reduce=256");
  const auto resident = load_fable("webgpu");
  expect_fable_logits(*resident);
  expect_neither_batch_nor_cuts_matter(*resident);
}

TEST(WebgpuModel, ExpertsInPiecesGiveTheSameLogits) {
  RC_NEEDS_DEVICE("webgpu");
  const auto folder = source_path("tests/golden/architectures");
  const json records = json::parse(std::ifstream(folder / "mixtral.json"));
  const auto file = model::ModelFile::open(folder / "mixtral.gguf");
  const std::vector<float> whole =
      evaluate(*load(file, "webgpu"), records.at("tokens"));
  const TemporaryVariable range("RUNCIBLE_WEBGPU_RANGE", kSmallRange);
  EXPECT_EQ(evaluate(*load(file, "webgpu"), records.at("tokens")), whole);
}

TEST(WebgpuModel, RunCanBeCancelledAndRepeated) {
  RC_NEEDS_DEVICE("webgpu");
  expect_a_run_can_be_stopped(*load_fable("webgpu"));
}

TEST(WebgpuModel, RunCanTimeOutAndBeRepeated) {
  RC_NEEDS_DEVICE("webgpu");
  expect_a_run_can_time_out(*load_fable("webgpu"));
}

}  // namespace
}  // namespace rc::test

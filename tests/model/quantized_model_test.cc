// Models whose weights are quantized while they are loaded.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "files/convert.h"
#include "files/open_model.h"
#include "model/model_util.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

class QuantizedModel : public ::testing::TestWithParam<std::string> {};

TEST_P(QuantizedModel, EqualsTheQuantizedFile) {
  const TemporaryFolder folder;
  const std::string written = (folder.path() / "out.gguf").string();
  const std::vector<int32_t> tokens = {1, 5, 30, 12, 7, 20};
  for (const char* name :
       {"folders/qwen2", "folders/mixtral", "architectures/llama2.gguf"}) {
    const std::string path =
        source_path(std::string("tests/golden/") + name).string();
    for (const char* type : {"Q8_0", "Q4_K_M", "BF16"}) {
      convert_model(*open_model(path), written,
                    {.type = type, .threads = 1, .requantizes = true});
      const auto from_file =
          load(model::ModelFile::open(written), GetParam(), {}, 1);
      const auto file = model::ModelFile::open(path, {}, type);
      const auto at_once = load(file, GetParam(), {}, 2);
      EXPECT_EQ(evaluate(*at_once, tokens), evaluate(*from_file, tokens))
          << name << " " << type;
      EXPECT_EQ(at_once->memory().weights, from_file->memory().weights);
      // Sessions go from one to the other.
      EXPECT_EQ(file->fingerprint(), from_file->file().fingerprint());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, QuantizedModel,
                         ::testing::Values("reference", "cpu"));

TEST(QuantizedModelLoad, SharesWeightsOnlyForTheSameType) {
  const auto path = source_path("tests/golden/folders/llama").string();
  const auto open = [&](const char* type) {
    return load(model::ModelFile::open(path, {}, type), "cpu");
  };
  const auto first = open("Q8_0"), second = open("q8_0"), other = open("Q4_0"),
             plain = open("");
  const auto weights = [](const model::ResidentModel& model) {
    return model.resources().front().identity;
  };
  EXPECT_EQ(weights(*first), weights(*second));
  EXPECT_NE(weights(*first), weights(*other));
  EXPECT_NE(weights(*first), weights(*plain));
}

TEST(QuantizedModelLoad, ReportsProgressAndCanBeCancelled) {
  const auto file = model::ModelFile::open(
      source_path("tests/golden/folders/llama").string(), {}, "Q8_0");
  const auto device = open_device("cpu", 1);
  std::vector<double> fractions;
  const auto load_until = [&](size_t calls) {
    fractions.clear();
    model::ResidentModel::load(file,
                               model::place(*file, options_of({}), device),
                               options_of({}), [&](double fraction) {
                                 fractions.push_back(fraction);
                                 return fractions.size() < calls;
                               });
  };
  load_until(SIZE_MAX);
  EXPECT_TRUE(std::ranges::is_sorted(fractions));
  EXPECT_EQ(fractions.front(), 0.0);
  EXPECT_EQ(fractions.back(), 1.0);
  // For each weight while it is read and when it is there.
  const size_t all = fractions.size();
  EXPECT_GE(all, 2 * file->file().tensors().size());
  for (size_t calls = 1; calls < all; calls += 5) {
    try {
      load_until(calls);
      FAIL() << calls;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_CANCELLED) << error.message();
      EXPECT_EQ(fractions.size(), calls);
    }
  }
}

}  // namespace
}  // namespace rc::test

// Models that read a source, below sessions.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "model/relative_bias.h"
#include "test_data.h"

namespace rc::test {
namespace {

std::vector<int32_t> some(int32_t count, int32_t seed) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < count; ++i) {
    tokens.push_back(3 + (i * i * 7 + i * 13 + seed * 31) % 60);
  }
  return tokens;
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << error.message();
    return error.message();
  }
}

class SourceModel : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, SourceModel,
                         ::testing::ValuesIn(all_backends()),
                         [](const auto& info) {
                           return test_name(info.param);
                         });

// Bit for bit: sources of any lengths in one batch, texts in any pieces.
TEST_P(SourceModel, DoesNotDependOnTheRestOfTheBatch) {
  for (const DType cache : {RC_DTYPE_F32, RC_DTYPE_F16}) {
    const auto model = load(golden_model("umt5"), GetParam(), {.cache = cache});
    std::vector<Sequence> sequences;
    std::vector<std::vector<float>> expected;
    for (int32_t i = 0; i < 7; ++i) {
      sequences.push_back({some(3 + 9 * i, i), pages_from(i * 9, 9), 0,
                           some(1 + 11 * i, 50 + i)});
      const std::vector<Sequence> alone = {{sequences.back().tokens,
                                            pages_from(40, 9), 0,
                                            sequences.back().source}};
      expected.push_back(evaluate(*model, alone, 64)[0]);
    }
    for (const size_t chunk : {1, 5, 28}) {
      EXPECT_EQ(evaluate(*model, sequences, chunk), expected) << chunk;
    }
    std::reverse(sequences.begin(), sequences.end());
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(evaluate(*model, sequences, 64), expected);
  }
}

// Embeddings need only the encoder.
TEST_P(SourceModel, ReturnsTheRowsOfItsEncoder) {
  const auto file = golden_model("flan-t5", model::ForwardOutput::kHiddenRows);
  EXPECT_FALSE(file->causal());
  EXPECT_EQ(file->source(), nullptr);
  EXPECT_EQ(file->output_size(), 32);
  const auto whole = load(golden_model("flan-t5"), GetParam());
  const auto encoder = load(file, GetParam());
  EXPECT_LT(
      encoder->memory().weights,
      whole->memory().weights / 2 + uint64_t{73} * 32 * sizeof(float) + 60000);
  const auto json = nlohmann::json::parse(
      std::ifstream(source_path("tests/golden/architectures/flan-t5.json")));
  EXPECT_LT(
      normalized_error(
          evaluate(
              *encoder,
              json.at("runs").at(0).at("source").get<std::vector<int32_t>>()),
          read_floats(
              source_path("tests/golden/architectures/flan-t5.source.f32"))),
      GetParam() == "reference" ? 1e-9 : 1e-7);
}

model::Batch batch_of_source(int32_t count) {
  model::Batch batch;
  for (int32_t i = 0; i < count; ++i) {
    batch.tokens.push_back(5 + i);
    batch.positions.push_back(i);
    batch.sequences.push_back(0);
  }
  batch.source_table = pages_from(0, 16);
  batch.sequence_count = 1;
  return batch;
}

TEST_P(SourceModel, RefusesPartialSources) {
  const auto model = load(golden_model("t5"), GetParam());
  const auto read = [&](const model::Batch& batch) {
    return refusal_of(
        [&] { model->read_sources(batch, nullptr, nullptr, -1); });
  };
  EXPECT_EQ(read(batch_of_source(9)), "");
  model::Batch batch = batch_of_source(9);
  for (int32_t& position : batch.positions) ++position;
  EXPECT_NE(read(batch).find("position 1 instead of 0"), std::string::npos);
  batch = batch_of_source(17);
  batch.source_table[1] = 64;
  EXPECT_NE(read(batch).find("source page"), std::string::npos);
  batch = batch_of_source(9);
  batch.tokens[3] = 73;
  EXPECT_NE(read(batch).find("token 73"), std::string::npos);

  model::Batch text = batch_of_source(3);
  text.page_table = pages_from(20, 16);
  text.source_lengths = {9};
  const auto run = [&](const model::Batch& one) {
    std::vector<float> none(73);
    return refusal_of(
        [&] { model->run(one, none.data(), nullptr, nullptr, -1); });
  };
  EXPECT_EQ(run(text), "");
  for (const int32_t length : {0, -1, 257}) {
    text.source_lengths = {length};
    EXPECT_NE(run(text).find(cat("has ", length, " positions")),
              std::string::npos);
  }
  text.source_lengths = {};
  EXPECT_NE(run(text).find("source lengths"), std::string::npos);
  text.source_lengths = {9};
  text.source_table[0] = -1;
  EXPECT_NE(run(text).find("source page"), std::string::npos);

  const auto other = load(golden_model("llama2"), GetParam());
  EXPECT_NE(refusal_of([&] {
              other->read_sources(batch_of_source(3), nullptr, nullptr, -1);
            }).find("reads no sources"),
            std::string::npos);
}

TEST(SourceFile, DescribesTheModel) {
  const auto file = golden_model("flan-t5");
  ASSERT_NE(file->source(), nullptr);
  EXPECT_EQ(file->source()->layers.size(), 3u);
  EXPECT_EQ(file->hyper_parameters().layers.size(), 2u);
  // Source and answer together.
  EXPECT_EQ(file->hyper_parameters().context_length, 1024);
  EXPECT_EQ(golden_model("mt5")->hyper_parameters().first_token, 5);
  EXPECT_EQ(golden_model("t5encoder")->source(), nullptr);
  try {
    golden_model("t5", model::ForwardOutput::kScores);
    FAIL() << "it gives scores";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
  }
}

// Each layer is a part, so that they may be on different devices.
TEST(SourceFile, EncoderLayersAreProgramParts) {
  const auto file = golden_model("flan-t5");
  const runtime::ProgramDescription program = file->forward(
      {.dtype = RC_DTYPE_F32, .pages = 1, .pages_per_sequence = 1, .slots = 1});
  ASSERT_EQ(program.stages.size(), 1u);
  ASSERT_EQ(program.parts.size(), program.ops.size());
  const size_t stage = program.stages[0];
  EXPECT_EQ(program.part_name(0), "embedding");
  EXPECT_EQ(program.part_name(stage - 1), "output");
  EXPECT_EQ(program.part_name(stage), "source embedding");
  EXPECT_EQ(program.part_name(program.ops.size() - 1), "source of 1");
  const size_t layers = 2, source_layers = 3;
  EXPECT_EQ(program.part_names.size(),
            (layers + 2) + (source_layers + 1) + layers);
  // Parts follow each other, and each has ops.
  EXPECT_EQ(program.parts.front(), 0);
  for (size_t i = 1; i < program.parts.size(); ++i) {
    const int32_t step = program.parts[i] - program.parts[i - 1];
    EXPECT_TRUE(step == 0 || step == 1) << i;
    EXPECT_TRUE(i != stage || step == 1);
  }
  EXPECT_EQ(program.parts.back() + 1,
            static_cast<int32_t>(program.part_names.size()));
}

TEST(SourceFile, LayerCountDefaultsToThatOfTheEncoder) {
  Patient patient("mt5");
  patient.drop("t5.decoder_block_count");
  EXPECT_EQ(model::ModelFile::from_gguf(patient.file())
                ->hyper_parameters()
                .layers.size(),
            2u);
}

TEST(SourceFile, InvalidHyperParametersAreRefused) {
  const struct {
    const char* key;
    uint32_t value;
  } kKeys[] = {{"t5.attention.relative_buckets_count", 3},
               {"t5.attention.relative_buckets_count", 255},
               {"t5.attention.relative_buckets_count", 16},
               {"t5.decoder_start_token_id", 73},
               {"t5.decoder_block_count", 0},
               {"t5.decoder_block_count", 4},
               {"t5.attention.head_count", 2}};
  for (const auto& [key, value] : kKeys) {
    Patient patient("t5");
    patient.set(key, value);
    try {
      model::ModelFile::from_gguf(patient.file());
      ADD_FAILURE() << key << " = " << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
    }
  }
  for (const char* key :
       {"t5.decoder_start_token_id", "t5.attention.relative_buckets_count"}) {
    Patient patient("t5");
    patient.drop(key);
    EXPECT_ANY_THROW(model::ModelFile::from_gguf(patient.file())) << key;
  }
  for (const char* tensor :
       {"dec.blk.0.attn_rel_b.weight", "enc.blk.0.attn_rel_b.weight",
        "dec.blk.1.cross_attn_k.weight", "enc.output_norm.weight"}) {
    Patient patient("t5");
    patient.drop_tensor(tensor);
    EXPECT_ANY_THROW(model::ModelFile::from_gguf(patient.file())) << tensor;
  }
}

// Checks the exact ones of the paper's 32 buckets and the last one on each
// side.
TEST(RelativeBias, BucketsMatchThePaper) {
  for (int64_t d = 0; d < 8; ++d) {
    EXPECT_EQ(model::bucket_of(-d, 32, false), d);
    EXPECT_EQ(model::bucket_of(d, 32, false), d > 0 ? 16 + d : 0);
    EXPECT_EQ(model::bucket_of(-d, 32, true), d);
    EXPECT_EQ(model::bucket_of(d, 32, true), 0);
  }
  EXPECT_EQ(model::bucket_of(-16, 32, false), 10);
  EXPECT_EQ(model::bucket_of(-32, 32, false), 12);
  EXPECT_EQ(model::bucket_of(-64, 32, false), 14);
  EXPECT_EQ(model::bucket_of(64, 32, false), 30);
  for (const int64_t far : {128, 129, 100000}) {
    EXPECT_EQ(model::bucket_of(-far, 32, false), 15);
    EXPECT_EQ(model::bucket_of(far, 32, false), 31);
    EXPECT_EQ(model::bucket_of(-far, 32, true), 31);
  }
  // All are within the table, and never fall with the distance.
  for (int64_t buckets = model::kFewestBuckets; buckets <= model::kMostBuckets;
       ++buckets) {
    for (const bool causal : {false, true}) {
      int64_t before = 0;
      for (int64_t d = 0; d <= 2 * model::kFarthest; ++d) {
        const int64_t bucket = model::bucket_of(-d, buckets, causal);
        EXPECT_GE(bucket, before);
        EXPECT_LT(bucket, causal ? buckets : buckets / 2);
        before = bucket;
      }
    }
  }
}

}  // namespace
}  // namespace rc::test

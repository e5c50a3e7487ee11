// Models whose rows see all of their sequence, and that give hidden rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "test_data.h"

namespace rc::test {
namespace {

constexpr size_t kWidth = 64;

std::shared_ptr<const model::ModelFile> encoder(const std::string& name) {
  return model::ModelFile::open(
      source_path("tests/golden/architectures/" + name + ".gguf").string());
}

std::shared_ptr<const model::ModelFile> bert() { return encoder("bert"); }

// Any will do; they differ from sequence to sequence.
std::vector<int32_t> encoder_tokens(int32_t count, int32_t seed) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < count; ++i) {
    tokens.push_back((i * i * 7 + i * 13 + seed * 31) % 200);
  }
  return tokens;
}

std::string refusal_of(model::ResidentModel& model, const model::Batch& batch) {
  std::vector<float> rows((batch.output_rows.size() + 1) * kWidth);
  try {
    model.run(batch, rows.data(), nullptr, nullptr, -1);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << error.message();
    return error.message();
  }
}

// `counts` rows of each sequence, from position 0 on.
model::Batch batch_of(const std::vector<int32_t>& counts) {
  model::Batch batch;
  for (const int32_t count : counts) {
    for (int32_t p = 0; p < count; ++p) {
      batch.tokens.push_back(5 + p);
      batch.positions.push_back(p);
      batch.sequences.push_back(static_cast<int32_t>(batch.sequence_count));
    }
    const auto pages =
        pages_from(static_cast<int32_t>(batch.sequence_count) * 16, 16);
    batch.page_table.insert(batch.page_table.end(), pages.begin(), pages.end());
    ++batch.sequence_count;
  }
  return batch;
}

class Encoder : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, Encoder, ::testing::ValuesIn(all_backends()),
                         [](const auto& info) {
                           return test_name(info.param);
                         });

void expect_no_neighbours(const std::string& name, const std::string& backend) {
  for (const DType cache : {RC_DTYPE_F32, RC_DTYPE_F16}) {
    const auto model = load(encoder(name), backend, {.cache = cache});
    const auto width =
        static_cast<size_t>(model->file().hyper_parameters().width);
    std::vector<Sequence> sequences;
    std::vector<std::vector<float>> expected;
    for (int32_t i = 0; i < 9; ++i) {
      sequences.push_back(
          {encoder_tokens(1 + 5 * i, i), pages_from(i * 7, 7), 0});
      expected.push_back(evaluate(*model, sequences.back().tokens));
      EXPECT_EQ(expected.back().size(), sequences.back().tokens.size() * width);
    }
    EXPECT_EQ(evaluate(*model, sequences, 64), expected);
    std::reverse(sequences.begin(), sequences.end());
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(evaluate(*model, sequences, 64), expected);
  }
}

TEST_P(Encoder, DoesNotDependOnTheRestOfTheBatch) {
  for (const char* name : {"bert", "modern-bert", "nomic-bert"}) {
    SCOPED_TRACE(name);
    expect_no_neighbours(name, GetParam());
  }
}

// Layers with a window need the whole sequence all the same.
TEST(EncoderFile, RefusesPagesOfWindows) {
  try {
    load(encoder("modern-bert"), "reference", {.window_pages = 4});
    FAIL() << "it was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << error.message();
  }
}

TEST_P(Encoder, DoesNotDependOnThreads) {
  const std::vector<int32_t> tokens = encoder_tokens(50, 3);
  const std::vector<float> expected =
      evaluate(*load(bert(), GetParam()), tokens);
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(evaluate(*load(bert(), GetParam(), {}, threads), tokens),
              expected)
        << threads;
  }
}

TEST_P(Encoder, ReturnsTheRequestedRows) {
  const auto model = load(bert(), GetParam());
  model::Batch batch = batch_of({20, 3});
  const std::vector<float> all =
      evaluate(*model, {batch.tokens.begin(), batch.tokens.begin() + 20});
  batch.output_rows = {0, 19};
  std::vector<float> rows(2 * kWidth);
  model->run(batch, rows.data(), nullptr, nullptr, -1);
  EXPECT_EQ(std::memcmp(rows.data(), all.data(), kWidth * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(rows.data() + kWidth, &all[19 * kWidth],
                        kWidth * sizeof(float)),
            0);
}

// A row sees those behind it: the last token matters for the first row.
TEST_P(Encoder, AttendsToLaterTokens) {
  const auto model = load(bert(), GetParam());
  std::vector<int32_t> tokens = encoder_tokens(40, 1);
  const std::vector<float> before = evaluate(*model, tokens);
  tokens.back() = 77;
  const std::vector<float> after = evaluate(*model, tokens);
  float most = 0;
  for (size_t i = 0; i < kWidth; ++i) {
    most = std::max(most, std::abs(after[i] - before[i]));
  }
  EXPECT_GT(most, 1e-3f);
}

TEST_P(Encoder, RefusesPartialSequences) {
  const auto model = load(bert(), GetParam());
  const std::vector<float> expected = evaluate(*model, {1, 5});
  const struct {
    std::vector<const char*> parts;
    void (*change)(model::Batch&);
  } kChanges[] = {
      {{"row 3 of sequence 1", "position 1 instead of 0"},
       [](model::Batch& b) {
         for (size_t i = 3; i < 7; ++i) ++b.positions[i];
       }},
      {{"row 2 of sequence 0", "position 3 instead of 2"},
       [](model::Batch& b) { b.positions[2] = 3; }},
      {{"row 2 of sequence 0", "position 1 instead of 2"},
       [](model::Batch& b) { b.positions[2] = 1; }},
      {{"position 64", "0 to 63"},
       [](model::Batch& b) { b.positions[6] = 64; }},
  };
  for (const auto& [parts, change] : kChanges) {
    model::Batch batch = batch_of({3, 4});
    change(batch);
    const std::string message = refusal_of(*model, batch);
    for (const char* part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
  }
  EXPECT_EQ(refusal_of(*model, batch_of({3, 4})), "");
  EXPECT_EQ(evaluate(*model, {1, 5}), expected);
}

TEST(EncoderFile, DescribesItsOutput) {
  const auto file = bert();
  EXPECT_FALSE(file->causal());
  EXPECT_EQ(file->output(), model::ForwardOutput::kHiddenRows);
  EXPECT_EQ(file->output_size(), static_cast<int64_t>(kWidth));
  EXPECT_EQ(file->position_limit(), 64);
  EXPECT_EQ(file->hyper_parameters().pooling, 2);
  ASSERT_NE(file->tokenizer(), nullptr);
  EXPECT_EQ(file->tokenizer()->size(), 200);

  const auto decoder = model::ModelFile::open(
      source_path("tests/golden/architectures/llama2.gguf").string());
  EXPECT_TRUE(decoder->causal());
  EXPECT_EQ(decoder->output(), model::ForwardOutput::kLogits);
  EXPECT_EQ(decoder->output_size(), decoder->hyper_parameters().vocabulary);
}

// The row of type 0 is added to each position, whether here or by who has made
// the file.
TEST(EncoderFile, TokenTypesMayBeAddedToThePositions) {
  Patient patient("bert");
  const std::vector<int32_t> tokens = encoder_tokens(30, 2);
  const auto whole =
      load(model::ModelFile::from_gguf(patient.file()), "reference");
  const std::vector<float> expected = evaluate(*whole, tokens);
  const auto floats = [](Patient::Tensor& tensor) {
    return reinterpret_cast<float*>(tensor.data.data());
  };
  const std::vector<std::byte> types =
      patient.tensor("token_types.weight").data;
  patient.drop_tensor("token_types.weight");
  const auto without =
      load(model::ModelFile::from_gguf(patient.file()), "reference");
  EXPECT_NE(evaluate(*without, tokens), expected);

  const auto* type = reinterpret_cast<const float*>(types.data());
  Patient::Tensor& positions = patient.tensor("position_embd.weight");
  for (size_t i = 0; i < 64 * kWidth; ++i) {
    floats(positions)[i] += type[i % kWidth];
  }
  const auto added =
      load(model::ModelFile::from_gguf(patient.file()), "reference");
  EXPECT_EQ(evaluate(*added, tokens), expected);
}

TEST(EncoderFile, CausalKeyIsOptional) {
  Patient patient("bert");
  patient.drop("bert.attention.causal");
  patient.drop("bert.pooling_type");
  const auto file = model::ModelFile::from_gguf(patient.file());
  EXPECT_FALSE(file->causal());
  EXPECT_EQ(file->hyper_parameters().pooling, 0);
}

TEST(EncoderFile, VocabularyIsOptional) {
  Patient patient("bert");
  const auto original = bert();
  for (const gguf::Entry& entry : original->file().entries()) {
    if (entry.key.starts_with("tokenizer.")) {
      patient.drop(std::string(entry.key));
    }
  }
  const auto file = model::ModelFile::from_gguf(patient.file());
  EXPECT_EQ(file->tokenizer(), nullptr);
  EXPECT_EQ(evaluate(*load(file, "cpu"), {1, 5}),
            evaluate(*load(bert(), "cpu"), {1, 5}));
}

}  // namespace
}  // namespace rc::test

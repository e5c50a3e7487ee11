// Sessions with embedding rows in place of tokens.
#include "model/embedding_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/session_list.h"
#include "engine/session_move.h"
#include "files/gguf/writer.h"
#include "session_util.h"
#include "tensor/dtype.h"
#include "test_data.h"

namespace rc::engine::test {
namespace {

namespace fs = std::filesystem;
using SharedRows = std::shared_ptr<const model::EmbeddingRows>;

EngineOptions taking_options() {
  EngineOptions options = small_options();
  options.takes_embeddings = true;
  return options;
}

std::shared_ptr<Engine> load_taking(const std::string& model = "llama2",
                                    int64_t max_rows = 512,
                                    const std::string& spec = "cpu") {
  EngineOptions options = taking_options();
  options.max_rows = max_rows;
  return load(options, spec, 1, model);
}

constexpr int64_t kWidth = 64;  // of "llama2"

SharedRows random_rows(int64_t count, uint32_t seed, int64_t width = kWidth) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 0.5f);
  std::vector<float> values(static_cast<size_t>(count * width));
  for (float& value : values) value = normal(random);
  return std::make_shared<const model::EmbeddingRows>(std::move(values), width);
}

std::vector<float> floats_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(fs::file_size(path) / sizeof(float));
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

// A session of 20 tokens, 40 rows, 5 tokens, 3 rows and a token.
std::shared_ptr<Session> mixed_session(Engine& engine, uint32_t seed = 1) {
  const int64_t width = engine.file().hyper_parameters().width;
  auto session = session_with(engine, some_tokens(20));
  session->append_embeddings(random_rows(40, seed, width));
  session->append({7, 8, 9, 10, 11});
  session->append_embeddings(random_rows(3, seed + 100, width));
  session->append({12});
  return session;
}

Played play_mixed(Engine& engine) {
  Played played;
  const auto session = mixed_session(engine);
  played.before = decoded(*session);
  go_on(*session, &played);
  return played;
}

// ---- What transformers computes -------------------------------------------

class GoldenRows
    : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(
    Models, GoldenRows,
    ::testing::Combine(::testing::Values("reference", "cpu", "opencl",
                                         "vulkan"),
                       ::testing::Values("llama", "gemma3", "gpt2", "mixtral",
                                         "granitemoehybrid")),
    [](const auto& info) {
      return test_name(std::get<0>(info.param) + " " + std::get<1>(info.param));
    });

TEST_P(GoldenRows, GiveTheLogitsOfTransformers) {
  const auto& [backend, name] = GetParam();
  const fs::path golden = rc::test::source_path("tests/golden");
  std::shared_ptr<runtime::Device> device;
  try {
    device = open_device(backend);
  } catch (const Error& error) {
    GTEST_SKIP() << error.message();
  }
  const auto file =
      model::ModelFile::open((golden / "folders" / name).string());
  EngineOptions options;
  options.context_length = 32;
  options.cache_dtype = RC_DTYPE_F32;
  options.takes_embeddings = true;
  const auto engine = Engine::load(file, device, options, {});
  const auto json = nlohmann::json::parse(
      std::ifstream(golden / "embedding_rows" / (name + ".json")));
  const std::vector<float> rows =
      floats_of(golden / "embedding_rows" / (name + ".rows.f32"));
  const auto session = engine->create_session({}, nullptr);
  constexpr size_t kRow = 32;
  size_t next = 0;
  for (const TokenId token : json.at("tokens").get<std::vector<TokenId>>()) {
    if (token >= 0) {
      session->append({token});
      continue;
    }
    const auto row = rows.begin() + static_cast<ptrdiff_t>(next++ * kRow);
    session->append_embeddings(std::make_shared<const model::EmbeddingRows>(
        std::vector<float>(row, row + kRow), kRow));
  }
  EXPECT_EQ(next, 5u);
  session->decode(/*all_logits=*/true);
  const Session::Logits logits = session->logits();
  const std::vector<float> expected =
      floats_of(golden / "embedding_rows" / (name + ".logits.f32"));
  ASSERT_EQ(logits.rows * logits.vocabulary, expected.size());
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(double{logits.data[i]} - double{expected[i]}, 2);
    norm += std::pow(double{expected[i]}, 2);
  }
  EXPECT_LT(error / norm, backend == "reference" ? 1e-9 : 1e-7);
}

// ---- What tokens give ------------------------------------------------------

// Returns the embedding rows of tokens as the first layer receives them, from a
// file of `tests/golden/architectures`.
SharedRows rows_of_tokens(const model::ModelFile& file,
                          const std::vector<TokenId>& tokens, float scale) {
  const gguf::Tensor* const table =
      file.file().find_tensor("token_embd.weight");
  const int64_t width = table->shape[1];
  const std::vector<std::byte> bytes = file.file().read(*table);
  const size_t row = *row_bytes(table->dtype, width);
  std::vector<float> values(tokens.size() * static_cast<size_t>(width));
  for (size_t i = 0; i < tokens.size(); ++i) {
    decode_row(table->dtype,
               bytes.data() + static_cast<size_t>(tokens[i]) * row,
               values.data() + i * static_cast<size_t>(width), width);
  }
  for (float& value : values) value *= scale;
  return std::make_shared<const model::EmbeddingRows>(std::move(values), width);
}

// Rows of the table are what its tokens are, to the bit: with a rotation,
// with slopes and a norm of the embedding, scaled, with states, with positions
// that are rotated otherwise in long sequences, with experts and latent
// attention.
TEST(EmbeddingRows, RowsOfTheTableEqualTheirTokens) {
  for (const std::string name :
       {"llama2", "bloom", "gemma2", "mamba2", "phi3-long", "deepseek2"}) {
    SCOPED_TRACE(name);
    const auto engine = load_taking(name);
    const model::HyperParameters& hyper = engine->file().hyper_parameters();
    std::vector<TokenId> tokens(100);
    std::mt19937 random(7);
    for (TokenId& token : tokens) {
      token = static_cast<TokenId>(random() %
                                   static_cast<uint64_t>(hyper.vocabulary));
    }
    const float scale =
        name == "gemma2" ? std::sqrt(static_cast<float>(hyper.width)) : 1.0f;
    const auto plain = session_with(*engine, tokens);
    const auto mixed = session_with(*engine, part(tokens, 0, 5));
    mixed->append_embeddings(
        rows_of_tokens(engine->file(), part(tokens, 5, 70), scale));
    mixed->append(part(tokens, 70, 100));
    const uint64_t expected = decoded(*plain);
    EXPECT_EQ(decoded(*mixed), expected);
    // Tokens give the same result in a model that takes no rows.
    EXPECT_EQ(
        decoded(*session_with(*load(small_options(), "cpu", 1, name), tokens)),
        expected);
  }
}

TEST(EmbeddingRows, UnsupportedModelsAreRefusedWithTheReason) {
  const auto refuse = [](const char* model, const char* reason) {
    expect_status(
        RC_E_UNSUPPORTED, [&] { load_taking(model); },
        cat("the model takes no embedding rows in place of tokens: ", reason));
  };
  refuse("t5",
         "it reads a source, of tokens; load it without "
         "takes_embeddings");
  refuse("gemma3n", "each of its layers has another table of tokens");
  refuse("bert", "it gives no logits");
  const auto engine = load();
  const auto session = session_with(*engine, some_tokens(5));
  expect_status(
      RC_E_UNSUPPORTED, [&] { session->append_embeddings(random_rows(2, 1)); },
      "was loaded to take tokens alone; load it with takes_embeddings");
  EXPECT_EQ(session->position(), 5);
}

// ---- The same whatever else happens ----------------------------------------

TEST(EmbeddingRows, DoNotDependOnTheSizeOfSteps) {
  for (const std::string name : {"llama2", "gemma2", "mamba2"}) {
    SCOPED_TRACE(name);
    const Played expected = play_mixed(*load_taking(name));
    for (const int64_t rows : {1, 7, 32}) {
      EXPECT_EQ(play_mixed(*load_taking(name, rows)), expected) << rows;
    }
  }
}

TEST(EmbeddingRows, PrefixCacheComparesTheirNumbers) {
  for (const std::string name : {"llama2", "gemma2", "mamba2"}) {
    SCOPED_TRACE(name);
    const auto engine = load_taking(name);
    const auto first = mixed_session(*engine);
    const Result evaluated = generate(*first, greedy({}, 8));
    EXPECT_EQ(evaluated.report.cached_tokens, 0);
    const auto same = mixed_session(*engine);
    const Result cached = generate(*same, greedy({}, 8));
    EXPECT_EQ(cached.report.cached_tokens, 64);
    EXPECT_EQ(cached.tokens, evaluated.tokens);
    // The first page has rows of other numbers.
    const auto other = mixed_session(*engine, 2);
    EXPECT_EQ(generate(*other, greedy({}, 8)).report.cached_tokens, 0);
    // A session with tokens only does not find them.
    auto tokens = some_tokens(20);
    tokens.resize(69, 5);
    EXPECT_EQ(generate(*engine, greedy(tokens, 8)).report.cached_tokens, 0);
  }
}

TEST(EmbeddingRows, CanBeForkedAndTruncated) {
  const auto engine = load_taking();
  const auto session = mixed_session(*engine);
  const uint64_t expected = decoded(*session);
  const auto fork = session->fork();
  EXPECT_EQ(decoded(*fork), expected);
  // Within the first run, and back again.
  fork->truncate(30);
  fork->append_embeddings(random_rows(6, 9));
  const auto beginning = session_with(*engine, some_tokens(20));
  const SharedRows forty = random_rows(40, 1);
  beginning->append_embeddings(std::make_shared<const model::EmbeddingRows>(
      std::vector<float>(forty->values().begin(),
                         forty->values().begin() + ptrdiff_t{10} * kWidth),
      kWidth));
  beginning->append_embeddings(random_rows(6, 9));
  EXPECT_EQ(decoded(*fork), decoded(*beginning));
  const std::vector<TokenId> tokens = fork->tokens();
  EXPECT_EQ(tokens.size(), 36u);
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), kNoToken), 16);
  EXPECT_EQ(decoded(*session), expected);
}

TEST(EmbeddingRows, ShiftLeavesASessionOfTheRemainingItems) {
  const auto engine = load_taking();
  SessionOptions shifting;
  shifting.shift_when_full = true;
  shifting.keep_tokens = 2;
  shifting.context_length = 64;
  const auto session = engine->create_session(shifting, nullptr);
  session->append(some_tokens(10));
  session->append_embeddings(random_rows(50, 1));
  session->append({5, 6, 7, 8, 9, 10});  // 66: 32 of the 64 are dropped
  EXPECT_EQ(session->position(), 34);
  const auto left = session_with(*engine, part(some_tokens(10), 0, 2));
  const SharedRows all = random_rows(50, 1);
  left->append_embeddings(std::make_shared<const model::EmbeddingRows>(
      std::vector<float>(all->values().begin() + ptrdiff_t{24} * kWidth,
                         all->values().end()),
      kWidth));
  left->append({5, 6, 7, 8, 9, 10});
  EXPECT_EQ(left->tokens(), session->tokens());
  EXPECT_EQ(decoded(*session), decoded(*left));
}

TEST(EmbeddingRows, ArePassedOverByRepetitionPenalties) {
  const auto engine = load_taking();
  RequestOptions options = greedy({}, 30);
  options.sampling.repetition_penalty = 1.3f;
  options.sampling.presence_penalty = 0.5f;
  options.sampling.penalty_tokens = -1;
  options.sampling.dry_multiplier = 1.0f;
  const auto session = mixed_session(*engine);
  const Result result = generate(*session, options);
  EXPECT_EQ(result.report.status, RC_OK) << result.message;
  EXPECT_EQ(result.tokens.size(), 30u);
}

// ---- Saving and moving ----------------------------------------------------

class SavedRows : public ::testing::Test {
 protected:
  std::shared_ptr<Session> restore(const std::vector<std::byte>& bytes,
                                   Engine& engine) {
    return engine.restore_session(
        *gguf::File::from_memory(nullptr, bytes, "saved"), {}, nullptr);
  }
  // The file with another tensor of rows: of a type and shape, filled.
  std::vector<std::byte> with_rows(DType dtype, std::vector<int64_t> shape,
                                   float value) {
    const auto file = gguf::File::from_memory(nullptr, bytes_, "saved");
    gguf::Writer writer;
    writer.end_with_checksum();
    for (const gguf::Entry& entry : file->entries()) writer.add(entry);
    for (const gguf::Tensor& tensor : file->tensors()) {
      if (tensor.name == "embedding_rows") continue;
      writer.add_tensor(tensor.name, tensor.dtype, tensor.shape,
                        [&](const auto& put) { put(file->read(tensor)); });
    }
    std::vector<float> values(static_cast<size_t>(shape[0] * shape[1]), value);
    if (shape[0] > 0) {
      writer.add_tensor("embedding_rows", dtype, shape, values);
    }
    return writer.write_memory();
  }

  const std::shared_ptr<Engine> engine_ = load_taking();
  const std::shared_ptr<Session> session_ = mixed_session(*engine_);
  const uint64_t expected_ = decoded(*session_);
  const std::vector<std::byte> bytes_ = session_->save();
};

TEST_F(SavedRows, AreRestored) {
  const auto restored = restore(bytes_, *engine_);
  EXPECT_EQ(restored->tokens(), session_->tokens());
  EXPECT_EQ(decoded(*restored), expected_);
  // Where all is evaluated again it is the rows that count.
  restored->truncate(1);
  const auto again = restore(bytes_, *load_taking("llama2", 32));
  EXPECT_EQ(decoded(*again), expected_);
  EXPECT_EQ(again->save(), bytes_);
}

TEST_F(SavedRows, AreRestoredBeforeTheirEvaluation) {
  const auto session = mixed_session(*engine_);
  const auto restored = restore(session->save(), *engine_);
  EXPECT_EQ(decoded(*restored), expected_);
}

TEST_F(SavedRows, MismatchedRowsAreRefused) {
  const auto refuse = [&](const std::vector<std::byte>& bytes,
                          const char* part) {
    expect_status(
        RC_E_FORMAT, [&] { restore(bytes, *engine_); }, part);
  };
  EXPECT_EQ(
      decoded(*restore(with_rows(RC_DTYPE_F32, {43, 64}, 0.5f), *engine_)),
      expected_);  // of what is evaluated already
  refuse(with_rows(RC_DTYPE_F32, {0, 64}, 0),
         "runcible.session.tokens has 43 entries of -1, but the tensor "
         "embedding_rows is missing");
  refuse(with_rows(RC_DTYPE_F32, {42, 64}, 0), "is not F32 [43, 64]");
  refuse(with_rows(RC_DTYPE_F32, {43, 32}, 0), "is not F32 [43, 64]");
  refuse(with_rows(RC_DTYPE_F16, {43, 64}, 0), "is not F32 [43, 64]");
  refuse(
      with_rows(RC_DTYPE_F32, {43, 64}, std::numeric_limits<float>::infinity()),
      "tensor embedding_rows holds inf");
  expect_status(
      RC_E_UNSUPPORTED, [&] { restore(bytes_, *load()); },
      "load it with takes_embeddings");
}

TEST(EmbeddingRows, MoveToAnotherEngine) {
  const Played expected = play_mixed(*load_taking());
  for (const bool same_rows : {true, false}) {
    SCOPED_TRACE(same_rows);
    EngineOptions options = taking_options();
    options.cache_tokens = 128 * 64;  // so that it is another engine
    const auto from = load_taking();
    std::shared_ptr<Engine> to = load(options);
    const auto list = std::make_shared<SessionList>();
    const auto session = mixed_session(*from);
    Played played;
    played.before = decoded(*session);
    if (!same_rows) session->truncate(60);
    {
      const std::lock_guard lock(list->mutex());
      session->join(list);
    }
    SessionMove move({{list, from, to}});
    move.copy([] { return false; });
    move.run([] {});
    if (!same_rows) {
      session->append({7, 8, 9, 10, 11});
      session->append_embeddings(random_rows(3, 101));
      session->append({12});
    }
    go_on(*session, &played);
    EXPECT_EQ(played, expected);

    SessionMove back({{list, to, load()}});
    expect_status(
        RC_E_UNSUPPORTED, [&] { back.run([] {}); },
        "a session that is to move there: embedding rows");
  }
}

}  // namespace
}  // namespace rc::engine::test

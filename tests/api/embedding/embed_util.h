// Helpers of the tests of embeddings: models and rows of
// tests/golden/embeddings, and calls that are expected to succeed.
#pragma once

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/api_util.h"
#include "runcible/embed.h"
#include "test_data.h"

namespace rc::test {

using Embedding = std::unique_ptr<rc_embedding, Release<rc_embedding_release>>;
using Texts = std::vector<std::string>;

inline const std::filesystem::path& folder() {
  static const auto path = source_path("tests/golden/embeddings");
  return path;
}

inline nlohmann::json about() {
  std::ifstream file(folder() / "texts.json");
  return nlohmann::json::parse(file);
}

inline std::vector<float> golden(const std::string& name) {
  std::ifstream file(folder() / (name + ".f32"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  EXPECT_FALSE(values.empty()) << name;
  return values;
}

inline Backend open_on(const std::string& spec) {
  rc_backend* backend = nullptr;
  EXPECT_OK(rc_backend_open(spec.c_str(), nullptr, &backend));
  return Backend(backend);
}

inline Model load(rc_backend* backend, const std::string& path,
                  rc_output output = RC_OUTPUT_AUTO, int32_t rows = 0) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.output = output;
  options.max_rows = rows;
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(backend, path.c_str(), &options, &model));
  return Model(model);
}

struct Pointers {
  explicit Pointers(const Texts& texts) {
    for (const std::string& text : texts) {
      pointers.push_back(text.data());
      lengths.push_back(text.size());
    }
  }
  std::vector<const char*> pointers;
  std::vector<size_t> lengths;
};

inline std::vector<float> rows_of(rc_embedding* embedding) {
  const float* rows = nullptr;
  size_t count = 0;
  size_t columns = 0;
  EXPECT_OK(rc_embedding_rows(embedding, &rows, &count, &columns));
  return {rows, rows + count * columns};
}

inline rc_status try_embed(rc_model* model, const Texts& texts,
                           const rc_embed_options* options,
                           std::vector<float>* rows) {
  const Pointers given(texts);
  rc_embedding* made = nullptr;
  const rc_status status =
      rc_embed(model, given.pointers.data(), given.lengths.data(), texts.size(),
               options, &made);
  const Embedding owned(made);
  if (status == RC_OK) *rows = rows_of(made);
  return status;
}

inline std::vector<float> embed(rc_model* model, const Texts& texts,
                                const rc_embed_options* options = nullptr) {
  std::vector<float> rows;
  EXPECT_OK(try_embed(model, texts, options, &rows));
  return rows;
}

inline std::vector<float> rerank(rc_model* model, const std::string& query,
                                 const Texts& documents,
                                 const rc_rerank_options* options = nullptr) {
  const Pointers given(documents);
  rc_embedding* made = nullptr;
  EXPECT_OK(rc_rerank(model, query.data(), query.size(), given.pointers.data(),
                      given.lengths.data(), documents.size(), options, &made));
  const Embedding owned(made);
  return made == nullptr ? std::vector<float>() : rows_of(made);
}

inline double cosine(const float* a, const float* b, size_t count) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < count; ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace rc::test

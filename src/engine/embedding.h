// Embeddings of many texts, and scores of many documents: tokenizes them one
// after the other while the engine works on those before.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace rc::engine {

// The options that embeddings and scores share.
struct RowOptions {
  bool truncate = false;
  int32_t priority = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // Asked now and then; true: RC_E_CANCELLED.
  std::function<bool()> should_stop;
};

struct EmbedOptions {
  RowOptions rows;
  std::optional<Pooling> pooling;
  std::optional<bool> normalize;
  int64_t dimensions = 0;
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_name;
};

struct RerankOptions {
  RowOptions rows;
  bool raw_scores = false;
  std::optional<std::string> prompt;
};

// The results of texts: a row for each.
struct TextRows {
  std::vector<float> values;  // [count, columns]
  size_t count = 0;
  size_t columns = 0;
};

// Resolved against the file of a model: what is open in them is chosen. Throws
// RC_E_UNSUPPORTED, RC_E_INVALID_ARGUMENT, RC_E_NOT_FOUND.
EmbedOptions resolve(EmbedOptions options, const model::ModelFile& file);
RerankOptions resolve(RerankOptions options, const model::ModelFile& file);

// With resolved options. Block; throw the first failure, with the number of its
// text. Any thread but the engine's.
TextRows embed(Engine& engine, const std::shared_ptr<Account>& account,
               const std::vector<std::string>& texts,
               const EmbedOptions& options);
TextRows rerank(Engine& engine, const std::shared_ptr<Account>& account,
                const std::string& query,
                const std::vector<std::string>& documents,
                const RerankOptions& options);

}  // namespace rc::engine

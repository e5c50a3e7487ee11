#include "model/output.h"

#include <cmath>
#include <string>

#include "base/error.h"

namespace rc::model {
namespace {

// GGUF's numbers of pooling_type.
constexpr int64_t kNoPooling = 0;
constexpr int64_t kRank = 4;

constexpr const char* kDense = "cls";
constexpr const char* kProjection = "cls.output";

// One matrix of a classifier, with its bias if it has one.
runtime::Value product(runtime::ProgramBuilder& builder, Weights& weights,
                       const std::string& stem, int64_t rows, int64_t columns,
                       runtime::Value x) {
  return builder.linear(
      x, weights.matrix(stem + ".weight", {rows, columns}, RC_USE_LINEAR),
      weights.has(stem + ".bias") ? weights.elements(stem + ".bias", {rows})
                                  : runtime::kAbsent);
}

// The rows of a matrix of a classifier; `otherwise` if it is not there.
int64_t rows_of(const gguf::File& file, const std::string& stem,
                int64_t otherwise) {
  const gguf::Tensor* tensor = file.find_tensor(stem + ".weight");
  return tensor == nullptr || tensor->shape.empty() ? otherwise
                                                    : tensor->shape[0];
}

}  // namespace

ForwardOutput settle_output(const gguf::File& file,
                            const Architecture& architecture, int64_t pooling,
                            std::optional<ForwardOutput> wanted) {
  const bool scores =
      has_classifier(file) ||
      (!architecture.output.hidden_rows && architecture.source == nullptr);
  if (!wanted) {
    if (pooling == kRank && scores) return ForwardOutput::kScores;
    return architecture.output.hidden_rows || pooling != kNoPooling
               ? ForwardOutput::kHiddenRows
               : ForwardOutput::kLogits;
  }
  if (*wanted == ForwardOutput::kLogits && architecture.output.hidden_rows) {
    fail(RC_E_UNSUPPORTED, file.name(), ": models of architecture ",
         architecture.name,
         " give hidden rows, not logits; load it for embeddings");
  }
  if (*wanted == ForwardOutput::kScores && architecture.source != nullptr) {
    fail(RC_E_UNSUPPORTED, file.name(), ": models of architecture ",
         architecture.name,
         " read a source and generate text, or give embeddings; they cannot "
         "score pairs of texts");
  }
  if (*wanted == ForwardOutput::kScores && !scores) {
    fail(RC_E_UNSUPPORTED, file.name(), ": it has no tensor ", kDense,
         ".weight or ", kProjection,
         ".weight, and no output matrix, so it cannot score pairs of texts; "
         "take a cross-encoder, or a model that generates text");
  }
  return *wanted;
}

bool has_classifier(const gguf::File& file) {
  return file.find_tensor(std::string(kDense) + ".weight") != nullptr ||
         file.find_tensor(std::string(kProjection) + ".weight") != nullptr;
}

ScoreTokens score_tokens(const gguf::File& file,
                         const text::Tokenizer* tokenizer) {
  if (tokenizer == nullptr) {
    fail(RC_E_UNSUPPORTED, file.name(),
         ": it has neither a classifier nor a tokenizer, so it cannot score "
         "pairs of texts");
  }
  const auto token = [&](const char* word) {
    const auto tokens = tokenizer->tokenize(word, {.add_special = false});
    if (tokens.size() != 1) {
      fail(RC_E_UNSUPPORTED, file.name(), ": \"", word, "\" is ", tokens.size(),
           " tokens of its vocabulary, but the score of a pair of texts by a "
           "model without a classifier is that of one");
    }
    return tokens.front();
  };
  return {.yes = token("yes"), .no = token("no")};
}

runtime::Value add_logits(runtime::ProgramBuilder& builder, Weights& weights,
                          const Architecture& architecture,
                          const HyperParameters& hyper, runtime::Value x) {
  // A file without an output matrix uses the embedding table twice.
  const TensorNames& names = architecture.names;
  const bool tied = !weights.has(names.output);
  const char* name = tied ? names.token_embedding : names.output;
  const Presence bias = architecture.output.bias;
  const bool biased =
      bias == Presence::kAlways ||
      (bias == Presence::kOptional && weights.has(names.output_bias));
  if (tied && architecture.output.scaled_if_tied) {
    x = builder.scale(
        x,
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(hyper.width))));
  }
  x = builder.linear(
      x, weights.matrix(name, {hyper.vocabulary, hyper.width}, RC_USE_LINEAR),
      biased ? weights.elements(names.output_bias, {hyper.vocabulary})
             : runtime::kAbsent);
  if (hyper.logit_factor != 1.0f) x = builder.scale(x, hyper.logit_factor);
  return hyper.final_softcap > 0.0f ? builder.softcap(x, hyper.final_softcap)
                                    : x;
}

runtime::Value add_classifier(runtime::ProgramBuilder& builder,
                              Weights& weights, const HyperParameters& hyper,
                              runtime::Value x) {
  const gguf::File& file = weights.file();
  const bool projects = weights.has(std::string(kProjection) + ".weight");
  int64_t width = hyper.width;
  if (weights.has(std::string(kDense) + ".weight")) {
    const int64_t rows = rows_of(file, kDense, width);
    x = product(builder, weights, kDense, rows, width, x);
    if (projects) x = builder.unary(x, RC_FUNCTION_TANH);
    width = rows;
  }
  if (!projects) return x;
  return product(builder, weights, kProjection, rows_of(file, kProjection, 1),
                 width, x);
}

runtime::Value add_comparison(runtime::ProgramBuilder& builder,
                              Weights& weights, const TensorNames& names,
                              const HyperParameters& hyper,
                              const ScoreTokens& tokens, runtime::Value x) {
  const char* name =
      weights.has(names.output) ? names.output : names.token_embedding;
  const auto logit = [&](int32_t token) {
    return builder.linear(
        x, weights.matrix_rows(name, {hyper.vocabulary, hyper.width}, token, 1,
                               RC_USE_LINEAR));
  };
  const runtime::Value yes = logit(tokens.yes);
  const runtime::Value no = builder.scale(logit(tokens.no), -1.0f);
  const runtime::Value score = builder.add(yes, no);
  return hyper.logit_factor == 1.0f ? score
                                    : builder.scale(score, hyper.logit_factor);
}

}  // namespace rc::model

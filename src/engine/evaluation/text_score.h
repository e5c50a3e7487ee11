// Scores the predictions of a text by a model, and their divergence from
// another model's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/engine.h"
#include "engine/evaluation/mean.h"
#include "engine/evaluation/windows.h"

namespace rc::engine {

// A model and who pays for its steps.
struct EvaluatedModel {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Account> account;
};

// Of the same tokens by another model, which is the one to be like.
struct Comparison {
  Measured perplexity;  // of the other one
  Measured ratio;       // of the perplexities, this one's over the other's
  Measured divergence;  // of this one from the other, nats for each token
  double divergence_99 = 0.0;  // which 99% of the tokens do not exceed
  double divergence_most = 0.0;
  Measured agreement;  // on the most probable token: a share
  // The root of the mean square of the difference of the probabilities that
  // both give to the token that comes.
  Measured difference;
};

struct TextScore {
  int64_t windows = 0;
  int64_t context = 0;
  int64_t tokens = 0;  // that were scored
  uint64_t bytes = 0;  // of these
  Measured perplexity;
  Measured bits_per_byte;
  double tokens_per_second = 0.0;  // of all that were evaluated
  std::optional<Comparison> comparison;
};

// `against` may have no engine. `progress` gets the fraction done and cancels
// by returning false. Throws as TextWindows; RC_E_INVALID_ARGUMENT if the
// models have different vocabularies; RC_E_CANCELLED; what steps throw.
TextScore score_text(const EvaluatedModel& model, const EvaluatedModel& against,
                     std::string_view text, const WindowOptions& options,
                     const std::function<bool(double)>& progress);

// Throws RC_E_INVALID_ARGUMENT, with the first token that differs, unless both
// have the same vocabulary.
void check_same_vocabulary(const model::ModelFile& a,
                           const model::ModelFile& b);

}  // namespace rc::engine

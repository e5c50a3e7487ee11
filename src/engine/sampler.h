// Chooses the next token from logits, in the order that rc_generate_options
// documents: mask, bias, penalties, DRY, greedy or top-n-sigma, top-k, typical,
// top-p, min-p, XTC, temperature, draw.
//
// The same options, seed, history and logits give the same token everywhere:
// weights are whole numbers (softmax.h), tokens stand in order of falling
// logits, the lower id first among equals, and log is portable_math.h's. Hardly
// anything is sorted: only what lies where a sum of weights is reached is
// looked at more and more closely.
//
// One sampler belongs to one request, so to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "engine/candidates.h"
#include "engine/dry.h"
#include "engine/mirostat.h"
#include "engine/sampling_options.h"
#include "engine/softmax.h"
#include "engine/token.h"

namespace rc::engine {

class Sampler {
 public:
  // The options have passed check(); a random seed has been drawn. DRY has no
  // breakers without a tokenizer.
  Sampler(SamplingOptions options, size_t vocabulary,
          std::shared_ptr<const text::Tokenizer> tokenizer = nullptr);

  // `history` holds the session's tokens. `allowed` has a bit for each token,
  // token t bit t % 32 of element t / 32, or is empty: all are allowed. Throws
  // RC_E_DEVICE if a logit is not a number or +infinity, RC_E_INVALID_ARGUMENT
  // if no token is left.
  TokenId choose(std::span<const float> logits,
                 std::span<const TokenId> history,
                 std::span<const uint32_t> allowed = {});

 private:
  bool penalizes() const;
  bool changes() const;  // whether there is a bias or a penalty
  void forbid_others(std::span<const uint32_t> allowed);
  void add_bias();
  void penalize(std::span<const TokenId> history);
  // Each leaves fewer tokens.
  void keep_top_n_sigma();
  void keep_top_k();
  void keep_typical();
  void keep_top_p();
  void keep_min_p();
  void exclude_top();
  // By mirostat.
  TokenId draw_by_surprise();
  TokenId draw(float temperature);

  // The temperature, as the entropy of what is left has it.
  float temperature();
  // The remaining candidates.
  Candidates gathered() const;

  void choose_among(const Candidates& candidates);
  // Keeps the first until their weights, just classified, reach `wanted`.
  void keep_first(float temperature, uint64_t wanted);

  SamplingOptions options_;
  Random random_;
  Dry dry_;
  Mirostat mirostat_;
  std::vector<float> changed_;  // logits after bias and penalties
  // The logits, by token or as ids_ says, and the candidates that remain of
  // them.
  Softmax softmax_;
  std::span<const TokenId> ids_;
  Cut cut_{};
  Candidates candidates_;
  Softmax::Classes classes_;
  Candidates members_;           // of the class in which a sum is reached
  std::vector<size_t> indices_;  // of them
  std::vector<TokenId> seen_;
};

}  // namespace rc::engine

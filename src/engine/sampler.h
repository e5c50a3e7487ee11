// Chooses the next token from logits, in the order that rc_generate_options
// documents: mask, bias, penalties, greedy or top-n-sigma, top-k, typical,
// top-p, min-p, temperature, draw.
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
#include <span>
#include <vector>

#include "base/random.h"
#include "engine/candidates.h"
#include "engine/softmax.h"
#include "engine/token.h"
#include "runcible/generate.h"

namespace rc::engine {

struct LogitBias {
  TokenId token = 0;
  float bias = 0.0f;  // added to its logit; -infinity forbids it
};

// What rc_generate_options says of the choice of tokens, under its names; the
// other fields are not looked at.
struct SamplingOptions : rc_generate_options {
  SamplingOptions();  // the defaults, with the seed RC_SEED_RANDOM
  // Keeps nothing that points to memory of the caller's.
  explicit SamplingOptions(const rc_generate_options& given);

  std::vector<LogitBias> biases;  // for logit_bias
};

// Throws RC_E_INVALID_ARGUMENT with name, value and limit.
void check(const SamplingOptions& options, int64_t vocabulary);

class Sampler {
 public:
  // The options have passed check(); a random seed has been drawn.
  Sampler(SamplingOptions options, size_t vocabulary);

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
  TokenId draw();

  void choose_among(const Candidates& candidates);
  // Keeps the first until their weights, just classified, reach `wanted`.
  void keep_first(float temperature, uint64_t wanted);

  SamplingOptions options_;
  Random random_;
  std::vector<float> changed_;  // logits after bias and penalties
  // What there is to choose from: logits, by token or as ids_ says, and what is
  // left of them.
  Softmax softmax_;
  std::span<const TokenId> ids_;
  Cut cut_{};
  Candidates candidates_;
  Softmax::Classes classes_;
  Candidates members_;           // of the class in which a sum is reached
  std::vector<size_t> indices_;  // of them
  std::vector<TokenId> seen_;
};

// A token and the natural logarithm of its probability.
struct TokenLogprob {
  TokenId token = -1;
  float logprob = 0.0f;
};

// Logarithms of probabilities of a softmax over `logits`.
class Logprobs {
 public:
  // Throws as Sampler::choose.
  explicit Logprobs(std::span<const float> logits);
  TokenLogprob of(TokenId token) const;
  // Appends the `count` most probable by falling probability, lower id first
  // among equals. A smaller vocabulary is filled up with token -1 and logprob
  // -infinity.
  void append_top(size_t count, std::vector<TokenLogprob>* target) const;

 private:
  Softmax softmax_;
  double log_sum_;  // of exp(logit)
};

}  // namespace rc::engine

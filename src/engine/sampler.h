// Chooses the next token from logits, in the order that rc_generate_options
// documents: bias, penalties, greedy or top-k, typical, top-p, min-p,
// temperature, draw.
//
// The same options, seed, history and logits give the same token everywhere:
// sums are taken in double in a fixed order (by falling logit, lower id first
// among equals), exp and log are portable_math.h's.
//
// One sampler belongs to one request, so to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "engine/token.h"
#include "runcible/generate.h"

namespace rc::engine {

struct SamplingOptions {
  uint64_t seed = 0;  // already drawn if the caller wanted a random one
  float temperature = 0.8f;
  int32_t top_k = 40;
  float top_p = 0.95f;
  float min_p = 0.05f;
  float typical = 1.0f;
  int32_t penalty_tokens = 64;
  float repetition_penalty = 1.0f;
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  std::vector<rc_logit_bias> logit_bias;
};

// Throws RC_E_INVALID_ARGUMENT with name, value and limit.
void check(const SamplingOptions& options, int64_t vocabulary);

class Sampler {
 public:
  // The options have passed check().
  Sampler(SamplingOptions options, size_t vocabulary);

  // `history` holds the session's tokens. Throws RC_E_DEVICE if a logit is not
  // a number or +infinity, RC_E_INVALID_ARGUMENT if no token is left.
  TokenId choose(std::span<const float> logits,
                 std::span<const TokenId> history);

 private:
  struct Candidate {
    TokenId id;
    float logit;
    double weight;  // proportional to the probability
  };

  void penalize(std::span<const TokenId> history);
  TokenId greedy() const;
  // Fills candidates_ with the `count` best, in order, or (0) with all that are
  // not forbidden, by id.
  void select(size_t count);
  // Brings the best `count` candidates (or all) to the front, in order.
  void order(size_t count);
  void weigh();
  void keep_typical();
  void keep_top_p();
  void keep_min_p();
  TokenId draw();

  SamplingOptions options_;
  Random random_;
  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
  double total_ = 0.0;  // of the weights of candidates_
  size_t ordered_ = 0;
  std::vector<TokenId> seen_;
};

// Logarithms of probabilities of a softmax over `logits`.
class Logprobs {
 public:
  // Throws as Sampler::choose.
  explicit Logprobs(std::span<const float> logits);
  rc_logprob of(TokenId token) const;
  // Appends the `count` most probable by falling probability, lower id first
  // among equals. A smaller vocabulary is filled up with token -1 and logprob
  // -infinity.
  void append_top(size_t count, std::vector<rc_logprob>* target) const;

 private:
  std::span<const float> logits_;
  double log_sum_;  // of exp(logit)
};

}  // namespace rc::engine

#include "engine/logprobs.h"

#include <algorithm>

#include "base/error.h"
#include "base/portable_math.h"
#include "engine/logit.h"

namespace rc::engine {

Logprobs::Logprobs(std::span<const float> logits) {
  softmax_.set(logits);
  if (softmax_.best() == -kInfinity) {
    fail(RC_E_DEVICE, "every logit is -infinity; the device computed nonsense");
  }
  log_sum_ =
      portable_log(in_full_weights(softmax_.total(1.0f))) + softmax_.best();
}

TokenLogprob Logprobs::of(TokenId token) const {
  return {token, static_cast<float>(
                     softmax_.logits()[static_cast<size_t>(token)] - log_sum_)};
}

void Logprobs::append_top(size_t count,
                          std::vector<TokenLogprob>* target) const {
  // At most 64: insertion into an ordered list of the best so far.
  const size_t begin = target->size();
  target->reserve(begin + count);
  float least = count == 0 ? kInfinity : -kInfinity;
  softmax_.each_above(
      [&] { return least; },
      [&](size_t i) {
        const float logit = softmax_.logits()[i];
        if (!(logit > least)) return;
        if (target->size() - begin == count) target->pop_back();
        const auto place = std::find_if(
            target->begin() + static_cast<ptrdiff_t>(begin), target->end(),
            [=](const TokenLogprob& entry) { return entry.logprob < logit; });
        target->insert(place, {static_cast<TokenId>(i), logit});
        if (target->size() - begin == count) least = target->back().logprob;
      });
  for (size_t i = begin; i < target->size(); ++i) {
    TokenLogprob& entry = (*target)[i];
    entry.logprob = static_cast<float>(entry.logprob - log_sum_);
  }
  target->resize(begin + count, {-1, -kInfinity});
}

}  // namespace rc::engine

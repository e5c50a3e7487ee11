#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/portable_math.h"

namespace rc::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

void check_range(const char* name, float value, float low, bool low_allowed,
                 float high) {
  const bool fits = (low_allowed ? value >= low : value > low) && value <= high;
  if (!fits) {
    fail(RC_E_INVALID_ARGUMENT, name, " is ", value, "; it must be ",
         low_allowed ? "at least " : "greater than ", low,
         high == kLargest ? std::string(" and finite")
                          : cat(" and at most ", high));
  }
}

void check_finite(const char* name, float value) {
  if (!std::isfinite(value)) {
    fail(RC_E_INVALID_ARGUMENT, name, " is ", value, "; it must be finite");
  }
}

// A device that computed nonsense must not decide anything.
void check_logits(std::span<const float> logits) {
  bool sound = true;
  for (float logit : logits) sound &= logit < kInfinity;
  if (sound) return;
  const auto bad = std::find_if(logits.begin(), logits.end(), [](float logit) {
    return !(logit < kInfinity);
  });
  fail(RC_E_DEVICE, "the logit of token ", bad - logits.begin(), " is ", *bad,
       "; the device computed nonsense or the weights hold it (see "
       "rc_model_verify)");
}

// Sums stay finite, so that differences of logits are numbers.
float clamped(float logit) { return std::clamp(logit, -kLargest, kLargest); }

}  // namespace

void check(const SamplingOptions& options, int64_t vocabulary) {
  check_range("temperature", options.temperature, 0.0f, true, kLargest);
  if (options.top_k < 0) {
    fail(RC_E_INVALID_ARGUMENT, "top_k is ", options.top_k,
         "; it must be at least 0, which means off");
  }
  check_range("top_p", options.top_p, 0.0f, false, 1.0f);
  check_range("min_p", options.min_p, 0.0f, true, 1.0f);
  check_range("typical", options.typical, 0.0f, false, 1.0f);
  if (options.penalty_tokens < -1) {
    fail(RC_E_INVALID_ARGUMENT, "penalty_tokens is ", options.penalty_tokens,
         "; it must be a number of tokens, 0 for none or -1 for all");
  }
  check_range("repetition_penalty", options.repetition_penalty, 0.0f, false,
              kLargest);
  check_finite("presence_penalty", options.presence_penalty);
  check_finite("frequency_penalty", options.frequency_penalty);
  for (const rc_logit_bias& entry : options.logit_bias) {
    if (entry.token < 0 || entry.token >= vocabulary) {
      fail(RC_E_INVALID_ARGUMENT, "logit_bias names token ", entry.token,
           "; the vocabulary has ", vocabulary, " tokens");
    }
    if (!(entry.bias < kInfinity)) {
      fail(RC_E_INVALID_ARGUMENT, "logit_bias of token ", entry.token, " is ",
           entry.bias, "; it must be finite or -infinity");
    }
  }
}

Sampler::Sampler(SamplingOptions options, size_t vocabulary)
    : options_(std::move(options)), random_(options_.seed) {
  logits_.reserve(vocabulary);
  if (options_.penalty_tokens > 0) {
    seen_.reserve(
        std::min<size_t>(static_cast<size_t>(options_.penalty_tokens), 4096));
  }
}

TokenId Sampler::choose(std::span<const float> logits,
                        std::span<const TokenId> history) {
  check_logits(logits);
  logits_.assign(logits.begin(), logits.end());
  for (const rc_logit_bias& entry : options_.logit_bias) {
    float& logit = logits_[static_cast<size_t>(entry.token)];
    if (logit == -kInfinity) continue;
    logit = entry.bias == -kInfinity ? -kInfinity : clamped(logit + entry.bias);
  }
  penalize(history);
  if (options_.temperature == 0.0f) return greedy();

  select(static_cast<size_t>(options_.top_k));
  weigh();
  if (options_.typical < 1.0f) keep_typical();
  if (options_.top_p < 1.0f) keep_top_p();
  if (options_.min_p > 0.0f) keep_min_p();
  return draw();
}

void Sampler::penalize(std::span<const TokenId> history) {
  if (options_.penalty_tokens == 0 || (options_.repetition_penalty == 1.0f &&
                                       options_.presence_penalty == 0.0f &&
                                       options_.frequency_penalty == 0.0f)) {
    return;
  }
  if (options_.penalty_tokens > 0) {
    const auto count = static_cast<size_t>(options_.penalty_tokens);
    if (history.size() > count) history = history.last(count);
  }
  seen_.assign(history.begin(), history.end());
  std::sort(seen_.begin(), seen_.end());
  for (size_t i = 0; i < seen_.size();) {
    const TokenId token = seen_[i];
    size_t end = i + 1;
    while (end < seen_.size() && seen_[end] == token) ++end;
    const auto occurrences = static_cast<float>(end - i);
    i = end;
    float& logit = logits_[static_cast<size_t>(token)];
    if (logit == -kInfinity) continue;
    logit = logit > 0.0f ? logit / options_.repetition_penalty
                         : logit * options_.repetition_penalty;
    logit = clamped(logit - options_.presence_penalty -
                    occurrences * options_.frequency_penalty);
  }
}

TokenId Sampler::greedy() const {
  const auto best = std::max_element(logits_.begin(), logits_.end());
  if (best == logits_.end() || *best == -kInfinity) {
    fail(RC_E_INVALID_ARGUMENT,
         "no token is left to choose from: logit_bias forbids all of them");
  }
  return static_cast<TokenId>(best - logits_.begin());
}

namespace {

// By falling logit; among equals the lower id comes first.
constexpr auto kBetter = [](const auto& a, const auto& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
};

}  // namespace

void Sampler::select(size_t count) {
  candidates_.clear();
  ordered_ = 0;
  if (count == 0 || count >= logits_.size()) {
    for (size_t i = 0; i < logits_.size(); ++i) {
      if (logits_[i] == -kInfinity) continue;
      candidates_.push_back({static_cast<TokenId>(i), logits_[i], 0.0});
    }
    if (count != 0) order(candidates_.size());
  } else {
    // Collects what beats the count-th best so far, and now and then forgets
    // all but the best: one pass, whatever the size of the vocabulary.
    const size_t room = 2 * count + 256;
    candidates_.reserve(room);
    float threshold = -kInfinity;
    for (size_t i = 0; i < logits_.size(); ++i) {
      // Equal ones come later, hence have higher ids.
      if (!(logits_[i] > threshold)) continue;
      candidates_.push_back({static_cast<TokenId>(i), logits_[i], 0.0});
      if (candidates_.size() == room) {
        std::nth_element(candidates_.begin(), candidates_.begin() + count - 1,
                         candidates_.end(), kBetter);
        candidates_.resize(count);
        threshold = candidates_.back().logit;
      }
    }
    order(count);
    candidates_.resize(ordered_);
  }
  if (candidates_.empty()) {
    fail(RC_E_INVALID_ARGUMENT,
         "no token is left to choose from: logit_bias forbids all of them");
  }
}

void Sampler::order(size_t count) {
  count = std::min(count, candidates_.size());
  if (count <= ordered_) return;
  const auto first = candidates_.begin() + ordered_;
  const auto last = candidates_.begin() + count;
  if (last != candidates_.end()) {
    std::nth_element(first, last, candidates_.end(), kBetter);
  }
  std::sort(first, last, kBetter);
  ordered_ = count;
}

// From here to the draw the candidates are either all in order or all by id,
// so that every sum has one order of additions.
void Sampler::weigh() {
  float best = -kLargest;
  for (const Candidate& c : candidates_) best = std::max(best, c.logit);
  total_ = 0.0;
  for (Candidate& c : candidates_) {
    c.weight = portable_exp(static_cast<double>(c.logit) - best);
    total_ += c.weight;
  }
}

// Keeps those whose surprise is nearest to the expected one until their
// probabilities reach options_.typical.
void Sampler::keep_typical() {
  double best = candidates_[0].logit;
  for (const Candidate& c : candidates_) best = std::max<double>(best, c.logit);
  const double log_total = portable_log(total_);
  double entropy = 0.0;
  for (const Candidate& c : candidates_) {
    if (c.weight == 0.0) continue;
    entropy += c.weight / total_ * (log_total - (c.logit - best));
  }
  const auto distance = [=](const Candidate& c) {
    return std::abs(log_total - (c.logit - best) - entropy);
  };
  const auto more_typical = [&](const Candidate& a, const Candidate& b) {
    const double da = distance(a);
    const double db = distance(b);
    return da != db ? da < db : a.id < b.id;
  };
  const double wanted = total_ * options_.typical;
  double sum = 0.0;
  size_t kept = 0;
  size_t sorted = 0;
  while (kept < candidates_.size() && (kept == 0 || sum < wanted)) {
    if (kept == sorted) {
      const size_t next = std::min(candidates_.size(), sorted + sorted + 64);
      const auto first = candidates_.begin() + sorted;
      const auto last = candidates_.begin() + next;
      if (last != candidates_.end()) {
        std::nth_element(first, last, candidates_.end(), more_typical);
      }
      std::sort(first, last, more_typical);
      sorted = next;
    }
    sum += candidates_[kept++].weight;
  }
  candidates_.resize(kept);
  ordered_ = 0;
  order(kept);
  total_ = 0.0;
  for (const Candidate& c : candidates_) total_ += c.weight;
}

// Keeps the most probable until their probabilities reach options_.top_p.
void Sampler::keep_top_p() {
  const double wanted = total_ * options_.top_p;
  double sum = 0.0;
  size_t kept = 0;
  while (kept < candidates_.size() && (kept == 0 || sum < wanted)) {
    if (kept == ordered_) order(ordered_ + ordered_ + 64);
    sum += candidates_[kept++].weight;
  }
  candidates_.resize(kept);
  ordered_ = kept;
  total_ = sum;
}

// Keeps those at least options_.min_p times as probable as the best.
void Sampler::keep_min_p() {
  double best = 0.0;
  for (const Candidate& c : candidates_) best = std::max(best, c.weight);
  const double least = best * options_.min_p;
  const bool in_order = ordered_ == candidates_.size();
  std::erase_if(candidates_,
                [=](const Candidate& c) { return c.weight < least; });
  ordered_ = in_order ? candidates_.size() : 0;
}

TokenId Sampler::draw() {
  double best = candidates_[0].logit;
  for (const Candidate& c : candidates_) best = std::max<double>(best, c.logit);
  double total = 0.0;
  for (Candidate& c : candidates_) {
    c.weight = portable_exp((c.logit - best) / options_.temperature);
    total += c.weight;
  }
  const double point = random_.uniform() * total;
  double sum = 0.0;
  TokenId chosen = -1;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (i == ordered_) order(ordered_ + ordered_ + 64);
    // A rounded sum may end below the point; then the last possible one is it.
    if (candidates_[i].weight == 0.0) break;
    chosen = candidates_[i].id;
    sum += candidates_[i].weight;
    if (sum > point) break;
  }
  return chosen;
}

Logprobs::Logprobs(std::span<const float> logits) : logits_(logits) {
  check_logits(logits);
  const float best = *std::max_element(logits.begin(), logits.end());
  if (best == -kInfinity) {
    fail(RC_E_DEVICE, "every logit is -infinity; the device computed nonsense");
  }
  double sum = 0.0;
  for (float logit : logits) {
    sum += portable_exp(static_cast<double>(logit) - best);
  }
  log_sum_ = portable_log(sum) + best;
}

rc_logprob Logprobs::of(TokenId token) const {
  return {token,
          static_cast<float>(logits_[static_cast<size_t>(token)] - log_sum_)};
}

void Logprobs::append_top(size_t count, std::vector<rc_logprob>* target) const {
  // At most 64: insertion into an ordered list of the best so far.
  const size_t begin = target->size();
  target->reserve(begin + count);
  for (size_t i = 0; i < logits_.size() && count > 0; ++i) {
    const float logit = logits_[i];
    const bool full = target->size() - begin == count;
    if (full && !(logit > target->back().logprob)) continue;
    if (full) target->pop_back();
    const auto place = std::find_if(
        target->begin() + static_cast<ptrdiff_t>(begin), target->end(),
        [=](const rc_logprob& entry) { return entry.logprob < logit; });
    target->insert(place, {static_cast<TokenId>(i), logit});
  }
  for (size_t i = begin; i < target->size(); ++i) {
    rc_logprob& entry = (*target)[i];
    entry.logprob = static_cast<float>(entry.logprob - log_sum_);
  }
  target->resize(begin + count, {-1, -kInfinity});
}

}  // namespace rc::engine

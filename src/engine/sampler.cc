#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "engine/logit.h"

namespace rc::engine {
namespace {

// Sums stay finite, so that differences of logits are numbers.
float clamped(float logit) { return std::clamp(logit, -kLargest, kLargest); }

}  // namespace

Sampler::Sampler(SamplingOptions options, size_t vocabulary,
                 std::shared_ptr<const text::Tokenizer> tokenizer)
    : options_(std::move(options)),
      random_(options_.seed),
      dry_(options_, std::move(tokenizer)),
      mirostat_(options_) {
  if (changes()) changed_.reserve(vocabulary);
  if (options_.penalty_tokens > 0) {
    seen_.reserve(
        std::min<size_t>(static_cast<size_t>(options_.penalty_tokens), 4096));
  }
}

bool Sampler::penalizes() const {
  return options_.penalty_tokens != 0 && (options_.repetition_penalty != 1.0f ||
                                          options_.presence_penalty != 0.0f ||
                                          options_.frequency_penalty != 0.0f);
}

bool Sampler::changes() const {
  return penalizes() || dry_.is_on() || !options_.biases.empty();
}

TokenId Sampler::choose(std::span<const float> logits,
                        std::span<const TokenId> history,
                        std::span<const uint32_t> allowed) {
  softmax_.set(logits);
  if (changes() || !allowed.empty()) {
    changed_.assign(logits.begin(), logits.end());
    if (!allowed.empty()) forbid_others(allowed);
    add_bias();
    if (penalizes()) penalize(history);
    if (dry_.is_on()) dry_.penalize(history, changed_);
    softmax_.set(changed_);
  }
  if (softmax_.best() == -kInfinity) {
    fail(RC_E_INVALID_ARGUMENT, "no token is left to choose from: logit_bias",
         allowed.empty() ? " forbids" : " and the mask forbid", " all of them");
  }
  if (options_.temperature == 0.0f) {
    return static_cast<TokenId>(softmax_.index_of_best());
  }
  ids_ = {};
  cut_ = {-kLargest, logits.size() - 1};
  if (mirostat_.version() != 0) return draw_by_surprise();
  if (options_.top_n_sigma > 0.0f) keep_top_n_sigma();
  if (options_.top_k > 0 &&
      static_cast<size_t>(options_.top_k) < logits.size()) {
    keep_top_k();
  }
  if (options_.typical_p < 1.0f) keep_typical();
  if (options_.top_p < 1.0f) keep_top_p();
  if (options_.min_p > 0.0f) keep_min_p();
  if (options_.xtc_probability > 0.0f) exclude_top();
  return draw(temperature());
}

void Sampler::forbid_others(std::span<const uint32_t> allowed) {
  for (size_t token = 0; token < changed_.size(); ++token) {
    if ((allowed[token / 32] >> (token % 32) & 1) == 0) {
      changed_[token] = -kInfinity;
    }
  }
}

void Sampler::add_bias() {
  for (const LogitBias& entry : options_.biases) {
    float& logit = changed_[static_cast<size_t>(entry.token)];
    if (logit == -kInfinity) continue;
    logit = entry.bias == -kInfinity ? -kInfinity : clamped(logit + entry.bias);
  }
}

void Sampler::penalize(std::span<const TokenId> history) {
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
    if (token == kNoToken) continue;
    float& logit = changed_[static_cast<size_t>(token)];
    if (logit == -kInfinity) continue;
    // Each result is clamped, or an infinity less another would be no number.
    logit = clamped(logit > 0.0f ? logit / options_.repetition_penalty
                                 : logit * options_.repetition_penalty);
    logit = clamped(logit - options_.presence_penalty);
    logit = clamped(logit - clamped(occurrences * options_.frequency_penalty));
  }
}

void Sampler::choose_among(const Candidates& candidates) {
  softmax_.set(candidates.logits());
  ids_ = candidates.ids();
  cut_.last = candidates.size() - 1;
}

Candidates Sampler::gathered() const {
  Candidates left;
  const std::span<const float> logits = softmax_.logits();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!cut_.has(logits[i], i)) continue;
    left.add(ids_.empty() ? static_cast<TokenId>(i) : ids_[i], logits[i]);
  }
  return left;
}

TokenId Sampler::draw(float temperature) {
  const uint64_t total = softmax_.classify(temperature, cut_, &classes_);
  // The candidate whose share makes the sum exceed the point is chosen.
  const double point = random_.uniform() * static_cast<double>(total);
  keep_first(temperature, std::min(static_cast<uint64_t>(point) + 1, total));
  return ids_.empty() ? static_cast<TokenId>(cut_.last) : ids_[cut_.last];
}

void Sampler::keep_first(float temperature, uint64_t wanted) {
  size_t one = 0;
  while (classes_[one] < wanted) wanted -= classes_[one++];
  softmax_.find(temperature, cut_, one, &indices_);
  members_.clear();
  for (size_t i : indices_) {
    members_.add(static_cast<TokenId>(i), softmax_.logits()[i]);
  }
  softmax_.weigh(temperature, members_.logits(), members_.weights().data());
  members_.keep_first(wanted, members_.logits());
  cut_ = {members_.logits().back(), static_cast<size_t>(members_.ids().back())};
}

}  // namespace rc::engine

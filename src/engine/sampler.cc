#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/portable_math.h"
#include "engine/softmax.h"

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

// Sums stay finite, so that differences of logits are numbers.
float clamped(float logit) { return std::clamp(logit, -kLargest, kLargest); }

double in_full_weights(uint64_t weight) {
  return static_cast<double>(weight) / static_cast<double>(kFullWeight);
}

// The smallest float that is not below.
float rounded_up(double bound) {
  const auto nearest = static_cast<float>(bound);
  return nearest < bound ? std::nextafter(nearest, kInfinity) : nearest;
}

// What a sum must reach to be this part of the total.
uint64_t part_of(uint64_t total, float part) {
  const double wanted = std::ceil(static_cast<double>(total) * part);
  return std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, total);
}

constexpr rc_generate_options kDefaults = RC_GENERATE_OPTIONS_INIT;

}  // namespace

SamplingOptions::SamplingOptions() : rc_generate_options(kDefaults) {}

SamplingOptions::SamplingOptions(const rc_generate_options& given)
    : rc_generate_options(given) {
  for (size_t i = 0; i < logit_bias_count; ++i) {
    biases.push_back({logit_bias_tokens[i], logit_bias[i]});
  }
  prompt = nullptr;
  prompt_tokens = nullptr;
  logit_bias_tokens = nullptr;
  logit_bias = nullptr;
  stop = nullptr;
  stop_tokens = nullptr;
  grammar = nullptr;
}

void check(const SamplingOptions& options, int64_t vocabulary) {
  check_range("temperature", options.temperature, 0.0f, true, kLargest);
  if (options.top_k < 0) {
    fail(RC_E_INVALID_ARGUMENT, "top_k is ", options.top_k,
         "; it must be at least 0, which means off");
  }
  check_range("top_p", options.top_p, 0.0f, false, 1.0f);
  check_range("min_p", options.min_p, 0.0f, true, 1.0f);
  check_range("typical_p", options.typical_p, 0.0f, false, 1.0f);
  check_range("top_n_sigma", options.top_n_sigma, 0.0f, true, kLargest);
  if (options.penalty_tokens < -1) {
    fail(RC_E_INVALID_ARGUMENT, "penalty_tokens is ", options.penalty_tokens,
         "; it must be a number of tokens, 0 for none or -1 for all");
  }
  check_range("repetition_penalty", options.repetition_penalty, 0.0f, false,
              kLargest);
  check_finite("presence_penalty", options.presence_penalty);
  check_finite("frequency_penalty", options.frequency_penalty);
  for (size_t i = 0; i < options.biases.size(); ++i) {
    const auto& [token, bias] = options.biases[i];
    if (token < 0 || token >= vocabulary) {
      fail(RC_E_INVALID_ARGUMENT, "logit_bias_tokens[", i, "] is ", token,
           "; the vocabulary has ", vocabulary, " tokens");
    }
    // Minus infinity forbids a token.
    if (!(bias < kInfinity)) {
      fail(RC_E_INVALID_ARGUMENT, "logit_bias[", i, "] is ", bias,
           "; it must be finite or -infinity");
    }
  }
}

Sampler::Sampler(SamplingOptions options, size_t vocabulary)
    : options_(std::move(options)), random_(options_.seed) {
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
  return penalizes() || !options_.biases.empty();
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
  if (options_.top_n_sigma > 0.0f) keep_top_n_sigma();
  if (options_.top_k > 0 &&
      static_cast<size_t>(options_.top_k) < logits.size()) {
    keep_top_k();
  }
  if (options_.typical_p < 1.0f) keep_typical();
  if (options_.top_p < 1.0f) keep_top_p();
  if (options_.min_p > 0.0f) keep_min_p();
  return draw();
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
    float& logit = changed_[static_cast<size_t>(token)];
    if (logit == -kInfinity) continue;
    // Each result is clamped, or an infinity less another would be no number.
    logit = clamped(logit > 0.0f ? logit / options_.repetition_penalty
                                 : logit * options_.repetition_penalty);
    logit = clamped(logit - options_.presence_penalty);
    logit = clamped(logit - clamped(occurrences * options_.frequency_penalty));
  }
}

// The sums go over the logits in the order of tokens, so that they are the same
// everywhere.
void Sampler::keep_top_n_sigma() {
  const auto mean_of = [this](const auto& number_of) {
    double sum = 0.0;
    size_t count = 0;
    for (const float logit : softmax_.logits()) {
      if (logit == -kInfinity) continue;
      sum += number_of(logit);
      ++count;
    }
    return sum / static_cast<double>(count);
  };
  const double mean = mean_of([](double logit) { return logit; });
  const double variance =
      mean_of([mean](double logit) { return (logit - mean) * (logit - mean); });
  const double bound =
      softmax_.best() - options_.top_n_sigma * std::sqrt(variance);
  cut_.least = std::max(cut_.least, rounded_up(bound));
}

void Sampler::keep_top_k() {
  struct Best {
    TokenId id;
    float logit;
  };
  constexpr auto kBetter = [](const Best& a, const Best& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  // Collects what beats the last of the best so far, and now and then forgets
  // all but the best: one pass, whatever the size of the vocabulary.
  const auto count = static_cast<size_t>(options_.top_k);
  const size_t room = 2 * count + 256;
  const std::span<const float> logits = softmax_.logits();
  std::vector<Best> found;
  found.reserve(std::min(room, logits.size()));
  float threshold = std::nextafter(cut_.least, -kInfinity);
  const auto forget = [&] {
    std::nth_element(found.begin(),
                     found.begin() + static_cast<ptrdiff_t>(count) - 1,
                     found.end(), kBetter);
    found.resize(count);
    threshold = found.back().logit;
  };
  softmax_.each_above([&] { return threshold; },
                      [&](size_t i) {
                        // Equal ones come later, hence have higher ids.
                        if (!(logits[i] > threshold)) return;
                        found.push_back({static_cast<TokenId>(i), logits[i]});
                        if (found.size() == room) forget();
                      });
  if (found.size() > count) forget();
  std::sort(found.begin(), found.end(),
            [](const Best& a, const Best& b) { return a.id < b.id; });
  candidates_.clear();
  for (const Best& best : found) candidates_.add(best.id, best.logit);
  choose_among(candidates_);
}

void Sampler::choose_among(const Candidates& candidates) {
  softmax_.set(candidates.logits());
  ids_ = candidates.ids();
  cut_.last = candidates.size() - 1;
}

// Keeps those whose surprise is nearest to the expected one until their
// probabilities reach options_.typical_p.
void Sampler::keep_typical() {
  if (ids_.empty()) {
    candidates_.clear();
    const std::span<const float> logits = softmax_.logits();
    for (size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] < cut_.least) continue;
      candidates_.add(static_cast<TokenId>(i), logits[i]);
    }
  }
  const uint64_t total =
      softmax_.weigh(1.0f, candidates_.logits(), candidates_.weights().data());
  const double log_total = portable_log(in_full_weights(total));
  const auto surprise = [=, best = softmax_.best()](float logit) {
    return log_total - (static_cast<double>(logit) - best);
  };
  double entropy = 0.0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const uint64_t weight = candidates_.weights()[i];
    if (weight == 0) continue;
    entropy += static_cast<double>(weight) / static_cast<double>(total) *
               surprise(candidates_.logits()[i]);
  }
  std::vector<float> keys;
  keys.reserve(candidates_.size());
  for (float logit : candidates_.logits()) {
    const double distance = std::abs(surprise(logit) - entropy);
    keys.push_back(-static_cast<float>(std::min<double>(distance, kLargest)));
  }
  candidates_.keep_first(part_of(total, options_.typical_p), keys);
  choose_among(candidates_);
}

// Keeps the most probable until their probabilities reach options_.top_p.
void Sampler::keep_top_p() {
  const uint64_t total = softmax_.classify(1.0f, cut_, &classes_);
  keep_first(1.0f, part_of(total, options_.top_p));
}

// Keeps those at least options_.min_p times as probable as the best.
void Sampler::keep_min_p() {
  const float least =
      rounded_up(softmax_.best() + portable_log(options_.min_p));
  if (least > cut_.least) cut_ = {least, softmax_.logits().size() - 1};
}

TokenId Sampler::draw() {
  const float temperature = options_.temperature;
  const uint64_t total = softmax_.classify(temperature, cut_, &classes_);
  // Whoever makes the sum exceed the point is it.
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

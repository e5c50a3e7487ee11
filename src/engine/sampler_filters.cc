// The filters that leave fewer tokens to draw from; see sampler.h.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/portable_math.h"
#include "engine/logit.h"
#include "engine/sampler.h"

namespace rc::engine {
namespace {

// The smallest float that is not below.
float rounded_up(double bound) {
  const auto nearest = static_cast<float>(bound);
  return nearest < bound ? std::nextafter(nearest, kInfinity) : nearest;
}

// The least sum that is this part of the total.
uint64_t part_of(uint64_t total, float part) {
  const double wanted = std::ceil(static_cast<double>(total) * part);
  return std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, total);
}

}  // namespace

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

// Leaves out all that are at least as probable as options_.xtc_threshold but
// for the last of them.
void Sampler::exclude_top() {
  if (random_.uniform() >= options_.xtc_probability) return;
  const uint64_t total = softmax_.classify(1.0f, cut_, &classes_);
  const double least = options_.xtc_threshold > 0.0f
                           ? softmax_.best() +
                                 portable_log(options_.xtc_threshold) +
                                 portable_log(in_full_weights(total))
                           : -kInfinity;
  const Candidates all = gathered();
  size_t count = 0;
  size_t last = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all.logits()[i] < least) continue;
    if (count == 0 || all.logits()[i] <= all.logits()[last]) last = i;
    ++count;
  }
  if (count < 2) return;
  candidates_.clear();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all.logits()[i] >= least && i != last) continue;
    candidates_.add(all.ids()[i], all.logits()[i]);
  }
  cut_.least = -kLargest;
  choose_among(candidates_);
}

float Sampler::temperature() {
  const float range = options_.dynamic_temperature_range;
  if (range == 0.0f) return options_.temperature;
  Candidates left = gathered();
  if (left.size() < 2) return options_.temperature;
  const uint64_t total =
      softmax_.weigh(1.0f, left.logits(), left.weights().data());
  const double log_total = portable_log(in_full_weights(total));
  double entropy = 0.0;
  for (size_t i = 0; i < left.size(); ++i) {
    const double logit = left.logits()[i];
    entropy += static_cast<double>(left.weights()[i]) /
               static_cast<double>(total) *
               (log_total - (logit - softmax_.best()));
  }
  const double most = portable_log(static_cast<double>(left.size()));
  const double part = std::clamp(entropy / most, 1e-300, 1.0);
  const double power = portable_exp(std::max(
      options_.dynamic_temperature_exponent * portable_log(part), -700.0));
  const double low = std::max(0.0, double{options_.temperature} - range);
  const double high = double{options_.temperature} + range;
  constexpr double kLeast = 1e-4;  // as good as 0
  return static_cast<float>(
      std::clamp<double>(low + (high - low) * power, kLeast, kLargest));
}

TokenId Sampler::draw_by_surprise() {
  const double temperature = options_.temperature;
  const double best = softmax_.best();
  const uint64_t total =
      softmax_.classify(options_.temperature, cut_, &classes_);
  const double log_total = portable_log(in_full_weights(total));
  if (mirostat_.version() == 1) {
    std::vector<float> first = gathered().logits();
    const size_t count = first.size();
    const size_t looked_at = std::min(count, mirostat_.looked_at());
    std::partial_sort(first.begin(),
                      first.begin() + static_cast<ptrdiff_t>(looked_at),
                      first.end(), std::greater<>());
    std::vector<double> divided;
    for (size_t i = 0; i < looked_at; ++i) {
      divided.push_back(first[i] / temperature);
    }
    options_.top_k = static_cast<int32_t>(mirostat_.count(divided, count));
    if (static_cast<size_t>(options_.top_k) < count) keep_top_k();
  } else {
    const double least =
        best - temperature * (mirostat_.most() * kLn2 - log_total);
    // The most probable one is always left.
    cut_ = least > best
               ? Cut{softmax_.best(), softmax_.index_of_best()}
               : Cut{std::max(cut_.least, rounded_up(least)), cut_.last};
  }
  const TokenId token = draw(options_.temperature);
  // Its logit is the least that draw() left.
  mirostat_.learn((log_total - (cut_.least - best) / temperature) / kLn2);
  return token;
}

}  // namespace rc::engine

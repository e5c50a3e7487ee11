// The weights by which tokens are drawn: proportional to their probabilities,
// and whole numbers, so that the order in which they are added up does not
// matter and every platform gets the same sums.
//
// With a large vocabulary nearly all time goes by looking at every logit.
// Therefore logits lie in blocks of which the highest is known, and tokens are
// separated into classes of nearly equal weights before any are sorted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rc::engine {

// The weight of the best token: sums over 2^24 tokens, the largest vocabulary,
// fit in 64 bits, and a token whose logit is 27 below the best one's still has
// a weight.
inline constexpr int kWeightBits = 39;
inline constexpr uint64_t kFullWeight = uint64_t{1} << kWeightBits;

inline double in_full_weights(uint64_t weight) {
  return static_cast<double>(weight) / static_cast<double>(kFullWeight);
}

// Logits in the order of tokens. Those not below `least` are in, but of those
// equal to it only such as have indices up to `last`.
struct Cut {
  float least;
  size_t last;
  bool has(float logit, size_t index) const {
    return logit > least || (logit == least && index <= last);
  }
};

// The weight of a logit is
//
//   kFullWeight * e^((logit - best) / temperature),
//
// rounded, with a relative error of about 1e-6.
class Softmax {
 public:
  // Looks at the logits, which must stay. Throws RC_E_DEVICE if one is not a
  // number or +infinity; -infinity is allowed.
  void set(std::span<const float> logits);
  std::span<const float> logits() const { return logits_; }
  float best() const { return best_; }
  size_t index_of_best() const;

  // Calls take(index) in order for at least all logits above above(), which is
  // asked again and again.
  template <class Above, class Take>
  void each_above(Above above, Take take) const {
    for (size_t block = 0; block < highest_.size(); ++block) {
      if (!(highest_[block] > above())) continue;
      const size_t end = std::min((block + 1) * kBlock, logits_.size());
      for (size_t i = block * kBlock; i < end; ++i) take(i);
    }
  }

  // Writes the weights of some logits, none of which is above best(); returns
  // their sum.
  uint64_t weigh(float temperature, std::span<const float> logits,
                 uint64_t* weights) const;
  // The sum of the weights of all.
  uint64_t total(float temperature) const;

  // A lower logit never belongs to an earlier class than a higher one.
  static constexpr size_t kClasses = 321;
  using Classes = std::array<uint64_t, kClasses>;
  // Sets the weights of classes; returns their sum.
  uint64_t classify(float temperature, const Cut& cut, Classes* classes) const;
  // Sets the indices of what belongs to one class that has a weight.
  void find(float temperature, const Cut& cut, size_t one,
            std::vector<size_t>* indices) const;

 private:
  static constexpr size_t kBlock = 64;

  std::span<const float> logits_;
  std::vector<float> highest_;  // of each block
  float best_ = 0.0f;
};

}  // namespace rc::engine

#include "engine/softmax.h"

#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace rc::engine {
namespace {

constexpr float kMostFloat = std::numeric_limits<float>::max();
constexpr float kEndOfFloats = std::numeric_limits<float>::infinity();

// Classes per power of two of the weight. The last class is for all that is
// further from the best one than others, and weighs nothing.
constexpr float kClassesPerBit = 8.0f;
constexpr float kLastClass = Softmax::kClasses - 1;
static_assert(kLastClass == kClassesPerBit * (kWeightBits + 1));

// From differences of logits to classes.
float scale_of(float temperature) {
  // That of a denormal temperature is infinite, and infinity times 0 is not a
  // number.
  return std::min(kClassesPerBit * 1.44269504f / temperature, kMostFloat);
}

// The work on a block, by loops that compilers turn into vector instructions.
// Each logit is treated like one alone, by operations whose results IEEE 754
// fixes, hence to the same bits by any instructions. Comparisons of floats may
// raise exceptions, which stands in the way; integers are compared instead.
constexpr size_t kBlock = 64;
struct Block {
  std::array<uint32_t, kBlock> classes;
  std::array<uint64_t, kBlock> weights;
};

// Maps floats to integers in the same order, NaNs beyond the infinities. The
// inverse is the same function.
inline int32_t order_of(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits ^ ((bits >> 31) & INT32_MAX);
}

inline float class_of(float logit, float best, float scale) {
  const float distance = (best - logit) * scale;
  return std::bit_cast<float>(std::min(std::bit_cast<int32_t>(distance),
                                       std::bit_cast<int32_t>(kLastClass)));
}

[[gnu::always_inline]] inline void weigh_block(const float* logits, float best,
                                               float scale, Block& block) {
  std::array<float, kBlock> shares;
  for (size_t k = 0; k < kBlock; ++k) {
    const float d = class_of(logits[k], best, scale);
    block.classes[k] = static_cast<uint32_t>(static_cast<int32_t>(d));
    // 2^x with a relative error below 2e-7. The sum's last bits hold x rounded
    // to a whole number.
    constexpr float kRounder = 0x1.8p23f;
    const float x = d * (-1.0f / kClassesPerBit);
    const float sum = x + kRounder;
    const float rest = x - (sum - kRounder);  // a half at most
    // The polynomial of least relative error whose value at 0 is 1.
    float y = rest * 0x1.5bba1p-10f + 0x1.3cea88p-7f;
    y = y * rest + 0x1.c6b752p-5f;
    y = y * rest + 0x1.ebf9bcp-3f;
    y = y * rest + 0x1.62e42ap-1f;
    y = y * rest + 1.0f;
    shares[k] = std::bit_cast<float>(std::bit_cast<uint32_t>(y) +
                                     (std::bit_cast<uint32_t>(sum) << 23));
  }
  for (size_t k = 0; k < kBlock; ++k) {
    // A double has as many bits below this one as a weight: the addition
    // rounds.
    constexpr double kRounder = uint64_t{1} << (52 - kWeightBits);
    const double sum = static_cast<double>(shares[k]) + kRounder;
    block.weights[k] =
        std::bit_cast<uint64_t>(sum) - std::bit_cast<uint64_t>(kRounder);
  }
}

struct Range {
  int32_t lowest, highest;  // orders
};

[[gnu::always_inline]] inline Range range_of_block(const float* logits) {
  Range range = {INT32_MAX, INT32_MIN};
  for (size_t k = 0; k < kBlock; ++k) {
    const int32_t order = order_of(logits[k]);
    range.lowest = std::min(range.lowest, order);
    range.highest = std::max(range.highest, order);
  }
  return range;
}

// Sets marks[k] to 1 where the class is `one`, else to 0.
[[gnu::always_inline]] inline void mark_block(const float* logits, float best,
                                              float scale, float one,
                                              uint8_t* marks) {
  const auto low = std::bit_cast<int32_t>(one);
  const auto high = std::bit_cast<int32_t>(one + 1.0f);
  for (size_t k = 0; k < kBlock; ++k) {
    // Not negative, hence in the order of its bits.
    const auto bits = std::bit_cast<int32_t>(class_of(logits[k], best, scale));
    marks[k] = static_cast<uint8_t>((bits >= low) & (bits < high));
  }
}

struct Work {
  void (*weigh)(const float* logits, float best, float scale, Block& block);
  Range (*range)(const float* logits);
  void (*mark)(const float* logits, float best, float scale, float one,
               uint8_t* marks);
};

#define RC_WORK(name, attribute)                                            \
  attribute void weigh_##name(const float* logits, float best, float scale, \
                              Block& block) {                               \
    weigh_block(logits, best, scale, block);                                \
  }                                                                         \
  attribute Range range_##name(const float* logits) {                       \
    return range_of_block(logits);                                          \
  }                                                                         \
  attribute void mark_##name(const float* logits, float best, float scale,  \
                             float one, uint8_t* marks) {                   \
    mark_block(logits, best, scale, one, marks);                            \
  }                                                                         \
  constexpr Work name = {weigh_##name, range_##name, mark_##name};

RC_WORK(kAnywhere, )
#if defined(__x86_64__)
RC_WORK(kAvx2, [[gnu::target("avx2")]])
#endif
#undef RC_WORK

const Work& work() {
#if defined(__x86_64__)
  static const Work& best = __builtin_cpu_supports("avx2") ? kAvx2 : kAnywhere;
  return best;
#else
  return kAnywhere;
#endif
}

// The logits of a block; a copy filled up with -infinity if it is the last.
class BlockOf {
 public:
  BlockOf(std::span<const float> logits, size_t first)
      : at_(logits.data() + first), count_(logits.size() - first) {
    if (count_ >= kBlock) {
      count_ = kBlock;
      return;
    }
    copy_.fill(-kEndOfFloats);
    std::copy_n(at_, count_, copy_.begin());
    at_ = copy_.data();
  }
  BlockOf(const BlockOf&) = delete;
  BlockOf& operator=(const BlockOf&) = delete;

  const float* data() const { return at_; }
  size_t count() const { return count_; }

 private:
  const float* at_;
  size_t count_;
  std::array<float, kBlock> copy_;
};

}  // namespace

void Softmax::set(std::span<const float> logits) {
  static_assert(Softmax::kBlock == rc::engine::kBlock);
  logits_ = logits;
  highest_.clear();
  highest_.reserve(logits.size() / kBlock + 1);
  Range range = {INT32_MAX, order_of(-kEndOfFloats)};
  for (size_t first = 0; first < logits.size(); first += kBlock) {
    const Range its = work().range(BlockOf(logits, first).data());
    range.lowest = std::min(range.lowest, its.lowest);
    range.highest = std::max(range.highest, its.highest);
    highest_.push_back(
        std::bit_cast<float>(order_of(std::bit_cast<float>(its.highest))));
  }
  if (range.lowest < order_of(-kEndOfFloats) ||
      range.highest >= order_of(kEndOfFloats)) {
    // A device that computed nonsense must not decide anything.
    const auto bad =
        std::find_if(logits.begin(), logits.end(),
                     [](float logit) { return !(logit < kEndOfFloats); });
    fail(RC_E_DEVICE, "the logit of token ", bad - logits.begin(), " is ", *bad,
         "; the device computed nonsense, or the weights hold it, which "
         "verifying the file shows it");
  }
  best_ = std::bit_cast<float>(order_of(std::bit_cast<float>(range.highest)));
}

size_t Softmax::index_of_best() const {
  const auto block = std::find(highest_.begin(), highest_.end(), best_);
  const auto first =
      logits_.begin() + (block - highest_.begin()) * ptrdiff_t{kBlock};
  return static_cast<size_t>(std::find(first, logits_.end(), best_) -
                             logits_.begin());
}

uint64_t Softmax::weigh(float temperature, std::span<const float> logits,
                        uint64_t* weights) const {
  const float scale = scale_of(temperature);
  uint64_t total = 0;
  Block weighed;
  for (size_t first = 0; first < logits.size(); first += kBlock) {
    const BlockOf block(logits, first);
    work().weigh(block.data(), best_, scale, weighed);
    for (size_t k = 0; k < block.count(); ++k) {
      weights[first + k] = weighed.weights[k];
      total += weighed.weights[k];
    }
  }
  return total;
}

uint64_t Softmax::total(float temperature) const {
  const float scale = scale_of(temperature);
  uint64_t total = 0;
  Block weighed;
  for (size_t first = 0; first < logits_.size(); first += kBlock) {
    work().weigh(BlockOf(logits_, first).data(), best_, scale, weighed);
    for (const uint64_t weight : weighed.weights) total += weight;
  }
  return total;
}

uint64_t Softmax::classify(float temperature, const Cut& cut,
                           Classes* classes) const {
  const float scale = scale_of(temperature);
  const int32_t least = order_of(cut.least);
  classes->fill(0);
  Block weighed;
  for (size_t first = 0; first < logits_.size(); first += kBlock) {
    if (highest_[first / kBlock] < cut.least) continue;
    const BlockOf block(logits_, first);
    work().weigh(block.data(), best_, scale, weighed);
    for (size_t k = 0; k < kBlock; ++k) {
      const bool in =
          order_of(block.data()[k]) >= least + (first + k > cut.last);
      // Without a branch, which could not be foretold.
      (*classes)[weighed.classes[k]] += weighed.weights[k] & -uint64_t{in};
    }
  }
  uint64_t total = 0;
  for (const uint64_t weight : *classes) total += weight;
  return total;
}

void Softmax::find(float temperature, const Cut& cut, size_t one,
                   std::vector<size_t>* indices) const {
  const float scale = scale_of(temperature);
  const int32_t least = order_of(cut.least);
  const auto number = static_cast<float>(one);
  indices->clear();
  for (size_t first = 0; first < logits_.size(); first += kBlock) {
    const float highest = highest_[first / kBlock];
    if (highest < cut.least ||
        class_of(highest, best_, scale) >= number + 1.0f) {
      continue;
    }
    const BlockOf block(logits_, first);
    std::array<uint8_t, kBlock> marks;
    work().mark(block.data(), best_, scale, number, marks.data());
    for (size_t word = 0; word < kBlock; word += sizeof(uint64_t)) {
      uint64_t some;
      std::memcpy(&some, marks.data() + word, sizeof some);
      if (some == 0) continue;
      for (size_t k = word; k < word + sizeof some; ++k) {
        const bool in =
            order_of(block.data()[k]) >= least + (first + k > cut.last);
        if (marks[k] != 0 && in) indices->push_back(first + k);
      }
    }
  }
}

}  // namespace rc::engine

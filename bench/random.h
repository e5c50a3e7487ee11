// Random numbers that are the same on every platform, unlike the distributions
// of <random>.
#pragma once

#include <cstdint>

namespace rc::bench {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // 0 to limit - 1.
  uint64_t below(uint64_t limit) { return next() % limit; }

  // Nearly normal, mean 0 and variance 1: the sum of four 16-bit uniform
  // numbers, each of variance 65536^2 / 12.
  float normal() {
    const uint64_t bits = next();
    const auto sum =
        static_cast<float>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) +
                           (bits >> 32 & 0xFFFF) + (bits >> 48));
    return (sum - 2.0f * 65535.0f) * (1.7320508f / 65536.0f);
  }

 private:
  uint64_t state_;
};

}  // namespace rc::bench

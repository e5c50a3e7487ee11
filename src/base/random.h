// PCG32, the generator of all draws: PCG-XSH-RR 64/32 of M. E. O'Neill, "PCG: A
// Family of Simple Fast Space-Efficient Statistically Good Algorithms for
// Random Number Generation", HMC-CS-2014-0905. A 64-bit linear congruential
// state, permuted to 32 bits of output. The same seed gives the same numbers on
// every platform; never use it for secrets.
#pragma once

#include <cstdint>

namespace rc {

class Random {
 public:
  // The stream of requests. Any number will do; it never changes.
  static constexpr uint64_t kStream = 54;

  explicit Random(uint64_t seed, uint64_t stream = kStream);

  uint32_t next();
  // In [0, 1): 53 bits of two outputs, the first one giving the upper ones.
  double uniform();

 private:
  uint64_t state_ = 0;
  uint64_t increment_;
};

}  // namespace rc

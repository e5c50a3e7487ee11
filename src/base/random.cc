#include "base/random.h"

#include <bit>

namespace rc {

Random::Random(uint64_t seed, uint64_t stream) : increment_((stream << 1) | 1) {
  next();
  state_ += seed;
  next();
}

uint32_t Random::next() {
  const uint64_t old = state_;
  state_ = old * 6364136223846793005u + increment_;
  const auto shifted = static_cast<uint32_t>(((old >> 18) ^ old) >> 27);
  return std::rotr(shifted, static_cast<int>(old >> 59));
}

double Random::uniform() {
  const uint64_t high = next();
  const uint64_t bits = (high << 32) | next();
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace rc

// Mixing of 64 bits, for hashes.
#pragma once

#include <cstdint>

namespace rc {

// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", 2014) of the sum of both and a constant.
constexpr uint64_t mix(uint64_t hash, uint64_t value) {
  hash += 0x9e3779b97f4a7c15u + value;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

}  // namespace rc

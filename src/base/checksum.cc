#include "base/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rc {
namespace {

// Odd numbers without a pattern: the first binary digits of the roots of 2, 3,
// 5, 7, 11 and of the golden ratio.
constexpr uint64_t kRoot2 = 0x6A09E667F3BCC909;
constexpr uint64_t kRoot3 = 0xBB67AE8584CAA73B;
constexpr uint64_t kRoot5 = 0x3C6EF372FE94F82B;
constexpr uint64_t kRoot7 = 0xA54FF53A5F1D36F1;
constexpr uint64_t kRoot11 = 0x510E527FADE682D1;
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

static_assert(std::endian::native == std::endian::little,
              "words are read as they lie in memory");

// For each word another number of each lane, so that no change within one word
// is lost. The second product spreads what the first one left in the highest
// bits, so that the next word does not make up for a change.
uint64_t step(uint64_t lane, uint64_t word) {
  lane = (lane ^ word) * kGolden;
  lane = (lane ^ (lane >> 32)) * kRoot11;
  return lane ^ (lane >> 29);
}

// Another number for each number, of which every bit depends on all bits of the
// given one.
uint64_t spread(uint64_t x) {
  for (const uint64_t factor : {kRoot3, kRoot11, kRoot7}) {
    x ^= x >> 32;
    x *= factor;
  }
  return x ^ (x >> 32);
}

}  // namespace

Checksum::Checksum() : lanes_{kRoot2, kRoot3, kRoot5, kRoot7} {}

void Checksum::mix(Lanes* lanes, const std::byte* block) {
  for (size_t i = 0; i < kLanes; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, block + i * sizeof word, sizeof word);
    (*lanes)[i] = step((*lanes)[i], word);
  }
}

void Checksum::add(std::span<const std::byte> bytes) {
  const auto begun = static_cast<size_t>(size_ % kBlock);
  size_ += bytes.size();
  if (begun != 0) {
    const size_t now = std::min(kBlock - begun, bytes.size());
    std::copy_n(bytes.begin(), now,
                block_.begin() + static_cast<ptrdiff_t>(begun));
    bytes = bytes.subspan(now);
    if (begun + now < kBlock) return;
    mix(&lanes_, block_.data());
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) {
    mix(&lanes_, bytes.data());
  }
  std::copy(bytes.begin(), bytes.end(), block_.begin());
}

uint64_t Checksum::value() const {
  Lanes lanes = lanes_;
  if (const auto begun = static_cast<size_t>(size_ % kBlock); begun != 0) {
    std::array<std::byte, kBlock> last = {};
    std::copy_n(block_.begin(), begun, last.begin());
    mix(&lanes, last.data());
  }
  uint64_t value = spread(size_);
  for (const uint64_t lane : lanes) value = spread(value * kGolden + lane);
  return value;
}

uint64_t checksum(std::span<const std::byte> bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

}  // namespace rc

#include "text/grammar/text_hash.h"

#include <algorithm>
#include <random>

namespace rc::text::grammar {
namespace {

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

uint64_t reduce(uint64_t x) {
  x = (x & kPrime) + (x >> 61);
  return x >= kPrime ? x - kPrime : x;
}

// Without a product of 128 bits, which some targets do not have.
uint64_t multiply(uint64_t a, uint64_t b) {
  constexpr uint64_t kHalf = (uint64_t{1} << 31) - 1;
  const uint64_t a_high = a >> 31;
  const uint64_t a_low = a & kHalf;
  const uint64_t b_high = b >> 31;
  const uint64_t b_low = b & kHalf;
  const uint64_t middle = a_high * b_low + a_low * b_high;
  return reduce(reduce(2 * a_high * b_high + (middle >> 30)) +
                ((middle & (kHalf >> 1)) << 31) + reduce(a_low * b_low));
}

struct Bases {
  uint64_t first;
  uint64_t second;
};

const Bases& bases() {
  static const Bases kBases = [] {
    std::random_device device;
    const auto draw = [&] {
      const uint64_t high = device();
      return reduce(high << 32 | device()) | 1024;
    };
    const uint64_t first = draw();
    return Bases{first, draw()};
  }();
  return kBases;
}

}  // namespace

void TextHash::add(uint64_t value) {
  const Bases& base = bases();
  first_ = reduce(multiply(first_, base.first) + value);
  second_ = reduce(multiply(second_, base.second) + value);
}

TextHash TextHash::after(std::string_view bytes) const {
  TextHash result = *this;
  for (const char byte : bytes) {
    result.add(static_cast<uint8_t>(byte) + uint64_t{1});
  }
  return result;
}

TextHash TextHash::after_whole(std::string_view text) const {
  constexpr size_t kAtOnce = 7;
  TextHash result = *this;
  result.add(text.size());
  for (; !text.empty(); text.remove_prefix(std::min(kAtOnce, text.size()))) {
    uint64_t value = 0;
    for (const char byte : text.substr(0, kAtOnce)) {
      value = value << 8 | static_cast<uint8_t>(byte);
    }
    result.add(value);
  }
  return result;
}

TextHash TextHash::after(uint64_t number) const {
  char bytes[8];
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 255);
    number >>= 8;
  }
  return after({bytes, sizeof bytes});
}

}  // namespace rc::text::grammar

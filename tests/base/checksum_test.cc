#include "base/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace rc {
namespace {

std::vector<std::byte> noise(size_t size) {
  std::mt19937_64 random(size);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Checksum, DoesNotDependOnPieces) {
  for (const size_t size : {0u, 1u, 7u, 8u, 31u, 32u, 33u, 64u, 1000u}) {
    const std::vector<std::byte> bytes = noise(size);
    for (const size_t piece : {1u, 3u, 8u, 31u, 32u, 33u, 500u}) {
      Checksum sum;
      for (size_t at = 0; at < size; at += piece) {
        sum.add(std::span(bytes).subspan(at, std::min(piece, size - at)));
      }
      EXPECT_EQ(sum.value(), checksum(bytes)) << size << " by " << piece;
    }
  }
}

// It is a part of files: it must not change.
TEST(Checksum, IsTheSameInEveryVersion) {
  const std::vector<std::byte> text = [] {
    std::vector<std::byte> bytes;
    for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<std::byte>(i));
    return bytes;
  }();
  EXPECT_EQ(checksum({}), 0xbf304e3a4fe7ae5du);
  EXPECT_EQ(checksum(text), 0x16e15dc6a284660du);
}

TEST(Checksum, NoticesEveryBitEveryByteAndTheSize) {
  for (const size_t size : {1u, 8u, 40u, 100u}) {
    std::vector<std::byte> bytes = noise(size);
    std::set<uint64_t> seen = {checksum(bytes)};
    size_t changes = 1;
    for (std::byte& byte : bytes) {
      for (int value = 1; value < 256; ++value, ++changes) {
        byte ^= static_cast<std::byte>(value);
        seen.insert(checksum(bytes));
        byte ^= static_cast<std::byte>(value);
      }
    }
    // Zeros at the end are no change of the words, but of the size.
    for (int i = 0; i < 50; ++i, ++changes) {
      bytes.push_back(std::byte{0});
      seen.insert(checksum(bytes));
    }
    EXPECT_EQ(seen.size(), changes);
  }
}

TEST(Checksum, NoticesWordsThatAreExchanged) {
  std::vector<std::byte> bytes = noise(256);
  std::set<uint64_t> seen = {checksum(bytes)};
  size_t changes = 1;
  for (size_t a = 0; a < bytes.size(); a += 8) {
    for (size_t b = a + 8; b < bytes.size(); b += 8, ++changes) {
      const auto at = bytes.begin();
      const auto swap = [&] {
        std::swap_ranges(at + static_cast<ptrdiff_t>(a),
                         at + static_cast<ptrdiff_t>(a + 8),
                         at + static_cast<ptrdiff_t>(b));
      };
      swap();
      seen.insert(checksum(bytes));
      swap();
    }
  }
  EXPECT_EQ(seen.size(), changes);
}

}  // namespace
}  // namespace rc

// Hostile descriptions of custom ops, read on a small stack.
#include "small_stack.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "compute/custom/signature.h"

namespace rc::compute {
namespace {

std::string nested(std::string_view open, std::string_view inner,
                   std::string_view close, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += open;
  result += inner;
  for (size_t i = 0; i < count; ++i) result += close;
  return result;
}

TEST(SmallStack, ParsesSignatures) {
  for (const size_t depth : {60, 64, 100'000}) {
    for (const std::string& length :
         {nested("(", "n", ")", depth), nested("-", "n", "", depth),
          nested("max(n, ", "n", ")", depth), nested("(n + ", "n", ")", depth),
          nested("n + ", "n", "", depth)}) {
      EXPECT_TRUE(test::fits_small_stack([&] {
        const CustomSignature signature("x F32 [n] -> y F32 [" + length + "]",
                                        "");
      })) << depth;
    }
  }
}

}  // namespace
}  // namespace rc::compute

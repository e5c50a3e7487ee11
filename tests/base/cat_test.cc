#include "base/cat.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <locale>
#include <sstream>
#include <string>

namespace rc {
namespace {

enum Plain { kMinusTwo = -2 };

// Formats a value with the streams of the standard library.
template <class Value>
std::string streamed(const Value& value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << value;
  return out.str();
}

TEST(Cat, JoinsTextsOfEveryKind) {
  const char* pointer = "pointer";
  char array[8] = "array";
  const std::string string = "string";
  EXPECT_EQ(cat("literal ", pointer, ' ', array, ' ', string, ' ',
                std::string_view("view"), std::string(1, '\0')),
            std::string("literal pointer array string view\0", 34));
  EXPECT_EQ(cat(""), "");
}

TEST(Cat, WritesIntegersToTheirBounds) {
  EXPECT_EQ(cat(INT64_MIN, ' ', INT64_MAX, ' ', UINT64_MAX, ' ', INT_MIN, ' ',
                UINT32_MAX, ' ', int16_t{-3}, ' ', uint16_t{65535}, ' ', 0),
            "-9223372036854775808 9223372036854775807 18446744073709551615 "
            "-2147483648 4294967295 -3 65535 0");
  EXPECT_EQ(cat(sizeof(char), true, false), "110");
  EXPECT_EQ(cat(kMinusTwo), "-2");
}

TEST(Cat, WritesNumbersAsStreamsDo) {
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             0.1,
                             1.0 / 3,
                             100000.0,
                             1e6,
                             1234567.0,
                             1e-4,
                             1e-5,
                             -2.5e-300,
                             123456.5,
                             0.99999949,
                             0.9999995,
                             DBL_MAX,
                             DBL_MIN,
                             DBL_TRUE_MIN,
                             double{INFINITY},
                             double{-INFINITY},
                             std::nan("")}) {
    EXPECT_EQ(cat(value), streamed(value));
    const float narrow = static_cast<float>(value);
    EXPECT_EQ(cat(narrow), streamed(narrow));
  }
}

TEST(Cat, EqualKindsShareOneList) {
  EXPECT_EQ((kPartKinds<part_kind<char[4]>(), part_kind<size_t>()>),
            (kPartKinds<part_kind<const char*>(), part_kind<uint64_t>()>));
}

}  // namespace
}  // namespace rc

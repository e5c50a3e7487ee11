#include "text/grammar/decimal.h"

#include <gtest/gtest.h>

#include <vector>

namespace rc::text::grammar {
namespace {

TEST(Decimal, ReadsDigitsAroundThePoint) {
  const struct {
    const char* number;
    const char* whole;
    const char* fraction;
  } cases[] = {
      {"0", "0", ""},         {"-0.00", "0", ""},      {"7", "7", ""},
      {"1200", "1200", ""},   {"12.5", "12", "5"},     {"-12.50", "12", "5"},
      {"0.05", "0", "05"},    {"5e-3", "0", "005"},    {"1.25e1", "12", "5"},
      {"1.25e2", "125", ""},  {"1.25e4", "12500", ""}, {"10.01", "10", "01"},
      {"0.000e300", "0", ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(parse_decimal(c.number).whole(), c.whole) << c.number;
    EXPECT_EQ(parse_decimal(c.number).fraction(), c.fraction) << c.number;
  }
}

TEST(Decimal, IsComparedByItsValue) {
  // In order; those of one line are equal.
  const std::vector<std::vector<const char*>> order = {
      {"-1e3", "-1000.0"}, {"-2"},         {"-0.5", "-5e-1"},
      {"0", "-0", "0e9"},  {"1e-399"},     {"0.05", "5e-2"},
      {"0.5", "0.50"},     {"1", "10e-1"}, {"1.0000000000000000000000001"},
      {"9", "0.9e1"},      {"10"},         {"1e399"}};
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = 0; j < order.size(); ++j) {
      for (const char* a : order[i]) {
        for (const char* b : order[j]) {
          const int found = compare(parse_decimal(a), parse_decimal(b));
          EXPECT_EQ(i < j   ? found < 0
                    : i > j ? found > 0
                            : found == 0,
                    true)
              << a << " and " << b << ": " << found;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rc::text::grammar

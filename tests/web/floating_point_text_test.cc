// Floating-point numbers to text and back, as <charconv> has it in every C++
// library; the texts are those of Python's repr().
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace {

struct Known {
  double value;
  const char* text;  // the shortest that reads back the same
};

const Known kKnown[] = {
    {0x1.999999999999ap-4, "1e-01"},
    {0x1.52d02c7e14af6p+76, "1e+23"},
    {0x0.0000000000001p-1022, "5e-324"},
    {0x1.fffffffffffffp+1023, "1.7976931348623157e+308"},
    {0x1.b69b4ba630f35p+56, "1.2345678901234568e+17"},
    {0x1.0000000000000p+53, "9.007199254740992e+15"},
    {0x1.0000000000000p-1022, "2.2250738585072014e-308"},
    {0x1.1c37937e08000p+53, "1e+16"},
    {0x1.4f8b588e368f1p-17, "1e-05"},
    {0x1.8000000000000p+1, "3e+00"},
    {0x1.86a0000000000p+16, "1e+05"},
    {0x1.e240000000000p+16, "1.23456e+05"},
    {0x1.3333333333333p-2, "3e-01"},
    {0x1.5555555555555p-1, "6.666666666666666e-01"},
    {0x1.0f0cf064dd592p+73, "1e+22"},
    {0x1.1666666666666p+2, "4.35e+00"},
    {0x1.ad7f29abcaf48p-24, "1e-07"},
    {0x1.c7e83209e90b2p+72, "8.41e+21"},
    {0x0.0000000000003p-1022, "1.5e-323"},
    {0x1.1de784a000000p+28, "2.99792458e+08"},
    {-0x1.750923ceb3ffdp-644, "-1.996150245444706e-194"},
    {0x1.363698b529b4ap-489, "7.581454333883296e-148"},
    {-0x1.b5bf55eb561a4p+680, "-8.57789382212775e+204"},
    {0x1.b929e9a9a80fdp+918, "3.818526826307957e+276"},
    {-0x1.2b8fda02f34a6p-692, "-5.694946403451123e-209"},
    {-0x1.8923d10c67fd9p-591, "-1.8948713508859093e-178"},
    {-0x1.8529f035efa25p+651, "-1.4204294611674214e+196"},
    {0x1.f9c58d6645fa9p+898, "4.1749440189827914e+270"},
    {-0x1.038ec42650644p-815, "-4.64031489464657e-246"},
    {0x1.624273bfd1d33p-238, "3.132872124271458e-72"},
    {-0x1.70386fee29476p-134, "-6.604630556388117e-41"},
    {-0x1.d43b578633074p-856, "-3.80666497140512e-258"},
    {-0x1.4a0d7d6225675p-820, "-1.8439403708362157e-247"},
    {0x1.a9c8279f248b0p+603, "5.521213857875556e+181"},
    {-0x1.bf1e1a399f82ap+455, "-1.6249118851359539e+137"},
    {0x1.f3d86268ecc45p-74, "1.0336557535322433e-22"},
    {0x1.0b944a2863a7fp-402, "1.0119387358662577e-121"},
    {-0x1.38db4de383784p+721, "-1.3481316636868863e+217"},
    {0x1.2e49085ef3430p+574, "7.301205141223863e+172"},
    {0x1.0a813bdc2ae99p-961, "5.341205273155281e-290"},
    {-0x1.8da3eabe19f58p+112, "-8.06510345245033e+33"},
    {0x1.e6f2410645d51p-371, "3.954692477478851e-112"},
    {-0x1.e8722c21b6092p+850, "-1.4324283043268515e+256"},
    {0x1.438d297524d6ap-848, "6.733905439805261e-256"},
    {-0x1.317d94d1fe09fp+124, "-2.5379162140977794e+37"},
    {-0x1.5844307f062cep+302, "-1.0957546420825773e+91"},
    {0x1.9794cdd933160p+80, "1.924748109593872e+24"},
    {-0x1.1811779061596p-635, "-7.673202078781141e-192"},
};

std::string scientific(double value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value,
                                          std::chars_format::scientific);
  EXPECT_EQ(error, std::errc());
  return {text, end};
}

std::string plain(double value) {
  char text[512];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  EXPECT_EQ(error, std::errc());
  return {text, end};
}

std::string with_precision(double value, std::chars_format format,
                           int precision) {
  char text[512];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value, format, precision);
  EXPECT_EQ(error, std::errc());
  return {text, end};
}

TEST(FloatingPointText, IsTheShortest) {
  for (const Known& known : kKnown) {
    EXPECT_EQ(scientific(known.value), known.text);
    EXPECT_EQ(scientific(-known.value), known.value < 0
                                            ? std::string(known.text).substr(1)
                                            : std::string("-") + known.text);
  }
  EXPECT_EQ(plain(0.0), "0");
  EXPECT_EQ(plain(-0.0), "-0");
  EXPECT_EQ(plain(0.25), "0.25");
  EXPECT_EQ(plain(1e5), "1e+05");
  EXPECT_EQ(plain(123456), "123456");
  EXPECT_EQ(plain(1e-5), "1e-05");
  EXPECT_EQ(plain(0.0001), "1e-04");
  EXPECT_EQ(plain(0.001), "0.001");
  EXPECT_EQ(plain(std::numeric_limits<double>::infinity()), "inf");
  char text[64];
  EXPECT_EQ(std::string(text, std::to_chars(text, text + 64, 0.1f).ptr), "0.1");
}

TEST(FloatingPointText, HasTheRequestedPrecision) {
  EXPECT_EQ(with_precision(2.5, std::chars_format::fixed, 0), "2");
  EXPECT_EQ(with_precision(1.0 / 3, std::chars_format::fixed, 5), "0.33333");
  EXPECT_EQ(with_precision(1e300, std::chars_format::fixed, 1).size(), 303u);
  EXPECT_EQ(with_precision(12345, std::chars_format::scientific, 2),
            "1.23e+04");
  EXPECT_EQ(with_precision(12345, std::chars_format::general, 3), "1.23e+04");
  EXPECT_EQ(with_precision(0.5, std::chars_format::general, 3), "0.5");
}

TEST(FloatingPointText, ReportsATooSmallBuffer) {
  char text[4];
  EXPECT_EQ(std::to_chars(text, text + 4, 1.0 / 3).ec,
            std::errc::value_too_large);
}

struct Read {
  std::errc error;
  size_t length;  // of what was read
  double value;
};

Read read(std::string_view text,
          std::chars_format format = std::chars_format::general) {
  double value = 7;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, format);
  return {error, static_cast<size_t>(end - text.data()), value};
}

TEST(FloatingPointText, RoundTrips) {
  for (const Known& known : kKnown) {
    const Read result = read(known.text);
    EXPECT_EQ(result.error, std::errc()) << known.text;
    EXPECT_EQ(result.value, known.value) << known.text;
    EXPECT_EQ(result.length, std::string_view(known.text).size());
  }
}

TEST(FloatingPointText, IsReadUpToTheFirstInvalidCharacter) {
  const struct {
    const char* text;
    size_t length;
    double value;
  } cases[] = {{"1.5abc", 3, 1.5},
               {".5", 2, 0.5},
               {"5.", 2, 5},
               {"1e", 1, 1},
               {"1e+", 1, 1},
               {"1e5", 3, 1e5},
               {"1E-2x", 4, 0.01},
               {"0x10", 1, 0},
               {"-2", 2, -2},
               {"inf", 3, INFINITY},
               {"-infinity1", 9, -INFINITY}};
  for (const auto& one : cases) {
    const Read result = read(one.text);
    EXPECT_EQ(result.error, std::errc()) << one.text;
    EXPECT_EQ(result.length, one.length) << one.text;
    EXPECT_EQ(result.value, one.value) << one.text;
  }
  EXPECT_TRUE(std::isnan(read("nan").value));
  EXPECT_EQ(read("15e2", std::chars_format::fixed).length, 2u);
  // Text behind the end is not read.
  EXPECT_EQ(read(std::string_view("1234", 2)).value, 12);
}

TEST(FloatingPointText, InvalidTextIsAnError) {
  for (const char* text : {"", "+1", " 1", ".", "-", "e5", "abc", "-.e1"}) {
    const Read result = read(text);
    EXPECT_EQ(result.error, std::errc::invalid_argument) << text;
    EXPECT_EQ(result.length, 0u) << text;
    EXPECT_EQ(result.value, 7) << text;
  }
  EXPECT_EQ(read("15", std::chars_format::scientific).error,
            std::errc::invalid_argument);
}

TEST(FloatingPointText, OutOfRangeIsAnError) {
  for (const char* text : {"1e400", "-1e400", "1e-400"}) {
    const Read result = read(text);
    EXPECT_EQ(result.error, std::errc::result_out_of_range) << text;
    EXPECT_EQ(result.value, 7) << text;
  }
  EXPECT_EQ(read("1e-310").value, 1e-310);
}

}  // namespace

// Floating-point numbers to text and back on what the C library has: its strtod
// and printf round correctly, and Emscripten knows no locale but "C".
// Hexadecimal numbers are not here, as nothing here writes or reads them.
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace std {
namespace {

float parse(const char* text, float) { return strtof(text, nullptr); }
double parse(const char* text, double) { return strtod(text, nullptr); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where `word` ends, if the text begins with it in any case; else `at`.
const char* behind(const char* at, const char* last, const char* word) {
  const char* begin = at;
  for (; *word != '\0'; ++at, ++word) {
    if (at == last || (*at | 0x20) != *word) return begin;
  }
  return at;
}

const char* behind_digits(const char* at, const char* last) {
  while (at != last && is_digit(*at)) ++at;
  return at;
}

// Where the longest number that the text begins with ends; `first` if it begins
// with none.
const char* end_of_number(const char* first, const char* last,
                          chars_format format) {
  const char* at = first;
  if (at != last && *at == '-') ++at;
  for (const char* word : {"infinity", "inf", "nan"}) {
    const char* end = behind(at, last, word);
    if (end != at) return end;
  }
  const char* end = behind_digits(at, last);
  bool digits = end != at;
  if (end != last && *end == '.') {
    const char* fraction = behind_digits(end + 1, last);
    digits = digits || fraction != end + 1;
    if (digits) end = fraction;
  }
  if (!digits) return first;
  const bool may = (format & chars_format::scientific) != chars_format{};
  const bool must = may && (format & chars_format::fixed) == chars_format{};
  if (may && end != last && (*end | 0x20) == 'e') {
    const char* power = end + 1;
    if (power != last && (*power == '+' || *power == '-')) ++power;
    const char* power_end = behind_digits(power, last);
    if (power_end != power) return power_end;
  }
  return must ? first : end;
}

template <class Float>
from_chars_result read(const char* first, const char* last, Float& value,
                       chars_format format) {
  const char* end = end_of_number(first, last, format);
  if (end == first) return {first, errc::invalid_argument};
  const string text(first, end);
  const int before = errno;
  errno = 0;
  const Float number = parse(text.c_str(), Float{});
  // The C library also reports numbers that became subnormal.
  const bool lost = errno == ERANGE && (number == 0 || isinf(number));
  errno = before;
  if (lost) return {end, errc::result_out_of_range};
  value = number;
  return {end, errc{}};
}

to_chars_result put(char* first, char* last, const char* text, int length) {
  if (length < 0 || last - first < length) return {last, errc::value_too_large};
  memcpy(first, text, static_cast<size_t>(length));
  return {first + length, errc{}};
}

// With so many digits behind the point as printf's `how` has them.
to_chars_result print(char* first, char* last, double value, const char* how,
                      int precision) {
  if (!isfinite(value)) {
    const char* text = isnan(value) ? (signbit(value) ? "-nan" : "nan")
                                    : (value < 0 ? "-inf" : "inf");
    return put(first, last, text, static_cast<int>(strlen(text)));
  }
  const int length = snprintf(nullptr, 0, how, precision, value);
  if (length < 0) return {last, errc::value_too_large};
  string text(static_cast<size_t>(length) + 1, '\0');
  snprintf(text.data(), text.size(), how, precision, value);
  return put(first, last, text.c_str(), length);
}

// Returns the number of digits after the first one that distinguish the number
// from every other.
template <class Float>
int shortest(Float value) {
  char text[64];
  const int most = numeric_limits<Float>::max_digits10 - 1;
  for (int digits = 0; digits < most; ++digits) {
    snprintf(text, sizeof text, "%.*e", digits, static_cast<double>(value));
    if (parse(text, Float{}) == value) return digits;
  }
  return most;
}

// With the fewest digits that read back the same.
template <class Float>
to_chars_result write(char* first, char* last, Float value,
                      chars_format format) {
  const double number = static_cast<double>(value);
  if (!isfinite(value)) return print(first, last, number, "%.*e", 0);
  const int digits = shortest(value);
  if (format == chars_format::scientific) {
    return print(first, last, number, "%.*e", digits);
  }
  char text[64];
  snprintf(text, sizeof text, "%.*e", digits, number);
  const int exponent = atoi(strchr(text, 'e') + 1);
  if (format == chars_format::general && (exponent < -4 || exponent >= 6)) {
    return print(first, last, number, "%.*e", digits);
  }
  return print(first, last, number, "%.*f",
               exponent < digits ? digits - exponent : 0);
}

// The shorter of the two, and without an exponent if they are as long.
template <class Float>
to_chars_result write(char* first, char* last, Float value) {
  char fixed[512], scientific[64];
  const auto a = write(fixed, fixed + sizeof fixed, value, chars_format::fixed);
  const auto b = write(scientific, scientific + sizeof scientific, value,
                       chars_format::scientific);
  const int fixed_length = static_cast<int>(a.ptr - fixed);
  const int scientific_length = static_cast<int>(b.ptr - scientific);
  if (fixed_length <= scientific_length) {
    return put(first, last, fixed, fixed_length);
  }
  return put(first, last, scientific, scientific_length);
}

to_chars_result write(char* first, char* last, double value,
                      chars_format format, int precision) {
  const char* how = format == chars_format::fixed        ? "%.*f"
                    : format == chars_format::scientific ? "%.*e"
                                                         : "%.*g";
  return print(first, last, value, how, precision < 0 ? 6 : precision);
}

}  // namespace

from_chars_result from_chars(const char* first, const char* last, float& value,
                             chars_format format) {
  return read(first, last, value, format);
}
from_chars_result from_chars(const char* first, const char* last, double& value,
                             chars_format format) {
  return read(first, last, value, format);
}
to_chars_result to_chars(char* first, char* last, float value) {
  return write(first, last, value);
}
to_chars_result to_chars(char* first, char* last, float value,
                         chars_format format) {
  return write(first, last, value, format);
}
to_chars_result to_chars(char* first, char* last, float value,
                         chars_format format, int precision) {
  return write(first, last, static_cast<double>(value), format, precision);
}
to_chars_result to_chars(char* first, char* last, double value) {
  return write(first, last, value);
}
to_chars_result to_chars(char* first, char* last, double value,
                         chars_format format) {
  return write(first, last, value, format);
}
to_chars_result to_chars(char* first, char* last, double value,
                         chars_format format, int precision) {
  return write(first, last, value, format, precision);
}

}  // namespace std

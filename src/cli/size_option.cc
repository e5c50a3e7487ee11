#include "size_option.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

namespace cli {
namespace {

// Bytes; false if the text is no size.
bool read_size(const std::string& text, uint64_t* size) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0)) return false;
  std::string unit;
  for (const char* at = end; at != text.data() + text.size(); ++at) {
    if (*at == ' ') continue;
    unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*at)));
  }
  constexpr const char* kUnits = "KMGTPE";
  int power = 0;
  if (!unit.empty() && unit != "B") {
    const std::string units = kUnits;
    const size_t at = units.find(unit[0]);
    const std::string rest = unit.substr(1);
    if (at == std::string::npos ||
        (!rest.empty() && rest != "B" && rest != "IB")) {
      return false;
    }
    power = static_cast<int>(at) + 1;
  }
  const double bytes = std::ldexp(number, 10 * power);
  if (!(bytes < std::ldexp(1.0, 64))) return false;
  *size = static_cast<uint64_t>(bytes);
  return true;
}

}  // namespace

CLI::Option* takes_size(CLI::Option* option) {
  return option->type_name("SIZE")->transform(CLI::Validator(
      [](std::string& given) {
        uint64_t size = 0;
        if (!read_size(given, &size)) {
          return given + " is not a size, such as 900MB or 2GiB";
        }
        given = std::to_string(size);
        return std::string();
      },
      ""));
}

}  // namespace cli

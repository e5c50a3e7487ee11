#include "text/chat/local_time.h"

#include <ctime>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text::chat {
namespace {

int days_of(int year, int month) {
  if (month == 2) {
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return leap ? 29 : 28;
  }
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Whether the text is the pattern with digits in the place of zeros.
bool has_form(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '0' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

int number(std::string_view text, size_t begin, size_t digits) {
  int value = 0;
  for (const char c : text.substr(begin, digits))
    value = value * 10 + (c - '0');
  return value;
}

}  // namespace

LocalTime local_time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  if (localtime_r(&now, &parts) == nullptr) return {};
  return {parts.tm_year + 1900,
          parts.tm_mon + 1,
          parts.tm_mday,
          parts.tm_hour,
          parts.tm_min,
          parts.tm_sec,
          0};
}

LocalTime parse_local_time(std::string_view text, const char* name) {
  const bool with_time = has_form(text, "0000-00-00T00:00:00");
  LocalTime time;
  bool good = with_time || has_form(text, "0000-00-00");
  if (good) {
    time.year = number(text, 0, 4);
    time.month = number(text, 5, 2);
    time.day = number(text, 8, 2);
    if (with_time) {
      time.hour = number(text, 11, 2);
      time.minute = number(text, 14, 2);
      time.second = number(text, 17, 2);
    }
    good = time.year >= 1 && time.month >= 1 && time.month <= 12 &&
           time.day >= 1 && time.day <= days_of(time.year, time.month) &&
           time.hour <= 23 && time.minute <= 59 && time.second <= 59;
  }
  if (!good) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", quote(text),
         " is no time as in 2024-07-26 or 2024-07-26T14:05:09");
  }
  return time;
}

}  // namespace rc::text::chat

#include "text/chat/strftime.h"

#include <algorithm>
#include <string>

namespace rc::text::chat {
namespace {

constexpr const char* kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                 "Thursday", "Friday", "Saturday"};
constexpr const char* kMonths[] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

bool is_leap(int year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

// Days of a year before a date, from 0.
int day_of_year(int year, int month, int day) {
  static constexpr int kBefore[] = {0,   31,  59,  90,  120, 151,
                                    181, 212, 243, 273, 304, 334};
  return kBefore[month - 1] + day - 1 + (month > 2 && is_leap(year) ? 1 : 0);
}

// Days since 1970-01-01 (Hinnant, "chrono-Compatible Low-Level Date
// Algorithms").
int64_t days_from_epoch(int year, int month, int day) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t year_of_era = y - era * 400;
  const int64_t shifted = (month + 9) % 12;
  const int64_t day_of = (153 * shifted + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 -
         year_of_era / 100 + day_of - 719468;
}

class TimeFormatter {
 public:
  TimeFormatter(Budget* budget, const LocalTime& time)
      : time_(time),
        out_(budget),
        year_day_(day_of_year(time.year, time.month, time.day)),
        days_(days_from_epoch(time.year, time.month, time.day)),
        week_day_(static_cast<int>(((days_ + 4) % 7 + 7) % 7)) {}

  Value run(const Text& format) {
    const std::string& bytes = format.bytes();
    OriginCursor origins(format);
    for (size_t at = 0; at < bytes.size();) {
      const size_t percent = std::min(bytes.find('%', at), bytes.size());
      out_.append(format, at, percent);
      at = percent;
      if (at == bytes.size()) break;
      const Origin origin = origins.at(at);
      const size_t begin = at++;
      char flag = 0;
      while (at < bytes.size() && std::string_view("-_0^#").find(bytes[at]) !=
                                      std::string_view::npos) {
        flag = bytes[at++];
      }
      if (at == bytes.size()) {
        out_.append(format, begin, at);
        break;
      }
      const std::string text = directive(bytes[at], flag);
      if (text.empty() && !is_empty(bytes[at])) {
        out_.append(format, begin, at + 1);
      } else {
        out_.append(text, origin);
      }
      ++at;
    }
    return out_.finish();
  }

 private:
  // The directives that say nothing about a time without a zone.
  static bool is_empty(char c) { return c == 'Z' || c == 'z'; }

  static std::string number(int64_t value, size_t width, char pad, char flag) {
    if (flag == '-') pad = 0;
    if (flag == '_') pad = ' ';
    if (flag == '0') pad = '0';
    std::string text = std::to_string(value);
    if (pad != 0 && text.size() < width) {
      text.insert(0, width - text.size(), pad);
    }
    return text;
  }

  static std::string letters(std::string text, char flag) {
    if (flag == '^' || flag == '#') {
      for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c ^ 0x20);
      }
    }
    return text;
  }

  int hour12() const { return time_.hour % 12 == 0 ? 12 : time_.hour % 12; }

  // The week of the year by ISO 8601, and the year that it belongs to.
  std::pair<int, int> iso_week() const {
    const int monday_based = (week_day_ + 6) % 7;
    const int week = (year_day_ - monday_based + 10) / 7;
    const auto weeks_of = [](int year) {
      const int64_t january = days_from_epoch(year, 1, 1);
      const auto day = static_cast<int>(((january + 4) % 7 + 7) % 7);
      return day == 4 || (day == 3 && is_leap(year)) ? 53 : 52;
    };
    if (week < 1) return {time_.year - 1, weeks_of(time_.year - 1)};
    if (week > weeks_of(time_.year)) return {time_.year + 1, 1};
    return {time_.year, week};
  }

  std::string both(const char* directives) {
    std::string text;
    for (const char* c = directives; *c != 0; ++c) {
      text += *c >= 'A' ? directive(*c, 0) : std::string(1, *c);
    }
    return text;
  }

  // Empty if there is no such directive.
  std::string directive(char c, char flag) {
    const auto two = [&](int64_t value) { return number(value, 2, '0', flag); };
    switch (c) {
      case 'a':
        return letters(std::string(kDays[week_day_], 3), flag);
      case 'A':
        return letters(kDays[week_day_], flag);
      case 'b':
      case 'h':
        return letters(std::string(kMonths[time_.month - 1], 3), flag);
      case 'B':
        return letters(kMonths[time_.month - 1], flag);
      case 'p':
        if (flag == '#') return time_.hour < 12 ? "am" : "pm";
        return time_.hour < 12 ? "AM" : "PM";
      case 'P':
        return time_.hour < 12 ? "am" : "pm";
      case 'd':
        return two(time_.day);
      case 'e':
        return number(time_.day, 2, ' ', flag);
      case 'm':
        return two(time_.month);
      case 'H':
        return two(time_.hour);
      case 'I':
        return two(hour12());
      case 'k':
        return number(time_.hour, 2, ' ', flag);
      case 'l':
        return number(hour12(), 2, ' ', flag);
      case 'M':
        return two(time_.minute);
      case 'S':
        return two(time_.second);
      case 'f':
        return number(time_.microsecond, 6, '0', 0);
      default:
        return date_directive(c, flag);
    }
  }

  std::string date_directive(char c, char flag) {
    const auto two = [&](int64_t value) { return number(value, 2, '0', flag); };
    switch (c) {
      case 'y':
        return two(time_.year % 100);
      case 'Y':
        return number(time_.year, 0, 0, flag);
      case 'C':
        return two(time_.year / 100);
      case 'j':
        return number(year_day_ + 1, 3, '0', flag);
      case 'U':
        return two((year_day_ + 7 - week_day_) / 7);
      case 'W':
        return two((year_day_ + 7 - (week_day_ + 6) % 7) / 7);
      case 'V':
        return two(iso_week().second);
      case 'G':
        return number(iso_week().first, 4, '0', flag);
      case 'g':
        return two(iso_week().first % 100);
      case 'u':
        return number(week_day_ == 0 ? 7 : week_day_, 1, '0', flag);
      case 'w':
        return number(week_day_, 1, '0', flag);
      case 's':
        return number(days_ * 86400 + time_.hour * 3600 + time_.minute * 60 +
                          time_.second,
                      1, '0', flag);
      case 'n':
        return "\n";
      case 't':
        return "\t";
      case '%':
        return "%";
      default:
        return combination(c);
    }
  }

  std::string combination(char c) {
    switch (c) {
      case 'c':
        return both("a b ") + number(time_.day, 2, ' ', 0) + both(" H:M:S Y");
      case 'D':
      case 'x':
        return directive('m', 0) + "/" + directive('d', 0) + "/" +
               directive('y', 0);
      case 'F':
        return directive('Y', 0) + "-" + directive('m', 0) + "-" +
               directive('d', 0);
      case 'R':
        return both("H:M");
      case 'r':
        return both("I:M:S p");
      case 'T':
      case 'X':
        return both("H:M:S");
      default:
        return "";
    }
  }

  const LocalTime& time_;
  Writer out_;
  int year_day_;
  int64_t days_;
  int week_day_;  // from Sunday
};

void check_time(const LocalTime& time) {
  const auto check = [](int value, int low, int high, const char* what) {
    if (value < low || value > high) {
      throw Fault{RC_E_INVALID_ARGUMENT,
                  cat("the ", what, " of the local time is ", value,
                      ", outside of ", low, " to ", high)};
    }
  };
  check(time.year, 1, 9999, "year");
  check(time.month, 1, 12, "month");
  check(time.day, 1, 31, "day");
  check(time.hour, 0, 23, "hour");
  check(time.minute, 0, 59, "minute");
  check(time.second, 0, 60, "second");
  check(time.microsecond, 0, 999999, "microsecond");
}

}  // namespace

Value format_time(Budget* budget, const Text& format, const LocalTime& time) {
  check_time(time);
  return TimeFormatter(budget, time).run(format);
}

}  // namespace rc::text::chat

// Calibrations as text: a line for each fact, its name and then numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "runtime/cost.h"

namespace rc::runtime {
namespace {

// A measurement has some ten.
constexpr size_t kMostPoints = 64;

void append(std::string& text, double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, " %.9g", number);
  text += digits;
}

void append_curve(std::string& text, const char* name, const Curve& curve) {
  if (curve.empty()) return;
  text += name;
  for (const Curve::Point& point : curve.points()) {
    append(text, point.units);
    append(text, point.seconds);
  }
  text += '\n';
}

std::string_view take_until(std::string_view& text, char end) {
  const size_t length = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

// Finite and not negative; nullopt for anything else.
std::optional<std::vector<double>> numbers_of(std::string_view words) {
  std::vector<double> numbers;
  while (!words.empty()) {
    const std::string_view word = take_until(words, ' ');
    double number = 0;
    const auto [rest, error] =
        std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || rest != word.data() + word.size() ||
        !std::isfinite(number) || number < 0 ||
        numbers.size() == 2 * kMostPoints) {
      return std::nullopt;
    }
    numbers.push_back(number);
  }
  return numbers;
}

// Nothing takes no time.
std::optional<Curve> curve_of(const std::vector<double>& numbers) {
  if (numbers.empty() || numbers.size() % 2 != 0) return std::nullopt;
  std::vector<Curve::Point> points;
  for (size_t i = 0; i < numbers.size(); i += 2) {
    if (numbers[i + 1] <= 0) return std::nullopt;
    points.push_back({numbers[i], numbers[i + 1]});
  }
  if (points.size() == 1 && points[0].units <= 0) return std::nullopt;
  return Curve(std::move(points));
}

}  // namespace

std::string calibration_text(const Calibration& calibration) {
  std::string text = "launch";
  append(text, calibration.launch);
  text += "\nbandwidth";
  append(text, calibration.bandwidth);
  text += "\nmultiplying";
  for (const double rate : calibration.multiplying) append(text, rate);
  text += '\n';
  append_curve(text, "upload", calibration.upload);
  append_curve(text, "download", calibration.download);
  for (size_t i = 0; i < kOpFamilies; ++i) {
    const char* name = op_family_name(static_cast<OpFamily>(i));
    if (calibration.lacking[i]) {
      text.append("lacking ").append(name) += '\n';
    } else {
      append_curve(text, name, calibration.families[i]);
    }
  }
  return text + "end\n";
}

std::optional<Calibration> parse_calibration(std::string_view text) {
  Calibration calibration;
  bool whole = false;
  while (!text.empty() && !whole) {
    std::string_view line = take_until(text, '\n');
    const std::string_view name = take_until(line, ' ');
    if (name == "end") {
      whole = true;
      continue;
    }
    if (name == "lacking") {
      const auto family = find_op_family(line);
      if (!family) return std::nullopt;
      calibration.lacking[static_cast<size_t>(*family)] = true;
      continue;
    }
    const auto numbers = numbers_of(line);
    if (!numbers) return std::nullopt;
    const bool single = name == "launch" || name == "bandwidth";
    if (single && numbers->size() == 1) {
      (name == "launch" ? calibration.launch : calibration.bandwidth) =
          numbers->front();
      continue;
    }
    if (name == "multiplying" && numbers->size() == kNumberKinds) {
      std::copy(numbers->begin(), numbers->end(),
                calibration.multiplying.begin());
      continue;
    }
    auto curve = curve_of(*numbers);
    const auto family = find_op_family(name);
    if (!curve) return std::nullopt;
    if (name == "upload") {
      calibration.upload = std::move(*curve);
    } else if (name == "download") {
      calibration.download = std::move(*curve);
    } else if (family) {
      calibration.families[static_cast<size_t>(*family)] = std::move(*curve);
    } else {
      return std::nullopt;
    }
  }
  if (!whole) return std::nullopt;
  return calibration;
}

}  // namespace rc::runtime

// Estimates the time of ops and transfers on a device by measurements, and
// finds the device that will be done first.
//
// Pure functions of numbers: nothing here touches a device.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/op_work.h"

namespace rc::runtime {

// Seconds as a function of units: straight between points, the first one's
// below them, and on along the last two above.
class Curve {
 public:
  struct Point {
    double units = 0;
    double seconds = 0;
    bool operator==(const Point&) const = default;
  };

  Curve() = default;
  // In any order. Less work never takes more time: a point above a later one is
  // lowered to it, for it was disturbed by something else.
  explicit Curve(std::vector<Point> points);
  // seconds + units / rate.
  static Curve line(double seconds, double rate);

  bool empty() const { return points_.empty(); }
  const std::vector<Point>& points() const { return points_; }
  // Of a curve that is not empty.
  double seconds(double units) const;
  // Units per second far out.
  double rate() const;

 private:
  std::vector<Point> points_;
};

// The measurements of a device.
struct Calibration {
  double launch = 0;     // seconds of the smallest op
  double bandwidth = 0;  // bytes per second that ops read and write
  // Multiplications per second of products, by NumberKind; 0: not known.
  std::array<double, kNumberKinds> multiplying = {};
  Curve upload;    // from the host's memory; units are bytes
  Curve download;  // to it
  // By OpFamily; for empty ones the three above are used.
  std::array<Curve, kOpFamilies> families;
  // Families that the device does not support.
  std::array<bool, kOpFamilies> lacking = {};

  // Returns nullopt if the device does not support the op.
  std::optional<double> seconds(const OpWork& work) const;
};

// Converts a calibration to the text of a file and back. The parser returns
// nullopt if the text is not a calibration.
std::string calibration_text(const Calibration& calibration);
std::optional<Calibration> parse_calibration(std::string_view text);

// An operand of an op: on which device it lies, by number, and its bytes.
// kElsewhere: on one that is no candidate, known to the host alone.
inline constexpr int kElsewhere = -1;
struct OperandPlace {
  int device = kElsewhere;
  double bytes = 0;
};

struct Estimate {
  int device = 0;
  double compute = 0;   // seconds
  double transfer = 0;  // seconds, of the operands that lie elsewhere
  double seconds() const { return compute + transfer; }
};

// Of every candidate that can do it and of which something is known, the one
// that will be done first in front; equals in the order of their numbers.
// Nothing is allocated: the estimates are the first ones of `room`, which is at
// least as long as `candidates`, where nullptr is a device of which nothing is
// known.
std::span<Estimate> estimate(const OpWork& work,
                             std::span<const OperandPlace> operands,
                             std::span<const Calibration* const> candidates,
                             std::span<Estimate> room);

// The device on which most bytes of the operands lie; `otherwise` if that is
// none of the candidates. Of equals the first operand's.
int device_of_most(std::span<const OperandPlace> operands, int otherwise);

}  // namespace rc::runtime

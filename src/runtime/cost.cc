#include "runtime/cost.h"

#include <algorithm>
#include <cmath>

namespace rc::runtime {
namespace {

// To and from a device of which nothing is known: a slow bus.
const Curve& unknown_transfer() {
  static const Curve kCurve = Curve::line(50e-6, 4e9);
  return kCurve;
}

double transfer(const Curve& curve, double bytes) {
  return (curve.empty() ? unknown_transfer() : curve).seconds(bytes);
}

double seconds_between(const Calibration* from, const Calibration* to,
                       double bytes) {
  const Curve& down = from == nullptr ? unknown_transfer() : from->download;
  return transfer(down, bytes) + transfer(to->upload, bytes);
}

}  // namespace

Curve::Curve(std::vector<Point> points) : points_(std::move(points)) {
  std::sort(points_.begin(), points_.end(),
            [](const Point& a, const Point& b) { return a.units < b.units; });
  // Of two measurements of the same the quicker one was disturbed less.
  size_t kept = 0;
  for (const Point& point : points_) {
    if (kept > 0 && points_[kept - 1].units == point.units) {
      points_[kept - 1].seconds =
          std::min(points_[kept - 1].seconds, point.seconds);
    } else {
      points_[kept++] = point;
    }
  }
  points_.resize(kept);
  for (size_t i = points_.size(); i-- > 1;) {
    points_[i - 1].seconds =
        std::min(points_[i].seconds, points_[i - 1].seconds);
  }
}

Curve Curve::line(double seconds, double rate) {
  return Curve({{0, seconds}, {rate, seconds + 1}});
}

double Curve::seconds(double units) const {
  const Point& first = points_.front();
  if (units <= first.units) return first.seconds;
  if (points_.size() == 1) return first.seconds * units / first.units;
  auto next = std::find_if(points_.begin(), points_.end() - 1,
                           [&](const Point& p) { return p.units >= units; });
  const Point& last = *(next - 1);
  const double slope =
      (next->seconds - last.seconds) / (next->units - last.units);
  return last.seconds + slope * (units - last.units);
}

double Curve::rate() const {
  if (points_.size() < 2) {
    return points_.empty() || points_[0].seconds <= 0
               ? 0
               : points_[0].units / points_[0].seconds;
  }
  const Point& last = points_.back();
  const Point& before = points_[points_.size() - 2];
  const double seconds = last.seconds - before.seconds;
  return seconds > 0 ? (last.units - before.units) / seconds
                     : last.units / last.seconds;
}

std::optional<double> Calibration::seconds(const OpWork& work) const {
  double most = 0;
  bool measured = false;
  for (int i = 0; i < work.part_count; ++i) {
    const auto family = static_cast<size_t>(work.parts[i].family);
    if (lacking[family]) return std::nullopt;
    if (families[family].empty()) continue;
    measured = true;
    most = std::max(most, families[family].seconds(work.parts[i].units));
  }
  if (measured) return most;
  double busy = bandwidth > 0 ? work.bytes / bandwidth : 0;
  const double rate = multiplying[static_cast<size_t>(work.kind)];
  if (rate > 0) busy = std::max(busy, work.multiplications / rate);
  return launch + busy;
}

std::span<Estimate> estimate(const OpWork& work,
                             std::span<const OperandPlace> operands,
                             std::span<const Calibration* const> candidates,
                             std::span<Estimate> room) {
  size_t count = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i] == nullptr) continue;
    const auto compute = candidates[i]->seconds(work);
    if (!compute) continue;
    Estimate estimate = {static_cast<int>(i), *compute, 0};
    for (const OperandPlace& operand : operands) {
      if (operand.device == estimate.device) continue;
      const Calibration* from =
          operand.device == kElsewhere ? nullptr : candidates[operand.device];
      estimate.transfer += seconds_between(from, candidates[i], operand.bytes);
    }
    // By insertion: there are few.
    size_t place = count++;
    for (; place > 0 && room[place - 1].seconds() > estimate.seconds();
         --place) {
      room[place] = room[place - 1];
    }
    room[place] = estimate;
  }
  return room.first(count);
}

int device_of_most(std::span<const OperandPlace> operands, int otherwise) {
  int best = otherwise;
  double most = -1;
  for (const OperandPlace& operand : operands) {
    double bytes = 0;
    for (const OperandPlace& other : operands) {
      if (other.device == operand.device) bytes += other.bytes;
    }
    if (bytes > most) {
      most = bytes;
      best = operand.device == kElsewhere ? otherwise : operand.device;
    }
  }
  return best;
}

}  // namespace rc::runtime

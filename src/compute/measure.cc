#include "compute/measure.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "compute/measure_cases.h"
#include "runtime/registry.h"

namespace rc::compute {
namespace {

using Clock = std::chrono::steady_clock;

// Measurements are repeated, and the quickest counts: other programs only ever
// make them slower.
constexpr int kBatches = 7;
constexpr int kFewestBatches = 3;
constexpr double kBatchSeconds = 1e-3;
constexpr double kEnough = 0.03;  // seconds of one point
// A larger size is left out where the last one took longer.
constexpr double kTooLong = 0.15;

class NoAccount final : public Account {
 public:
  void reserve(uint64_t) override {}
  void use(uint64_t) noexcept override {}
  void cancel(uint64_t) noexcept override {}
  void give_back(uint64_t) noexcept override {}
  void need_time() override {}
  void charge_work(const runtime::Device&, int64_t) noexcept override {}
};

template <class Function>
double seconds_of(const Function& function, int calls) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < calls; ++i) function();
  return std::chrono::duration<double>(Clock::now() - start).count() / calls;
}

// Seconds of a call.
template <class Function>
double quickest(const Function& function) {
  function();  // makes kernels and memory
  double best = seconds_of(function, 1);
  const int calls =
      static_cast<int>(std::clamp(kBatchSeconds / best, 1.0, 1000.0));
  double spent = best;
  for (int i = 1; i < kBatches && (i < kFewestBatches || spent < kEnough);
       ++i) {
    const double seconds = seconds_of(function, calls);
    spent += seconds * calls;
    best = std::min(best, seconds);
  }
  return std::max(best, 1e-9);
}

class Measurement {
 public:
  Measurement(const std::shared_ptr<runtime::Device>& device,
              const MeasureProgress& progress)
      : progress_(progress) {
    operands_.context = std::make_shared<Context>(
        // Ops that the device does not support are to fail.
        runtime::DeviceChain(device, {}, true), std::make_shared<NoAccount>(),
        -1);
    outlines_ = operands_;
    outlines_.outlines = true;
  }

  runtime::Calibration run() {
    step(0);
    RandomNumbers numbers;
    numbers.uniform = true;
    numbers.low = 0.1f;
    numbers.high = 2;
    const Shape shape = {MeasureOperands::kMost};
    operands_.a = random(operands_.context, shape, numbers);
    operands_.b = random(operands_.context, shape, numbers);
    outlines_.a = make_outline(operands_.context, RC_DTYPE_F32, shape);
    outlines_.b = outlines_.a;
    measure_transfers();
    const auto& cases = measure_cases();
    for (size_t i = 0; i < cases.size(); ++i) {
      step(static_cast<double>(i + 1) / static_cast<double>(cases.size() + 1));
      measure_case(cases[i]);
    }
    sum_up();
    step(1);
    return std::move(found_);
  }

 private:
  void step(double fraction) {
    done_ = fraction;
    if (progress_ && !progress_(fraction)) {
      fail(RC_E_CANCELLED, "measuring ", operands_.context->device()->id(),
           " was cancelled");
    }
  }

  void measure_transfers() {
    const auto buffer = operands_.a.storage->buffer();
    std::vector<runtime::Curve::Point> up, down;
    std::vector<std::byte> bytes(MeasureOperands::kMost * sizeof(float));
    buffer->download(0, bytes.data(), bytes.size());
    for (size_t count = 256; count <= bytes.size(); count *= 16) {
      up.push_back({static_cast<double>(count),
                    quickest([&] { buffer->upload(0, bytes.data(), count); })});
      down.push_back({static_cast<double>(count), quickest([&] {
                        buffer->download(0, bytes.data(), count);
                      })});
    }
    found_.upload = runtime::Curve(std::move(up));
    found_.download = runtime::Curve(std::move(down));
  }

  void measure_case(const MeasureCase& what) {
    const auto family = static_cast<size_t>(what.family);
    std::vector<runtime::Curve::Point> points;
    try {
      for (const int64_t size : what.sizes) {
        const auto units = units_of(what, size);
        const double seconds = quickest(what.make(operands_, size));
        points.push_back({units, seconds});
        if (seconds > kTooLong) break;
        step(done_);  // it may be wanted no more
      }
    } catch (const Error& error) {
      switch (error.status()) {
        case RC_E_UNSUPPORTED:
          // Few sizes are not enough to judge.
          found_.lacking[family] = points.empty();
          break;
        case RC_E_DEVICE_MEMORY:
          break;
        default:
          throw;
      }
    }
    found_.families[family] = runtime::Curve(std::move(points));
  }

  double units_of(const MeasureCase& what, int64_t size) const {
    const Tensor result = what.make(outlines_, size)();
    const OpWork& work = result.storage->choice()->work;
    for (int i = 0; i < work.part_count; ++i) {
      if (work.parts[i].family == what.family) return work.parts[i].units;
    }
    fail(RC_E_INTERNAL, "no ", op_family_name(what.family), " are measured by ",
         result.storage->choice()->op);
  }

  // Summarizes the curves, for ops that have none.
  void sum_up() {
    const auto& families = found_.families;
    const auto rate = [&](OpFamily family) {
      return families[static_cast<size_t>(family)].rate();
    };
    for (const runtime::Curve& curve : families) {
      if (curve.empty()) continue;
      const double first = curve.points().front().seconds;
      if (found_.launch == 0 || first < found_.launch) found_.launch = first;
    }
    found_.bandwidth = rate(OpFamily::kElements);
    found_.multiplying = {rate(OpFamily::kProductsF32),
                          rate(OpFamily::kProductsF16),
                          rate(OpFamily::kProductsQ4)};
  }

  const MeasureProgress& progress_;
  double done_ = 0;
  MeasureOperands operands_;
  MeasureOperands outlines_;
  runtime::Calibration found_;
};

// Never destroyed: threads may measure while the process ends.
std::mutex& measuring() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

}  // namespace

runtime::Calibration measure(const std::shared_ptr<runtime::Device>& device,
                             const MeasureProgress& progress) {
  return Measurement(device, progress).run();
}

const runtime::Calibration* calibrate(const runtime::ReportedDevice& device,
                                      const runtime::DeviceOptions& options,
                                      bool again,
                                      const MeasureProgress& progress) {
  const std::lock_guard lock(measuring());
  if (!again) {
    const auto* known = runtime::find_calibration(device, options.threads);
    if (known != nullptr) return known;
  }
  runtime::DeviceOptions plain = options;
  plain.profile = false;  // it slows small ops down
  const auto opened = runtime::select({device.id(), 0, plain}).device;
  return runtime::keep_calibration(device, options.threads,
                                   measure(opened, progress));
}

}  // namespace rc::compute

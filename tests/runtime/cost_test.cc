// Estimates and choices among devices that are made up of numbers.
#include "runtime/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rc::runtime {
namespace {

// A processor with memory of 20 GB/s, and GPUs: 10 us to start an op, 1 TB/s,
// on a bus of 20 GB/s; and one that shares the host's memory and is slower.
Calibration cpu() {
  Calibration device;
  device.launch = 0.5e-6;
  device.bandwidth = 20e9;
  device.multiplying = {50e9, 50e9, 100e9};
  device.upload = device.download = Curve::line(0.1e-6, 10e9);
  return device;
}
Calibration gpu() {
  Calibration device;
  device.launch = 10e-6;
  device.bandwidth = 1e12;
  device.multiplying = {10e12, 20e12, 20e12};
  device.upload = device.download = Curve::line(10e-6, 20e9);
  return device;
}

OpWork elements(double count) {
  OpWork work;
  work.parts[work.part_count++] = {OpFamily::kElements, 12 * count};
  work.bytes = 12 * count;
  return work;
}

OpWork product(double side) {
  OpWork work;
  work.parts[0] = {OpFamily::kProductsF32, side * side * side};
  work.parts[1] = {OpFamily::kVectorsF32, side * side};
  work.part_count = 2;
  work.bytes = 12 * side * side;
  work.multiplications = side * side * side;
  return work;
}

constexpr int kCpu = 0;
constexpr int kGpu = 1;

class Choice : public testing::Test {
 protected:
  // Both operands of `bytes` each on these devices.
  std::vector<Estimate> rank(const OpWork& work, double bytes, int first,
                             int second) {
    const OperandPlace operands[] = {{first, bytes}, {second, bytes}};
    const Calibration* const devices[] = {&cpu_, &gpu_};
    Estimate room[2];
    const auto found = estimate(work, operands, devices, room);
    return {found.begin(), found.end()};
  }
  int best_of_elements(double count, int first, int second) {
    return rank(elements(count), 4 * count, first, second).front().device;
  }
  int best_of_product(double side, int first, int second) {
    return rank(product(side), 4 * side * side, first, second).front().device;
  }

  const Calibration cpu_ = cpu();
  const Calibration gpu_ = gpu();
};

TEST_F(Choice, SmallWorkStaysOnTheCpu) {
  EXPECT_EQ(best_of_elements(100, kCpu, kCpu), kCpu);
  EXPECT_EQ(best_of_product(16, kCpu, kCpu), kCpu);
  EXPECT_EQ(best_of_product(64, kCpu, kCpu), kCpu);
}

TEST_F(Choice, LargeWorkGoesToTheGpu) {
  // 2 x 4 MB over the bus take 420 us and 840 with the way from the CPU's
  // buffers, the product takes 107 us there and 21 ms on the CPU.
  EXPECT_EQ(best_of_product(1024, kCpu, kCpu), kGpu);
  EXPECT_EQ(best_of_product(4096, kCpu, kCpu), kGpu);
}

TEST_F(Choice, ElementwiseWorkStaysOnTheCpu) {
  // Each number is used once: the bus takes longer than the CPU's memory.
  for (const double count : {1e3, 1e5, 1e7}) {
    EXPECT_EQ(best_of_elements(count, kCpu, kCpu), kCpu) << count;
  }
}

TEST_F(Choice, WorkRunsWhereItsOperandsAre) {
  for (const double count : {1e2, 1e5, 1e7}) {
    EXPECT_EQ(best_of_elements(count, kGpu, kGpu), kGpu) << count;
  }
  EXPECT_EQ(best_of_product(64, kGpu, kGpu), kGpu);
  // The bigger operand decides; one that lies there already need not be moved.
  EXPECT_EQ(best_of_elements(1e7, kGpu, kCpu), kGpu);
}

TEST_F(Choice, EstimateIsTheSumOfComputeAndTransfer) {
  const auto order = rank(product(1024), 4.0 * 1024 * 1024, kGpu, kCpu);
  ASSERT_EQ(order.size(), 2u);
  EXPECT_EQ(order[0].device, kGpu);
  const double bytes = 4.0 * 1024 * 1024;
  EXPECT_DOUBLE_EQ(order[0].compute, 10e-6 + 1024.0 * 1024 * 1024 / 10e12);
  EXPECT_DOUBLE_EQ(order[0].transfer,
                   0.1e-6 + bytes / 10e9 + 10e-6 + bytes / 20e9);
  EXPECT_DOUBLE_EQ(order[0].seconds(), order[0].compute + order[0].transfer);
  EXPECT_DOUBLE_EQ(order[1].compute, 0.5e-6 + 1024.0 * 1024 * 1024 / 50e9);
}

TEST_F(Choice, MeasuredCurvesReplaceTheFormula) {
  Calibration slow = gpu();
  slow.families[static_cast<size_t>(OpFamily::kProductsF32)] =
      Curve::line(1, 1e9);
  EXPECT_DOUBLE_EQ(*slow.seconds(product(1000)), 2);
  // The longest part of an op counts.
  slow.families[static_cast<size_t>(OpFamily::kVectorsF32)] =
      Curve::line(3, 1e9);
  EXPECT_NEAR(*slow.seconds(product(1000)), 3.001, 1e-9);
}

TEST_F(Choice, UnsupportedAndUnmeasuredDevicesAreSkipped) {
  Calibration lacking = gpu();
  lacking.lacking[static_cast<size_t>(OpFamily::kElements)] = true;
  const OperandPlace operands[] = {{1, 100}};
  const Calibration* const devices[] = {nullptr, &lacking, &cpu_};
  Estimate room[3];
  const auto sums = estimate(elements(10), operands, devices, room);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].device, 2);
  EXPECT_EQ(estimate(product(10), operands, devices, room).size(), 2u);
}

TEST_F(Choice, EquallyFastDevicesKeepTheirOrder) {
  const Calibration* const devices[] = {&cpu_, &cpu_};
  Estimate room[2];
  const auto found = estimate(elements(10), {}, devices, room);
  EXPECT_EQ(found[0].device, 0);
  EXPECT_EQ(found[1].device, 1);
}

TEST_F(Choice, OperandsOnUnknownDevicesCostATransfer) {
  const OperandPlace operands[] = {{kElsewhere, 1e6}};
  const Calibration* const devices[] = {&cpu_};
  Estimate room[1];
  EXPECT_GT(estimate(elements(10), operands, devices, room)[0].transfer, 1e-4);
}

TEST(DeviceOfMost, ChoosesTheDeviceWithMostBytes) {
  const OperandPlace operands[] = {{0, 10}, {1, 8}, {1, 8}};
  EXPECT_EQ(device_of_most(operands, 5), 1);
  const OperandPlace equals[] = {{2, 10}, {1, 10}};
  EXPECT_EQ(device_of_most(equals, 5), 2);
  const OperandPlace away[] = {{kElsewhere, 10}, {1, 1}};
  EXPECT_EQ(device_of_most(away, 5), 5);
  EXPECT_EQ(device_of_most({}, 5), 5);
}

TEST(Curve, InterpolatesAndExtrapolatesLinearly) {
  const Curve curve({{200, 4}, {100, 2}, {400, 10}});
  EXPECT_DOUBLE_EQ(curve.seconds(0), 2);
  EXPECT_DOUBLE_EQ(curve.seconds(100), 2);
  EXPECT_DOUBLE_EQ(curve.seconds(150), 3);
  EXPECT_DOUBLE_EQ(curve.seconds(300), 7);
  EXPECT_DOUBLE_EQ(curve.seconds(1000), 28);
  EXPECT_DOUBLE_EQ(curve.rate(), 200.0 / 6);
}

TEST(Curve, SlowMeasurementsBeforeFasterOnesAreLowered) {
  const Curve curve({{1, 9}, {2, 3}, {3, 5}, {3, 4}});
  EXPECT_EQ(curve.points(),
            (std::vector<Curve::Point>{{1, 3}, {2, 3}, {3, 4}}));
}

TEST(Curve, SinglePointIsExtrapolatedProportionally) {
  const Curve curve({{10, 1}});
  EXPECT_DOUBLE_EQ(curve.seconds(5), 1);
  EXPECT_DOUBLE_EQ(curve.seconds(30), 3);
  EXPECT_DOUBLE_EQ(curve.rate(), 10);
}

TEST(CalibrationText, RoundTrips) {
  Calibration device = gpu();
  device.families[static_cast<size_t>(OpFamily::kNorms)] =
      Curve({{64, 1.5e-5}, {4096, 2.25e-5}});
  device.lacking[static_cast<size_t>(OpFamily::kPowers)] = true;
  const auto back = parse_calibration(calibration_text(device));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->launch, device.launch);
  EXPECT_EQ(back->bandwidth, device.bandwidth);
  EXPECT_EQ(back->multiplying, device.multiplying);
  EXPECT_EQ(back->upload.points(), device.upload.points());
  EXPECT_EQ(back->lacking, device.lacking);
  for (size_t i = 0; i < kOpFamilies; ++i) {
    EXPECT_EQ(back->families[i].points(), device.families[i].points());
  }
}

TEST(CalibrationText, InvalidTextIsRefused) {
  const std::string good = calibration_text(gpu());
  EXPECT_FALSE(parse_calibration("").has_value());
  // Cut short anywhere.
  for (size_t length = 0; length + 4 < good.size(); ++length) {
    EXPECT_FALSE(parse_calibration(good.substr(0, length)).has_value());
  }
  for (const char* line :
       {"launch -1", "launch nan", "launch inf", "launch 1e999", "launch",
        "launch 1 2", "multiplying 1 2", "upload 1", "upload 1 0", "upload 0 1",
        "upload 1 x", "elementary 1 1", "lacking", "lacking everything",
        "\x01\xff"}) {
    EXPECT_FALSE(parse_calibration(line + std::string("\nend\n")).has_value())
        << line;
  }
  std::string many = "norms";
  for (int i = 0; i < 100; ++i) many += " 1 1";
  EXPECT_FALSE(parse_calibration(many + "\nend\n").has_value());
}

}  // namespace
}  // namespace rc::runtime

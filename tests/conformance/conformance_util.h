// One op at a time on every device of every backend here, against a naive f64
// computation in the test.
//
// The error of an output is its normalised mean square, sum((a - b)^2) /
// sum(b^2). The sums of a product may cancel, so that the rounding of their
// terms is large in comparison with the result: for products sum(b^2) is
// replaced by its value for terms of random sign, the sum of the squared terms.
// A few results scatter much around the mean error, so the error of n results
// is divided by 1 + 16 / n: one result may be off by four standard deviations.
// The tests print the largest error per device, op and kind of data at the end.
// The reference backend always has to stay below kReferenceTolerance: it rounds
// to f32 once. Each test states the tolerance of other devices.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/program.h"

namespace rc::test {

// One rounding to f32 is at most (2^-24)^2 = 3.6e-15.
inline constexpr double kReferenceTolerance = 1e-14;
// f32 sums in any order, and functions such as exp good to some 1e-6.
inline constexpr double kF32Tolerance = 1e-11;

// For products with weights or caches of a type. A backend may round the other
// factor as well: to f16 (2^-11 relative), to bf16 (2^-8), or, with quantized
// weights, to 8 bits per block: with a largest element of some three standard
// deviations a step of 3/127 has the mean square (3/127)^2 / 12 = 4.7e-5.
double product_tolerance(DType dtype);

// Values as numbers, and as stored.
struct Data {
  std::vector<double> values;
  std::vector<std::byte> bytes;
};
// Normally distributed, the same at each run of the tests.
Data random_f32(int64_t count, double deviation = 1);
Data random_data(DType dtype, int64_t rows, int64_t columns);
Data numbers(const std::vector<int32_t>& values);
Data floats(const std::vector<float>& values);

// RC_FUNCTION_* of x, by its definition.
double exact_function(rc_function function, double x);

// The types that weights may have, with numbers of columns that are the
// smallest, odd, prime and large in blocks of the type.
std::vector<DType> decodable_types();
std::vector<int64_t> column_counts(DType dtype);
// Names tests that have a type as parameter.
std::string name_of_type(const testing::TestParamInfo<DType>& info);

// All devices that open, and their ids, "cpu:0"; without those that an
// OnDrivers leaves out.
std::vector<std::shared_ptr<runtime::Device>> devices();
std::vector<std::string> device_ids();

// Leaves devices of drivers, whose kernels take long to compile, out of the ops
// of one type while it exists. Common types run everywhere; the others run
// there in `tests/run.sh full` alone, where the variable TEST_SET is
// "full".
class OnDrivers {
 public:
  explicit OnDrivers(DType dtype);
  ~OnDrivers();
  OnDrivers(const OnDrivers&) = delete;
  OnDrivers& operator=(const OnDrivers&) = delete;
};

// The elements of rows of `columns` in the layout of a type.
std::vector<double> decode(DType dtype, const std::vector<std::byte>& bytes,
                           int64_t columns);

// Notes the error of an output in the table, and fails if it is too large.
// `squares` is the sum of the squared terms of sums; 0: of the results.
void compare(const std::string& device, const std::string& op,
             const std::string& detail, double tolerance,
             const std::vector<double>& actual,
             const std::vector<double>& expected, double squares);

// Notes why a device has no result.
void note_missing(const std::string& device, const std::string& op,
                  const std::string& detail, const std::string& why);

class OpTest {
 public:
  // `detail` names the kind of data in the table of errors.
  OpTest(std::string op, std::string detail, Rows rows)
      : op_(std::move(op)), detail_(std::move(detail)), rows_(rows) {}

  runtime::ProgramBuilder builder;

  runtime::Value input(DType dtype, const runtime::ProgramBuilder::Shape& shape,
                       const Data& data);
  runtime::Value weight(DType dtype,
                        const runtime::ProgramBuilder::Shape& shape,
                        uint32_t use, const Data& data);
  runtime::Value cache(DType dtype, const runtime::ProgramBuilder::Shape& shape,
                       const Data& data);
  void expect(runtime::Value value, std::vector<double> expected);
  // The same for sums; `squares` is the sum of all their terms squared.
  void expect_sums(runtime::Value value, std::vector<double> expected,
                   double squares);
  // The same for the contents of a cache after the run.
  void expect_cache(runtime::Value value, std::vector<double> expected);

  // Runs everywhere. On CPU devices every row must also come out the same, bit
  // for bit, when it is the only one; and so must all where weights are mapped,
  // on devices that can do that.
  void run(double tolerance);

 private:
  using Bytes = std::vector<std::byte>;
  void run_on(const std::shared_ptr<runtime::Device>& device, double tolerance);
  std::vector<Bytes> outputs(runtime::Program& program,
                             const std::vector<Bytes>& inputs,
                             const Rows& rows) const;
  void check_alone(runtime::Program& program,
                   const std::vector<Bytes>& together) const;
  void check_mapped(const std::shared_ptr<runtime::Device>& device,
                    const std::vector<Bytes>& copied) const;
  std::string op_;
  std::string detail_;
  Rows rows_;
  runtime::ProgramDescription description_;
  std::vector<Bytes> inputs_;
  std::vector<rc_plugin_value> input_values_;
  std::vector<Bytes> weights_;
  std::vector<Bytes> caches_;
  std::vector<std::vector<double>> expected_;
  std::vector<double> squares_;  // 0: those of the results themselves
  std::vector<rc_plugin_value> output_values_;
  std::map<int, std::vector<double>> expected_caches_;
};

}  // namespace rc::test

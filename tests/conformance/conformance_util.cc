#include "conformance_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <random>
#include <span>
#include <tuple>

#include "base/error.h"

namespace rc::test {
namespace {

using runtime::Buffer;
using runtime::Device;
using runtime::Program;
using runtime::ProgramBuilder;
using runtime::RunArguments;
using runtime::Value;
using runtime::Weight;

std::mt19937& random_bits() {
  static std::mt19937 generator(20240229);
  return generator;
}

// The largest error, or why there is none, by device, op and kind of data.
struct Entry {
  double error = 0;
  double tolerance = 0;
  std::string missing;
};
using Key = std::tuple<std::string, std::string, std::string>;
std::map<Key, Entry>& table() {
  static std::map<Key, Entry> entries;
  return entries;
}

class PrintTable : public testing::Environment {
  void TearDown() override {
    std::cout << std::left << std::setw(16) << "device" << std::setw(16) << "op"
              << std::setw(24) << "data" << std::setw(12) << "error"
              << "allowed\n";
    for (const auto& [key, entry] : table()) {
      const auto& [device, op, detail] = key;
      std::cout << std::setw(16) << device << std::setw(16) << op
                << std::setw(24) << detail;
      if (entry.missing.empty()) {
        std::cout << std::setw(12) << entry.error << entry.tolerance << "\n";
      } else {
        std::cout << entry.missing << "\n";
      }
    }
  }
};
const auto* const g_print_table =
    testing::AddGlobalTestEnvironment(new PrintTable);

rc_plugin_value value_of(DType dtype, const ProgramBuilder::Shape& shape) {
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  return value;
}

}  // namespace

std::vector<double> decode(DType dtype, const std::vector<std::byte>& bytes,
                           int64_t columns) {
  std::vector<double> values;
  if (dtype == RC_DTYPE_I32) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(int32_t)) {
      int32_t number = 0;
      std::memcpy(&number, bytes.data() + at, sizeof number);
      values.push_back(number);
    }
    return values;
  }
  if (dtype == RC_DTYPE_F64) {
    values.resize(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  const uint64_t row = row_bytes(dtype, columns).value();
  std::vector<float> plain(columns);
  for (uint64_t offset = 0; offset < bytes.size(); offset += row) {
    decode_row(dtype, bytes.data() + offset, plain.data(), columns);
    values.insert(values.end(), plain.begin(), plain.end());
  }
  return values;
}

double product_tolerance(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_F32:
    case RC_DTYPE_F64:
      return kF32Tolerance;
    case RC_DTYPE_F16:
      return 1e-6;
    case RC_DTYPE_BF16:
      return 1e-5;
  }
  return 1e-4;
}

double exact_function(rc_function function, double x) {
  constexpr double kPi = 3.14159265358979323846;
  switch (function) {
    case RC_FUNCTION_RELU:
      return x > 0 ? x : 0;
    case RC_FUNCTION_SIGMOID:
      return 1 / (1 + std::exp(-x));
    case RC_FUNCTION_TANH:
      return std::tanh(x);
    case RC_FUNCTION_SILU:
      return x / (1 + std::exp(-x));
    case RC_FUNCTION_GELU:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case RC_FUNCTION_GELU_TANH:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
    case RC_FUNCTION_GELU_QUICK:
      return x / (1 + std::exp(-1.702 * x));
  }
  return x;
}

Data random_f32(int64_t count, double deviation) {
  std::normal_distribution<float> normal(0, static_cast<float>(deviation));
  std::vector<float> plain(count);
  for (float& value : plain) value = normal(random_bits());
  Data data;
  data.values.assign(plain.begin(), plain.end());
  const auto bytes = std::as_bytes(std::span(plain));
  data.bytes.assign(bytes.begin(), bytes.end());
  return data;
}

Data random_data(DType dtype, int64_t rows, int64_t columns) {
  const DTypeInfo& info = *dtype_info(dtype);
  const uint64_t row = row_bytes(dtype, columns).value();
  Data data;
  data.bytes.resize(rows * row);
  if (encodable(dtype)) {
    // Integers would round most of a standard normal distribution to nothing.
    const bool integer = dtype >= RC_DTYPE_I8 && dtype <= RC_DTYPE_I64;
    std::normal_distribution<float> normal(0, integer ? 30 : 1);
    std::vector<float> plain(columns);
    for (int64_t r = 0; r < rows; ++r) {
      for (float& value : plain) value = normal(random_bits());
      encode_row(dtype, plain.data(), data.bytes.data() + r * row, columns);
    }
  } else {
    // Any bytes are a block; those with reasonable scales are taken.
    std::vector<float> plain(info.block_size);
    for (uint64_t offset = 0; offset < data.bytes.size();
         offset += info.block_bytes) {
      bool reasonable = false;
      while (!reasonable) {
        for (int64_t i = 0; i < info.block_bytes; ++i) {
          data.bytes[offset + i] = static_cast<std::byte>(random_bits()());
        }
        decode_row(dtype, data.bytes.data() + offset, plain.data(),
                   info.block_size);
        double squares = 0;
        for (float value : plain) squares += value * value;
        const double mean = squares / static_cast<double>(info.block_size);
        reasonable = mean > 0.1 && mean < 10;
      }
    }
  }
  data.values = decode(dtype, data.bytes, columns);
  return data;
}

Data numbers(const std::vector<int32_t>& values) {
  Data data;
  data.values.assign(values.begin(), values.end());
  const auto bytes = std::as_bytes(std::span(values));
  data.bytes.assign(bytes.begin(), bytes.end());
  return data;
}

Data floats(const std::vector<float>& values) {
  Data data;
  data.values.assign(values.begin(), values.end());
  const auto bytes = std::as_bytes(std::span(values));
  data.bytes.assign(bytes.begin(), bytes.end());
  return data;
}

std::vector<DType> decodable_types() {
  std::vector<DType> types;
  for (DType dtype = 0; dtype < 64; ++dtype) {
    const DTypeInfo* info = dtype_info(dtype);
    if (info != nullptr && info->decodable) types.push_back(dtype);
  }
  return types;
}

std::vector<int64_t> column_counts(DType dtype) {
  const int64_t block = dtype_info(dtype)->block_size;
  if (block == 1) return {1, 7, 127, 1024};
  if (block < 256) return {block, 3 * block, 17 * block, 32 * block};
  return {block, 3 * block, 7 * block};
}

std::string name_of_type(const testing::TestParamInfo<DType>& info) {
  return dtype_name(info.param);
}

void compare(const std::string& device, const std::string& op,
             const std::string& detail, double tolerance,
             const std::vector<double>& actual,
             const std::vector<double>& expected, double squares) {
  ASSERT_EQ(actual.size(), expected.size());
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  if (squares > 0) {
    size = squares * (1 + 16 / static_cast<double>(actual.size()));
  }
  const double error = difference == 0 ? 0 : difference / size;
  Entry& entry = table()[{device, op, detail}];
  // A NaN stays.
  if (!(error <= entry.error)) entry.error = error;
  entry.tolerance = tolerance;
  EXPECT_LE(error, tolerance);
}

void note_missing(const std::string& device, const std::string& op,
                  const std::string& detail, const std::string& why) {
  table()[{device, op, detail}].missing = why;
}

Value OpTest::input(DType dtype, const ProgramBuilder::Shape& shape,
                    const Data& data) {
  inputs_.push_back(data.bytes);
  input_values_.push_back(value_of(dtype, shape));
  return builder.input(dtype, shape);
}

Value OpTest::weight(DType dtype, const ProgramBuilder::Shape& shape,
                     uint32_t use, const Data& data) {
  weights_.push_back(data.bytes);
  return builder.weight(cat("weight ", weights_.size()), dtype, shape, use);
}

Value OpTest::cache(DType dtype, const ProgramBuilder::Shape& shape,
                    const Data& data) {
  caches_.push_back(data.bytes);
  return builder.cache(dtype, shape);
}

void OpTest::expect(Value value, std::vector<double> expected) {
  expect_sums(value, std::move(expected), 0);
}

void OpTest::expect_sums(Value value, std::vector<double> expected,
                         double squares) {
  const int index = builder.output(value);
  ASSERT_EQ(static_cast<size_t>(index), expected_.size());
  expected_.push_back(std::move(expected));
  squares_.push_back(squares);
}

void OpTest::expect_cache(Value value, std::vector<double> expected) {
  expected_caches_[value] = std::move(expected);
}

void OpTest::run(double tolerance) {
  description_ = std::move(builder).take();
  output_values_.resize(description_.output_count);
  for (const rc_plugin_value& value : description_.values) {
    if (value.storage == RC_STORAGE_OUTPUT) output_values_[value.index] = value;
  }
  for (const auto& device : devices()) {
    SCOPED_TRACE(
        cat(device->id(), " ", op_, " ", detail_, ", ", rows_.rows, " rows"));
    const bool reference = device->id() == "reference:0";
    run_on(device,
           reference ? std::min(tolerance, kReferenceTolerance) : tolerance);
  }
}

void OpTest::run_on(const std::shared_ptr<Device>& device, double tolerance) {
  std::vector<std::shared_ptr<Weight>> weights;
  std::vector<std::shared_ptr<Buffer>> caches;
  std::unique_ptr<Program> program;
  try {
    for (size_t i = 0; i < weights_.size(); ++i) {
      weights.push_back(
          device->create_weight(description_.weights[i], weights_[i].data()));
    }
    for (const Bytes& bytes : caches_) {
      caches.push_back(device->create_buffer(bytes.size()));
      caches.back()->upload(0, bytes.data(), bytes.size());
    }
    program = Program::compile(device, description_,
                               {rows_.rows, rows_.outputs, rows_.sequences},
                               weights, caches);
  } catch (const Error& error) {
    // An unsupported op is no failure; the table lists it.
    if (error.status() != RC_E_UNSUPPORTED) throw;
    note_missing(device->id(), op_, detail_, error.message());
    return;
  }
  const std::vector<Bytes> results = outputs(*program, inputs_, rows_);
  for (size_t i = 0; i < results.size(); ++i) {
    compare(device->id(), op_, detail_, tolerance,
            decode(output_values_[i].dtype, results[i],
                   output_values_[i].shape[output_values_[i].rank - 1]),
            expected_[i], squares_[i]);
  }
  for (const auto& [number, expected] : expected_caches_) {
    const rc_plugin_value& value = description_.values[number];
    Bytes bytes(caches[value.index]->bytes());
    caches[value.index]->download(0, bytes.data(), bytes.size());
    compare(device->id(), op_, detail_, tolerance,
            decode(value.dtype, bytes, value.shape[value.rank - 1]), expected,
            0);
  }
  const rc_device_kind kind = device->info().kind;
  if (kind == RC_DEVICE_CPU && rows_.outputs == 0) {
    check_alone(*program, results);
  }
  if (device->maps_weights() && caches_.empty()) check_mapped(device, results);
}

std::vector<OpTest::Bytes> OpTest::outputs(Program& program,
                                           const std::vector<Bytes>& inputs,
                                           const Rows& rows) const {
  RunArguments arguments = {rows.rows, rows.outputs, rows.sequences, {}, {}};
  for (const Bytes& bytes : inputs) arguments.inputs.push_back(bytes.data());
  std::vector<Bytes> results;
  results.reserve(output_values_.size());
  for (const rc_plugin_value& value : output_values_) {
    results.emplace_back(value_bytes(value, rows).value());
    arguments.outputs_data.push_back(results.back().data());
  }
  program.run(arguments, -1);
  return results;
}

void OpTest::check_alone(Program& program,
                         const std::vector<Bytes>& together) const {
  for (int64_t row : {int64_t{0}, rows_.rows - 1}) {
    const Rows one = {1, 0, rows_.sequences};
    std::vector<Bytes> inputs = inputs_;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (input_values_[i].shape[0] != RC_DIM_ROWS) continue;
      const auto size =
          static_cast<int64_t>(value_bytes(input_values_[i], one).value());
      inputs[i].assign(inputs_[i].begin() + row * size,
                       inputs_[i].begin() + (row + 1) * size);
    }
    const std::vector<Bytes> alone = outputs(program, inputs, one);
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(std::memcmp(alone[i].data(),
                            together[i].data() + row * alone[i].size(),
                            alone[i].size()),
                0)
          << "row " << row << " alone is not what it is among the others";
    }
  }
}

void OpTest::check_mapped(const std::shared_ptr<Device>& device,
                          const std::vector<Bytes>& copied) const {
  std::vector<std::shared_ptr<Weight>> weights;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const runtime::WeightInfo& info = description_.weights[i];
    if ((info.uses & RC_USE_ELEMENTS) != 0) {
      weights.push_back(device->create_weight(info, weights_[i].data()));
      continue;
    }
    // At an odd address, as files may have it.
    const auto odd = std::make_shared<Bytes>(weights_[i].size() + 1);
    std::copy(weights_[i].begin(), weights_[i].end(), odd->begin() + 1);
    weights.push_back(device->map_weight(info, odd->data() + 1, odd));
  }
  const auto program = Program::compile(
      device, description_, {rows_.rows, rows_.outputs, rows_.sequences},
      weights, {});
  const std::vector<Bytes> mapped = outputs(*program, inputs_, rows_);
  for (size_t i = 0; i < copied.size(); ++i) {
    EXPECT_EQ(mapped[i], copied[i]) << "output " << i << " of mapped weights";
  }
}

}  // namespace rc::test

#include "runtime/self_test.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/remembered.h"
#include "reference/plugin.h"
#include "runtime/profile.h"
#include "runtime/program.h"
#include "tensor/dtype.h"

namespace rc::runtime {
namespace {

using Bytes = std::vector<std::byte>;

// Normalised mean squared error. Kernels that round activations to 8 bits stay
// below a tenth of it; a wrong kernel is far beyond.
constexpr double kTolerance = 1e-3;
constexpr int64_t kTimeLimitMs = 30'000;

// One and several: many backends have a kernel for each.
constexpr int64_t kRowCounts[] = {1, 11};
constexpr int64_t kMostRows = 11;

// Numbers of about -1 to 1, the same each time (a linear congruential sequence
// with the constants of Knuth's MMIX).
std::vector<float> numbers(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint64_t state = 20240229;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<int32_t>(state >> 32)) * 0x1p-31f;
  }
  return values;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return Bytes(bytes.begin(), bytes.end());
}

// A program and what it is run on; its inputs begin with rows.
struct Case {
  std::string name;
  ProgramBuilder builder;
  std::vector<Bytes> weights;
  std::vector<uint64_t> caches;  // bytes
  std::vector<Bytes> inputs;     // of kMostRows rows, or the page table
  int64_t columns = 0;           // of the output

  Value input(const ProgramBuilder::Shape& shape) {
    int64_t count = kMostRows;
    for (size_t i = 1; i < shape.size(); ++i) count *= shape[i];
    inputs.push_back(bytes_of(numbers(count)));
    return builder.input(RC_DTYPE_F32, shape);
  }
  Value indices(const ProgramBuilder::Shape& shape,
                const std::vector<int32_t>& values) {
    inputs.push_back(bytes_of(values));
    return builder.input(RC_DTYPE_I32, shape);
  }
  Value weight(DType dtype, const ProgramBuilder::Shape& shape, uint32_t use) {
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    const std::vector<float> values = numbers(rows * shape.back());
    const uint64_t row = *row_bytes(dtype, shape.back());
    Bytes bytes(static_cast<size_t>(row) * static_cast<size_t>(rows));
    for (int64_t r = 0; r < rows; ++r) {
      encode_row(dtype, values.data() + r * shape.back(),
                 bytes.data() + static_cast<uint64_t>(r) * row, shape.back());
    }
    weights.push_back(std::move(bytes));
    return builder.weight(cat("w", weights.size()), dtype, shape, use);
  }
  void output(Value x) {
    columns = 1;
    const ProgramBuilder::Shape shape = builder.shape(x);
    for (size_t i = 1; i < shape.size(); ++i) columns *= shape[i];
    builder.output(x);
  }
};

Case linear(DType dtype) {
  Case result;
  result.name = cat("LINEAR with ", dtype_name(dtype));
  constexpr int64_t kColumns = 512;
  constexpr int64_t kSize = 40;
  const Value x = result.input({RC_DIM_ROWS, kColumns});
  const Value w = result.weight(dtype, {kSize, kColumns}, RC_USE_LINEAR);
  result.output(result.builder.linear(x, w));
  return result;
}

Case norm() {
  Case result;
  result.name = "RMS_NORM";
  const Value x = result.input({RC_DIM_ROWS, 96});
  const Value w = result.weight(RC_DTYPE_F32, {96}, RC_USE_ELEMENTS);
  result.output(result.builder.rms_norm(x, w, 1e-5f));
  return result;
}

Case gated() {
  Case result;
  result.name = "GLU";
  const Value gate = result.input({RC_DIM_ROWS, 80});
  const Value up = result.input({RC_DIM_ROWS, 80});
  result.output(result.builder.glu(gate, up, RC_ACTIVATION_SILU));
  return result;
}

// Rotary embedding, and attention over a cache that the rows are put into.
Case attention() {
  Case result;
  result.name = "ROPE, CACHE_STORE and ATTENTION";
  ProgramBuilder& builder = result.builder;
  constexpr int64_t kHeads = 4;
  constexpr int64_t kKvHeads = 2;
  constexpr int64_t kSize = 32;
  constexpr int64_t kPages = 2;
  constexpr int64_t kPageSize = 16;
  std::vector<int32_t> counted(kMostRows);
  for (int32_t i = 0; i < kMostRows; ++i) counted[static_cast<size_t>(i)] = i;
  const Value q = result.input({RC_DIM_ROWS, kHeads, kSize});
  const Value k = result.input({RC_DIM_ROWS, kKvHeads, kSize});
  const Value positions = result.indices({RC_DIM_ROWS}, counted);
  const Value sequences =
      result.indices({RC_DIM_ROWS}, std::vector<int32_t>(kMostRows, 0));
  const Value pages = result.indices({RC_DIM_SEQUENCES, 1}, {1});
  const Value frequencies =
      result.weight(RC_DTYPE_F32, {kSize / 2}, RC_USE_ELEMENTS);
  const ProgramBuilder::Shape shape = {kPages, kKvHeads, kPageSize, kSize};
  const Value keys = builder.cache(RC_DTYPE_F16, shape);
  const Value values = builder.cache(RC_DTYPE_F16, shape);
  result.caches.assign(
      2, static_cast<uint64_t>(kPages * kKvHeads * kPageSize * kSize) *
             sizeof(uint16_t));
  builder.cache_store(
      builder.rope(k, positions, frequencies, RC_ROPE_HALVES, 1), positions,
      sequences, pages, keys);
  builder.cache_store(k, positions, sequences, pages, values);
  const Value y = builder.attention(
      builder.rope(q, positions, frequencies, RC_ROPE_ADJACENT, 1), keys,
      values, positions, sequences, pages, 0.2f, 0, 0);
  result.output(y);
  return result;
}

// The outputs for each number of rows.
std::vector<std::vector<float>> results(const Case& test,
                                        const ProgramDescription& description,
                                        const std::shared_ptr<Device>& device) {
  std::vector<std::shared_ptr<Weight>> weights;
  for (size_t i = 0; i < test.weights.size(); ++i) {
    weights.push_back(
        device->create_weight(description.weights[i], test.weights[i].data()));
  }
  std::vector<std::shared_ptr<Buffer>> caches;
  for (const uint64_t bytes : test.caches) {
    caches.push_back(device->create_buffer(bytes));
  }
  const auto program = Program::compile(device, description, {kMostRows, 0, 1},
                                        std::move(weights), std::move(caches));
  std::vector<std::vector<float>> all;
  for (const int64_t rows : kRowCounts) {
    all.emplace_back(static_cast<size_t>(rows * test.columns));
    RunArguments arguments;
    arguments.rows = rows;
    arguments.sequences = 1;
    for (const Bytes& input : test.inputs) {
      arguments.inputs.push_back(input.data());
    }
    arguments.outputs_data.push_back(all.back().data());
    program->run(arguments, kTimeLimitMs);
  }
  return all;
}

double error_of(const std::vector<float>& actual,
                const std::vector<float>& expected) {
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double d = double{actual[i]} - double{expected[i]};
    difference += d * d;
    size += double{expected[i]} * double{expected[i]};
  }
  return difference / size;
}

bool supports_all(const Device& device, const ProgramDescription& description) {
  for (const rc_plugin_op& op : description.ops) {
    Message message;
    if (device.op_supported(op, description.values.data(), message) != RC_OK) {
      return false;
    }
  }
  return true;
}

// "" if it passed.
std::string run(Case test, const std::shared_ptr<Device>& device,
                const std::shared_ptr<Device>& reference) {
  const ProgramDescription description = std::move(test.builder).take();
  if (!supports_all(*device, description)) return "";
  try {
    const auto actual = results(test, description, device);
    const auto expected = results(test, description, reference);
    for (size_t i = 0; i < actual.size(); ++i) {
      const double error = error_of(actual[i], expected[i]);
      // Written so that a NaN fails.
      if (!(error < kTolerance)) {
        return cat(test.name, " of ", kRowCounts[i],
                   " rows is off by a normalised mean squared error of ", error,
                   " from the reference; at most ", kTolerance, " is allowed");
      }
    }
  } catch (const Error& error) {
    return cat(test.name, ": ", error.message());
  }
  return "";
}

}  // namespace

std::string self_test(const std::shared_ptr<Device>& device,
                      const std::string& module) {
  const rc_plugin_device_info info = device->info();
  const std::string key = cat("self-test of ", module, " ", device->id());
  const std::string tested =
      cat(file_state(module), info.name, " ", info.driver);
  if (recall(key) == tested) return "";
  const std::shared_ptr<Device> reference =
      Device::open(*reference::plugin(), 0, {});
  std::vector<Case> cases;
  for (const DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0,
                            RC_DTYPE_Q4_K, RC_DTYPE_Q6_K}) {
    cases.push_back(linear(dtype));
  }
  cases.push_back(norm());
  cases.push_back(gated());
  cases.push_back(attention());
  for (Case& test : cases) {
    const std::string reason = run(std::move(test), device, reference);
    if (!reason.empty()) return "it fails its self-test: " + reason;
  }
  // Nobody asked for these runs.
  if (device->profile() != nullptr) device->profile()->clear();
  remember(key, tested);
  return "";
}

}  // namespace rc::runtime

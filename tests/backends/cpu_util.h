// Small programs for the cpu backend, through its plugin table.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::cpu_test {

// Names of the levels that this machine has.
std::vector<std::string> level_names();

// The types that weights may have.
const std::vector<rc_dtype>& decodable_types();
// Whether activations are rounded to 8 bits for weights of the type.
bool quantized_activations(rc_dtype dtype);

// Throws std::runtime_error with the status and message of a failed call.
class Device {
 public:
  explicit Device(int threads = 1, const std::string& level = "");
  // One that was opened otherwise, which is closed with this.
  explicit Device(rc_plugin_device* opened) : device_(opened) {}
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  rc_plugin_device* get() const { return device_; }

 private:
  rc_plugin_device* device_ = nullptr;
};

// Values, ops and what they stand on, destroyed with it.
class Program {
 public:
  explicit Program(const Device& device) : device_(device.get()) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Whether weights that are matrices stay where their data is.
  bool map_weights = false;

  // Each returns the number of a value.
  int32_t weight(rc_dtype dtype, const std::vector<int64_t>& shape,
                 const void* data, uint32_t uses);
  int32_t cache(rc_dtype dtype, const std::vector<int64_t>& shape);
  int32_t input(rc_dtype dtype, const std::vector<int64_t>& shape,
                const void* data);
  int32_t scratch(rc_dtype dtype, const std::vector<int64_t>& shape);
  int32_t output(rc_dtype dtype, const std::vector<int64_t>& shape);

  Op& op(int32_t code, const std::vector<int32_t>& inputs,
         const std::vector<int32_t>& outputs);

  void change_input(int32_t value, const void* data);

  // Compiles at the first call. The statuses of compile, run and wait.
  rc_status run(int64_t rows, int64_t outputs = 0, int64_t sequences = 1);
  const std::string& message() const { return message_; }
  const std::vector<float>& result(int32_t value) const;
  std::vector<int32_t> result_ints(int32_t value) const;

  rc_plugin_buffer* buffer(int32_t value) const {
    return caches_[values_[value].index];
  }

  int64_t max_rows = 512;
  int64_t max_sequences = 4;
  std::function<bool()> should_stop;

 private:
  int32_t add(rc_dtype dtype, const std::vector<int64_t>& shape,
              int32_t storage, int32_t index, uint64_t offset);
  uint64_t elements(const std::vector<int64_t>& shape) const;

  rc_plugin_device* device_;
  std::vector<rc_plugin_value> values_;
  std::vector<Op> ops_;
  std::vector<rc_plugin_weight*> weights_;
  std::vector<rc_plugin_buffer*> caches_;
  std::vector<const void*> inputs_;
  std::vector<std::vector<float>> outputs_;
  uint64_t scratch_bytes_ = 0;
  rc_plugin_compiled* compiled_ = nullptr;
  std::string message_;
};

// Normally distributed numbers.
std::vector<float> random_floats(size_t count, uint32_t seed,
                                 float deviation = 1);

// Rows of a weight of any decodable type in its own layout: quants at random,
// scales of a sensible size.
std::vector<uint8_t> random_weight(rc_dtype dtype, int64_t rows,
                                   int64_t columns, uint32_t seed);
std::vector<float> decoded(rc_dtype dtype, const std::vector<uint8_t>& data,
                           int64_t rows, int64_t columns);

// Normalised mean squared error.
double nmse(const std::vector<float>& actual,
            const std::vector<double>& expected);

}  // namespace rc::cpu_test

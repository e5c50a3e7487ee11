#include "backends/cpu_util.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>

#include "cpu/level.h"
#include "cpu/plugin.h"
#include "tensor/dtype.h"
#include "tensor/expand.h"
#include "tensor/formats/coded_formats.h"
#include "tensor/plugin_arrays.h"

namespace rc::cpu_test {
namespace {

const rc_plugin& table() { return *cpu::plugin(); }

void check(rc_status status, const char* message) {
  if (status != RC_OK) {
    throw std::runtime_error(std::to_string(status) + ": " + message);
  }
}

// The data that a caller has on its stack for a run. It cannot be touched once
// the run is over: a late thread of the device that reads it ends the test.
class Callers {
 public:
  explicit Callers(size_t outputs)
      : bytes_(sizeof(rc_plugin_run) + outputs * sizeof(void*)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    new (memory_) rc_plugin_run{};
  }
  ~Callers() { munmap(memory_, bytes_); }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;
  rc_plugin_run& run() const { return *static_cast<rc_plugin_run*>(memory_); }
  void** outputs() const { return reinterpret_cast<void**>(&run() + 1); }

 private:
  size_t bytes_;
  void* memory_;
};

}  // namespace

const std::vector<rc_dtype>& decodable_types() {
  static const std::vector<rc_dtype> types = [] {
    std::vector<rc_dtype> found;
    for (rc_dtype dtype = 0; dtype <= RC_DTYPE_Q1_0; ++dtype) {
      if (find_decoder(dtype) != nullptr) found.push_back(dtype);
    }
    return found;
  }();
  return types;
}

bool quantized_activations(rc_dtype dtype) {
  const BlockFormat* format = find_block_format(expanded_type(dtype));
  return format != nullptr && !format->of_activations;
}

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (const cpu::Level* level : cpu::available_levels()) {
    names.push_back(level->name);
  }
  return names;
}

Device::Device(int threads, const std::string& level) {
  rc_plugin_open_options options{};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.log = [](rc_log_level, const char*) {};
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  check(level.empty() ? table().open(0, &options, &device_, message)
                      : cpu::open_at_level(level, &options, &device_, message),
        message);
}

Device::~Device() { table().close(device_); }

Program::~Program() {
  if (compiled_) table().destroy_compiled(device_, compiled_);
  for (rc_plugin_weight* w : weights_) table().destroy_weight(device_, w);
  for (rc_plugin_buffer* b : caches_) table().destroy_buffer(device_, b);
}

uint64_t Program::elements(const std::vector<int64_t>& shape) const {
  uint64_t count = 1;
  for (int64_t n : shape) {
    count *= n == RC_DIM_SEQUENCES ? max_sequences : n < 0 ? max_rows : n;
  }
  return count;
}

int32_t Program::add(rc_dtype dtype, const std::vector<int64_t>& shape,
                     int32_t storage, int32_t index, uint64_t offset) {
  rc_plugin_value value{};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = storage;
  value.index = index;
  value.offset = offset;
  values_.push_back(value);
  return static_cast<int32_t>(values_.size()) - 1;
}

int32_t Program::weight(rc_dtype dtype, const std::vector<int64_t>& shape,
                        const void* data, uint32_t uses) {
  rc_plugin_weight_info info{};
  info.name = "test";
  info.dtype = dtype;
  info.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), info.shape);
  info.uses = uses;
  rc_plugin_weight* weight = nullptr;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  const auto make = map_weights && (uses & RC_USE_ELEMENTS) == 0
                        ? table().map_weight
                        : table().create_weight;
  check(make(device_, &info, data, &weight, message), message);
  weights_.push_back(weight);
  return add(dtype, shape, RC_STORAGE_WEIGHT,
             static_cast<int32_t>(weights_.size()) - 1, 0);
}

int32_t Program::cache(rc_dtype dtype, const std::vector<int64_t>& shape) {
  rc_plugin_buffer* buffer = nullptr;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  const uint64_t bytes =
      shape[0] * shape[1] * shape[2] * row_bytes(dtype, shape[3]).value_or(0);
  check(table().create_buffer(device_, bytes, &buffer, message), message);
  caches_.push_back(buffer);
  return add(dtype, shape, RC_STORAGE_CACHE,
             static_cast<int32_t>(caches_.size()) - 1, 0);
}

int32_t Program::input(rc_dtype dtype, const std::vector<int64_t>& shape,
                       const void* data) {
  inputs_.push_back(data);
  return add(dtype, shape, RC_STORAGE_INPUT,
             static_cast<int32_t>(inputs_.size()) - 1, 0);
}

int32_t Program::scratch(rc_dtype dtype, const std::vector<int64_t>& shape) {
  const uint64_t offset = scratch_bytes_;
  scratch_bytes_ += (elements(shape) * 4 + 63) / 64 * 64;
  return add(dtype, shape, RC_STORAGE_SCRATCH, 0, offset);
}

int32_t Program::output(rc_dtype dtype, const std::vector<int64_t>& shape) {
  // Wider types are stored as their bytes, in floats.
  outputs_.emplace_back(elements(shape) * (dtype == RC_DTYPE_F64 ? 2 : 1));
  return add(dtype, shape, RC_STORAGE_OUTPUT,
             static_cast<int32_t>(outputs_.size()) - 1, 0);
}

Op& Program::op(int32_t code, const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs) {
  Op op;
  op.code = code;
  std::copy(inputs.begin(), inputs.end(), op.inputs);
  std::copy(outputs.begin(), outputs.end(), op.outputs);
  ops_.push_back(op);
  return ops_.back();
}

void Program::change_input(int32_t value, const void* data) {
  inputs_[values_[value].index] = data;
}

rc_status Program::run(int64_t rows, int64_t outputs, int64_t sequences) {
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  rc_status status = RC_OK;
  if (compiled_ == nullptr) {
    rc_plugin_program program{};
    program.struct_size = sizeof(program);
    const PluginArrays arrays(values_, ops_);
    arrays.put_into(program);
    program.weights = weights_.data();
    program.weight_count = weights_.size();
    program.caches = caches_.data();
    program.cache_count = caches_.size();
    program.input_count = inputs_.size();
    program.output_count = outputs_.size();
    program.scratch_bytes = scratch_bytes_;
    program.max_rows = max_rows;
    program.max_outputs = max_rows;
    program.max_sequences = max_sequences;
    status = table().compile(device_, &program, &compiled_, message);
  }
  if (status == RC_OK) {
    const Callers callers(outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      callers.outputs()[i] = outputs_[i].data();
    }
    rc_plugin_run& run = callers.run();
    run.struct_size = sizeof(run);
    run.rows = rows;
    run.outputs = outputs;
    run.sequences = sequences;
    run.inputs = inputs_.data();
    run.outputs_data = callers.outputs();
    if (should_stop) {
      run.should_stop = [](void* user) -> int32_t {
        return static_cast<Program*>(user)->should_stop();
      };
      run.user = this;
    }
    status = table().run(device_, compiled_, &run, message);
    if (status == RC_OK) status = table().wait(device_, -1, message);
  }
  message_ = message;
  return status;
}

const std::vector<float>& Program::result(int32_t value) const {
  return outputs_[values_[value].index];
}

std::vector<int32_t> Program::result_ints(int32_t value) const {
  const auto& floats = result(value);
  std::vector<int32_t> ints(floats.size());
  std::memcpy(ints.data(), floats.data(), 4 * ints.size());
  return ints;
}

std::vector<float> random_floats(size_t count, uint32_t seed, float deviation) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

std::vector<uint8_t> random_weight(rc_dtype dtype, int64_t rows,
                                   int64_t columns, uint32_t seed) {
  const uint64_t bytes = *row_bytes(dtype, columns);
  std::vector<uint8_t> data(rows * bytes);
  if (encodable(dtype) && dtype_info(dtype)->block_size == 1) {
    const bool integer = dtype >= RC_DTYPE_I8 && dtype <= RC_DTYPE_I64;
    const auto values = random_floats(rows * columns, seed, integer ? 40 : 1);
    for (int64_t r = 0; r < rows; ++r) {
      encode_row(dtype, values.data() + r * columns, data.data() + r * bytes,
                 columns);
    }
    return data;
  }
  std::mt19937 generator(seed);
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(generator());
  const auto scale = [&] {
    return f32_to_f16(
        std::uniform_real_distribution<float>(0.5f, 2)(generator) *
        (generator() % 2 ? 0.01f : -0.01f));
  };
  const auto* coded =
      std::find_if(std::begin(kCodedFormats), std::end(kCodedFormats),
                   [&](const CodedFormat& one) { return one.dtype == dtype; });
  if (coded != std::end(kCodedFormats)) {
    for (size_t at = 0; at < data.size(); at += coded->bytes) {
      uint8_t* block = data.data() + at;
      if (coded->scale_parts.width > 0) {
        const uint16_t bits = scale();
        for (int i = 0; i < 4; ++i) {
          uint8_t& byte = block[bit_of(coded->scale_parts, i) / 8];
          byte = static_cast<uint8_t>((byte & 15) | (bits >> (4 * i) << 4));
        }
      } else if (dtype == RC_DTYPE_NVFP4) {
        for (int i = 0; i < 4; ++i) block[i] = 0x20 + generator() % 32;
      } else {
        const uint16_t bits = scale();
        std::memcpy(block + coded->scale_at, &bits, sizeof bits);
      }
    }
    return data;
  }
  const BlockFormat* format = find_block_format(dtype);
  if (format == nullptr) {
    throw std::runtime_error("no random weights of this type");
  }
  const auto put = [&](uint8_t* to, auto value) {
    std::memcpy(to, &value, sizeof value);
  };
  for (size_t at = 0; at < data.size(); at += format->bytes) {
    uint8_t* block = data.data() + at;
    uint8_t* scale_at = block + format->scale.at;
    switch (format->scale.kind) {
      case ScaleKind::kF16:
        put(scale_at, scale());
        break;
      case ScaleKind::kF32:
        put(scale_at, f16_to_f32(scale()));
        break;
      case ScaleKind::kOne:
        break;
      case ScaleKind::kPowerOfTwo:
        put(scale_at, static_cast<uint8_t>(120 + generator() % 8));
        break;
    }
    if (format->minimum.sign != Minimum::kNone) {
      put(block + format->minimum.at, scale());
    }
  }
  return data;
}

std::vector<float> decoded(rc_dtype dtype, const std::vector<uint8_t>& data,
                           int64_t rows, int64_t columns) {
  std::vector<float> values(rows * columns);
  const uint64_t bytes = *row_bytes(dtype, columns);
  for (int64_t r = 0; r < rows; ++r) {
    decode_row(dtype, data.data() + r * bytes, values.data() + r * columns,
               columns);
  }
  return values;
}

double nmse(const std::vector<float>& actual,
            const std::vector<double>& expected) {
  double error = 0, power = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(actual[i] - expected[i], 2);
    power += std::pow(expected[i], 2);
  }
  return error / power;
}

}  // namespace rc::cpu_test

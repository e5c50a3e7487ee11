#include "state_util.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "runtime/registry.h"

namespace rc::test {

using runtime::Buffer;
using runtime::Program;
using runtime::ProgramBuilder;
using runtime::Value;
using runtime::Weight;

std::vector<StateRows> state_rows() {
  return {
      {"new", std::vector<int32_t>(10, 0), {-1, 2}},
      {"kept", std::vector<int32_t>(10, 0), {3, 3}},
      {"moved", std::vector<int32_t>(10, 0), {0, 5}},
      // The last one has no row, but its state moves.
      {"mixed", {0, 1, 1, 2, 0, 1, 2, 0, 0, 2}, {-1, 1, 4, 4, 0, 2, 3, 5}},
      {"decoding", {2, 0, 1, 3}, {1, 1, -1, 0, 4, 5, 3, 3}},
  };
}

double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

Data decays(int64_t count, double size) {
  return changed(random_f32(count),
                 [&](double x) { return -size * std::exp(x / 2); });
}

StateTest::StateTest(std::string op, std::string detail, const StateRows& rows)
    : op_(std::move(op)),
      detail_(std::move(detail)),
      rows_(rows),
      sequences_(builder.input(RC_DTYPE_I32, {RC_DIM_ROWS})),
      state_slots_(builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 2})) {}

Value StateTest::input(const ProgramBuilder::Shape& shape, const Data& data) {
  inputs_.push_back(data.bytes);
  return builder.input(RC_DTYPE_F32, shape);
}

Value StateTest::weight(const ProgramBuilder::Shape& shape, const Data& data) {
  weights_.push_back(data.bytes);
  return builder.weight(cat("weight ", weights_.size()), RC_DTYPE_F32, shape,
                        RC_USE_ELEMENTS);
}

Value StateTest::cache(const ProgramBuilder::Shape& shape, const Data& data) {
  cache_ = data.bytes;
  return builder.cache(RC_DTYPE_F32, shape);
}

void StateTest::run(Value output, const std::vector<double>& expected,
                    const std::vector<double>& expected_cache,
                    double tolerance) {
  builder.output(output);
  description_ = std::move(builder).take();
  for (const std::string& id : device_ids()) {
    SCOPED_TRACE(cat(id, " ", op_, " ", detail_));
    const auto device = runtime::select({id, 0, {}}).device;
    std::vector<std::shared_ptr<Weight>> weights;
    std::shared_ptr<Buffer> cache;
    std::unique_ptr<Program> program;
    try {
      for (size_t i = 0; i < weights_.size(); ++i) {
        weights.push_back(
            device->create_weight(description_.weights[i], weights_[i].data()));
      }
      cache = device->create_buffer(cache_.size());
      program =
          Program::compile(device, description_,
                           {rows_.rows(), 0, rows_.count()}, weights, {cache});
    } catch (const Error& error) {
      if (error.status() != RC_E_UNSUPPORTED) throw;
      note_missing(id, op_, detail_, error.message());
      continue;
    }
    // States are rounded to F32 from row to row.
    check(id, *program, *cache, expected, expected_cache,
          id == "reference:0" ? std::min(tolerance, 4 * kReferenceTolerance)
                              : tolerance);
  }
}

void StateTest::check(const std::string& device, Program& program,
                      Buffer& cache, const std::vector<double>& expected,
                      const std::vector<double>& expected_cache,
                      double tolerance) const {
  const int64_t rows = rows_.rows();
  const Result whole = run_cut(program, cache, {rows});
  const auto numbers = [](const Bytes& bytes) {
    return decode(RC_DTYPE_F32, bytes, 1);
  };
  compare(device, op_, detail_, tolerance, numbers(whole.output), expected, 0);
  compare(device, op_, detail_, tolerance, numbers(whole.cache), expected_cache,
          0);
  check_untouched(whole.cache);
  std::vector<int64_t> each(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) each[r] = r + 1;
  for (const auto& cuts : {std::vector<int64_t>{3, rows}, each}) {
    const Result cut = run_cut(program, cache, cuts);
    EXPECT_EQ(cut.output, whole.output) << "in " << cuts.size() << " runs";
    EXPECT_EQ(cut.cache, whole.cache) << "in " << cuts.size() << " runs";
  }
}

// Runs that end before these rows, each with what the one before has left.
StateTest::Result StateTest::run_cut(Program& program, Buffer& cache,
                                     const std::vector<int64_t>& cuts) const {
  Result result;
  cache.upload(0, cache_.data(), cache_.size());
  std::vector<int32_t> slots = rows_.slots;
  const auto all = static_cast<size_t>(rows_.rows());
  const rc_plugin_value y = description_.outputs()[0];
  int64_t begin = 0;
  for (const int64_t end : cuts) {
    const Rows count = {end - begin, 0, rows_.count()};
    Bytes output(value_bytes(y, count).value());
    runtime::RunArguments arguments = {count.rows,
                                       0,
                                       count.sequences,
                                       {rows_.sequences.data() + begin},
                                       {output.data()}};
    arguments.inputs.push_back(slots.data());
    for (const Bytes& bytes : inputs_) {
      arguments.inputs.push_back(bytes.data() + bytes.size() / all * begin);
    }
    program.run(arguments, -1);
    result.output.insert(result.output.end(), output.begin(), output.end());
    for (size_t s = 0; s < slots.size(); s += 2) slots[s] = slots[s + 1];
    begin = end;
  }
  result.cache.resize(cache_.size());
  cache.download(0, result.cache.data(), result.cache.size());
  return result;
}

void StateTest::check_untouched(const Bytes& cache) const {
  const size_t size = cache.size() / kStateSlots;
  for (int64_t slot = 0; slot < kStateSlots; ++slot) {
    bool written = false;
    for (size_t s = 1; s < rows_.slots.size(); s += 2) {
      written = written || rows_.slots[s] == slot;
    }
    if (written) continue;
    EXPECT_EQ(std::memcmp(cache.data() + slot * size,
                          cache_.data() + slot * size, size),
              0)
        << "slot " << slot << " is not what it was";
  }
}

}  // namespace rc::test

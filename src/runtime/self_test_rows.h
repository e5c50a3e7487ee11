// Writes cases of ops with rows.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/self_test_case.h"
#include "runtime/self_test_data.h"
#include "tensor/dtype.h"

namespace rc::runtime::self_test {

// Writes a case of ops with rows.
class RowsCase {
 public:
  RowsCase(std::string name, std::vector<int64_t> row_counts) {
    made_.name = std::move(name);
    made_.row_counts = std::move(row_counts);
  }
  ProgramBuilder builder;

  int64_t most_rows() const { return made_.most_rows(); }
  Value input(const ProgramBuilder::Shape& shape) {
    made_.inputs.push_back(
        bytes_of(numbers(made_.most_rows() * count_of(shape, 1), ++seed_)));
    return builder.input(RC_DTYPE_F32, shape);
  }
  Value indices(const ProgramBuilder::Shape& shape,
                const std::vector<int32_t>& values) {
    made_.inputs.push_back(bytes_of(values));
    return builder.input(RC_DTYPE_I32, shape);
  }
  // 0, 1, ... for all rows.
  Value counted_rows() {
    std::vector<int32_t> numbers(static_cast<size_t>(most_rows()));
    std::iota(numbers.begin(), numbers.end(), 0);
    return indices({RC_DIM_ROWS}, numbers);
  }
  // All rows are of the first sequence.
  Value one_sequence() {
    return indices(
        {RC_DIM_ROWS},
        std::vector<int32_t>(static_cast<size_t>(made_.most_rows()), 0));
  }
  Value weight(DType dtype, const ProgramBuilder::Shape& shape, uint32_t use) {
    made_.weights.push_back(
        encoded(dtype, count_of(shape, 0) / shape.back(), shape.back()));
    return builder.weight(cat("w", made_.weights.size()), dtype, shape, use);
  }
  Value cache(DType dtype, const ProgramBuilder::Shape& shape) {
    made_.caches.emplace_back(
        *row_bytes(dtype, shape.back()) *
        static_cast<uint64_t>(count_of(shape, 0) / shape.back()));
    return builder.cache(dtype, shape);
  }
  SelfTestCase take(Value output) { return take(std::vector<Value>{output}); }
  SelfTestCase take(const std::vector<Value>& outputs) {
    for (const Value output : outputs) builder.output(output);
    made_.description = std::move(builder).take();
    return std::move(made_);
  }
  // The results are what the ops leave in the caches.
  SelfTestCase take_caches() {
    for (size_t i = 0; i < made_.caches.size(); ++i) made_.results.push_back(i);
    return take(std::vector<Value>{});
  }

 private:
  uint64_t seed_ = 20240229;  // no two inputs are alike
  SelfTestCase made_;
};

// One and several: many backends have a kernel for each.
inline const std::vector<int64_t> kOneAndSeveral = {1, 11};
// And as many as tiles have, and a few more.
inline const std::vector<int64_t> kUpToTiles = {1, 2, 11, 35, 67};
// Lengths of rows below, at and beyond the sizes of work-groups, odd ones, and
// one element.
inline constexpr int64_t kWidths[] = {1, 63, 256, 1031};

}  // namespace rc::runtime::self_test

// How cases of ops with rows are written.
#pragma once

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
        bytes_of(numbers(made_.most_rows() * count_of(shape, 1))));
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
  SelfTestCase take(Value output) {
    made_.columns = count_of(builder.shape(output), 1);
    builder.output(output);
    made_.description = std::move(builder).take();
    return std::move(made_);
  }

 private:
  SelfTestCase made_;
};

// One and several: many backends have a kernel for each.
inline const std::vector<int64_t> kOneAndSeveral = {1, 11};

}  // namespace rc::runtime::self_test

// Cases of tensor ops, whose shapes are all fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/self_test_case.h"

namespace rc::runtime::self_test {

// Lengths of lines and sums for which devices have separate kernels, or limits
// that a driver does not report: a software device may end a loop after
// 65,535 iterations of eight elements. One length stands for all above the one
// before it.
inline constexpr int64_t kLengths[] = {256, 20'480, 600'064};

// Writes a case of tensor ops. What each op gives is a result of the case.
class TensorCase {
 public:
  using Shape = ProgramBuilder::Shape;

  explicit TensorCase(std::string name);
  Value input(DType dtype, const Shape& shape, SelfTestCase::Bytes bytes);
  // F32 numbers of about -1 to 1.
  Value input(const Shape& shape);
  Value indices(const std::vector<int32_t>& values);
  void op(Op op, std::initializer_list<Value> inputs, DType dtype,
          const Shape& shape);
  SelfTestCase take() &&;

 private:
  Value append(DType dtype, const Shape& shape, SelfTestCase::Bytes bytes);
  uint64_t seed_ = 20240229;  // no two inputs are alike
  SelfTestCase made_;
};

// One op: `inputs` are the bytes of all `values` but the last, its result.
SelfTestCase tensor_op(
    const Op& op, std::vector<SelfTestCase::Bytes> inputs,
    const std::vector<std::pair<DType, ProgramBuilder::Shape>>& values);

// Nothing for other ops.
std::optional<SelfTest::Kind> tensor_kind(const Op& op,
                                          const rc_plugin_value* values);
// Of a kind that tensor_kind gives.
SelfTestCase tensor_case(const SelfTest::Kind& kind);

}  // namespace rc::runtime::self_test

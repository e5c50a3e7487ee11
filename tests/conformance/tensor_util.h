// Ops of tensor.h through the C ABI, on every device here, against a naive f64
// computation in the test. Errors go to the table of conformance_util.h.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "compute/shape.h"
#include "conformance_util.h"
#include "runcible/tensor.h"

namespace rc::test {

using compute::Shape;

// The layout of an operand in memory.
enum class Layout {
  kDense,
  // Every second row of a larger tensor.
  kSteps,
  // The last two dimensions exchanged.
  kTransposed
};

// A shape of some class, and a layout that it can have.
struct Case {
  Shape shape;
  Layout layout = Layout::kDense;
};
// Sizes of 1, odd, prime, large, strided and empty, in blocks of the type; of
// all ranks.
std::vector<Case> cases(DType dtype);
// Types of operands: plain ones and some with blocks.
std::vector<DType> number_types();

class TensorTest {
 public:
  // `op` begins with the name of the op of plugin.h, up to a comma.
  TensorTest(std::string op, std::string detail)
      : op_(std::move(op)), detail_(std::move(detail)) {}

  // Adds an operand, the next of `operands` in run; gives its numbers.
  std::vector<double> random(DType dtype, const Shape& shape,
                             Layout layout = Layout::kDense);
  std::vector<double> given(DType dtype, const Shape& shape, const Data& data,
                            Layout layout = Layout::kDense);

  using Call =
      std::function<rc_status(rc_tensor* const* operands, rc_tensor** result)>;
  // Everywhere the result has this shape and these numbers. `squares` as for
  // OpTest::expect_sums.
  void run(const Call& call, const Shape& shape,
           const std::vector<double>& expected, double tolerance,
           double squares = 0) const;

  // Everywhere it is RC_E_INVALID_ARGUMENT, with a message that has all of
  // these texts; an op that refused nothing works afterwards.
  void refuse(const Call& call, const std::vector<std::string>& texts) const;

 private:
  struct Operand {
    DType dtype;
    Shape shape;
    std::vector<std::byte> bytes;
    Layout layout;
  };
  rc_tensor* make(rc_backend* backend, const Operand& operand) const;

  std::string op_;
  std::string detail_;
  std::vector<Operand> operands_;
};

}  // namespace rc::test

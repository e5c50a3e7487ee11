// The signature of a custom op and its attributes: which tensors it takes, and
// which it makes of them. See custom_op.h of the public headers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/custom/expression.h"
#include "compute/shape.h"
#include "tensor/dtype.h"

namespace rc::compute {

struct CustomAttribute {
  std::string name;
  bool integer;
};

// A tensor of a call, or one that it makes.
struct CustomValue {
  DType dtype = RC_DTYPE_F32;
  Shape shape;
  int64_t elements = 0;
  uint64_t bytes = 0;
};

class CustomSignature {
 public:
  // `attributes` may be empty. Throws RC_E_INVALID_ARGUMENT.
  CustomSignature(std::string_view signature, std::string_view attributes);

  size_t input_count() const { return inputs_; }
  size_t output_count() const { return tensors_.size() - inputs_; }
  // Of the inputs, then of the outputs.
  const std::string& tensor_name(size_t i) const { return tensors_[i].name; }
  const std::vector<CustomAttribute>& attributes() const { return attributes_; }
  // The names that expressions of the op can use.
  const CustomNames& names() const { return names_; }
  // Returns the number of those that are dimensions; they come first.
  size_t dimension_count() const { return dimensions_; }
  // Where the elements of tensor i are among the names.
  size_t elements_place(size_t i) const;

  // The values of a call, with the numbers of the names.
  struct Resolved {
    std::vector<CustomValue> values;  // inputs, then outputs
    std::vector<int64_t> numbers;
  };
  // `inputs` have types and shapes. Throws RC_E_INVALID_ARGUMENT, with the name
  // of the op and what is wrong.
  Resolved resolve(const std::string& op, std::span<const CustomValue> inputs,
                   std::span<const double> attributes) const;

  // "x F32 [..., n]", as it was written.
  const std::string& text() const { return text_; }

 private:
  struct Dimension {
    int place = CustomNames::kNone;  // of an input: of a name
    int64_t number = 0;              // else the number
    Expression expression;           // of an output
    std::string text;                // of an output
  };
  struct Tensor {
    std::string name;
    std::vector<DType> types;
    int type_of = -1;  // of an output: the input whose type it has
    bool rest = false;
    std::vector<Dimension> dimensions;  // after the rest
  };

  void read_attributes(std::string_view text);
  Tensor read_tensor(CustomText& text, bool output);
  void read_types(CustomText& text, bool output, Tensor& tensor) const;
  void read_shape(CustomText& text, bool output, Tensor& tensor);
  void check_new(CustomText& text, std::string_view name,
                 const char* what) const;
  std::string wanted(const Tensor& tensor) const;
  void match(const std::string& op, const Tensor& tensor,
             const CustomValue& value, std::vector<int64_t>& numbers,
             std::optional<Shape>& rest) const;

  std::string text_;
  std::vector<CustomAttribute> attributes_;
  std::vector<Tensor> tensors_;
  size_t inputs_ = 0;
  size_t dimensions_ = 0;
  CustomNames names_;
};

}  // namespace rc::compute

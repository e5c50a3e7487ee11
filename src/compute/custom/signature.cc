#include "compute/custom/signature.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "compute/tensor.h"
#include "runcible/custom_op.h"

namespace rc::compute {
namespace {

constexpr DType kTypes[] = {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_BF16,
                            RC_DTYPE_F64, RC_DTYPE_I8,  RC_DTYPE_I16,
                            RC_DTYPE_I32, RC_DTYPE_I64};
// Of a kernel they are parameters, of which every device has room for 32.
constexpr size_t kMostDimensions = 12;
constexpr int64_t kUnknown = -1;

std::optional<DType> find_type(std::string_view name) {
  for (const DType type : kTypes) {
    if (name == dtype_name(type)) return type;
  }
  return std::nullopt;
}

std::string type_names() {
  std::string names;
  for (const DType type : kTypes) {
    names += cat(names.empty() ? "" : ", ", dtype_name(type));
  }
  return names;
}

}  // namespace

CustomSignature::CustomSignature(std::string_view signature,
                                 std::string_view attributes)
    : text_(signature) {
  read_attributes(attributes);
  CustomText text("signature", text_);
  bool outputs = false;
  for (;;) {
    if (outputs && tensors_.size() == inputs_) {
      // After the inputs expressions can name the attributes, too.
      dimensions_ = names_.names.size();
      for (const CustomAttribute& attribute : attributes_) {
        if (!attribute.integer) continue;
        if (names_.find(attribute.name) != CustomNames::kNone) {
          text.fail_here(cat("the name ", attribute.name,
                             " is used twice, for a dimension and an "
                             "attribute"));
        }
        names_.names.push_back(attribute.name);
        names_.tensors.emplace_back();
      }
      for (const Tensor& input : tensors_) {
        names_.names.emplace_back();
        names_.tensors.push_back(input.name);
      }
    }
    const size_t most =
        outputs ? RC_CUSTOM_OP_MAX_OUTPUTS : RC_CUSTOM_OP_MAX_INPUTS;
    if ((outputs ? output_count() : inputs_) == most) {
      text.fail_here(
          cat("there are more than ", most, outputs ? " outputs" : " inputs"));
    }
    tensors_.push_back(read_tensor(text, outputs));
    if (outputs) {
      names_.names.emplace_back();
      names_.tensors.push_back(tensors_.back().name);
    } else {
      inputs_ = tensors_.size();
    }
    if (text.take(",")) continue;
    if (outputs) break;
    text.need("->");
    outputs = true;
  }
  if (!text.at_end()) text.fail_here("\",\" is missing");
}

size_t CustomSignature::elements_place(size_t i) const {
  return static_cast<size_t>(names_.find_elements(tensors_[i].name));
}

void CustomSignature::read_attributes(std::string_view given) {
  CustomText text("attributes", given);
  if (text.at_end()) return;
  do {
    if (attributes_.size() == RC_CUSTOM_OP_MAX_ATTRIBUTES) {
      text.fail_here(cat("there are more than ", RC_CUSTOM_OP_MAX_ATTRIBUTES));
    }
    const std::string_view name = text.name("the name of an attribute");
    check_new(text, name, "attributes");
    const bool integer = text.take("int");
    if (!integer && !text.take("float")) {
      text.fail_here(cat("the type of ", name, ", int or float, is missing"));
    }
    attributes_.push_back({std::string(name), integer});
  } while (text.take(","));
  if (!text.at_end()) text.fail_here("\",\" is missing");
}

// Names of tensors, dimensions and attributes become names of a kernel.
void CustomSignature::check_new(CustomText& text, std::string_view name,
                                const char* what) const {
  const auto used = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& one) { return one.name == name; });
  };
  if (used(attributes_) || used(tensors_) ||
      names_.find(name) != CustomNames::kNone) {
    text.fail_here(cat("the name ", name, " is used twice (", what, ")"));
  }
}

CustomSignature::Tensor CustomSignature::read_tensor(CustomText& text,
                                                     bool output) {
  Tensor tensor;
  tensor.name = text.name("the name of a tensor");
  check_new(text, tensor.name, output ? "an output" : "an input");
  read_types(text, output, tensor);
  read_shape(text, output, tensor);
  return tensor;
}

void CustomSignature::read_types(CustomText& text, bool output,
                                 Tensor& tensor) const {
  do {
    const std::string_view type = text.name("a type");
    if (const auto known = find_type(type)) {
      if (std::find(tensor.types.begin(), tensor.types.end(), *known) !=
          tensor.types.end()) {
        text.fail_here(cat("the type ", type, " is there twice"));
      }
      tensor.types.push_back(*known);
      continue;
    }
    const auto input = std::find_if(
        tensors_.begin(), tensors_.begin() + static_cast<ptrdiff_t>(inputs_),
        [&](const Tensor& one) { return one.name == type; });
    const auto end = tensors_.begin() + static_cast<ptrdiff_t>(inputs_);
    if (!output || input == end || !tensor.types.empty()) {
      text.fail_here(cat(type, " is no type of custom ops (", type_names(),
                         output ? ") and no input" : ")"));
    }
    tensor.type_of = static_cast<int>(input - tensors_.begin());
    return;
  } while (text.take("|"));
  if (output && tensor.types.size() > 1) {
    text.fail_here("an output has one type, or that of an input");
  }
}

void CustomSignature::read_shape(CustomText& text, bool output,
                                 Tensor& tensor) {
  text.need("[");
  if (text.next_is("]")) {
    text.fail_here("there are tensors of 1 to 4 dimensions, so one is missing");
  }
  do {
    if (text.take("...")) {
      if (tensor.rest || !tensor.dimensions.empty()) {
        text.fail_here("... can only be the first of the dimensions");
      }
      const bool known =
          std::any_of(tensors_.begin(), tensors_.end(),
                      [](const Tensor& one) { return one.rest; });
      if (output && !known) text.fail_here("no input has ...");
      tensor.rest = true;
      continue;
    }
    if (tensor.dimensions.size() == kMaxRank) {
      text.fail_here("there are more than 4 dimensions");
    }
    Dimension dimension;
    if (output) {
      dimension.expression = Expression(text, names_);
    } else if (text.next_is_digit()) {
      dimension.number = text.number();
    } else {
      const std::string_view name = text.name("a dimension");
      dimension.place = names_.find(name);
      if (dimension.place == CustomNames::kNone) {
        if (name == tensor.name) {
          text.fail_here(cat("the name ", name, " is used twice"));
        }
        check_new(text, name, "a dimension");
        if (names_.names.size() == kMostDimensions) {
          text.fail_here(
              cat("there are more than ", kMostDimensions, " names"));
        }
        dimension.place = static_cast<int>(names_.names.size());
        names_.names.emplace_back(name);
        names_.tensors.emplace_back();
      }
    }
    tensor.dimensions.push_back(std::move(dimension));
  } while (text.take(","));
  text.need("]");
}

std::string CustomSignature::wanted(const Tensor& tensor) const {
  std::string types;
  for (const DType type : tensor.types) {
    types += cat(types.empty() ? "" : "|", dtype_name(type));
  }
  std::string shape = tensor.rest ? "..." : "";
  for (const Dimension& dimension : tensor.dimensions) {
    const std::string number =
        dimension.place == CustomNames::kNone
            ? std::to_string(dimension.number)
            : names_.names[static_cast<size_t>(dimension.place)];
    shape += cat(shape.empty() ? "" : ", ", number);
  }
  return cat(types, " [", shape, "]");
}

void CustomSignature::match(const std::string& op, const Tensor& tensor,
                            const CustomValue& value,
                            std::vector<int64_t>& numbers,
                            std::optional<Shape>& rest) const {
  const auto refuse = [&](const std::string& why) {
    fail(RC_E_INVALID_ARGUMENT, op, ": ", tensor.name, " is ",
         dtype_name(value.dtype), " ", shape_text(value.shape), "; ", why,
         wanted(tensor), " is wanted, of \"", text_, "\"");
  };
  if (std::find(tensor.types.begin(), tensor.types.end(), value.dtype) ==
      tensor.types.end()) {
    refuse("");
  }
  const size_t rank = value.shape.size();
  const size_t known = tensor.dimensions.size();
  if (tensor.rest ? rank < known : rank != known) refuse("");
  const size_t before = rank - known;
  if (tensor.rest) {
    const Shape here(value.shape.begin(), value.shape.begin() + before);
    if (rest && !(*rest == here)) {
      refuse(cat("... is ", shape_text(*rest), " of an earlier input; "));
    }
    rest = here;
  }
  for (size_t i = 0; i < known; ++i) {
    const Dimension& dimension = tensor.dimensions[i];
    const int64_t size = value.shape[before + i];
    if (dimension.place == CustomNames::kNone) {
      if (size != dimension.number) refuse("");
      continue;
    }
    int64_t& number = numbers[static_cast<size_t>(dimension.place)];
    if (number != kUnknown && number != size) {
      refuse(cat(names_.names[static_cast<size_t>(dimension.place)], " is ",
                 number, " of an earlier dimension; "));
    }
    number = size;
  }
}

CustomSignature::Resolved CustomSignature::resolve(
    const std::string& op, std::span<const CustomValue> inputs,
    std::span<const double> attributes) const {
  if (inputs.size() != inputs_) {
    fail(RC_E_INVALID_ARGUMENT, op, ": ", inputs.size(),
         " inputs are given, but the op has ", inputs_, ", by \"", text_, "\"");
  }
  if (attributes.size() != attributes_.size()) {
    fail(RC_E_INVALID_ARGUMENT, op, ": ", attributes.size(),
         " attributes are given, but the op has ", attributes_.size());
  }
  Resolved found;
  found.numbers.assign(names_.names.size(), kUnknown);
  for (size_t i = 0; i < attributes.size(); ++i) {
    const double number = attributes[i];
    const CustomAttribute& attribute = attributes_[i];
    const bool good =
        attribute.integer
            ? number == std::trunc(number) && std::abs(number) <= INT32_MAX
            : !(std::abs(number) > std::numeric_limits<float>::max()) ||
                  std::isinf(number);
    if (!good) {
      fail(RC_E_INVALID_ARGUMENT, op, ": the attribute ", attribute.name,
           " is ", number, ", which is no ",
           attribute.integer ? "integer of 32 bits" : "number of type float");
    }
    const int place = names_.find(attribute.name);
    if (attribute.integer && place != CustomNames::kNone) {
      found.numbers[static_cast<size_t>(place)] = static_cast<int64_t>(number);
    }
  }
  std::optional<Shape> rest;
  for (size_t i = 0; i < inputs_; ++i) {
    match(op, tensors_[i], inputs[i], found.numbers, rest);
    CustomValue value = inputs[i];
    value.bytes = check_shape(value.dtype, value.shape);
    value.elements = element_count(value.shape);
    found.numbers[elements_place(i)] = value.elements;
    found.values.push_back(value);
  }
  for (size_t i = inputs_; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    CustomValue value;
    value.dtype = tensor.type_of >= 0
                      ? inputs[static_cast<size_t>(tensor.type_of)].dtype
                      : tensor.types[0];
    if (tensor.rest) value.shape = rest.value_or(Shape());
    for (const Dimension& dimension : tensor.dimensions) {
      const std::string what =
          cat(op, ": a dimension of the output ", tensor.name);
      const int64_t size = dimension.expression.evaluate(found.numbers, what);
      if (size < 0) {
        fail(RC_E_INVALID_ARGUMENT, what, " is ", size, ", by \"", text_, "\"");
      }
      if (value.shape.size() == kMaxRank) {
        fail(RC_E_INVALID_ARGUMENT, op, ": the output ", tensor.name,
             " has more than ", kMaxRank, " dimensions");
      }
      value.shape.push_back(size);
    }
    if (value.shape.empty()) {
      fail(RC_E_INVALID_ARGUMENT, op, ": the output ", tensor.name,
           " has no dimensions; at least one is needed");
    }
    value.bytes = check_shape(value.dtype, value.shape);
    value.elements = element_count(value.shape);
    found.numbers[elements_place(i)] = value.elements;
    found.values.push_back(value);
  }
  return found;
}

}  // namespace rc::compute

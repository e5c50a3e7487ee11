#include "model/weights.h"

#include <span>

#include "base/error.h"
#include "model/weight_name.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

std::string text_of(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t size : shape) {
    text.append(text.empty() ? "[" : ", ").append(std::to_string(size));
  }
  return text + "]";
}

Weights::Shape without_ones(const Weights::Shape& shape) {
  Weights::Shape result;
  for (const int64_t size : shape) {
    if (size != 1) result.push_back(size);
  }
  return result;
}

bool is_plain_float(DType dtype) {
  return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F16 ||
         dtype == RC_DTYPE_BF16 || dtype == RC_DTYPE_F64;
}

// The shape of a vector in the file: converters write some as a matrix of one
// row. Only for weights that are read whole.
Weights::Shape shape_in_file(const gguf::File& file, const std::string& name,
                             const Weights::Shape& shape) {
  const gguf::Tensor* tensor = file.find_tensor(name);
  if (tensor == nullptr || shape.size() != 1) return shape;
  const Weights::Shape row = {1, shape[0]};
  return tensor->shape == row ? row : shape;
}

const gguf::Tensor& find(const gguf::File& file, const std::string& name,
                         const Weights::Shape& shape, bool plain) {
  const gguf::Tensor* tensor = file.find_tensor(name);
  if (tensor == nullptr) {
    throw MissingTensor(cat(file.name(), ": tensor ", name, " of shape ",
                            text_of(shape), " is missing"),
                        name, shape, plain);
  }
  if (tensor->shape != shape) {
    throw MissingTensor(cat(file.name(), ": tensor ", name, " has shape ",
                            text_of(tensor->shape),
                            ", but the metadata asks for ", text_of(shape)),
                        name, shape, plain);
  }
  return *tensor;
}

}  // namespace

const gguf::Tensor& check_matrix(const gguf::File& file,
                                 const std::string& name,
                                 const Weights::Shape& shape) {
  const gguf::Tensor& tensor = find(file, name, shape, false);
  const DTypeInfo* info = dtype_info(tensor.dtype);
  if (info == nullptr || !info->decodable) {
    fail(RC_E_UNSUPPORTED, file.name(), ": tensor ", name, " is of type ",
         dtype_name(tensor.dtype), ", which cannot be decoded");
  }
  return tensor;
}

DType Weights::type_of_matrix(const std::string& name,
                              const Shape& shape) const {
  try {
    return check_matrix(file_, name, shape).dtype;
  } catch (const MissingTensor& missing) {
    if (missing_ == nullptr) throw;
    missing_->list.push_back(missing);
    return missing_->type;
  }
}

void Weights::check_plain(const std::string& name, const Shape& shape) const {
  DType dtype = RC_DTYPE_F32;
  try {
    dtype = find(file_, name, shape, true).dtype;
  } catch (const MissingTensor& missing) {
    if (missing_ == nullptr) throw;
    missing_->list.push_back(missing);
  }
  if (!is_plain_float(dtype)) {
    fail(RC_E_FORMAT, file_.name(), ": tensor ", name, " is of type ",
         dtype_name(dtype), ", but must be F32, F16, BF16 or F64");
  }
}

runtime::Value Weights::matrix(const std::string& name, const Shape& shape,
                               uint32_t use) {
  return matrix(name, shape, shape, use);
}

runtime::Value Weights::matrix(const std::string& name, const Shape& file_shape,
                               const Shape& shape, uint32_t use) {
  const DType dtype =
      type_of_matrix(name, shape_in_file(file_, name, file_shape));
  if (!row_bytes(dtype, shape.back())) {
    fail(RC_E_UNSUPPORTED, file_.name(), ": tensor ", name, " is of type ",
         dtype_name(dtype), ", of which rows of ", shape.back(),
         " elements, as this model reads it, are no multiple of a block of ",
         dtype_info(dtype)->block_size);
  }
  return builder_.weight(name, dtype, shape, use);
}

runtime::Value Weights::matrix_rows(const std::string& name, const Shape& shape,
                                    int64_t first, int64_t count,
                                    uint32_t use) {
  const DType dtype = type_of_matrix(name, shape);
  Shape rows = shape;
  rows[0] = count;
  return builder_.weight(name_of_rows(name, first, count), dtype, rows, use);
}

runtime::Value Weights::matrix_of_stack(const std::string& name,
                                        const Shape& shape, int64_t number,
                                        uint32_t use) {
  return builder_.weight(name_of_rows(name, number, 1),
                         type_of_matrix(name, shape), {shape[1], shape[2]},
                         use);
}

runtime::Value Weights::rows_of_heads(const std::string& name,
                                      const Shape& shape,
                                      const RowsOfHeads& rows, uint32_t use) {
  const DType dtype = type_of_matrix(name, shape);
  const int64_t heads = shape.size() == 3 ? shape[0] : shape[0] / rows.period;
  const int64_t columns = shape.back();
  Shape given = {heads * rows.count, columns};
  if (use == RC_USE_EXPERTS) {
    given = rows.turned ? Shape{heads, columns, rows.count}
                        : Shape{heads, rows.count, columns};
  }
  return builder_.weight(name_of_rows(name, rows),
                         rows.turned ? RC_DTYPE_F32 : dtype, given, use);
}

runtime::Value Weights::elements(const std::string& name, const Shape& shape) {
  return elements(name, shape, shape);
}

runtime::Value Weights::elements(const std::string& name,
                                 const Shape& file_shape, const Shape& shape) {
  check_plain(name, shape_in_file(file_, name, file_shape));
  return builder_.weight(name, RC_DTYPE_F32, shape, RC_USE_ELEMENTS);
}

runtime::Value Weights::all_elements(const std::string& name,
                                     const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  const gguf::Tensor* tensor = file_.find_tensor(name);
  const Shape given = tensor == nullptr ? shape : without_ones(tensor->shape);
  const bool fits =
      given == without_ones(shape) || given == without_ones({count});
  return elements(name, tensor != nullptr && fits ? tensor->shape : shape,
                  shape);
}

runtime::Value Weights::piece(const std::string& name, const Shape& shape,
                              int64_t count, int64_t number, uint32_t use) {
  Shape all = shape;
  all.insert(all.begin(), count);
  const gguf::Tensor* tensor = file_.find_tensor(name);
  if (tensor != nullptr && !tensor->shape.empty() &&
      tensor->shape[0] == count &&
      without_ones(tensor->shape) == without_ones(all)) {
    all = tensor->shape;
  }
  const std::string of_piece = name_of_rows(name, number, 1);
  if (use == RC_USE_ELEMENTS) {
    check_plain(name, all);
    return builder_.weight(of_piece, RC_DTYPE_F32, shape, use);
  }
  return builder_.weight(of_piece, type_of_matrix(name, all), shape, use);
}

runtime::Value Weights::element_rows(const std::string& name,
                                     const Shape& shape, int64_t first,
                                     int64_t count) {
  check_plain(name, shape);
  Shape rows = shape;
  rows[0] = count;
  return builder_.weight(name_of_rows(name, first, count), RC_DTYPE_F32, rows,
                         RC_USE_ELEMENTS);
}

runtime::Value Weights::first_row(const std::string& name, int64_t columns) {
  const gguf::Tensor* tensor = file_.find_tensor(name);
  const bool rows = tensor != nullptr && tensor->shape.size() == 2;
  check_plain(name, {rows ? tensor->shape[0] : 1, columns});
  return builder_.weight(name_of_rows(name, 0, 1), RC_DTYPE_F32, {columns},
                         RC_USE_ELEMENTS);
}

}  // namespace rc::model

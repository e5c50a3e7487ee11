// The tensors of a file as weights of a program: each is looked up by its name
// and checked against the shape and use that the program has for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "files/gguf/file.h"
#include "model/weight_name.h"
#include "runtime/program.h"

namespace rc::model {

// A tensor that a program needs is not there, or not of the shape that it
// needs.
class MissingTensor : public Error {
 public:
  MissingTensor(std::string message, std::string tensor,
                runtime::ProgramBuilder::Shape wanted, bool is_plain)
      : Error(RC_E_FORMAT, std::move(message)),
        name(std::move(tensor)),
        shape(std::move(wanted)),
        plain(is_plain) {}
  const std::string name;
  const runtime::ProgramBuilder::Shape shape;
  const bool plain;  // its type has to be one of plain floats
};

// The tensors that a program needs and a file does not have, in the order in
// which the program asks for them. Without one, the first that is missing ends
// the program.
struct MissingTensors {
  const DType type;  // of those that need not be of plain floats
  std::vector<MissingTensor> list;
};

// The tensor of that name. Throws MissingTensor unless it is there and has the
// shape, RC_E_UNSUPPORTED if it cannot be decoded.
const gguf::Tensor& check_matrix(const gguf::File& file,
                                 const std::string& name,
                                 const runtime::ProgramBuilder::Shape& shape);

class Weights {
 public:
  using Shape = runtime::ProgramBuilder::Shape;

  // All must outlive this object. What is missing is added to `missing`, if
  // that is not nullptr, instead of being thrown.
  Weights(const gguf::File& file, runtime::ProgramBuilder& builder,
          MissingTensors* missing)
      : file_(file), builder_(builder), missing_(missing) {}

  const gguf::File& file() const { return file_; }
  bool has(const std::string& name) const {
    return file_.find_tensor(name) != nullptr;
  }
  // `use` is RC_USE_ROWS, RC_USE_LINEAR or RC_USE_EXPERTS. Any type that can be
  // decoded will do.
  runtime::Value matrix(const std::string& name, const Shape& shape,
                        uint32_t use);
  // The same of a tensor whose shape in the file is another.
  runtime::Value matrix(const std::string& name, const Shape& file_shape,
                        const Shape& shape, uint32_t use);
  // `count` rows of such a matrix, from `first` on.
  runtime::Value matrix_rows(const std::string& name, const Shape& shape,
                             int64_t first, int64_t count, uint32_t use);
  // The matrix `number` of a stack [count, rows, columns].
  runtime::Value matrix_of_stack(const std::string& name, const Shape& shape,
                                 int64_t number, uint32_t use);
  // `rows` of each head of a matrix of shape [heads * period, columns], or of a
  // stack [heads, period, columns]: a matrix [heads * count, columns] or, with
  // RC_USE_EXPERTS, one for each head: [heads, count, columns], turned [heads,
  // columns, count].
  runtime::Value rows_of_heads(const std::string& name, const Shape& shape,
                               const RowsOfHeads& rows, uint32_t use);
  // A norm or bias. The program sees F32 (see ModelFile::read_weight).
  runtime::Value elements(const std::string& name, const Shape& shape);
  // The same of a tensor whose shape in the file is another.
  runtime::Value elements(const std::string& name, const Shape& file_shape,
                          const Shape& shape);
  // The first of the rows of `columns` elements, of which there may be any
  // number, as [columns].
  runtime::Value first_row(const std::string& name, int64_t columns);
  // The same of a tensor that has the elements of that shape, with or without
  // dimensions of 1, or all in one dimension.
  runtime::Value all_elements(const std::string& name, const Shape& shape);
  // Piece `number` of a tensor that has `count` of that shape one after the
  // other, apart from dimensions of 1 between them.
  runtime::Value piece(const std::string& name, const Shape& shape,
                       int64_t count, int64_t number, uint32_t use);
  runtime::Value element_rows(const std::string& name, const Shape& shape,
                              int64_t first, int64_t count);

 private:
  DType type_of_matrix(const std::string& name, const Shape& shape) const;
  // Throws unless the program can have it as F32.
  void check_plain(const std::string& name, const Shape& shape) const;

  const gguf::File& file_;
  runtime::ProgramBuilder& builder_;
  MissingTensors* const missing_;
};

}  // namespace rc::model

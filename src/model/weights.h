// The tensors of a file as weights of a program: each is looked up by its name
// and checked against the shape and use that the program has for it.
#pragma once

#include <string>

#include "files/gguf/file.h"
#include "runtime/program.h"

namespace rc::model {

// The tensor of that name. Throws RC_E_FORMAT unless it is there and has the
// shape, RC_E_UNSUPPORTED if it cannot be decoded.
const gguf::Tensor& check_matrix(const gguf::File& file,
                                 const std::string& name,
                                 const runtime::ProgramBuilder::Shape& shape);

class Weights {
 public:
  using Shape = runtime::ProgramBuilder::Shape;

  // Both must outlive this object.
  Weights(const gguf::File& file, runtime::ProgramBuilder& builder)
      : file_(file), builder_(builder) {}

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
  // `count` rows from `first` on, and so on each `step` rows, which divide
  // those of the matrix.
  struct Pieces {
    int64_t first, count, step;
  };
  runtime::Value matrix_pieces(const std::string& name, const Shape& shape,
                               const Pieces& pieces, uint32_t use);
  // A norm or bias. The program sees F32 (see ModelFile::read_weight).
  runtime::Value elements(const std::string& name, const Shape& shape);
  // The same of a tensor whose shape in the file is another.
  runtime::Value elements(const std::string& name, const Shape& file_shape,
                          const Shape& shape);
  runtime::Value element_rows(const std::string& name, const Shape& shape,
                              int64_t first, int64_t count);

 private:
  // Throws unless the program can have it as F32.
  void check_plain(const std::string& name, const Shape& shape) const;

  const gguf::File& file_;
  runtime::ProgramBuilder& builder_;
};

}  // namespace rc::model

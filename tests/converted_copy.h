// A model file with its matrices in another type.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "files/gguf/file.h"
#include "files/gguf/writer.h"
#include "tensor/dtype.h"

namespace rc::test {

// Vectors become F32; matrices whose rows are no multiple of the type's blocks
// stay as they are.
inline void write_converted_copy(const std::string& from, const std::string& to,
                                 DType dtype) {
  const auto file = gguf::File::open(from);
  gguf::Writer writer;
  for (const gguf::Entry& entry : file->entries()) writer.add(entry);
  std::list<std::vector<std::byte>> copies;  // the writer refers to them
  for (const gguf::Tensor& tensor : file->tensors()) {
    const int64_t columns = tensor.shape.back();
    DType target = tensor.shape.size() > 1 ? dtype : RC_DTYPE_F32;
    if (columns % dtype_info(target)->block_size != 0) target = tensor.dtype;
    const auto from_bytes =
        static_cast<size_t>(row_bytes(tensor.dtype, columns).value());
    const auto to_bytes =
        static_cast<size_t>(row_bytes(target, columns).value());
    const std::vector<std::byte> bytes = file->read(tensor);
    const size_t rows = bytes.size() / from_bytes;
    auto& copy = copies.emplace_back(rows * to_bytes);
    std::vector<float> values(static_cast<size_t>(columns));
    for (size_t row = 0; row < rows; ++row) {
      decode_row(tensor.dtype, bytes.data() + row * from_bytes, values.data(),
                 columns);
      encode_row(target, values.data(), copy.data() + row * to_bytes, columns);
    }
    writer.add_tensor(tensor.name, target, tensor.shape, copy);
  }
  writer.write_file(to);
}

}  // namespace rc::test

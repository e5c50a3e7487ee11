// A model file with all weights as F32.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "gguf/writer.h"
#include "tensor/dtype.h"

namespace rc::test {

inline void write_f32_copy(const std::string& from, const std::string& to) {
  const auto file = gguf::File::open(from);
  gguf::Writer writer;
  for (const gguf::Entry& entry : file->entries()) writer.add(entry);
  std::list<std::vector<float>> values;  // the writer refers to them
  for (const gguf::Tensor& tensor : file->tensors()) {
    const int64_t columns = tensor.shape.back();
    const auto row_size =
        static_cast<size_t>(row_bytes(tensor.dtype, columns).value());
    const size_t rows = tensor.data.size() / row_size;
    auto& data = values.emplace_back(rows * static_cast<size_t>(columns));
    for (size_t row = 0; row < rows; ++row) {
      decode_row(tensor.dtype, tensor.data.data() + row * row_size,
                 data.data() + row * static_cast<size_t>(columns), columns);
    }
    writer.add_tensor(tensor.name, RC_DTYPE_F32, tensor.shape, data);
  }
  writer.write_file(to);
}

}  // namespace rc::test

// The data of a file's tensors in memory without a copy: the mapped file.
//
// A file that is cut short while it is mapped, or a disk that fails, ends the
// process, or leaves zeros where it is guarded; see base/mapped_file.h.
#pragma once

#include <memory>

#include "base/mapped_file.h"
#include "files/gguf/file.h"

namespace rc::gguf {

class MappedTensors {
 public:
  // Maps the file, if it was not read from memory anyway. Throws
  // RC_E_UNSUPPORTED unless it is mappable().
  MappedTensors(std::shared_ptr<const File> file, bool guarded);

  // The data of one of the file's tensors(); as long as this object.
  const std::byte* data(const Tensor& tensor) const {
    return bytes_.data() + tensor.offset;
  }
  // See MappedFile.
  void check() const;
  bool damaged() const { return mapped_ != nullptr && mapped_->damaged(); }

 private:
  const std::shared_ptr<const File> file_;
  const std::shared_ptr<const MappedFile> mapped_;  // nullptr: in memory
  const std::span<const std::byte> bytes_;
};

}  // namespace rc::gguf

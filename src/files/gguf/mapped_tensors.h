// The data of a file's tensors in memory without a copy: the mapped files.
//
// A file that is cut short while it is mapped, or a disk that fails, ends the
// process, or leaves zeros where it is guarded; see base/mapped_file.h.
#pragma once

#include <memory>
#include <vector>

#include "base/mapped_file.h"
#include "files/gguf/file.h"

namespace rc::gguf {

class MappedTensors {
 public:
  // Maps the file, or all files that it is made of, if it was not read from
  // memory anyway. Throws RC_E_UNSUPPORTED unless it is mappable().
  MappedTensors(std::shared_ptr<const File> file, bool guarded);

  // The data of one of the file's tensors(); as long as this object.
  const std::byte* data(const Tensor& tensor) const;
  // See MappedFile.
  void check() const;
  bool damaged() const;

 private:
  const std::shared_ptr<const File> file_;
  std::vector<std::shared_ptr<const MappedFile>> mapped_;  // empty: in memory
};

}  // namespace rc::gguf

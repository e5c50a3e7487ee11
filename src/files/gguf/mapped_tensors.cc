#include "files/gguf/mapped_tensors.h"

#include <utility>

namespace rc::gguf {

MappedTensors::MappedTensors(std::shared_ptr<const File> file, bool guarded)
    : file_(std::move(file)),
      mapped_(file_->source_ == nullptr
                  ? nullptr
                  : MappedFile::map(file_->source_, guarded)),
      bytes_(mapped_ == nullptr ? file_->memory_ : mapped_->bytes()) {}

void MappedTensors::check() const {
  if (mapped_ != nullptr) mapped_->check();
}

}  // namespace rc::gguf

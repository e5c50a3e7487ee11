#include "files/gguf/mapped_tensors.h"

#include <utility>

#include "base/error.h"

namespace rc::gguf {

namespace {

// nullptr if the file is in memory.
std::shared_ptr<const MappedFile> map_file(const File& file,
                                           const Source* source, bool guarded) {
  if (source == nullptr) return nullptr;
  if (!file.mappable()) {
    fail(RC_E_UNSUPPORTED, file.name(),
         ": no file holds its tensors as they are computed with, so they "
         "cannot stay mapped");
  }
  return MappedFile::map(source->file(), guarded);
}

}  // namespace

MappedTensors::MappedTensors(std::shared_ptr<const File> file, bool guarded)
    : file_(std::move(file)),
      mapped_(map_file(*file_, file_->source_.get(), guarded)),
      bytes_(mapped_ == nullptr ? file_->memory_ : mapped_->bytes()) {}

void MappedTensors::check() const {
  if (mapped_ != nullptr) mapped_->check();
}

}  // namespace rc::gguf

#include "files/gguf/mapped_tensors.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rc::gguf {

MappedTensors::MappedTensors(std::shared_ptr<const File> file, bool guarded)
    : file_(std::move(file)) {
  if (!file_->mappable()) {
    fail(RC_E_UNSUPPORTED, file_->name(),
         ": no file holds its tensors as they are computed with, so they "
         "cannot stay mapped");
  }
  if (file_->source() == nullptr) return;
  for (auto& part : file_->source()->files()) {
    mapped_.push_back(MappedFile::map(std::move(part), guarded));
  }
}

const std::byte* MappedTensors::data(const Tensor& tensor) const {
  if (mapped_.empty()) return file_->memory_.data() + tensor.offset;
  const Source::Home home = file_->source()->home(tensor.offset);
  return mapped_[home.file]->bytes().data() + home.offset;
}

void MappedTensors::check() const {
  for (const auto& part : mapped_) part->check();
}

bool MappedTensors::damaged() const {
  return std::ranges::any_of(mapped_,
                             [](const auto& part) { return part->damaged(); });
}

}  // namespace rc::gguf

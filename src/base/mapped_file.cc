#include "base/mapped_file.h"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/error.h"
#include "base/memory.h"

namespace rc {

std::shared_ptr<const MappedFile> MappedFile::map(
    std::shared_ptr<const OpenFile> file, bool guarded) {
  if (file->size() > SIZE_MAX) {
    fail(RC_E_OUT_OF_MEMORY, file->path(), ": ", file->size(),
         " bytes are more than the addresses of this process; at most ",
         SIZE_MAX, " can be mapped");
  }
  const auto size = static_cast<size_t>(file->size());
  std::shared_ptr<MappedFile> mapped(new MappedFile(std::move(file)));
  mapped->bytes_ = map_file(mapped->file_->descriptor(), size);
  if (mapped->bytes_.empty()) {
    const int error = errno;
    fail(error == ENOMEM ? RC_E_OUT_OF_MEMORY : RC_E_IO, mapped->file_->path(),
         ": ", size,
         " bytes cannot be mapped: ", std::generic_category().message(error));
  }
  if (guarded) mapped->guard_.emplace(mapped->bytes_);
  return mapped;
}

MappedFile::~MappedFile() {
  guard_.reset();
  if (!bytes_.empty()) unmap_memory(bytes_.data(), bytes_.size());
}

void MappedFile::check() const {
  if (damaged()) {
    fail(RC_E_IO, file_->path(),
         ": a part of the mapped file could not be read: it was cut short "
         "while in use, or its disk fails; load it again");
  }
  file_->check_length();
}

}  // namespace rc

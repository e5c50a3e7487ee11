#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <system_error>

#include "base/error.h"
#include "base/quote.h"

namespace rc {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  if (path.empty()) fail(RC_E_INVALID_ARGUMENT, "the path of a file is empty");
  if (path.find('\0') != std::string::npos) {
    fail(RC_E_INVALID_ARGUMENT, "the path ", quote(path),
         " contains a zero byte");
  }
  std::shared_ptr<MappedFile> file(new MappedFile(path));
  // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
  file->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->descriptor_ < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      fail(RC_E_NOT_FOUND, path, ": no such file");
    }
    fail(RC_E_IO, path, ": cannot be opened: ", reason(error));
  }
  struct stat status;
  if (::fstat(file->descriptor_, &status) != 0) {
    fail(RC_E_IO, path, ": cannot be examined: ", reason(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    fail(RC_E_IO, path, ": is a directory; name a file in it");
  }
  if (!S_ISREG(status.st_mode)) {
    fail(RC_E_IO, path, ": is not a regular file and cannot be mapped");
  }
  if (status.st_size == 0) fail(RC_E_FORMAT, path, ": the file is empty");
  const auto length = static_cast<uintmax_t>(status.st_size);
  if (length > std::numeric_limits<ptrdiff_t>::max()) {
    fail(RC_E_IO, path, ": ", length, " bytes exceed the address space");
  }
  const auto size = static_cast<size_t>(length);
  void* start =
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor_, 0);
  if (start == MAP_FAILED) {
    const int error = errno;
    fail(error == ENOMEM ? RC_E_OUT_OF_MEMORY : RC_E_IO, path, ": ", size,
         " bytes cannot be mapped: ", reason(error));
  }
  file->bytes_ = {static_cast<const std::byte*>(start), size};
  return file;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void MappedFile::drop(std::span<const std::byte> part) const {
  if (part.empty()) return;
  // Pages at the ends go too: their other bytes come back when they are read.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(part.data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size());
  // Best effort: the bytes are the same whether this succeeds or not.
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void MappedFile::check_unchanged() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) {
    fail(RC_E_IO, path_, ": cannot be examined: ", reason(errno));
  }
  if (static_cast<uintmax_t>(status.st_size) != bytes_.size()) {
    fail(RC_E_IO, path_, ": changed from ", bytes_.size(), " to ",
         status.st_size, " bytes while in use; load it again");
  }
}

}  // namespace rc

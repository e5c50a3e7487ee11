#include "base/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/quote.h"

namespace rc {
namespace {

// Linux reads no more at once.
constexpr size_t kMostAtOnce = size_t{1} << 30;

std::string reason(int error) { return std::generic_category().message(error); }

struct stat examine(int descriptor, const std::string& path) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) {
    fail(RC_E_IO, path, ": cannot be examined: ", reason(errno));
  }
  return status;
}

}  // namespace

std::shared_ptr<const OpenFile> OpenFile::open(const std::string& path) {
  if (path.empty()) fail(RC_E_INVALID_ARGUMENT, "the path of a file is empty");
  if (path.find('\0') != std::string::npos) {
    fail(RC_E_INVALID_ARGUMENT, "the path ", quote(path),
         " contains a zero byte");
  }
  std::shared_ptr<OpenFile> file(new OpenFile(path));
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  file->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->descriptor_ < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      fail(RC_E_NOT_FOUND, path, ": no such file");
    }
    fail(RC_E_IO, path, ": cannot be opened: ", reason(error));
  }
  const struct stat status = examine(file->descriptor_, path);
  if (S_ISDIR(status.st_mode)) {
    fail(RC_E_IO, path, ": is a directory; name a file in it");
  }
  if (!S_ISREG(status.st_mode)) {
    fail(RC_E_IO, path, ": is not a regular file");
  }
  if (status.st_size == 0) fail(RC_E_FORMAT, path, ": the file is empty");
  file->identity_ = {status.st_dev, status.st_ino,
                     static_cast<uint64_t>(status.st_size),
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  return file;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OpenFile::read(uint64_t offset, std::span<std::byte> target,
                    const std::string& what) const {
  while (!target.empty()) {
    const ssize_t count = ::pread(descriptor_, target.data(),
                                  std::min(target.size(), kMostAtOnce),
                                  static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(RC_E_IO, path_, ": ", what, " cannot be read, at byte ", offset,
           ": ", reason(errno));
    }
    if (count == 0) {
      fail(RC_E_IO, path_, ": ", what, " cannot be read: the file had ", size(),
           " bytes when it was opened and now ends at byte ", offset,
           " or before; it was cut short while in use, load it again");
    }
    offset += static_cast<uint64_t>(count);
    target = target.subspan(static_cast<size_t>(count));
  }
}

void OpenFile::check_length() const {
  const struct stat status = examine(descriptor_, path_);
  if (static_cast<uint64_t>(status.st_size) != size()) {
    fail(RC_E_IO, path_, ": changed from ", size(), " to ", status.st_size,
         " bytes while in use; load it again");
  }
}

void OpenFile::check_unchanged() const {
  check_length();
  const struct stat status = examine(descriptor_, path_);
  if (status.st_mtim.tv_sec != identity_.seconds ||
      status.st_mtim.tv_nsec != identity_.nanoseconds) {
    fail(RC_E_IO, path_, ": was written to while in use; load it again");
  }
}

}  // namespace rc

#include "base/open_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"

namespace rc {
namespace {

// Linux reads no more at once.
constexpr size_t kMostAtOnce = size_t{1} << 30;

std::string reason(int error) { return std::generic_category().message(error); }

FileStatus examine(const Descriptor& descriptor, const std::string& path) {
  const auto status = file_status(descriptor);
  if (!status) fail(RC_E_IO, path, ": cannot be examined: ", reason(errno));
  return *status;
}

}  // namespace

std::shared_ptr<const OpenFile> OpenFile::open(const std::string& path) {
  if (path.empty()) fail(RC_E_INVALID_ARGUMENT, "the path of a file is empty");
  if (path.find('\0') != std::string::npos) {
    fail(RC_E_INVALID_ARGUMENT, "the path ", quote(path),
         " contains a zero byte");
  }
  std::shared_ptr<OpenFile> file(new OpenFile(path));
  file->descriptor_ = open_for_reading(path, Links::kFollow);
  if (!file->descriptor_.is_open()) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      fail(RC_E_NOT_FOUND, path, ": no such file");
    }
    fail(RC_E_IO, path, ": cannot be opened: ", reason(error));
  }
  const FileStatus status = examine(file->descriptor_, path);
  if (status.is_folder()) {
    fail(RC_E_IO, path, ": is a directory; name a file in it");
  }
  if (!status.is_file()) {
    fail(RC_E_IO, path, ": is not a regular file");
  }
  if (status.size == 0) fail(RC_E_FORMAT, path, ": the file is empty");
  file->identity_ = {status.file_system, status.inode, status.size,
                     status.seconds, status.nanoseconds};
  return file;
}

void OpenFile::read(uint64_t offset, std::span<std::byte> target,
                    const std::string& what) const {
  while (!target.empty()) {
    const int64_t count =
        read_some_at(descriptor_, offset,
                     target.first(std::min(target.size(), kMostAtOnce)));
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
  const FileStatus status = examine(descriptor_, path_);
  if (status.size != size()) {
    fail(RC_E_IO, path_, ": changed from ", size(), " to ", status.size,
         " bytes while in use; load it again");
  }
}

void OpenFile::check_unchanged() const {
  check_length();
  const FileStatus status = examine(descriptor_, path_);
  if (status.seconds != identity_.seconds ||
      status.nanoseconds != identity_.nanoseconds) {
    fail(RC_E_IO, path_, ": was written to while in use; load it again");
  }
}

}  // namespace rc

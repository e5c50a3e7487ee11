#include "base/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "base/leftover_files.h"
#include "base/quote.h"
#include "base/size_signal.h"

namespace rc {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
// The disk begins to write as soon as so much is there.
constexpr off_t kBeginBytes = off_t{8} << 20;

}  // namespace

NewFile::NewFile(const std::string& path, mode_t permissions) : path_(path) {
  if (path.empty()) fail(RC_E_INVALID_ARGUMENT, "the path of a file is empty");
  if (path.find('\0') != std::string::npos) {
    fail(RC_E_INVALID_ARGUMENT, "the path ", quote(path),
         " contains a zero byte");
  }
  check_replaceable();
  buffer_.reserve(kBufferBytes);
  remove_leftovers(path_);
  create(permissions);
}

// commit() would find out only after all was written.
void NewFile::check_replaceable() const {
  struct stat found;
  if (::lstat(path_.c_str(), &found) != 0) {
    if (errno == ENAMETOOLONG) fail_with(errno, "cannot be created");
  } else if (S_ISDIR(found.st_mode)) {
    fail_with(EISDIR, "cannot be replaced");
  }
}

void NewFile::create(mode_t permissions) {
  descriptor_ = make_temporary(path_, permissions, &temporary_);
  if (descriptor_ >= 0) return;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) {
    fail(RC_E_NOT_FOUND, path_, ": there is no such folder");
  }
  fail_with(error, "cannot be created");
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::fail_with(int error, const char* what) const {
  fail(RC_E_IO, path_, ": ", what, ": ", std::generic_category().message(error),
       error == EFBIG
           ? cat(" (", written_, " bytes are written; see ulimit -f)")
           : std::string());
}

void NewFile::append(std::span<const std::byte> bytes) {
  if (bytes.size() > kBufferBytes - buffer_.size()) flush();
  if (bytes.size() >= kBufferBytes) {
    write_all(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void NewFile::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void NewFile::write_all(std::span<const std::byte> bytes) {
  const SizeSignalHeld held;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with(errno, "cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(written));
    written_ += written;
  }
  begin_on_disk();
}

// Lets the disk write while more is made, so that commit() waits less. What
// fails here fails there again.
void NewFile::begin_on_disk() {
#if defined(__linux__)
  if (written_ - begun_ < kBeginBytes) return;
  static_cast<void>(::sync_file_range(descriptor_, begun_, written_ - begun_,
                                      SYNC_FILE_RANGE_WRITE));
  begun_ = written_;
#endif
}

void NewFile::commit() {
  flush();
  // Some file systems notice only now that the disk is full.
  if (::fsync(descriptor_) != 0) fail_with(errno, "cannot be written");
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail_with(errno, "cannot be written");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail_with(errno, "cannot be replaced");
  }
  temporary_.clear();
}

}  // namespace rc

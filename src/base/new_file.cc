#include "base/new_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/leftover_files.h"
#include "base/quote.h"

namespace rc {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
// The disk begins to write as soon as so much is there.
constexpr uint64_t kBeginBytes = uint64_t{8} << 20;

}  // namespace

NewFile::NewFile(const std::string& path, unsigned permissions) : path_(path) {
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
  const auto found = link_status(path_);
  if (!found) {
    if (errno == ENAMETOOLONG) fail_with(errno, "cannot be created");
  } else if (found->is_folder()) {
    fail_with(EISDIR, "cannot be replaced");
  }
}

void NewFile::create(unsigned permissions) {
  file_ = make_temporary(path_, permissions, &temporary_);
  if (file_.is_open()) return;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) {
    fail(RC_E_NOT_FOUND, path_, ": there is no such folder");
  }
  fail_with(error, "cannot be created");
}

NewFile::~NewFile() {
  file_.reset();
  if (!temporary_.empty()) remove_file(temporary_);
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
  while (!bytes.empty()) {
    const int64_t written = write_some(file_, bytes);
    if (written < 0) fail_with(errno, "cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(written));
    written_ += static_cast<uint64_t>(written);
  }
  begin_on_disk();
}

// Lets the disk write while more is made, so that commit() waits less. What
// fails here fails there again.
void NewFile::begin_on_disk() {
  if (written_ - begun_ < kBeginBytes) return;
  begin_flush(file_, begun_, written_ - begun_);
  begun_ = written_;
}

void NewFile::commit() {
  flush();
  // Some file systems notice only now that the disk is full.
  if (!flush_file(file_)) fail_with(errno, "cannot be written");
  if (!file_.close()) fail_with(errno, "cannot be written");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail_with(errno, "cannot be replaced");
  }
  temporary_.clear();
}

}  // namespace rc

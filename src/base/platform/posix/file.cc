#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "base/size_signal.h"

namespace rc {
namespace {

// Without O_NONBLOCK, opening a pipe would wait for its other end.
constexpr int kOpenFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

template <class Call>
auto until_uninterrupted(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

FileStatus::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileStatus::Kind::kFile;
  if (S_ISDIR(mode)) return FileStatus::Kind::kFolder;
  if (S_ISLNK(mode)) return FileStatus::Kind::kLink;
  return FileStatus::Kind::kOther;
}

FileStatus status_of(const struct stat& found) {
  FileStatus status;
  status.kind = kind_of(found.st_mode);
  status.file_system = found.st_dev;
  status.inode = found.st_ino;
  status.size = static_cast<uint64_t>(found.st_size);
  status.allocated = static_cast<uint64_t>(found.st_blocks) * 512;
  status.seconds = found.st_mtim.tv_sec;
  status.nanoseconds = found.st_mtim.tv_nsec;
  status.owner = found.st_uid;
  status.others_may_write = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return status;
}

}  // namespace

void Descriptor::reset(int number) noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = number;
}

bool Descriptor::close() noexcept { return ::close(release()) == 0; }

std::optional<FileStatus> file_status(const Descriptor& file) noexcept {
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0) return std::nullopt;
  return status_of(found);
}

std::optional<FileStatus> file_status(const std::string& path) noexcept {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return status_of(found);
}

std::optional<FileStatus> link_status(const std::string& path) noexcept {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return status_of(found);
}

bool is_own(const FileStatus& file) noexcept {
  return file.owner == ::geteuid();
}

bool is_executable(const std::string& path) noexcept {
  return ::access(path.c_str(), X_OK) == 0;
}

Descriptor open_for_reading(const std::string& path, Links links) noexcept {
  return Descriptor(::open(
      path.c_str(),
      O_RDONLY | kOpenFlags | (links == Links::kRefuse ? O_NOFOLLOW : 0)));
}

Descriptor open_for_update(const std::string& path) noexcept {
  return Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | kOpenFlags, 0666));
}

Descriptor make_file(const std::string& path, unsigned permissions) noexcept {
  return Descriptor(::open(path.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                           static_cast<mode_t>(permissions)));
}

int64_t read_some(const Descriptor& file,
                  std::span<std::byte> target) noexcept {
  return until_uninterrupted(
      [&] { return ::read(file.get(), target.data(), target.size()); });
}

int64_t read_some_at(const Descriptor& file, uint64_t offset,
                     std::span<std::byte> target) noexcept {
  return until_uninterrupted([&] {
    return ::pread(file.get(), target.data(), target.size(),
                   static_cast<off_t>(offset));
  });
}

int64_t write_some(const Descriptor& file,
                   std::span<const std::byte> bytes) noexcept {
  const SizeSignalHeld held;
  return until_uninterrupted(
      [&] { return ::write(file.get(), bytes.data(), bytes.size()); });
}

int64_t write_some_at(const Descriptor& file, uint64_t offset,
                      std::span<const std::byte> bytes) noexcept {
  const SizeSignalHeld held;
  return until_uninterrupted([&] {
    return ::pwrite(file.get(), bytes.data(), bytes.size(),
                    static_cast<off_t>(offset));
  });
}

bool set_file_size(const Descriptor& file, uint64_t size) noexcept {
  const SizeSignalHeld held;
  return ::ftruncate(file.get(), static_cast<off_t>(size)) == 0;
}

void begin_flush([[maybe_unused]] const Descriptor& file,
                 [[maybe_unused]] uint64_t offset,
                 [[maybe_unused]] uint64_t size) noexcept {
#if defined(__linux__)
  static_cast<void>(::sync_file_range(file.get(), static_cast<off_t>(offset),
                                      static_cast<off_t>(size),
                                      SYNC_FILE_RANGE_WRITE));
#endif
}

bool flush_file(const Descriptor& file) noexcept {
  return ::fsync(file.get()) == 0;
}

void flush_folder_of(const std::string& path) noexcept {
  try {
    const Descriptor folder(
        ::open(path.substr(0, path.rfind('/') + 1).append(".").c_str(),
               O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.is_open()) ::fsync(folder.get());
  } catch (const std::bad_alloc&) {
    // The names reach the disk later.
  }
}

FileLocking lock_file(const Descriptor& file) noexcept {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return FileLocking::kLocked;
  return errno == EWOULDBLOCK ? FileLocking::kHeld : FileLocking::kFailed;
}

std::optional<uint64_t> free_space(const Descriptor& file) noexcept {
  struct statvfs disk = {};
  if (::fstatvfs(file.get(), &disk) != 0) return std::nullopt;
  return uint64_t{disk.f_bavail} * disk.f_frsize;
}

bool remove_file(const std::string& path) noexcept {
  return ::unlink(path.c_str()) == 0;
}

}  // namespace rc

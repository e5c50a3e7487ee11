// A disk that fails, for one source file of a test program to include: the
// program's pread and fstat take the place of the C library's.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace rc::test {

// Calls that succeed before all others fail; negative: none fails.
inline std::atomic<int64_t> calls_until_failure{-1};

inline bool disk_fails() {
  if (calls_until_failure == 0) {
    errno = EIO;
    return true;
  }
  if (calls_until_failure > 0) --calls_until_failure;
  return false;
}

// Fails from the n-th call on (0: from the first), while this lives.
class FailingDisk {
 public:
  explicit FailingDisk(int64_t n) { calls_until_failure = n; }
  ~FailingDisk() { calls_until_failure = -1; }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
};

}  // namespace rc::test

extern "C" ssize_t pread(int descriptor, void* target, size_t size,
                         off_t offset) {
  if (rc::test::disk_fails()) return -1;
  return syscall(SYS_pread64, descriptor, target, size, offset);
}

extern "C" int fstat(int descriptor, struct stat* status) noexcept {
  if (rc::test::disk_fails()) return -1;
  return fstatat(descriptor, "", status, AT_EMPTY_PATH);
}

// A regular file that is open for reading.
//
// The contents are read into memory of the caller, never mapped: a file that
// another process shortens meanwhile, or a disk that fails, is an error of the
// call that reads. Files in use should nevertheless be replaced (written under
// another name and renamed) rather than overwritten; check_unchanged() detects
// it.
//
// Immutable once made: any thread may read it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/descriptor.h"

namespace rc {

class OpenFile {
 public:
  // Throws RC_E_NOT_FOUND if it does not exist, RC_E_IO if it cannot be opened
  // or is no regular file, RC_E_FORMAT if it is empty.
  static std::shared_ptr<const OpenFile> open(const std::string& path);

  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::string& path() const { return path_; }
  // The properties that distinguish the file from every other one, and from
  // itself after a program has written to it; as they were when it was opened.
  // No other file has them as long as this object lives.
  struct Identity {
    uint64_t file_system;
    uint64_t inode;
    uint64_t size;  // bytes
    // When it was last written.
    int64_t seconds;
    int64_t nanoseconds;

    auto operator<=>(const Identity&) const = default;
  };
  const Identity& identity() const { return identity_; }
  // Bytes, when it was opened.
  uint64_t size() const { return identity_.size; }
  const Descriptor& descriptor() const { return descriptor_; }

  // Fills `target` with what lies at `offset`. Throws RC_E_IO naming `what`
  // (such as "tensor 'x'") if the file has ended before or the disk fails.
  void read(uint64_t offset, std::span<std::byte> target,
            const std::string& what) const;

  // Throws RC_E_IO if the file is no longer as long as when it was opened.
  void check_length() const;
  // As check_length, and if anybody has written to it since.
  void check_unchanged() const;

 private:
  explicit OpenFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  Descriptor descriptor_;
  Identity identity_ = {};
};

}  // namespace rc

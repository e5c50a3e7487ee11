// A file mapped into memory for reading.
//
// Immutable once made: any thread may read it. The pages stay the file's: if
// another process shortens the file while it is mapped, touching a page beyond
// the new end raises SIGBUS, and no reader of a mapping can prevent that. Files
// in use must be replaced (written anew and renamed), not overwritten. Before
// long reads check_unchanged() turns the case into an error.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace rc {

class MappedFile {
 public:
  // Maps the whole file. Throws RC_E_NOT_FOUND if it does not exist, RC_E_IO if
  // it cannot be read or is no regular file, RC_E_FORMAT if it is empty.
  static std::shared_ptr<const MappedFile> open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  // Gives back the memory that the pages of some of bytes() take in this
  // process. Who reads them again, even now in another thread, gets them from
  // the file again.
  void drop(std::span<const std::byte> part) const;

  // Throws RC_E_IO if the file is no longer as long as when it was mapped.
  void check_unchanged() const;

 private:
  explicit MappedFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int descriptor_ = -1;
  std::span<const std::byte> bytes_;
};

}  // namespace rc

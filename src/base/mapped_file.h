// A file mapped into memory for reading.
//
// Immutable once made: any thread may read it. The pages stay the file's: if
// another process shortens the file while it is mapped, or its disk fails,
// touching a page that is not there raises SIGBUS, which ends the process
// unless the mapping is guarded (see bus_guard.h). Before long reads
// OpenFile::check_length() turns most such cases into an error.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/bus_guard.h"
#include "base/open_file.h"

namespace rc {

class MappedFile {
 public:
  // Maps the whole file. Throws RC_E_OUT_OF_MEMORY or RC_E_IO if the system
  // does not.
  static std::shared_ptr<const MappedFile> map(
      std::shared_ptr<const OpenFile> file, bool guarded);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  // Throws RC_E_IO if the file is no longer as long as when it was opened, or
  // if a page of a guarded mapping was not there when it was touched: since
  // then the mapping holds zeros.
  void check() const;
  // Whether that has happened; for ever.
  bool damaged() const { return guard_ && guard_->damaged(); }

 private:
  explicit MappedFile(std::shared_ptr<const OpenFile> file)
      : file_(std::move(file)) {}

  const std::shared_ptr<const OpenFile> file_;
  std::span<const std::byte> bytes_;
  std::optional<BusGuard> guard_;
};

}  // namespace rc

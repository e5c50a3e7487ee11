// A file that appears under its name only when it is complete.
//
// Bytes go to a temporary file in the same folder, which commit() renames; a
// file of that name is replaced at that moment. Whatever fails before, a full
// disk or a limit on the size of files for instance, leaves no trace and throws
// RC_E_IO. A process that is killed leaves its temporary file behind, and the
// next file that is written into the folder removes it (leftover_files.h). For
// one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace rc {

class NewFile {
 public:
  // `permissions` as far as the process's umask leaves them. Throws
  // RC_E_INVALID_ARGUMENT, RC_E_NOT_FOUND (no such folder), RC_E_IO.
  explicit NewFile(const std::string& path, unsigned permissions = 0666);
  // Removes what was written unless it was committed.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void append(std::span<const std::byte> bytes);
  // Writes everything to the disk and gives the file its name. To be called
  // once.
  void commit();

 private:
  void check_replaceable() const;
  void create(unsigned permissions);
  void flush();
  void write_all(std::span<const std::byte> bytes);
  void begin_on_disk();
  [[noreturn]] void fail_with(int error, const char* what) const;

  std::string path_;
  std::string temporary_;  // empty while there is none
  std::vector<std::byte> buffer_;
  Descriptor file_;
  uint64_t written_ = 0;  // bytes
  uint64_t begun_ = 0;    // of them, those that the disk has begun to write
};

}  // namespace rc

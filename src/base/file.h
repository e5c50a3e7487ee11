// The files of the system: the door for all that opens, examines, changes or
// removes one.
//
// These functions do what one call of the system does. Where one fails, it
// leaves the reason in errno. Calls that a signal interrupts are made again.
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace rc {

// Properties of a file at one moment.
struct FileStatus {
  enum class Kind { kFile, kFolder, kLink, kOther };

  Kind kind = Kind::kOther;
  // These two together distinguish it from every other file that exists.
  uint64_t file_system = 0;
  uint64_t inode = 0;
  uint64_t size = 0;       // bytes
  uint64_t allocated = 0;  // bytes on the disk
  // The time of the last write.
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  uint64_t owner = 0;
  bool others_may_write = false;  // anyone but the owner

  bool is_file() const { return kind == Kind::kFile; }
  bool is_folder() const { return kind == Kind::kFolder; }
  bool is_link() const { return kind == Kind::kLink; }
  bool is_same_file(const FileStatus& other) const {
    return inode == other.inode && file_system == other.file_system;
  }
};

// Nothing if there is no such file, or the system refuses to examine it.
std::optional<FileStatus> file_status(const Descriptor& file) noexcept;
std::optional<FileStatus> file_status(const std::string& path) noexcept;
// The same for a link itself, where the path ends in one.
std::optional<FileStatus> link_status(const std::string& path) noexcept;

// Whether the user that the process acts for owns the file.
bool is_own(const FileStatus& file) noexcept;

// Whether the process may run the file as a program.
bool is_executable(const std::string& path) noexcept;

// The following three return a closed descriptor if they fail. None waits for
// the other end of a pipe, and no program that the process starts inherits the
// descriptor.

enum class Links { kFollow, kRefuse };  // at the end of the path
Descriptor open_for_reading(const std::string& path, Links links) noexcept;
// Opens the file for reading and writing and makes it if it does not exist.
// Refuses links at the end of the path.
Descriptor open_for_update(const std::string& path) noexcept;
// Makes the file and opens it for writing. Fails with EEXIST if the name is
// taken. The umask of the process restricts `permissions`.
Descriptor make_file(const std::string& path, unsigned permissions) noexcept;

// Return the number of bytes read, at most the size of `target`; 0 at the end
// of the file; negative if the call fails.
int64_t read_some(const Descriptor& file, std::span<std::byte> target) noexcept;
int64_t read_some_at(const Descriptor& file, uint64_t offset,
                     std::span<std::byte> target) noexcept;

// Return the number of bytes written; negative if the call fails. While they
// run, the limit on the size of files is an error (size_signal.h).
int64_t write_some(const Descriptor& file,
                   std::span<const std::byte> bytes) noexcept;
int64_t write_some_at(const Descriptor& file, uint64_t offset,
                      std::span<const std::byte> bytes) noexcept;
bool set_file_size(const Descriptor& file, uint64_t size) noexcept;

// Lets the disk begin to write a part of the file, where the system can. A
// failure shows in flush_file().
void begin_flush(const Descriptor& file, uint64_t offset,
                 uint64_t size) noexcept;
// Waits until all of the file is on the disk.
bool flush_file(const Descriptor& file) noexcept;
// The same for the folder of `path`, that is its names of files. Best effort.
void flush_folder_of(const std::string& path) noexcept;

enum class FileLocking {
  kLocked,  // until the descriptor is closed
  kHeld,    // by another descriptor, perhaps of another process
  kFailed,  // for example on a file system without locks
};
// Locks the file against others that call this. Does not wait.
FileLocking lock_file(const Descriptor& file) noexcept;

// Bytes that the process may still write to the disk of the file.
std::optional<uint64_t> free_space(const Descriptor& file) noexcept;

// Removes a file, or a link itself.
bool remove_file(const std::string& path) noexcept;

}  // namespace rc

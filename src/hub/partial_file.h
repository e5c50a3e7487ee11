// A file of which parts are there, in any order, across ends of the process.
//
// The bytes lie where they belong; behind them, until the file is complete, a
// table of how much of each part is there, with the version of the file that
// they are of. A file without a table may be the beginning of the whole, as
// other programs leave it. For one thread; other processes must be kept away
// (see hub/cache_lock.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace rc::hub {

class PartialFile {
 public:
  // Opens what is there of a file of `size` bytes, or makes it. What is of
  // another version (any text) or size is dropped. `take_beginning`: a file
  // without a table that is not longer than `size` is the beginning; to be said
  // only if the whole is checked in the end. Throws RC_E_BUSY if another
  // process has it open, RC_E_NOT_FOUND if there is no such folder, RC_E_IO,
  // also if the disk has not enough room for the rest.
  PartialFile(const std::string& path, uint64_t size,
              const std::string& version, uint64_t part_bytes,
              bool take_beginning);

  uint64_t size() const { return size_; }
  // Bytes that are there.
  uint64_t present() const { return total_present_; }
  size_t part_count() const { return present_.size(); }
  uint64_t part_begin(size_t part) const { return part * part_bytes_; }
  uint64_t part_end(size_t part) const;
  // The first byte of a part that is lacking; its end if it is complete.
  uint64_t part_lacks_from(size_t part) const {
    return part_begin(part) + present_[part];
  }
  bool complete() const { return present() == size_; }

  // Writes what follows on what a part has.
  void append(size_t part, std::span<const std::byte> bytes);
  // Nothing is there any more.
  void clear();
  // Writes the table, so that what is there is found again.
  void save();
  void read(uint64_t offset, std::span<std::byte> target) const;
  // Of a complete file: drops the table, writes all to the disk and gives the
  // file its name. It must not be used after that.
  void publish(const std::string& name);

 private:
  void open_alone();
  bool load();
  void set_beginning(uint64_t bytes);
  void need_room() const;
  void write_at(uint64_t offset, std::span<const std::byte> bytes);
  void resize(uint64_t size);
  [[noreturn]] void fail_with(int error, const char* what) const;

  const std::string path_;
  const uint64_t size_;
  const std::string version_;
  const uint64_t part_bytes_;
  std::vector<uint64_t> present_;  // bytes, by part
  uint64_t total_present_ = 0;
  Descriptor file_;
};

}  // namespace rc::hub

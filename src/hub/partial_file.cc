#include "hub/partial_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <system_error>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"

namespace rc::hub {
namespace {

// The table: this, then `parts` numbers.
struct TableHead {
  char magic[8];
  uint64_t size;
  uint64_t part_bytes;
  uint64_t parts;
  char version[96];   // ends with zeros
  uint64_t checksum;  // of all other bytes of the table
};
constexpr char kTableMagic[9] = "rcparts2";
constexpr uint64_t kMostParts = 1 << 16;
constexpr uint64_t kLargest = uint64_t{1} << 50;

// Of a table; the one that it holds does not count.
uint64_t checksum_of(TableHead head, std::span<const uint64_t> parts) {
  head.checksum = 0;
  rc::Checksum sum;
  sum.add(std::as_bytes(std::span(&head, 1)));
  sum.add(std::as_bytes(parts));
  return sum.value();
}

uint64_t need_size(const std::string& path, uint64_t size) {
  if (size > kLargest) {
    fail(RC_E_IO, path, ": no disk holds a file of ", size, " bytes");
  }
  return size;
}

}  // namespace

PartialFile::PartialFile(const std::string& path, uint64_t size,
                         const std::string& version, uint64_t part_bytes,
                         bool take_beginning)
    : path_(path),
      size_(need_size(path, size)),
      version_(version.substr(0, sizeof(TableHead::version) - 1)),
      part_bytes_(std::max(part_bytes, (size_ + kMostParts - 1) / kMostParts)),
      present_(static_cast<size_t>((size_ + part_bytes_ - 1) / part_bytes_)) {
  open_alone();
  const auto found = file_status(file_);
  if (!found) fail_with(errno, "cannot be read");
  if (!found->is_file()) {
    fail(RC_E_IO, path_, ": this is no regular file; remove it");
  }
  const uint64_t length = found->size;
  if (length <= size_) {
    set_beginning(take_beginning ? length : 0);
  } else if (!load()) {
    set_beginning(0);
  }
  need_room();
  if (length <= size_ || present() == 0) {
    resize(size_);
    save();
  }
}

void PartialFile::open_alone() {
  while (true) {
    file_ = open_for_update(path_);
    if (!file_.is_open()) fail_with(errno, "cannot be opened");
    if (lock_file(file_) == FileLocking::kHeld) {
      fail(RC_E_BUSY, path_, ": it is being fetched already");
    }
    // Until now it may have been another's, who has given it its name.
    const auto locked = file_status(file_);
    if (!locked) fail_with(errno, "cannot be read");
    const auto named = link_status(path_);
    if (named && named->is_same_file(*locked)) return;
  }
}

uint64_t PartialFile::part_end(size_t part) const {
  return std::min(size_, part_begin(part) + part_bytes_);
}

void PartialFile::set_beginning(uint64_t bytes) {
  for (size_t part = 0; part < present_.size(); ++part) {
    const uint64_t begin = part_begin(part);
    present_[part] =
        bytes <= begin ? 0 : std::min(bytes, part_end(part)) - begin;
  }
  total_present_ = bytes;
}

bool PartialFile::load() {
  TableHead head = {};
  const auto bytes = std::as_writable_bytes(std::span(&head, 1));
  const auto read_at = [&](uint64_t offset, std::span<std::byte> target) {
    return read_some_at(file_, offset, target) ==
           static_cast<int64_t>(target.size());
  };
  if (!read_at(size_, bytes) ||
      std::memcmp(head.magic, kTableMagic, sizeof head.magic) != 0 ||
      head.size != size_ || head.part_bytes != part_bytes_ ||
      head.parts != present_.size() || head.version[sizeof head.version - 1] ||
      version_ != head.version) {
    return false;
  }
  std::vector<uint64_t> table(present_.size());
  if (!read_at(size_ + sizeof head, std::as_writable_bytes(std::span(table)))) {
    return false;
  }
  if (head.checksum != checksum_of(head, table)) return false;
  for (size_t part = 0; part < table.size(); ++part) {
    if (table[part] > part_end(part) - part_begin(part)) return false;
  }
  present_ = std::move(table);
  total_present_ =
      std::accumulate(present_.begin(), present_.end(), uint64_t{0});
  return true;
}

void PartialFile::save() {
  TableHead head = {};
  std::memcpy(head.magic, kTableMagic, sizeof head.magic);
  head.size = size_;
  head.part_bytes = part_bytes_;
  head.parts = present_.size();
  std::memcpy(head.version, version_.data(), version_.size());
  head.checksum = checksum_of(head, present_);
  write_at(size_, std::as_bytes(std::span(&head, 1)));
  write_at(size_ + sizeof head, std::as_bytes(std::span(present_)));
}

void PartialFile::need_room() const {
  const auto free = free_space(file_);
  if (!free) return;
  const uint64_t lacking = size_ - present();
  if (lacking > *free) {
    fail(RC_E_IO, path_, ": ", lacking,
         " bytes are still to come, and the disk "
         "has room for ",
         *free, "; free some, or fetch to another disk");
  }
}

void PartialFile::append(size_t part, std::span<const std::byte> bytes) {
  const uint64_t offset = part_lacks_from(part);
  if (bytes.size() > part_end(part) - offset) {
    fail(RC_E_INTERNAL, path_, ": more than part ", part, " has room for");
  }
  write_at(offset, bytes);
  present_[part] += bytes.size();
  total_present_ += bytes.size();
}

void PartialFile::clear() {
  set_beginning(0);
  save();
}

void PartialFile::read(uint64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    const int64_t count = read_some_at(file_, offset, target);
    if (count < 0) fail_with(errno, "cannot be read");
    if (count == 0) fail(RC_E_IO, path_, ": it was cut short meanwhile");
    target = target.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

void PartialFile::publish(const std::string& name) {
  resize(size_);
  // Some file systems notice only now that the disk is full.
  if (!flush_file(file_)) fail_with(errno, "cannot be written");
  if (std::rename(path_.c_str(), name.c_str()) != 0) {
    fail(RC_E_IO, name,
         ": cannot be replaced: ", std::generic_category().message(errno));
  }
  // The name, too, is to survive a loss of power.
  flush_folder_of(name);
}

void PartialFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const int64_t count = write_some_at(file_, offset, bytes);
    if (count < 0) fail_with(errno, "cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

void PartialFile::resize(uint64_t size) {
  if (!set_file_size(file_, size)) fail_with(errno, "cannot be written");
}

void PartialFile::fail_with(int error, const char* what) const {
  fail(error == ENOENT || error == ENOTDIR ? RC_E_NOT_FOUND : RC_E_IO, path_,
       ": ", what, ": ", std::generic_category().message(error),
       error == ENOSPC || error == EFBIG || error == EDQUOT
           ? "; free some room, or raise the limit on the size of files "
             "(ulimit -f), and fetch again, which goes on from here"
           : "");
}

}  // namespace rc::hub

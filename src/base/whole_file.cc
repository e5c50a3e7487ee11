#include "base/whole_file.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>

#include "base/file.h"

namespace rc {
namespace {

Descriptor open_whole_file(const std::string& path, Links links) {
  Descriptor file = open_for_reading(path, links);
  if (!file.is_open() && errno == ENOMEM) throw std::bad_alloc();
  return file;
}

std::optional<std::string> read_all(const Descriptor& file, size_t largest) {
  // Files of /proc do not say their size: the end is where nothing comes.
  constexpr size_t kPiece = 4096;
  std::string content;
  size_t filled = 0;
  while (true) {
    if (filled == content.size()) {
      content.resize(std::min(largest + 1, filled + std::max(kPiece, filled)));
    }
    const int64_t count = read_some(
        file, std::as_writable_bytes(std::span(content).subspan(filled)));
    if (count < 0) return std::nullopt;
    filled += static_cast<size_t>(count);
    if (filled > largest) return std::nullopt;
    if (count == 0) break;
  }
  content.resize(filled);
  return content;
}

}  // namespace

std::optional<std::string> read_whole_file(const std::string& path,
                                           size_t largest) {
  const Descriptor file = open_whole_file(path, Links::kFollow);
  if (!file.is_open()) return std::nullopt;
  const auto found = file_status(file);
  if (!found || !found->is_file()) return std::nullopt;
  return read_all(file, largest);
}

std::optional<std::string> read_own_file(const std::string& path,
                                         size_t largest) {
  const Descriptor file = open_whole_file(path, Links::kRefuse);
  if (!file.is_open()) return std::nullopt;
  const auto found = file_status(file);
  if (!found || !found->is_file() || !is_own(*found) ||
      found->others_may_write) {
    return std::nullopt;
  }
  return read_all(file, largest);
}

}  // namespace rc

// The files of a folder that holds a model.
//
// A folder is hostile until proven otherwise: what is opened are regular files
// in it, which links may lead to elsewhere only in the way that the hub's own
// cache has them, from MODEL/snapshots/REVISION/ to MODEL/blobs/. All that was
// opened stays open, so that it is known whether it has changed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/open_file.h"
#include "files/gguf/source.h"

namespace rc::folder {

class Folder {
 public:
  // Throws RC_E_NOT_FOUND if there is no such folder.
  explicit Folder(std::string path);

  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const;

  // nullptr if there is no file of that name. Throws RC_E_FORMAT for a name or
  // a link that leads out of the folder, and what OpenFile::open throws.
  std::shared_ptr<const OpenFile> find(const std::string& name);
  // The same of a file in a folder within this one.
  std::shared_ptr<const OpenFile> find_in(const std::string& folder,
                                          const std::string& name);
  // Throws RC_E_NOT_FOUND if there is none.
  std::shared_ptr<const OpenFile> open(const std::string& name);
  // Returns the contents of the file. Throws RC_E_FORMAT if it is larger than
  // `largest` bytes or not UTF-8.
  static std::string read(const OpenFile& file, uint64_t largest);
  // The same of what need not be a text.
  static std::string read_bytes(const OpenFile& file, uint64_t largest);

  // Of all that was opened, in that order.
  gguf::Source::Identity identity() const;
  std::vector<std::shared_ptr<const OpenFile>> opened() const {
    return opened_;
  }

 private:
  void check_name(const std::string& name) const;
  void check_within(const std::string& path) const;
  std::shared_ptr<const OpenFile> find_path(const std::string& path);

  std::string path_;
  std::vector<std::string> roots_;  // without links; they end with a slash
  std::vector<std::shared_ptr<const OpenFile>> opened_;
};

}  // namespace rc::folder

#include "files/folder/folder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/folder.h"
#include "base/quote.h"

namespace rc::folder {

Folder::Folder(std::string path) : path_(std::move(path)) {
  std::string root = real_path(path_);
  const size_t revision = root.rfind('/');
  constexpr std::string_view kSnapshots = "/snapshots";
  const std::string_view parent = std::string_view(root).substr(0, revision);
  if (parent.ends_with(kSnapshots)) {
    std::string blobs(parent.substr(0, parent.size() - kSnapshots.size()));
    roots_.push_back(blobs + "/blobs/");
  }
  if (!root.ends_with('/')) root += '/';
  roots_.push_back(std::move(root));
}

std::string Folder::path_of(const std::string& name) const {
  return path_ + (path_.ends_with('/') ? "" : "/") + name;
}

void Folder::check_within(const std::string& path) const {
  const std::string real = real_path(path);
  if (std::none_of(roots_.begin(), roots_.end(), [&](const std::string& root) {
        return real.starts_with(root);
      })) {
    fail(RC_E_FORMAT, path, ": it is a link out of the folder, to ",
         quote(real), "; put the file itself there");
  }
}

void Folder::check_name(const std::string& name) const {
  if (name.empty() || name.find('/') != std::string::npos || name == "." ||
      name == ".." || name.find('\0') != std::string::npos) {
    fail(RC_E_FORMAT, path_, ": ", quote(name),
         " is not the name of a file in it");
  }
}

std::shared_ptr<const OpenFile> Folder::find_path(const std::string& path) {
  if (!is_there(path)) return nullptr;
  check_within(path);
  opened_.push_back(OpenFile::open(path));
  return opened_.back();
}

std::shared_ptr<const OpenFile> Folder::find(const std::string& name) {
  check_name(name);
  return find_path(path_of(name));
}

std::shared_ptr<const OpenFile> Folder::find_in(const std::string& folder,
                                                const std::string& name) {
  check_name(folder);
  check_name(name);
  return find_path(path_of(folder) + "/" + name);
}

std::shared_ptr<const OpenFile> Folder::open(const std::string& name) {
  std::shared_ptr<const OpenFile> file = find(name);
  if (file == nullptr) {
    fail(RC_E_NOT_FOUND, path_of(name), ": no such file; get the folder again");
  }
  return file;
}

std::string Folder::read_bytes(const OpenFile& file, uint64_t largest) {
  if (file.size() > largest) {
    fail(RC_E_FORMAT, file.path(), ": it has ", file.size(), " bytes; at most ",
         largest, " are possible");
  }
  std::string bytes(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(bytes)), "what it holds");
  return bytes;
}

std::string Folder::read(const OpenFile& file, uint64_t largest) {
  std::string text = read_bytes(file, largest);
  if (!is_utf8(text)) fail(RC_E_FORMAT, file.path(), ": it is no UTF-8");
  return text;
}

gguf::Source::Identity Folder::identity() const {
  gguf::Source::Identity identity;
  for (const auto& file : opened_) identity.files.push_back(file->identity());
  return identity;
}

}  // namespace rc::folder

// The folder of fetched models, in the layout of the package huggingface_hub
// (its guide "Understand caching"), which others have filled or will read:
//
//     models--OWNER--NAME/
//       blobs/ETAG               contents, by their entity tags
//       snapshots/COMMIT/FILE    a link to a blob, ../../blobs/ETAG
//       refs/REVISION            the commit that a branch or tag was last
//     .locks/models--OWNER--NAME/ETAG.lock
//
// Whatever lies there is not trusted: names are checked, and links that lead
// out of the cache are not followed. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "hub/choice.h"
#include "hub/reference.h"

namespace rc::hub {

class CachedRepository {
 public:
  // `cache` is the folder of the cache; nothing of it need exist.
  CachedRepository(std::string cache, const Reference& reference);

  const std::string& folder() const { return folder_; }
  std::string snapshot(const std::string& commit) const;
  std::string blob(const std::string& tag) const;

  // The commit that a revision is here; nothing: it is not here.
  std::optional<std::string> commit_of(const std::string& revision) const;
  // The files of a commit that are here whole.
  std::vector<RepositoryFile> files_of(const std::string& commit) const;

  // Whether the file of the commit is here, with this size.
  bool has(const std::string& commit, const std::string& file,
           uint64_t size) const;
  // Makes the folders that a blob and its lock need.
  void make_folders() const;
  // Gives a blob that is here the name of a file of a commit; replaces what
  // has that name.
  void link(const std::string& commit, const std::string& file,
            const std::string& tag) const;
  // Notes what a branch or tag is now.
  void set_commit(const std::string& revision, const std::string& commit) const;
  // Where the lock of a blob is.
  std::string lock_path(const std::string& tag) const;

 private:
  const std::string cache_;
  const std::string name_;
  const std::string folder_;
};

// Whether a tag can be the name of a blob.
bool is_safe_tag(std::string_view tag);

// A lock between processes, as the package filelock has them (flock). While
// another process has it, open is false.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  bool owned() const { return file_.is_open(); }

 private:
  Descriptor file_;
};

// The file, or folder, that "hf:OWNER/NAME[:FILE][@REVISION]" means, of those
// that have been fetched; `cache` empty: the one that the environment says.
// Throws RC_E_NOT_FOUND, saying how to fetch it.
std::string find_in_cache(const std::string& reference,
                          const std::string& cache);

}  // namespace rc::hub

// The list of fetched files, and their removal. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hub/cache.h"

namespace rc::hub {

struct CachedFile {
  RepositoryFile file;
  std::string blob;  // where its bytes are
};

struct CachedRevision {
  std::string commit;
  std::vector<std::string> names;  // branches and tags that it is
  std::vector<CachedFile> files;
};

struct CachedModel {
  Reference reference;  // owner and name
  std::string folder;
  std::vector<CachedRevision> revisions;
  uint64_t bytes = 0;             // of its files, each counted once
  uint64_t shared_bytes = 0;      // of those that several revisions have, or
                                  // that lie outside of its folder
  uint64_t incomplete_bytes = 0;  // of what has been fetched in part
};

// The models in the folder, by name; `cache` empty: the one that the
// environment says. Folders that are none are left out.
std::vector<CachedModel> list_cache(const std::string& cache);

// The same as JSON; see rc_cached_models.
std::string cache_json(const std::string& cache);

// Removes a model, a revision of it, or a file (as hub/choice.h has them) of
// all revisions or one, and the bytes that nothing else needs. The bytes that
// have become free. Throws RC_E_NOT_FOUND, RC_E_BUSY while it is being fetched,
// RC_E_IO.
uint64_t remove_from_cache(const std::string& reference,
                           const std::string& cache);

}  // namespace rc::hub

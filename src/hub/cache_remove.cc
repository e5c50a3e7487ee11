// Removing what has been fetched: names first, then the bytes that none leads
// to any more.
#include <cerrno>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/quote.h"
#include "hub/cache_list.h"
#include "hub/settings.h"

namespace rc::hub {
namespace {

constexpr size_t kDeepestTree = 32;

[[noreturn]] void fail_to_remove(const std::string& path) {
  fail(RC_E_IO, path,
       ": cannot be removed: ", std::generic_category().message(errno));
}

// Of what lies under the name itself; links are not followed.
uint64_t remove_entry(const std::string& path) {
  const auto found = link_status(path);
  if (!found) return 0;
  if (!remove_file(path) && errno != ENOENT) fail_to_remove(path);
  return found->is_file() ? found->allocated : 0;
}

uint64_t remove_tree(const std::string& path, size_t depth = 0) {
  const auto found = link_status(path);
  if (!found) return 0;
  if (!found->is_folder()) return remove_entry(path);
  if (depth > kDeepestTree) {
    fail(RC_E_IO, path, ": folders lie too deep in each other");
  }
  uint64_t freed = 0;
  for (const std::string& name : names_in_folder(path)) {
    freed += remove_tree(cat(path, "/", name), depth + 1);
  }
  if (!remove_folder(path) && errno != ENOENT) fail_to_remove(path);
  return freed;
}

// The folders of `name` below `folder` that have become empty, and `folder`.
void remove_empty_folders(const std::string& folder, std::string name) {
  for (size_t slash = name.rfind('/'); slash != name.npos;
       slash = name.rfind('/')) {
    name.resize(slash);
    if (!remove_folder(cat(folder, "/", name))) return;
  }
  remove_folder(folder);
}

// Holds a lock of every blob that has ever had one.
std::vector<FileLock> lock_all(const std::string& cache,
                               const std::string& folder,
                               const std::string& shown) {
  const std::string locks =
      cat(cache, "/.locks", folder.substr(folder.rfind('/')));
  std::vector<FileLock> held;
  std::vector<std::string> names;
  try {
    names = names_in_folder(locks);
  } catch (const Error& error) {
    if (error.status() != RC_E_NOT_FOUND) throw;
  }
  for (const std::string& name : names) {
    if (!name.ends_with(".lock")) continue;
    held.emplace_back(cat(locks, "/", name));
    if (!held.back().owned()) {
      fail(RC_E_BUSY, shown, ": it is being fetched; remove it after that");
    }
  }
  return held;
}

const CachedModel& find_model(const std::vector<CachedModel>& models,
                              const Reference& reference,
                              const std::string& cache) {
  for (const CachedModel& model : models) {
    if (model.reference.repository() == reference.repository()) return model;
  }
  fail(RC_E_NOT_FOUND, reference.text(), " is not among the models in ", cache);
}

// The names to remove of a revision.
std::vector<std::string> chosen_files(const CachedRevision& revision,
                                      const Reference& reference) {
  std::vector<std::string> names;
  std::vector<RepositoryFile> files;
  for (const CachedFile& file : revision.files) {
    names.push_back(file.file.name);
    files.push_back(file.file);
  }
  if (reference.file.empty()) return names;
  try {
    return choose_files(files, reference, reference.text()).files;
  } catch (const Error& error) {
    if (error.status() != RC_E_NOT_FOUND) throw;
    return {};
  }
}

bool is_of_revision(const CachedRevision& revision, const std::string& name) {
  if (name.empty() || revision.commit == name) return true;
  for (const std::string& each : revision.names) {
    if (each == name) return true;
  }
  return false;
}

}  // namespace

uint64_t remove_from_cache(const std::string& text, const std::string& given) {
  const Reference reference = parse_reference(text);
  const std::string cache = given.empty() ? cache_folder() : given;
  const std::vector<CachedModel> models = list_cache(cache);
  const CachedModel& model = find_model(models, reference, cache);
  const std::vector<FileLock> locks = lock_all(cache, model.folder, text);
  if (reference.file.empty() && reference.revision.empty()) {
    return remove_tree(model.folder);
  }
  const CachedRepository repository(cache, reference);
  std::set<std::string> removed;  // blobs
  std::set<std::string> kept;
  bool any = false;
  bool left = false;
  for (const CachedRevision& revision : model.revisions) {
    std::set<std::string> names;
    if (is_of_revision(revision, reference.revision)) {
      any = any || reference.file.empty();
      for (std::string& name : chosen_files(revision, reference)) {
        names.insert(std::move(name));
      }
    }
    bool emptied = true;
    for (const CachedFile& file : revision.files) {
      if (!names.contains(file.file.name)) {
        kept.insert(file.blob);
        emptied = false;
        continue;
      }
      any = true;
      removed.insert(file.blob);
      const std::string folder = repository.snapshot(revision.commit);
      remove_entry(cat(folder, "/", file.file.name));
      remove_empty_folders(folder, file.file.name);
    }
    left = left || !emptied;
    if (emptied) {
      for (const std::string& name : revision.names) {
        remove_entry(cat(model.folder, "/refs/", name));
      }
    }
  }
  if (!any) fail(RC_E_NOT_FOUND, quote(text), " is not in ", model.folder);
  if (!left) return remove_tree(model.folder);
  uint64_t freed = 0;
  const std::string own = cat(real_path(model.folder), "/");
  for (const std::string& blob : removed) {
    if (!kept.contains(blob) && blob.starts_with(own)) {
      freed += remove_entry(blob);
    }
  }
  return freed;
}

}  // namespace rc::hub

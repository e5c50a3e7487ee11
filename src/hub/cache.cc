#include "hub/cache.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/new_file.h"
#include "base/quote.h"
#include "base/whole_file.h"
#include "hub/settings.h"

namespace rc::hub {
namespace {

constexpr size_t kLongestCommit = 128;
constexpr size_t kDeepest = 16;  // folders below a snapshot
constexpr size_t kMostFiles = 100000;

[[noreturn]] void fail_at(const std::string& path, const char* what,
                          int error) {
  fail(RC_E_IO, path, ": ", what, ": ", std::generic_category().message(error));
}

void need_folder(const std::string& path) {
  if (!make_folder(path, 0777)) {
    fail_at(path, "the folder cannot be made", errno);
  }
}

// With those above it.
void make_all_folders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != path.npos;
       slash = path.find('/', slash + 1)) {
    need_folder(path.substr(0, slash));
  }
  need_folder(path);
}

bool lies_below(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) &&
         (folder.ends_with('/') || path[folder.size()] == '/');
}

// Adds what lies in a folder of a snapshot. Files are links, or files where a
// system has no links; what they lead to must be in the cache.
void list_files(const std::string& folder, const std::string& prefix,
                const std::string& real_cache, size_t depth,
                std::vector<RepositoryFile>* files) {
  if (depth > kDeepest) return;
  for (const std::string& name : names_in_folder(folder)) {
    const std::string path = cat(folder, "/", name);
    auto found = link_status(path);
    if (!found) continue;
    if (found->is_folder()) {
      list_files(path, cat(prefix, name, "/"), real_cache, depth + 1, files);
      continue;
    }
    found = file_status(path);
    if (!found || !found->is_file() ||
        !lies_below(real_path(path), real_cache) ||
        files->size() >= kMostFiles) {
      continue;
    }
    files->push_back({prefix + name, found->size});
  }
}

}  // namespace

bool is_safe_tag(std::string_view tag) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !tag.empty() && tag.size() <= 128 &&
         std::all_of(tag.begin(), tag.end(), is_good);
}

CachedRepository::CachedRepository(std::string cache,
                                   const Reference& reference)
    : cache_(std::move(cache)),
      name_(cat("models--", reference.owner, "--", reference.name)),
      folder_(cat(cache_, "/", name_)) {}

std::string CachedRepository::snapshot(const std::string& commit) const {
  return cat(folder_, "/snapshots/", commit);
}

std::string CachedRepository::blob(const std::string& tag) const {
  return cat(folder_, "/blobs/", tag);
}

std::string CachedRepository::lock_path(const std::string& tag) const {
  return cat(cache_, "/.locks/", name_, "/", tag, ".lock");
}

std::optional<std::string> CachedRepository::commit_of(
    const std::string& revision) const {
  if (!is_safe_revision(revision)) return std::nullopt;
  std::string commit =
      read_whole_file(cat(folder_, "/refs/", revision), kLongestCommit)
          .value_or(revision);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r')) {
    commit.pop_back();
  }
  if (!is_safe_tag(commit)) return std::nullopt;
  const auto found = link_status(snapshot(commit));
  if (!found || !found->is_folder()) return std::nullopt;
  return commit;
}

std::vector<RepositoryFile> CachedRepository::files_of(
    const std::string& commit) const {
  std::vector<RepositoryFile> files;
  list_files(snapshot(commit), "", real_path(cache_), 0, &files);
  return files;
}

bool CachedRepository::has(const std::string& commit, const std::string& file,
                           uint64_t size) const {
  const std::string path = cat(snapshot(commit), "/", file);
  const auto found = file_status(path);
  return found && found->is_file() && found->size == size &&
         lies_below(real_path(path), real_path(cache_));
}

void CachedRepository::make_folders() const {
  make_all_folders(cat(folder_, "/blobs"));
  make_all_folders(cat(folder_, "/snapshots"));
  make_all_folders(cat(cache_, "/.locks/", name_));
}

void CachedRepository::link(const std::string& commit, const std::string& file,
                            const std::string& tag) const {
  make_all_folders(snapshot(commit));
  std::string target = cat("../../blobs/", tag);
  for (const char c : file) {
    if (c == '/') target.insert(0, "../");
  }
  link_below(snapshot(commit), file, target);
}

void CachedRepository::set_commit(const std::string& revision,
                                  const std::string& commit) const {
  if (revision == commit) return;
  const std::string path = cat(folder_, "/refs/", revision);
  if (read_whole_file(path, kLongestCommit) == commit) return;
  make_all_folders(path.substr(0, path.rfind('/')));
  NewFile file(path);
  file.append(std::as_bytes(std::span(commit)));
  file.commit();
}

FileLock::FileLock(const std::string& path) {
  file_ = open_for_update(path);
  if (!file_.is_open()) fail_at(path, "cannot be opened", errno);
  // On a file system without locks each writer uses a separate file.
  if (lock_file(file_) == FileLocking::kHeld) file_.reset();
}

std::string find_in_cache(const std::string& text, const std::string& cache) {
  const Reference reference = parse_reference(text);
  const std::string folder = cache.empty() ? cache_folder() : cache;
  const CachedRepository repository(folder, reference);
  const auto advice = [&] {
    return cat("; fetch it first, by \"runcible pull ", text,
               "\" or rc_model_fetch (nothing is fetched by itself)");
  };
  const std::optional<std::string> commit =
      repository.commit_of(reference.revision_or_main());
  if (!commit) {
    fail(RC_E_NOT_FOUND, quote(text), ": ",
         reference.revision.empty() ? "it" : "that revision",
         " is not among the models in ", folder, advice());
  }
  try {
    const Choice choice = choose_files(repository.files_of(*commit), reference,
                                       repository.snapshot(*commit));
    return choice.main.empty()
               ? repository.snapshot(*commit)
               : cat(repository.snapshot(*commit), "/", choice.main);
  } catch (const Error& error) {
    if (error.status() != RC_E_NOT_FOUND) throw;
    fail(RC_E_NOT_FOUND, error.message(), advice());
  }
}

}  // namespace rc::hub

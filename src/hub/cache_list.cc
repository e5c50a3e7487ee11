#include "hub/cache_list.h"

#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json_value.h"
#include "base/quote.h"
#include "base/whole_file.h"
#include "hub/settings.h"

namespace rc::hub {
namespace {

constexpr size_t kDeepestRefs = 8;
constexpr size_t kLongestRef = 128;

// Empty where there is no such folder.
std::vector<std::string> names_if_there(const std::string& folder) {
  try {
    return names_in_folder(folder);
  } catch (const Error& error) {
    if (error.status() != RC_E_NOT_FOUND) throw;
    return {};
  }
}

// By commit.
void read_refs(const std::string& folder, const std::string& prefix,
               size_t depth,
               std::map<std::string, std::vector<std::string>>* refs) {
  if (depth > kDeepestRefs) return;
  for (const std::string& name : names_if_there(folder)) {
    const std::string path = cat(folder, "/", name);
    const auto found = link_status(path);
    if (!found) continue;
    if (found->is_folder()) {
      read_refs(path, cat(prefix, name, "/"), depth + 1, refs);
    } else if (const auto commit = read_whole_file(path, kLongestRef)) {
      (*refs)[*commit].push_back(prefix + name);
    }
  }
}

CachedModel read_model(const std::string& cache, const Reference& reference) {
  const CachedRepository repository(cache, reference);
  CachedModel model;
  model.reference = reference;
  model.folder = repository.folder();
  std::map<std::string, std::vector<std::string>> refs;
  read_refs(model.folder + "/refs", "", 0, &refs);
  struct Use {
    uint64_t bytes = 0;
    std::set<std::string> commits;
    bool outside = false;
  };
  std::map<std::string, Use> blobs;
  const std::string own = cat(real_path(model.folder), "/");
  for (const std::string& commit :
       names_if_there(model.folder + "/snapshots")) {
    if (!is_safe_tag(commit)) continue;
    const auto found = link_status(repository.snapshot(commit));
    if (!found || !found->is_folder()) continue;
    CachedRevision revision;
    revision.commit = commit;
    revision.names = refs[commit];
    for (RepositoryFile& file : repository.files_of(commit)) {
      const std::string blob =
          real_path(cat(repository.snapshot(commit), "/", file.name));
      Use& use = blobs[blob];
      use.bytes = file.size;
      use.commits.insert(commit);
      use.outside = !blob.starts_with(own);
      revision.files.push_back({std::move(file), blob});
    }
    model.revisions.push_back(std::move(revision));
  }
  for (const auto& [path, use] : blobs) {
    model.bytes += use.bytes;
    if (use.commits.size() > 1 || use.outside) model.shared_bytes += use.bytes;
  }
  for (const std::string& name : names_if_there(model.folder + "/blobs")) {
    if (!name.ends_with(".incomplete")) continue;
    const auto found = link_status(cat(model.folder, "/blobs/", name));
    // Files that are not there yet take no blocks.
    if (found) model.incomplete_bytes += found->allocated;
  }
  return model;
}

std::string folder_or_default(const std::string& cache) {
  return cache.empty() ? cache_folder() : cache;
}

}  // namespace

std::vector<CachedModel> list_cache(const std::string& given) {
  const std::string cache = folder_or_default(given);
  constexpr std::string_view kBeginning = "models--";
  std::vector<CachedModel> models;
  for (const std::string& name : names_if_there(cache)) {
    if (!name.starts_with(kBeginning)) continue;
    const std::string rest = name.substr(kBeginning.size());
    const size_t dashes = rest.find("--");
    if (dashes == rest.npos) continue;
    try {
      models.push_back(read_model(
          cache, parse_reference(cat("hf:", rest.substr(0, dashes), "/",
                                     rest.substr(dashes + 2)))));
    } catch (const Error& error) {
      // No name of a model, or removed meanwhile.
      if (error.status() != RC_E_INVALID_ARGUMENT &&
          error.status() != RC_E_NOT_FOUND) {
        throw;
      }
    }
  }
  return models;
}

std::string cache_json(const std::string& given) {
  const std::string cache = folder_or_default(given);
  std::string json = cat("{\"folder\":", json_text(cache), ",\"models\":[");
  const char* comma = "";
  for (const CachedModel& model : list_cache(cache)) {
    json += cat(
        comma, "{\"name\":", json_text(model.reference.text()),
        ",\"bytes\":", model.bytes, ",\"shared_bytes\":", model.shared_bytes,
        ",\"incomplete_bytes\":", model.incomplete_bytes, ",\"revisions\":[");
    const char* revision_comma = "";
    for (const CachedRevision& revision : model.revisions) {
      json += cat(revision_comma, "{\"commit\":", json_text(revision.commit),
                  ",\"names\":[");
      const char* name_comma = "";
      for (const std::string& name : revision.names) {
        json += name_comma + json_text(name);
        name_comma = ",";
      }
      json += "],\"files\":[";
      const char* file_comma = "";
      for (const CachedFile& file : revision.files) {
        json += cat(file_comma, "{\"name\":", json_text(file.file.name),
                    ",\"bytes\":", file.file.size, "}");
        file_comma = ",";
      }
      json += "]}";
      revision_comma = ",";
    }
    json += "]}";
    comma = ",";
  }
  return json + "]}";
}

}  // namespace rc::hub

#include "hub/online/fetch_model.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/quote.h"
#include "hub/cache.h"
#include "hub/online/fetch_file.h"
#include "hub/online/hub_api.h"
#include "hub/settings.h"

namespace rc::hub {
namespace {

constexpr std::chrono::milliseconds kLockBeat{50};

// A file of a hub that is to come.
struct Coming {
  RepositoryFile file;
  Checksum checksum;
};

class ModelFetch {
 public:
  explicit ModelFetch(const FetchRequest& request)
      : request_(request),
        reference_(parse_reference(request.source)),
        revision_(!reference_.revision.empty() ? reference_.revision
                  : !request.revision.empty()  ? request.revision
                                               : "main"),
        repository_(request.cache.empty() ? cache_folder() : request.cache,
                    reference_),
        tally_(request, 0) {
    if (!is_safe_revision(revision_)) {
      fail(RC_E_INVALID_ARGUMENT, "revision: ", quote(revision_),
           " is the name of no branch, tag or commit");
    }
  }

  std::string run() {
    const HubRevision found =
        hub_.describe(request_.manner, reference_, revision_,
                      [this] { tally_.report(reference_.text(), 0); });
    commit_ = found.commit;
    const Choice choice =
        choose_files(found.files, reference_, reference_.text());
    std::vector<Coming> coming;
    uint64_t total = 0;
    for (size_t i = 0; i < found.files.size(); ++i) {
      if (std::find(choice.files.begin(), choice.files.end(),
                    found.files[i].name) == choice.files.end()) {
        continue;
      }
      if (found.checksums[i].text.empty()) {
        fail(RC_E_FORMAT, reference_.text(),
             ": the hub does not say size and checksum of ",
             quote(found.files[i].name));
      }
      coming.push_back({found.files[i], found.checksums[i]});
      total += found.files[i].size;
    }
    tally_.set_total(total);
    if (!request_.to.empty()) return fetch_to_file(coming);
    repository_.make_folders();
    for (const Coming& each : coming) {
      fetch_to_cache(each);
      tally_.finish_file(each.file.size);
    }
    repository_.set_commit(revision_, commit_);
    const std::string folder = repository_.snapshot(commit_);
    return choice.main.empty() ? folder : cat(folder, "/", choice.main);
  }

 private:
  std::string fetch_to_file(const std::vector<Coming>& coming) {
    if (coming.size() != 1) {
      fail(RC_E_INVALID_ARGUMENT, request_.source, ": these are ",
           coming.size(),
           " files, which do not become one; fetch them into "
           "the cache instead");
    }
    download(coming.front(), request_.to + ".incomplete", request_.to, false);
    return request_.to;
  }

  void fetch_to_cache(const Coming& coming) {
    const std::string& name = coming.file.name;
    if (repository_.has(commit_, name, coming.file.size)) return;
    // By this tag the hub knows the file, too.
    const std::string& tag = coming.checksum.text;
    const FileLock lock = wait_for_lock(coming);
    const std::string blob = repository_.blob(tag);
    const auto found = file_status(blob);
    if (!found || !found->is_file() || found->size != coming.file.size) {
      const std::string partial = blob + ".runcible.incomplete";
      take_over(blob + ".incomplete", partial);
      download(coming, partial, blob, true);
    }
    repository_.link(commit_, name, tag);
  }

  FileLock wait_for_lock(const Coming& coming) {
    const std::string path = repository_.lock_path(coming.checksum.text);
    while (true) {
      FileLock lock(path);
      if (lock.owned()) return lock;
      tally_.report(coming.file.name, 0);
      std::this_thread::sleep_for(kLockBeat);
    }
  }

  // The beginning of a file that older versions of huggingface_hub leave
  // behind.
  static void take_over(const std::string& theirs, const std::string& ours) {
    if (is_there(ours)) return;
    const auto found = link_status(theirs);
    if (!found || !found->is_file()) return;
    // If it fails, the file comes from its beginning.
    static_cast<void>(std::rename(theirs.c_str(), ours.c_str()));
  }

  void download(const Coming& coming, const std::string& partial,
                const std::string& name, bool take_beginning) {
    const std::string& file_name = coming.file.name;
    PartialFile file(partial, coming.file.size, coming.checksum.text,
                     request_.manner.part_bytes, take_beginning);
    Wanted wanted;
    wanted.what = cat(reference_.text(), ":", quote(file_name));
    wanted.url = hub_.file_url(reference_, commit_, file_name);
    wanted.checksum = coming.checksum;
    const Heartbeat heartbeat = [&] {
      tally_.report(file_name, file.present());
    };
    Download(request_.manner, hub_.access(), wanted, file, heartbeat).run();
    file.publish(name);
  }

  const FetchRequest& request_;
  const Hub hub_;
  const Reference reference_;
  const std::string revision_;
  const CachedRepository repository_;
  Tally tally_;
  std::string commit_;
};

}  // namespace

std::string fetch_model(const FetchRequest& request) {
  if (offline()) {
    fail(RC_E_IO, request.source,
         ": HF_HUB_OFFLINE is set, so nothing is "
         "fetched; unset it");
  }
  return ModelFetch(request).run();
}

}  // namespace rc::hub

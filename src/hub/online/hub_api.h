// The answers of a hub about a repository (the API of huggingface.co, which its
// mirrors have too).
#pragma once

#include <string>
#include <vector>

#include "hub/choice.h"
#include "hub/online/download.h"

namespace rc::hub {

struct HubRevision {
  std::string commit;
  std::vector<RepositoryFile> files;  // only those with names that can be files
  std::vector<Checksum> checksums;    // of each; an empty text: unknown
};

class Hub {
 public:
  // Reads the environment: HF_ENDPOINT and the token. Throws
  // RC_E_INVALID_ARGUMENT.
  Hub();

  const Access& access() const { return access_; }
  // The repository at a branch, tag or commit.
  HubRevision describe(const Manner& manner, const Reference& reference,
                       const std::string& revision,
                       const Heartbeat& heartbeat) const;
  // Where a file of a commit is.
  Url file_url(const Reference& reference, const std::string& commit,
               const std::string& file) const;

 private:
  std::string endpoint_;
  Access access_;
};

}  // namespace rc::hub

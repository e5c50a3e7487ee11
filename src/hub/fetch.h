// Bringing models here from a hub, or a file from any address.
//
// Blocks; what is there already is not fetched again, and what is there in part
// is gone on with. Any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hub/online/ask.h"

namespace rc::hub {

struct FetchRequest {
  std::string source;    // "hf:OWNER/NAME[:FILE][@REVISION]" or "https://..."
  std::string revision;  // of what names none itself; empty: "main"
  std::string cache;     // folder; empty: the one that the environment says
  // Not into the cache, but to this file; empty: into the cache.
  std::string to;
  // The file under way, and bytes of all files; false ends it with
  // RC_E_CANCELLED. What it throws goes on to the caller. May be empty.
  std::function<bool(const std::string& file, uint64_t done, uint64_t total)>
      progress;
  Manner manner;
};

// Throws RC_E_INVALID_ARGUMENT if the source is invalid, as far as that can be
// determined without a request to a server.
void check_source(const FetchRequest& request);

// Fetches the source and returns the path that loads the model: its file, the
// first of several parts, or the folder of config.json. Throws RC_E_UNSUPPORTED
// if this build or this machine has no libcurl, RC_E_NOT_FOUND, RC_E_IO,
// RC_E_FORMAT, RC_E_BUSY, RC_E_CANCELLED.
std::string fetch(const FetchRequest& request);

}  // namespace rc::hub

// A file from an address that the user names, to a name that the user chooses.
#pragma once

#include <string>

#include "hub/fetch.h"

namespace rc::hub {

// Fetches request.source to `path`, by way of `path`.incomplete.
void fetch_address(const FetchRequest& request, const std::string& path);

// Reports what is there of the files of one fetch.
class Tally {
 public:
  Tally(const FetchRequest& request, uint64_t total)
      : request_(request), total_(total) {}
  // `done`: of this file. Throws RC_E_CANCELLED.
  void report(const std::string& file, uint64_t done) const;
  void finish_file(uint64_t bytes) { before_ += bytes; }
  void set_total(uint64_t total) { total_ = total; }

 private:
  const FetchRequest& request_;
  uint64_t total_;
  uint64_t before_ = 0;
};

}  // namespace rc::hub

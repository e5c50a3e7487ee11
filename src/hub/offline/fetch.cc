// In builds without the headers of libcurl.
#include "hub/fetch.h"
#include "base/error.h"

namespace rc::hub {

std::string fetch(const FetchRequest& request) {
  check_source(request);
  fail(RC_E_UNSUPPORTED, request.source,
       ": this build of Runcible cannot fetch models, for the headers of "
       "libcurl (package libcurl4-openssl-dev) were not there when it was "
       "built; put the files into their place by hand");
}

}  // namespace rc::hub

// In builds without the headers of libcurl.
#include "hub/fetch.h"

#include "base/error.h"

namespace rc::hub {

std::string fetch(const FetchRequest& request) {
  check_source(request);
#if defined(__EMSCRIPTEN__)
  constexpr const char* kReason =
      ": in WebAssembly Runcible fetches no models; fetch the file in "
      "JavaScript and put it into the module's file system";
#else
  constexpr const char* kReason =
      ": this build of Runcible cannot fetch models, for the headers of "
      "libcurl (package libcurl4-openssl-dev) were not there when it was "
      "built; put the files into their place by hand";
#endif
  fail(RC_E_UNSUPPORTED, request.source, kReason);
}

}  // namespace rc::hub

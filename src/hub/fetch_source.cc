#include "base/error.h"
#include "base/quote.h"
#include "hub/fetch.h"
#include "hub/reference.h"

namespace rc::hub {
namespace {

bool is_address(const std::string& source) {
  return source.starts_with("https://") || source.starts_with("http://");
}

}  // namespace

void check_source(const FetchRequest& request) {
  if (is_reference(request.source)) {
    static_cast<void>(parse_reference(request.source));
    return;
  }
  if (!is_address(request.source)) {
    fail(RC_E_INVALID_ARGUMENT, quote(request.source),
         ": what can be fetched is hf:OWNER/NAME[:FILE][@REVISION] or an "
         "address that begins with https://");
  }
  if (request.to.empty()) {
    fail(RC_E_INVALID_ARGUMENT, quote(request.source),
         ": name the file that it is to become");
  }
}

}  // namespace rc::hub

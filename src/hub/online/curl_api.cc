#include "hub/online/curl_api.h"

#include <string>
#include <utility>
#include <vector>

#include "base/config/settings.h"
#include "base/error.h"
#include "base/library.h"

namespace rc::hub {
namespace {

CurlApi take_functions(Library library, const std::string& name) {
  CurlApi found{};
  const auto find = [&](auto& function, const char* symbol) {
    if (!library.find(function, symbol)) {
      fail(RC_E_UNSUPPORTED, name, " has no ", symbol,
           "; libcurl 7.66 or newer is needed");
    }
  };
  find(found.global_init, "curl_global_init");
  find(found.easy_init, "curl_easy_init");
  find(found.easy_setopt, "curl_easy_setopt");
  find(found.easy_getinfo, "curl_easy_getinfo");
  find(found.easy_cleanup, "curl_easy_cleanup");
  find(found.easy_strerror, "curl_easy_strerror");
  find(found.multi_init, "curl_multi_init");
  find(found.multi_add_handle, "curl_multi_add_handle");
  find(found.multi_remove_handle, "curl_multi_remove_handle");
  find(found.multi_perform, "curl_multi_perform");
  find(found.multi_poll, "curl_multi_poll");
  find(found.multi_info_read, "curl_multi_info_read");
  find(found.multi_cleanup, "curl_multi_cleanup");
  find(found.slist_append, "curl_slist_append");
  find(found.slist_free_all, "curl_slist_free_all");
  find(found.url, "curl_url");
  find(found.url_cleanup, "curl_url_cleanup");
  find(found.url_get, "curl_url_get");
  find(found.url_set, "curl_url_set");
  find(found.free, "curl_free");
  if (found.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    fail(RC_E_INTERNAL, name, " cannot be initialised");
  }
  // Its TLS library registers what runs at the process's end.
  library.keep();
  return found;
}

CurlApi load_curl() {
  // The second is Debian's other flavour, of the package libcurl3-gnutls.
  std::vector<std::string> names = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  if (const auto named = config::text_now("library.curl_library")) {
    names = {*named};
  }
  std::string reasons;
  for (const std::string& name : names) {
    Library library = Library::load(name);
    if (library.is_loaded()) return take_functions(std::move(library), name);
    const std::string& reason = library.failure();
    reasons += (reasons.empty() ? "" : "; ") + (reason.empty() ? name : reason);
  }
  fail(RC_E_UNSUPPORTED,
       "libcurl, by which models are fetched, cannot be "
       "loaded (",
       reasons,
       "); install the package libcurl4, or put the files "
       "into their place by hand");
}

}  // namespace

const CurlApi& curl() {
  // Tried again after a failure.
  static const CurlApi loaded = load_curl();
  return loaded;
}

}  // namespace rc::hub

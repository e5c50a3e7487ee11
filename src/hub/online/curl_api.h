// The functions of libcurl, taken from it at run time: a program that never
// fetches anything does not load it. Thread-safe, as libcurl is for handles of
// different threads.
#pragma once

#include <curl/curl.h>

#include <memory>

namespace rc::hub {

struct CurlApi {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  // These two take one more argument of any type.
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...);
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_free) free;
};

// Loads libcurl.so.4 or libcurl-gnutls.so.4, or what RUNCIBLE_CURL_LIBRARY
// names, at the first call that succeeds. Throws RC_E_UNSUPPORTED if there is
// none, naming the package.
const CurlApi& curl();

// Handles that release what they hold.
struct ReleaseCurl {
  void operator()(CURL* handle) const { curl().easy_cleanup(handle); }
};
struct ReleaseMulti {
  void operator()(CURLM* handle) const { curl().multi_cleanup(handle); }
};
struct ReleaseHeaders {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};
struct ReleaseUrl {
  void operator()(CURLU* handle) const { curl().url_cleanup(handle); }
};
struct ReleaseText {
  void operator()(char* text) const { curl().free(text); }
};
using CurlHandle = std::unique_ptr<CURL, ReleaseCurl>;
using CurlMulti = std::unique_ptr<CURLM, ReleaseMulti>;
using CurlHeaders = std::unique_ptr<curl_slist, ReleaseHeaders>;
using CurlUrl = std::unique_ptr<CURLU, ReleaseUrl>;
using CurlText = std::unique_ptr<char, ReleaseText>;

}  // namespace rc::hub

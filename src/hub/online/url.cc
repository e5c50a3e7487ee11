#include "hub/online/url.h"

#include <new>

#include "base/error.h"
#include "base/quote.h"
#include "hub/online/curl_api.h"

namespace rc::hub {
namespace {

// Empty if the address has no such part.
std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl().url_get(url, part, &text, flags) != CURLUE_OK) return {};
  return CurlText(text).get();
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host == "::1" ||
         (host.starts_with("127.") &&
          host.find_first_not_of("0123456789.") == host.npos);
}

Url take_apart(CURLU* parsed, const std::string& given) {
  Url url;
  const std::string scheme = part_of(parsed, CURLUPART_SCHEME);
  url.secure = scheme == "https";
  if (!url.secure && scheme != "http") {
    fail(RC_E_INVALID_ARGUMENT, quote(shown_url(given)),
         ": only addresses that begin with https:// can be fetched");
  }
  if (!part_of(parsed, CURLUPART_USER).empty() ||
      !part_of(parsed, CURLUPART_PASSWORD).empty()) {
    fail(RC_E_INVALID_ARGUMENT,
         "an address with a user or password in it is "
         "not fetched, for it would end up in logs; name the address without");
  }
  url.text = part_of(parsed, CURLUPART_URL);
  url.host = part_of(parsed, CURLUPART_HOST);
  url.origin = cat(scheme, "://", url.host, ":",
                   part_of(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT));
  url.loopback = is_loopback(url.host);
  return url;
}

CurlUrl new_url() {
  CurlUrl url(curl().url());
  if (url == nullptr) throw std::bad_alloc();
  return url;
}

void set_url(CURLU* url, const std::string& text) {
  // Zero bytes and control characters lead to other addresses than are seen.
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) {
      fail(RC_E_INVALID_ARGUMENT, quote(shown_url(text)),
           ": an address without spaces and control characters is needed");
    }
  }
  if (curl().url_set(url, CURLUPART_URL, text.c_str(),
                     CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    fail(RC_E_INVALID_ARGUMENT, quote(shown_url(text)), ": this is no address");
  }
}

}  // namespace

Url parse_url(const std::string& text) {
  const CurlUrl parsed = new_url();
  set_url(parsed.get(), text);
  return take_apart(parsed.get(), text);
}

Url resolve_url(const Url& base, const std::string& location) {
  const CurlUrl parsed = new_url();
  set_url(parsed.get(), base.text);
  set_url(parsed.get(), location);
  return take_apart(parsed.get(), location);
}

void check_scheme(const Url& url, std::string_view trusted_origin) {
  if (url.secure || url.loopback || url.origin == trusted_origin) return;
  fail(RC_E_INVALID_ARGUMENT, quote(shown_url(url.text)),
       ": models are fetched by https only; anybody on the way could change "
       "what comes by http");
}

std::string shown_url(std::string_view url) {
  const size_t end = url.find_first_of("?#");
  std::string shown(url.substr(0, end));
  const size_t slashes = shown.find("://");
  if (slashes != shown.npos) {
    const size_t host = slashes + 3;
    const size_t path = shown.find('/', host);
    const size_t at = shown.substr(0, path).rfind('@');
    if (at != shown.npos && at >= host) shown.erase(host, at + 1 - host);
  }
  return shown;
}

std::string escape_url(std::string_view text, bool keep_slashes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                       c == '_' || c == '~' || (keep_slashes && c == '/');
    if (plain) {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return escaped;
}

}  // namespace rc::hub

// Addresses: which of them may be asked, and how they appear in messages.
#pragma once

#include <string>
#include <string_view>

namespace rc::hub {

struct Url {
  std::string text;    // as it is asked
  std::string origin;  // scheme, host and port
  std::string host;
  bool secure = false;    // https
  bool loopback = false;  // this very machine
};

// Throws RC_E_INVALID_ARGUMENT if the text is not an address of http or https,
// or contains a user or password, which would end up in logs.
Url parse_url(const std::string& text);

// Returns the target of a redirect from `base`.
Url resolve_url(const Url& base, const std::string& location);

// Whether an address may be asked: https, and http only to this machine or the
// origin that the user has named. Throws RC_E_INVALID_ARGUMENT.
void check_scheme(const Url& url, std::string_view trusted_origin);

// Without query and fragment, which may hold signatures; for messages.
std::string shown_url(std::string_view url);

// The text with everything but letters, digits and "-._~", and but '/' if
// `keep_slashes`, as %XX (RFC 3986).
std::string escape_url(std::string_view text, bool keep_slashes);

}  // namespace rc::hub

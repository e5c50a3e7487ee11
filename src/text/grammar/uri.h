// References between schemas (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace rc::text::grammar {

// The reference in terms of the base, without its fragment; both may be "".
std::string resolve_uri(std::string_view base, std::string_view reference);

// Returns the text after the '#', with %XX decoded, or "".
std::string uri_fragment(std::string_view reference);

}  // namespace rc::text::grammar

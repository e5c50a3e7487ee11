// Bytes written as text (RFC 4648).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rc {

// Nothing if it is not base64 with its padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace rc

// Functions that the readers of keywords share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/grammar/decimal.h"
#include "text/grammar/schema_index.h"

namespace rc::text::grammar {

template <class... Parts>
[[noreturn]] void malformed_keyword(const SchemaLocation& at,
                                    std::string_view keyword,
                                    const Parts&... parts) {
  fail(RC_E_INVALID_ARGUMENT, "schema at ", pointer_to(at.pointer(), keyword),
       ": ", cat(parts...));
}

template <class... Parts>
[[noreturn]] void unsupported_keyword(const SchemaLocation& at,
                                      std::string_view keyword,
                                      const Parts&... parts) {
  fail(RC_E_UNSUPPORTED, "schema at ", pointer_to(at.pointer(), keyword), ": ",
       cat(parts...));
}

// Calls function(), and says in its errors where they come from.
template <class Function>
auto at_keyword(const SchemaLocation& at, std::string_view keyword,
                Function function) {
  try {
    return function();
  } catch (const Error& error) {
    fail(error.status(), "schema at ", pointer_to(at.pointer(), keyword), ": ",
         error.message());
  }
}

// A value that must not be negative and have no fraction, if the keyword is
// there. What is beyond any text is kUnbounded.
std::optional<uint32_t> keyword_count(const SchemaLocation& at,
                                      std::string_view keyword);
std::optional<Decimal> keyword_number(const SchemaLocation& at,
                                      std::string_view keyword);
const std::string* keyword_text(const SchemaLocation& at,
                                std::string_view keyword);
// The texts of a list.
std::vector<std::string> texts_of(const SchemaLocation& at,
                                  std::string_view keyword,
                                  const JsonValue& value);

}  // namespace rc::text::grammar

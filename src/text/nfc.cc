#include "text/nfc.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/utf8.h"

namespace rc::text {
namespace {

constexpr int kMaxMarks = 64;

struct Free {
  void operator()(utf8proc_uint8_t* bytes) const { std::free(bytes); }
};

// Appends well-formed text in form C.
void append_composed(std::string_view text, std::string* out) {
  if (text.empty()) return;
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &bytes,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(bytes);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) {
    fail(RC_E_INTERNAL, "normalising a text of ", text.size(),
         " bytes: ", utf8proc_errmsg(size));
  }
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

}  // namespace

std::string compose_nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t begin = 0;
  int marks = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (c.state != Utf8::kValid) {
      append_composed(text.substr(begin, at - begin), &out);
      out.append(text.substr(at, c.size));
      begin = at + c.size;
      marks = 0;
    } else {
      const auto code_point = static_cast<utf8proc_int32_t>(c.code_point);
      const bool is_mark =
          utf8proc_get_property(code_point)->combining_class != 0;
      marks = is_mark ? marks + 1 : 0;
      if (marks > kMaxMarks) {
        append_composed(text.substr(begin, at - begin), &out);
        begin = at;
        marks = 0;
      }
    }
    at += c.size;
  }
  append_composed(text.substr(begin), &out);
  return out;
}

}  // namespace rc::text

#include "text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace rc::text {
namespace {

int combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

// Puts each run of marks into the canonical order.
void order_marks(std::vector<utf8proc_int32_t>* chars) {
  for (auto at = chars->begin(); at != chars->end();) {
    if (combining_class(*at) == 0) {
      ++at;
      continue;
    }
    const auto end = std::find_if(at, chars->end(), [](utf8proc_int32_t c) {
      return combining_class(c) == 0;
    });
    std::stable_sort(at, end, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    });
    at = end;
  }
}

// Appends characters in the form and empties them.
void finish(bool compose, std::vector<utf8proc_int32_t>* chars,
            std::string* out) {
  order_marks(chars);
  if (compose && !chars->empty()) {
    const utf8proc_ssize_t size = utf8proc_normalize_utf32(
        chars->data(), static_cast<utf8proc_ssize_t>(chars->size()),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (size < 0) {
      fail(RC_E_INTERNAL, "normalising ", chars->size(),
           " characters: ", utf8proc_errmsg(size));
    }
    chars->resize(static_cast<size_t>(size));
  }
  for (const utf8proc_int32_t c : *chars) {
    append_utf8(static_cast<char32_t>(c), out);
  }
  chars->clear();
}

}  // namespace

std::string normalize(std::string_view text, NormalForm form) {
  const bool compose = form == NormalForm::kC || form == NormalForm::kKC;
  const bool compatible = form == NormalForm::kKC || form == NormalForm::kKD;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                     (compatible ? UTF8PROC_COMPAT : 0));
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> chars;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (c.state != Utf8::kValid) {
      finish(compose, &chars, &out);
      out.append(text.substr(0, c.size));
    } else if (c.code_point < 0x80 && chars.empty() && text.size() > 1 &&
               static_cast<unsigned char>(text[1]) < 0x80) {
      out += text[0];  // nothing joins it
    } else {
      std::array<utf8proc_int32_t, 32> parts;
      int boundary = UTF8PROC_BOUNDCLASS_START;
      const utf8proc_ssize_t count = utf8proc_decompose_char(
          static_cast<utf8proc_int32_t>(c.code_point), parts.data(),
          parts.size(), options, &boundary);
      if (count < 0) {
        fail(RC_E_INTERNAL, "normalising character ",
             static_cast<uint32_t>(c.code_point), ": ", utf8proc_errmsg(count));
      }
      chars.insert(chars.end(), parts.begin(), parts.begin() + count);
    }
    text.remove_prefix(c.size);
  }
  finish(compose, &chars, &out);
  return out;
}

}  // namespace rc::text

// Types of single tensors, by regular expressions on their names.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/quote.h"
#include "files/quantize/encoder.h"
#include "files/quantize/mixes.h"

namespace rc::quantize {
namespace {

constexpr size_t kMostOverrides = 256;
constexpr size_t kLongestPattern = 1024;  // bytes
// Names have 64 bytes at most; what needs more steps has run away.
constexpr uint32_t kMostSteps = 1'000'000;

struct FreePcre {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const {
    pcre2_match_context_free(context);
  }
};

DType type_named(std::string_view name, std::string_view override) {
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  // The numbers of types are below 64.
  for (int32_t number = 0; number < 64; ++number) {
    const auto dtype = static_cast<DType>(number);
    const DTypeInfo* info = dtype_info(dtype);
    if (info == nullptr || upper != info->name) continue;
    if (find_encoder(dtype) == nullptr) {
      fail(RC_E_UNSUPPORTED, quote(override), ": ", info->name,
           " cannot be written");
    }
    return dtype;
  }
  fail(RC_E_INVALID_ARGUMENT, quote(override), ": there is no type ",
       quote(name), "; name one of a tensor, such as Q6_K, and not a mix");
}

class Override {
 public:
  explicit Override(const std::string& text) : text_(text) {
    const size_t equals = text.rfind('=');
    if (equals == text.npos || equals == 0) {
      fail(RC_E_INVALID_ARGUMENT, quote(text),
           ": must be REGEX=TYPE, such as ffn_down=Q6_K");
    }
    if (equals > kLongestPattern) {
      fail(RC_E_INVALID_ARGUMENT, "a pattern of ", equals, " bytes; they have ",
           kLongestPattern, " at most");
    }
    type_ = type_named(std::string_view(text).substr(equals + 1), text);
    int error = 0;
    PCRE2_SIZE at = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), equals,
                              PCRE2_UTF, &error, &at, nullptr));
    if (code_ == nullptr) {
      PCRE2_UCHAR reason[128] = {};
      pcre2_get_error_message(error, reason, sizeof reason);
      fail(RC_E_INVALID_ARGUMENT, quote(text),
           ": the regular expression is wrong at byte ", at, ": ",
           reinterpret_cast<const char*>(reason));
    }
    data_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    context_.reset(pcre2_match_context_create(nullptr));
    if (data_ == nullptr || context_ == nullptr) throw std::bad_alloc();
    pcre2_set_match_limit(context_.get(), kMostSteps);
  }

  DType type() const { return type_; }
  const std::string& text() const { return text_; }
  bool matches(std::string_view name) const {
    const int result =
        pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(name.data()),
                    name.size(), 0, 0, data_.get(), context_.get());
    if (result < 0 && result != PCRE2_ERROR_NOMATCH) {
      fail(RC_E_INVALID_ARGUMENT, quote(text_),
           ": the regular expression takes too long on ", quote(name));
    }
    return result >= 0;
  }

 private:
  std::string text_;
  DType type_ = RC_DTYPE_F32;
  std::unique_ptr<pcre2_code, FreePcre> code_;
  std::unique_ptr<pcre2_match_data, FreePcre> data_;
  std::unique_ptr<pcre2_match_context, FreePcre> context_;
};

std::vector<Override> parsed(std::span<const std::string> texts) {
  if (texts.size() > kMostOverrides) {
    fail(RC_E_INVALID_ARGUMENT, texts.size(), " tensor types; there are ",
         kMostOverrides, " at most");
  }
  std::vector<Override> overrides;
  for (const std::string& text : texts) overrides.emplace_back(text);
  return overrides;
}

}  // namespace

void check_overrides(std::span<const std::string> overrides) {
  static_cast<void>(parsed(overrides));
}

void apply_overrides(const gguf::File& file,
                     std::span<const std::string> overrides,
                     std::vector<DType>& types) {
  const std::vector<Override> parsed_overrides = parsed(overrides);
  std::vector<bool> used(overrides.size());
  const auto tensors = file.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool found = false;
    for (size_t k = 0; k < parsed_overrides.size(); ++k) {
      const Override& each = parsed_overrides[k];
      if (!each.matches(tensors[i].name)) continue;
      used[k] = true;
      if (found) continue;
      found = true;
      const int64_t columns = tensors[i].shape.back();
      if (!row_bytes(each.type(), columns)) {
        fail(RC_E_INVALID_ARGUMENT, file.name(), ": tensor ",
             quote(tensors[i].name), " has rows of ", columns,
             " elements, which are no whole blocks of ",
             dtype_name(each.type()), ", as ", quote(each.text()), " wants");
      }
      // Vectors are what they are: no kernel takes them in blocks.
      if (tensors[i].shape.size() > 1) types[i] = each.type();
    }
  }
  for (size_t k = 0; k < parsed_overrides.size(); ++k) {
    if (used[k]) continue;
    fail(RC_E_INVALID_ARGUMENT, file.name(), ": no tensor has a name that ",
         quote(parsed_overrides[k].text()), " matches");
  }
}

}  // namespace rc::quantize

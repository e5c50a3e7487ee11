#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/error.h"
#include "base/nested_calls.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace rc::text {
namespace {

// Limits of a single match. The patterns take time in proportion to what they
// match, so a text gets some steps for each of its bytes.
constexpr size_t kStepsPerByte = 64;
constexpr size_t kMinSteps = 1'000'000;
constexpr size_t kMaxSteps = 1'000'000'000;
constexpr uint32_t kMaxHeapKib = 1 << 20;

struct FreeContext {
  void operator()(pcre2_compile_context* context) const {
    pcre2_compile_context_free(context);
  }
  void operator()(pcre2_match_context* context) const {
    pcre2_match_context_free(context);
  }
};
struct FreeData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

void Regex::FreeCode::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free(code);
}

Regex::Regex(std::string_view pattern) {
  int error = 0;
  PCRE2_SIZE at = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                            pattern.size(), PCRE2_UTF | PCRE2_UCP, &error, &at,
                            nullptr));
  if (code_ == nullptr) {
    if (error == PCRE2_ERROR_HEAP_FAILED) throw std::bad_alloc();
    fail(RC_E_INTERNAL, "the pattern ", pattern, " does not compile: error ",
         error, " at ", at);
  }
  // Without the compiler (not on every machine) patterns are interpreted.
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);
}

Regex Regex::from_file(std::string_view pattern, std::string_view original,
                       std::string_view where) {
  const std::unique_ptr<pcre2_compile_context, FreeContext> context(
      pcre2_compile_context_create(nullptr));
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE at = 0;
  Regex regex;
  // Groups are compiled within one another, up to 250 deep.
  const auto groups = std::count(pattern.begin(), pattern.end(), '(');
  call_nested(static_cast<size_t>(groups), [&] {
    regex.code_.reset(pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
        &error, &at, context.get()));
    // Without the compiler (not on every machine) patterns are interpreted.
    if (regex.code_ != nullptr) {
      pcre2_jit_compile(regex.code_.get(), PCRE2_JIT_COMPLETE);
    }
  });
  if (regex.code_ == nullptr) {
    if (error == PCRE2_ERROR_HEAP_FAILED) throw std::bad_alloc();
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    fail(RC_E_UNSUPPORTED, where, "is the pattern ", quote(original),
         ", which PCRE2 does not take: ",
         reinterpret_cast<const char*>(message.data()), " at byte ", at, " of ",
         quote(pattern));
  }
  return regex;
}

std::vector<Span> Regex::find_all(std::string_view text,
                                  StopCheck* stop) const {
  const std::unique_ptr<pcre2_match_data, FreeData> data(
      pcre2_match_data_create(1, nullptr));
  const std::unique_ptr<pcre2_match_context, FreeContext> context(
      pcre2_match_context_create(nullptr));
  if (data == nullptr || context == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(
      context.get(),
      static_cast<uint32_t>(std::clamp(
          std::min(text.size(), kMaxSteps / kStepsPerByte) * kStepsPerByte,
          kMinSteps, kMaxSteps)));
  pcre2_set_heap_limit(context.get(), kMaxHeapKib);

  const auto match = [&](size_t from, uint32_t options) {
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                       text.size(), from, options | PCRE2_NO_UTF_CHECK,
                       data.get(), context.get());
  };
  std::vector<Span> matches;
  for (size_t from = 0; from <= text.size();) {
    stop->step();
    int result = match(from, 0);
    // A match that overflows the stack of compiled code is tried on the heap.
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
      result = match(from, PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
    if (result < 0) {
      fail(RC_E_INVALID_ARGUMENT, "cutting a text of ", text.size(),
           " bytes into words takes too much at byte ", from, " (PCRE2 error ",
           result, "); pass it in smaller parts");
    }
    const PCRE2_SIZE* const bounds = pcre2_get_ovector_pointer(data.get());
    const Span found{bounds[0], bounds[1]};
    // \K may put the start anywhere.
    if (found.begin > found.end || found.end < from) {
      fail(RC_E_INVALID_ARGUMENT, "a pattern of the tokenizer matches ",
           "backwards at byte ", from, "; its file is not fit for use");
    }
    const bool empty = found.begin == found.end;
    if (empty && !matches.empty() && matches.back().end == found.end) {
      from = found.end < text.size()
                 ? found.end + decode_utf8(text.substr(found.end)).size
                 : text.size() + 1;
      continue;
    }
    matches.push_back(found);
    from = found.end;
  }
  return matches;
}

void Regex::split(std::string_view text, StopCheck* stop,
                  std::vector<std::string_view>* pieces) const {
  size_t done = 0;  // everything before is in pieces
  for (const Span match : find_all(text, stop)) {
    if (match.begin == match.end) continue;
    if (match.begin > done) {
      pieces->push_back(text.substr(done, match.begin - done));
    }
    pieces->push_back(text.substr(match.begin, match.end - match.begin));
    done = match.end;
  }
  if (done < text.size()) pieces->push_back(text.substr(done));
}

}  // namespace rc::text

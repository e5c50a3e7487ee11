#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <new>

#include "base/error.h"
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

void Regex::split(std::string_view text, StopCheck* stop,
                  std::vector<std::string_view>* pieces) const {
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
  size_t done = 0;  // everything before is in pieces
  for (size_t from = 0; from < text.size();) {
    stop->step();
    int result = match(from, 0);
    // What overflows the stack of compiled code is tried on the heap.
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
    if (bounds[1] == bounds[0]) {
      from = bounds[1] < text.size()
                 ? bounds[1] + decode_utf8(text.substr(bounds[1])).size
                 : text.size();
      continue;
    }
    if (bounds[0] > done) {
      pieces->push_back(text.substr(done, bounds[0] - done));
    }
    pieces->push_back(text.substr(bounds[0], bounds[1] - bounds[0]));
    done = from = bounds[1];
  }
  if (done < text.size()) pieces->push_back(text.substr(done));
}

}  // namespace rc::text

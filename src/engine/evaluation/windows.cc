#include "engine/evaluation/windows.h"

#include <algorithm>

#include "base/error.h"
#include "engine/session_tokens.h"

namespace rc::engine {
namespace {

constexpr int64_t kUsualContext = 512;
constexpr int64_t kLeastContext = 4;

}  // namespace

const text::Tokenizer& tokenizer_for_texts(const model::ModelFile& file) {
  if (file.tokenizer() == nullptr) {
    fail(RC_E_UNSUPPORTED, file.file().name(),
         " has no tokenizer, so it cannot be measured on a text");
  }
  if (file.source() != nullptr) {
    fail(RC_E_UNSUPPORTED, file.file().name(), ": models of architecture ",
         file.hyper_parameters().architecture,
         " generate from a source, so it cannot be measured on a text alone");
  }
  return *file.tokenizer();
}

TextWindows::TextWindows(const model::ModelFile& file, std::string_view text,
                         const WindowOptions& options, int64_t longest,
                         const std::function<bool()>& should_stop) {
  const text::Tokenizer& tokenizer = tokenizer_for_texts(file);
  context_ =
      options.context == 0 ? std::min(kUsualContext, longest) : options.context;
  if (context_ < kLeastContext || context_ > longest) {
    fail(RC_E_INVALID_ARGUMENT, "a window of ", context_,
         " tokens: the model was loaded for ", kLeastContext, " to ", longest);
  }
  stride_ = options.stride == 0 ? context_ : options.stride;
  if (stride_ < 1 || stride_ > context_) {
    fail(RC_E_INVALID_ARGUMENT, "a stride of ", stride_,
         " tokens: with windows of ", context_, " it is 1 to ", context_);
  }
  first_scored_ = stride_ == context_
                      ? context_ / 2 + 1
                      : context_ - std::min(stride_, context_ - 1);
  begins_ = tokenizer.adds_bos() && tokenizer.bos() >= 0;
  tokens_ = tokenize(tokenizer, text, 0, should_stop);
  if (begins_) tokens_.insert(tokens_.begin(), tokenizer.bos());
  const auto all = static_cast<int64_t>(tokens_.size());
  if (all < context_) {
    fail(RC_E_INVALID_ARGUMENT, "the text is too short: it has ", all,
         " tokens, but a window has ", context_,
         "; give more text, or ask for a shorter context");
  }
  count_ = (all - context_) / stride_ + 1;
  if (options.most > 0) count_ = std::min(count_, options.most);
}

std::vector<TokenId> TextWindows::window(int64_t i) const {
  const auto begin = tokens_.begin() + i * stride_;
  std::vector<TokenId> window(begin, begin + context_);
  if (begins_) window.front() = tokens_.front();
  return window;
}

}  // namespace rc::engine

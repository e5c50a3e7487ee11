// A text cut into windows of tokens, as models are measured on them.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/token.h"
#include "model/model_file.h"

namespace rc::engine {

// Throws RC_E_UNSUPPORTED if the model has no tokenizer.
const text::Tokenizer& tokenizer_for_texts(const model::ModelFile& file);

struct WindowOptions {
  int64_t context = 0;  // tokens of a window; 0: 512, or the most if less
  int64_t stride = 0;   // from one window's begin to the next; 0: context
  int64_t most = 0;     // windows; 0: as many as the text has
};

// Windows begin with the model's first token where it has one: it stands before
// the text, and takes the place of the first token of each later window.
class TextWindows {
 public:
  // `longest` is the longest window that the model takes. Throws
  // RC_E_UNSUPPORTED if the model has no tokenizer, RC_E_INVALID_ARGUMENT for
  // options out of range and for a text that has less than one window,
  // RC_E_CANCELLED if should_stop says so.
  TextWindows(const model::ModelFile& file, std::string_view text,
              const WindowOptions& options, int64_t longest,
              const std::function<bool()>& should_stop);

  int64_t count() const { return count_; }
  int64_t context() const { return context_; }
  // The tokens of the i-th, of which those from first_scored() on are scored,
  // each by the logits of the one before it.
  std::vector<TokenId> window(int64_t i) const;
  int64_t first_scored() const { return first_scored_; }

 private:
  std::vector<TokenId> tokens_;
  bool begins_;  // with the model's first token
  int64_t context_ = 0;
  int64_t stride_ = 0;
  int64_t count_ = 0;
  int64_t first_scored_ = 0;
};

}  // namespace rc::engine

// Detokenizing as tokens arrive, for text that is shown at once.
//
// A token may end within a character. What can still become one is held back;
// what can't becomes U+FFFD. All pieces together are what valid_utf8 makes of
// Tokenizer::detokenize.
//
// Not for several threads at a time. A copy goes on independently and is cheap:
// at most three bytes are held back.
#pragma once

#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace rc::text {

class StreamDecoder {
 public:
  struct Options {
    bool special = false;    // show the names of control tokens
    bool continues = false;  // text comes before: keep a leading space
  };
  explicit StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer)
      : StreamDecoder(std::move(tokenizer), Options()) {}
  StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer,
                const Options& options);

  // The text that this token completes; often "".
  std::string push(TokenId id);

  // Returns the bytes that are still held back, as U+FFFD: no later token
  // completes them.
  std::string flush();
  // The same; then a new text may begin.
  std::string finish();

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool special_;
  bool at_start_;
  std::string held_;  // the beginning of a character
};

}  // namespace rc::text

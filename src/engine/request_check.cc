// Checks the options of a request that need no session.
#include "base/error.h"
#include "engine/engine.h"
#include "engine/session_tokens.h"
#include "text/grammar/grammar.h"

namespace rc::engine {
namespace {

void check_grammar(const RequestOptions& options,
                   const model::ModelFile& file) {
  if (file.tokenizer() == nullptr) {
    fail(RC_E_UNSUPPORTED, file.file().name(),
         " has no tokenizer, so no grammar can be kept");
  }
  const text::grammar::VocabularyIndex& known = *options.grammar->vocabulary();
  if (!known.same_tokens(
          *file.tokenizer()->grammar_vocabulary(known.names_special()))) {
    fail(RC_E_INVALID_ARGUMENT,
         "the grammar was compiled for the vocabulary of ", known.name(), ", ",
         known.size(), " tokens, which is not that of ", file.file().name(),
         "; compile it with the tokenizer of this model");
  }
  if (options.ignore_eos) {
    fail(RC_E_INVALID_ARGUMENT,
         "ignore_eos is 1, but a text under a grammar ends where its end is "
         "chosen; give either of them");
  }
}

}  // namespace

void check(const RequestOptions& options, const model::ModelFile& file) {
  const int64_t vocabulary = file.hyper_parameters().vocabulary;
  check(options.sampling, vocabulary);
  check_tokens("prompt_tokens", options.prompt_tokens, vocabulary);
  check_tokens("stop_tokens", options.stop_tokens, vocabulary);
  if (options.max_tokens < -1) {
    fail(RC_E_INVALID_ARGUMENT, "max_tokens is ", options.max_tokens,
         "; it must be a number of tokens, or -1 for as many as fit");
  }
  if (options.logprobs < -1 || options.logprobs > 64) {
    fail(RC_E_INVALID_ARGUMENT, "logprobs is ", options.logprobs,
         "; it must be -1 for none, or 0 to 64");
  }
  constexpr uint32_t kFlags =
      RC_TOKENIZE_ADD_SPECIAL | RC_TOKENIZE_PARSE_SPECIAL;
  if ((options.tokenize_flags & ~kFlags) != 0) {
    fail(RC_E_INVALID_ARGUMENT, "tokenize_flags are ", options.tokenize_flags,
         "; only RC_TOKENIZE_* may be set");
  }
  for (size_t i = 0; i < options.stop.size(); ++i) {
    if (options.stop[i].empty()) {
      fail(RC_E_INVALID_ARGUMENT, "stop[", i,
           "] is empty; a stop string has at least one byte");
    }
  }
  const bool needs_text =
      !options.stop.empty() ||
      (options.prompt_tokens.empty() && !options.prompt.empty());
  if (needs_text && file.tokenizer() == nullptr) {
    fail(RC_E_UNSUPPORTED, file.file().name(),
         " has no tokenizer: give tokens instead of text, also to stop at");
  }
  if (options.grammar != nullptr) check_grammar(options, file);
}

}  // namespace rc::engine

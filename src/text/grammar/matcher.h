// Follows one text as a grammar allows it, token by token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/grammar/token_mask.h"
#include "text/grammar/vocabulary_index.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

// One for each request. Not for several threads at a time, but different
// matchers of one grammar may be used by different threads. Errors are
// RC_E_UNSUPPORTED, when a text would take more states than the grammar's
// limits allow, or more work than the text may take (see Work); the grammar
// remembers them. In a slice of its work functions throw Work::Postponed, and
// what its `stop` throws. The matcher stays as it was.
class Matcher {
 public:
  virtual ~Matcher() = default;

  virtual const VocabularyIndex& vocabulary() const = 0;
  // The work for the text so far.
  virtual Work& work() = 0;

  // The tokens that may come next: after each of them some valid text goes on.
  // End tokens are among them where the text may end. Stays as it is until the
  // next call.
  virtual const TokenMask& mask() = 0;

  // Adds a token to the text. False, and nothing changes, if it is not allowed.
  virtual bool accept(int32_t token) = 0;
  // The same of bytes, which need not be tokens; they count as one.
  virtual bool accept_bytes(std::string_view bytes) = 0;

  // Takes the last `tokens` tokens back; an end token counts as one. Throws
  // RC_E_INVALID_ARGUMENT if there are fewer.
  virtual void rollback(size_t tokens) = 0;

  virtual bool can_end() const = 0;
  // Whether the text may end and nothing else may come.
  virtual bool complete() = 0;
  // Whether an end token was accepted.
  virtual bool ended() const = 0;

  // The bytes that have to come next, as far as there is no choice; ways to
  // write a character by an escape don't count as one, white space does.
  virtual std::string forced() = 0;

  // A matcher that goes on from here by itself.
  virtual std::unique_ptr<Matcher> clone() const = 0;
};

}  // namespace rc::text::grammar

// The tokens that a session need not evaluate again.
#pragma once

#include <cstddef>
#include <span>

#include "text/tokenizer.h"

namespace rc::text::chat {

struct SharedPrefix {
  size_t kept;  // of the tokens that are there
  size_t next;  // the first token of the prompt that they do not spell
};

// Returns the part of a prompt that the tokens of a session spell. They need
// not be those that the tokenizer chooses: a model may write a text in others.
// Special tokens count as themselves only, never as their names. A negative
// number in the session is no token, and no text spells it.
SharedPrefix shared_prefix(const Tokenizer& tokenizer,
                           std::span<const TokenId> session,
                           std::span<const TokenId> prompt);

}  // namespace rc::text::chat

// Tokens of a text that has to come next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "text/grammar/matcher.h"
#include "text/tokenizer.h"

namespace rc::text::grammar {

// The number of last tokens that decide whether the tokenizer would join forced
// text to the text before it.
inline constexpr size_t kLastTokens = 8;

// The tokens of Matcher::forced() that the tokenizer makes of it, as far as
// they are the same whatever follows; often none. `last` are the last tokens of
// the text so far: where the tokenizer would join them to what is forced, there
// are none either. The matcher is of the tokenizer's vocabulary and afterwards
// as it was. Throws as the matcher does.
std::vector<int32_t> forced_tokens(const Tokenizer& tokenizer,
                                   std::span<const int32_t> last,
                                   Matcher* matcher);

}  // namespace rc::text::grammar

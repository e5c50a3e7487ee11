// The tokenizer that a tokenizer.json describes, the format of the tokenizers
// package (https://huggingface.co/docs/tokenizers). A GGUF file has it as text
// under tokenizer.huggingface.json.
#pragma once

#include <memory>
#include <string_view>

#include "text/tokenizer.h"

namespace rc::text {

inline constexpr const char* kTokenizerJsonKey = "tokenizer.huggingface.json";

// Ids and texts are those of the package, for texts that are UTF-8, but for
// this: a special token never comes from anything but its name where it counts,
// even if the model has it as a piece. Of `known` only `source`, the ids and
// what to add are used; these come before what the JSON says. Throws
// RC_E_FORMAT or RC_E_UNSUPPORTED with file, JSON pointer and value.
std::shared_ptr<const Tokenizer> make_json_tokenizer(std::string_view json,
                                                     Vocabulary known);

}  // namespace rc::text

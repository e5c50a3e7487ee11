// The metadata of a folder whose vocabulary is a SentencePiece model: the keys
// tokenizer.ggml.* that a GGUF file has for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/folder/config.h"
#include "files/folder/folder.h"
#include "files/gguf/writer.h"
#include "files/sentencepiece/model.h"

namespace rc::folder {

// That of tokenizer.model, or of spiece.model; nullopt if there is neither.
// Throws what sentencepiece::parse_model throws.
std::optional<sentencepiece::Model> find_pieces(Folder& folder);

// `config` is that of config.json, `tokenizer` that of tokenizer_config.json.
// The single tokens of tokenizer_config.json and added_tokens.json override
// those of the model; numbers up to vocab_size without a token get unused ones.
// Throws RC_E_FORMAT naming file and token.
void add_pieces(sentencepiece::Model model, const Config& config,
                const std::optional<Config>& tokenizer, Folder& folder,
                gguf::Writer& writer);

}  // namespace rc::folder

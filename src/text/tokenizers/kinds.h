// The kinds of tokenizers, each made from a checked vocabulary.
#pragma once

#include <memory>

#include "text/tokenizer.h"

namespace rc::text {

// "llama": SentencePiece's byte pair encoding; merges by the scores of the
// pieces.
std::shared_ptr<const Tokenizer> make_sentencepiece(Vocabulary vocabulary);

// "gpt2": byte pair encoding over the bytes of words that a pre-tokenizer
// cuts; merges by a list.
std::shared_ptr<const Tokenizer> make_byte_level(Vocabulary vocabulary);

// "bert": WordPiece; the longest pieces of each word, from the left.
std::shared_ptr<const Tokenizer> make_wordpiece(Vocabulary vocabulary);

// "t5": SentencePiece's unigram model; the cut with the best sum of scores.
std::shared_ptr<const Tokenizer> make_unigram(Vocabulary vocabulary);

// "gemma4", and "gpt2" with the pre-tokenizer "sarvam-moe": byte pair encoding
// over the characters of the whole text; merges by a list.
std::shared_ptr<const Tokenizer> make_whole_text(Vocabulary vocabulary);

// "rwkv": the longest pieces from the left, over bytes.
std::shared_ptr<const Tokenizer> make_longest_piece(Vocabulary vocabulary);

}  // namespace rc::text

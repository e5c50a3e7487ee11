// From text to token ids and back, as the file of the model says.
//
// A tokenizer never changes after it was made: any thread may call anything at
// any time.
//
// Text is bytes that should be UTF-8. Ill-formed parts are never an error:
// byte-level BPE keeps their bytes, and so do the SentencePiece kinds where the
// vocabulary has byte tokens; without them such a part is an unknown token.
// WordPiece leaves it out, as it does U+FFFD.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf/file.h"
#include "text/piece_index.h"
#include "text/span.h"
#include "text/stop_check.h"
#include "text/vocabulary.h"

namespace rc::text {

namespace grammar {
class VocabularyIndex;
}

struct TokenizeOptions {
  // Add the tokens that begin and end a text, where the vocabulary asks for it.
  bool add_special = true;
  // Take the names of control tokens in the text for these tokens. Without it
  // they are plain text, as input from strangers should be.
  bool parse_special = false;
  // The text goes on after other text: no space is put before it.
  bool continues = false;
  // With parse_special: parts of the text, in order and not overlapping, that
  // strangers wrote. A name counts only where none of its bytes is in them;
  // everything else is as if they were not given: words go on across their
  // borders.
  std::span<const Span> content = {};
  // User-defined tokens, sorted by id, whose names count like those of control
  // tokens where content is concerned. Others, such as runs of spaces, are
  // found in content too.
  std::span<const TokenId> marks = {};
  // Asked about every millisecond; true: tokenize throws RC_E_CANCELLED.
  std::function<bool()> should_stop = {};
};

class Tokenizer {
 public:
  // Makes the tokenizer of a file; nullptr if the file has none. It is that of
  // tokenizer.huggingface.json, which leaves out nothing that the tokenizer
  // does, or, where there is none, that of tokenizer.ggml.*. Throws
  // RC_E_FORMAT or RC_E_UNSUPPORTED with file, key and value.
  static std::shared_ptr<const Tokenizer> load(const gguf::File& file);
  // The same from plain data, which is checked as that of a file.
  static std::shared_ptr<const Tokenizer> create(Vocabulary vocabulary);

  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // `places`, if given, gets the bytes of the text that each token stands for,
  // without those that add_special adds. Where normalisation changed the text
  // around a token, that is everything from one special token to the next.
  std::vector<TokenId> tokenize(std::string_view text,
                                const TokenizeOptions& options,
                                std::vector<Span>* places = nullptr) const;
  // Adds what add_special adds to the tokens of a text.
  virtual void add_special(std::vector<TokenId>* tokens) const;

  // Returns the least number of tokens of any text of so many bytes; 0 if all
  // of a text may be dropped.
  size_t least_tokens(size_t bytes) const;
  // The most bytes that a text of so many tokens has; SIZE_MAX where a text may
  // come to nothing.
  size_t most_bytes(size_t tokens) const;

  // The bytes of one token as it appears in running text, which need not be
  // whole characters. Control and unknown tokens give "" unless `special`,
  // then their name; so does an id that is no token.
  virtual std::string token_bytes(TokenId id, bool special = false) const;

  // Returns the bytes of a text. If the tokenizer puts a space before a text,
  // the first space is removed again. The bytes are invalid UTF-8 where those
  // of the tokens are; StreamDecoder repairs them.
  std::string detokenize(std::span<const TokenId> ids,
                         bool special = false) const;

  // One step of detokenize. `at_start`, true before the first token, says
  // whether a leading space is still to be taken off.
  virtual std::string next_bytes(TokenId id, bool special,
                                 bool* at_start) const;

  int32_t size() const;
  TokenId bos() const { return vocabulary_.bos; }
  TokenId eos() const { return vocabulary_.eos; }
  TokenId unknown() const { return vocabulary_.unknown; }
  bool adds_bos() const { return add_bos_; }
  bool adds_eos() const { return add_eos_; }
  // Whether generation stops at this token: the end of text, of turn or of
  // message by the file's ids or under one of the well-known names.
  bool is_end(TokenId id) const;
  // The piece as the file has it; "" for an id that is no token.
  std::string_view token_text(TokenId id) const;
  TokenType token_type(TokenId id) const;  // kUnused for an id that is none
  // "llama", "gpt2", "bert", "t5", "rwkv", or "huggingface" for that of a
  // tokenizer.json.
  std::string_view kind() const { return vocabulary_.model; }

  // The vocabulary as grammars need it: computed when it is first asked for,
  // and kept. Tokens that plain text never has (control, unknown, unused) are
  // in no text; but with `names_special`, for texts that special tokens divide,
  // control tokens are.
  std::shared_ptr<const grammar::VocabularyIndex> grammar_vocabulary(
      bool names_special = false) const;

 protected:
  // The behaviour of a kind unless the file contains another one.
  struct Defaults {
    bool add_bos;
    bool add_eos;
    bool add_space_prefix;
    // Control and unknown tokens, where they are shown, are words with a space
    // before.
    bool special_words = false;
  };
  Tokenizer(Vocabulary vocabulary, const Defaults& defaults);

  // Appends the tokens of a whole text, without those that add_special adds,
  // and, unless it is nullptr, their places.
  virtual void encode_all(std::string_view text, const TokenizeOptions& options,
                          StopCheck* stop, std::vector<TokenId>* out,
                          std::vector<Span>* places) const;
  // Appends the tokens of a text without special tokens, not empty. `at_start`
  // is true at the beginning of the text and after a control token.
  virtual void encode(std::string_view text, bool at_start, StopCheck* stop,
                      std::vector<TokenId>* out) const = 0;
  // The most bytes of a text that one token can stand for; 0: any number.
  virtual size_t most_bytes_per_token() const { return 0; }
  // The bytes of a token of type normal, unused or byte.
  virtual std::string decode(TokenId id) const = 0;

  // Appends the places of the tokens that `part` was encoded as.
  void add_places(std::string_view text, Span part, bool at_start,
                  std::span<const TokenId> tokens,
                  std::vector<Span>* places) const;

  // The token whose name counts at a byte of the text. `content` are the parts
  // of options.content that end after it.
  PieceIndex::Match name_at(std::string_view text, size_t at,
                            const TokenizeOptions& options,
                            std::span<const Span> content) const;

  bool has(TokenId id) const { return id >= 0 && id < size(); }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  size_t longest_token_text() const { return longest_token_text_; }
  bool add_space_prefix() const { return add_space_prefix_; }
  // For a constructor that has read what it needs for good.
  void forget_rules();

 private:
  void find_ends();
  Vocabulary vocabulary_;
  Defaults defaults_;
  bool add_bos_;
  bool add_eos_;
  bool add_space_prefix_;
  size_t longest_token_text_ = 0;
  PieceIndex user_defined_;
  PieceIndex special_;         // user-defined, control and unknown tokens
  std::vector<TokenId> ends_;  // sorted
  mutable std::mutex mutex_;   // for what follows
  // Without and with the names of special tokens.
  mutable std::array<std::shared_ptr<const grammar::VocabularyIndex>, 2>
      grammar_vocabularies_;
};

}  // namespace rc::text

// The decoders of a tokenizer.json: what a token is in running text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer_json/json_node.h"
#include "text/tokenizer_json/pattern.h"

namespace rc::text {

class TokenDecoder {
 public:
  // Without a node tokens are words with a space between. Throws RC_E_FORMAT or
  // RC_E_UNSUPPORTED with file, pointer and value; the latter for what needs
  // tokens that are still to come.
  explicit TokenDecoder(const std::optional<JsonNode>& node);

  // The bytes of a token. `*at_start`, true before the first token, is for
  // those that differ there.
  std::string decode(const std::string& token, bool* at_start) const;

 private:
  enum class Kind {
    kByteLevel,
    kMetaspace,
    kWordPiece,
    kByteFallback,
    kStrip,
    kReplace,
    kWords
  };
  struct Step {
    Kind kind;
    std::string text{};  // replacement, prefix, content
    bool flag = false;   // strips the first mark; cleans up
    size_t begin = 0;    // characters that are stripped there
    size_t end = 0;
    std::optional<Pattern> pattern{};
  };
  void add(const JsonNode& node);
  void add_strip(const JsonNode& node);
  static std::string apply(const Step& step, std::string token, bool first);

  std::vector<Step> steps_;
  bool joined_ = false;  // while reading: all that follows sees one text
  std::string stripped_at_start_;  // one character, of the whole text
};

}  // namespace rc::text

// The normalisation rules that SentencePiece compiles into its models: a
// double-array trie of what to replace, and the texts to put in its place.
//
// Layout: 4 bytes, little-endian: size of the trie in bytes; the trie's units
// of 4 bytes each (format of the darts-clone library); the texts, each ended
// by a zero byte. A value of the trie is the offset of its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rc::text {

class Charsmap {
 public:
  // Throws RC_E_FORMAT if the sizes don't fit; `source` is for the message. An
  // empty blob has no rules.
  Charsmap(std::string_view blob, std::string_view source);

  bool empty() const { return units_.empty(); }

  struct Rule {
    size_t size;            // bytes of text that are replaced
    std::string_view text;  // by this; valid as long as the map
  };
  // The rule for the longest beginning of the text that has one.
  std::optional<Rule> longest(std::string_view text) const {
    return find(text, /*shortest=*/false);
  }
  // Returns the replacement by the rule for the shortest beginning.
  std::optional<std::string_view> shortest(std::string_view text) const {
    const auto rule = find(text, /*shortest=*/true);
    if (!rule) return std::nullopt;
    return rule->text;
  }

 private:
  std::optional<Rule> find(std::string_view text, bool shortest) const;

  std::vector<uint32_t> units_;
  std::string texts_;
};

}  // namespace rc::text

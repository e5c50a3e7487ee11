// A tree of the beginnings of tokens, in the order of a walk through it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rc::text::grammar {

class TokenTrie {
 public:
  struct Node {
    uint32_t end;    // the node after all that begin like this one
    int32_t tokens;  // the token, or the index of a list of several, or -1
    uint16_t depth;  // of the byte, 1 for the first
    uint8_t byte;
    bool several;  // tokens have this text
  };
  using Entry = std::pair<std::string_view, int32_t>;  // text and token

  TokenTrie() = default;
  // Empty texts are left out; several tokens may have the same text.
  explicit TokenTrie(std::vector<Entry> entries);

  const std::vector<Node>& nodes() const { return nodes_; }
  size_t max_depth() const { return max_depth_; }
  // The tokens whose text ends at a node that has some.
  template <class Function>
  void for_each(const Node& node, Function function) const {
    if (node.tokens < 0) return;
    if (!node.several) return function(node.tokens);
    for (const int32_t token : lists_[static_cast<size_t>(node.tokens)]) {
      function(token);
    }
  }
  // The node of texts that begin with the byte, or kNowhere.
  size_t root(uint8_t byte) const {
    return roots_[byte] == 0 ? kNowhere : roots_[byte] - size_t{1};
  }
  static constexpr size_t kNowhere = SIZE_MAX;
  // The node where a walk along the text ends, or the number of nodes.
  size_t find(std::string_view text) const;

 private:
  std::vector<Node> nodes_;
  std::vector<std::vector<int32_t>> lists_;  // of tokens of one text
  size_t max_depth_ = 0;
  std::array<uint32_t, 256> roots_{};  // where texts begin with a byte, plus 1
};

}  // namespace rc::text::grammar

#include "text/grammar/token_trie.h"

#include <algorithm>

namespace rc::text::grammar {

TokenTrie::TokenTrie(std::vector<Entry> entries) {
  std::erase_if(entries,
                [](const Entry& entry) { return entry.first.empty(); });
  std::sort(entries.begin(), entries.end());
  std::vector<size_t> open;  // nodes from the root to the last one
  std::string_view last;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto [text, token] = entries[i];
    if (text == last) {
      Node& node = nodes_[open.back()];
      if (!node.several) {
        lists_.push_back({node.tokens});
        node.tokens = static_cast<int32_t>(lists_.size() - 1);
        node.several = true;
      }
      lists_[static_cast<size_t>(node.tokens)].push_back(token);
      continue;
    }
    const auto differs =
        std::mismatch(text.begin(), text.end(), last.begin(), last.end());
    const auto common = static_cast<size_t>(differs.first - text.begin());
    while (open.size() > common) {
      nodes_[open.back()].end = static_cast<uint32_t>(nodes_.size());
      open.pop_back();
    }
    for (size_t at = common; at < text.size(); ++at) {
      open.push_back(nodes_.size());
      nodes_.push_back({0, -1, static_cast<uint16_t>(at + 1),
                        static_cast<uint8_t>(text[at]), false});
    }
    nodes_[open.back()].tokens = token;
    max_depth_ = std::max(max_depth_, text.size());
    last = text;
  }
  for (const size_t node : open) {
    nodes_[node].end = static_cast<uint32_t>(nodes_.size());
  }
  for (uint32_t at = 0; at < nodes_.size(); at = nodes_[at].end) {
    roots_[nodes_[at].byte] = at + 1;
  }
}

size_t TokenTrie::find(std::string_view text) const {
  if (text.empty()) return nodes_.size();
  const uint32_t root = roots_[static_cast<uint8_t>(text[0])];
  if (root == 0) return nodes_.size();
  size_t at = root - 1;
  size_t end = nodes_[at].end;
  for (size_t i = 0; i < text.size(); ++i) {
    while (at < end && nodes_[at].byte != static_cast<uint8_t>(text[i])) {
      at = nodes_[at].end;
    }
    if (at >= end) return nodes_.size();
    if (i + 1 == text.size()) return at;
    end = nodes_[at].end;
    ++at;
  }
  return nodes_.size();
}

}  // namespace rc::text::grammar

// Walks trees of tokens together with a machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/grammar/lexer.h"
#include "text/grammar/token_mask.h"
#include "text/grammar/token_trie.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

// A machine reads texts byte by byte: it has a type State that can be copied,
// and step, refuses, reading, catch_up, spaces, max_spaces and lexer as
// JsonMachine has them. Not for
// several threads at a time; memory is kept from walk to walk.
template <class Machine>
class MaskWalker {
 public:
  using State = typename Machine::State;
  using Reading = typename Machine::Reading;

  explicit MaskWalker(Machine* machine) : machine_(*machine) {}

  // Sets the bits of the tokens that may come next.
  void walk(const TokenTrie& trie, const State& state, TokenMask* mask) {
    walk_roots(trie, state, false, mask);
  }
  // The same of tokens that stay in the string that `state` is in.
  void walk_content(const TokenTrie& trie, const State& state,
                    TokenMask* mask) {
    walk_roots(trie, state, true, mask);
  }
  // The same from node `first` up to node `last`; `state` is the one before,
  // after `depth` bytes.
  void walk(const TokenTrie& trie, size_t first, size_t last, size_t depth,
            const State& state, TokenMask* mask) {
    begin(trie, depth, state);
    walk_nodes(trie, first, last, false, mask);
  }

 private:
  // Where a walk is: a state, and what went through the lexer alone since.
  struct Frame {
    size_t full;   // index into full_
    size_t depth;  // of that state
    LexState lex;
    uint32_t spaces;  // in a row
    Reading reading;
    // The lexer's moves by the bytes of ASCII, once they were asked for.
    const LexState* moves;
  };

  // Whether a byte only goes through the lexer.
  static bool is_fast(Reading reading, uint8_t byte) {
    if (reading == Reading::kContent) {
      return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
    }
    return reading == Reading::kText && byte < 0x80;
  }
  static bool is_space(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
  }
  // Nodes that only go through the lexer take far less than a step.
  static constexpr size_t kNodesPerStep = 64;

  bool step(const Frame& from, size_t depth, uint8_t byte, Frame* to);
  void begin(const TokenTrie& trie, size_t depth, const State& state);
  void walk_roots(const TokenTrie& trie, const State& state, bool content,
                  TokenMask* mask);
  void walk_nodes(const TokenTrie& trie, size_t first, size_t last,
                  bool content, TokenMask* mask);

  Machine& machine_;
  Work* work_ = nullptr;     // of the walk
  uint64_t full_steps_ = 0;  // of the machine that are not counted yet
  std::vector<State> full_;
  std::vector<Frame> frames_;
  std::string path_;
};

template <class Machine>
bool MaskWalker<Machine>::step(const Frame& from, size_t depth, uint8_t byte,
                               Frame* to) {
  if (from.reading == Reading::kSpaces && is_space(byte)) {
    *to = {from.full,       from.depth,   from.lex,
           from.spaces + 1, from.reading, from.moves};
    return to->spaces <= machine_.max_spaces();
  }
  if (machine_.refuses(full_[from.full], from.lex, byte)) return false;
  ++full_steps_;
  if (full_.size() < from.full + 2) full_.resize(from.full + 2);
  State& state = full_[from.full + 1];
  state = full_[from.full];
  if (from.reading != Reading::kOther) {
    machine_.catch_up(
        &state, from.lex, from.spaces,
        std::string_view(path_).substr(from.depth, depth - from.depth));
  }
  if (!machine_.step(&state, byte)) return false;
  *to = {from.full + 1,           depth + 1, state.lex, machine_.spaces(state),
         machine_.reading(state), nullptr};
  return true;
}

template <class Machine>
void MaskWalker<Machine>::begin(const TokenTrie& trie, size_t depth,
                                const State& state) {
  work_ = Work::current();
  if (full_.empty()) full_.emplace_back();
  full_[0] = state;
  frames_.resize(trie.max_depth() + 1);
  path_.resize(trie.max_depth() + 1);
  frames_[depth] = {
      0,      depth, state.lex, machine_.spaces(state), machine_.reading(state),
      nullptr};
}

// Most first bytes are refused: they are looked at without their nodes.
template <class Machine>
void MaskWalker<Machine>::walk_roots(const TokenTrie& trie, const State& state,
                                     bool content, TokenMask* mask) {
  begin(trie, 0, state);
  for (size_t byte = 0; byte < 256; ++byte) {
    const size_t root = trie.root(static_cast<uint8_t>(byte));
    if (root == TokenTrie::kNowhere) continue;
    const bool fast = is_fast(frames_[0].reading, static_cast<uint8_t>(byte));
    if (fast ? machine_.lexer().ascii_moves(state.lex)[byte] == kDeadLex
             : machine_.refuses(state, state.lex, static_cast<uint8_t>(byte))) {
      continue;
    }
    walk_nodes(trie, root, trie.nodes()[root].end, content, mask);
  }
}

template <class Machine>
void MaskWalker<Machine>::walk_nodes(const TokenTrie& trie, size_t first,
                                     size_t last, bool content,
                                     TokenMask* mask) {
  const std::vector<TokenTrie::Node>& nodes = trie.nodes();
  size_t count_at = first;
  for (size_t i = first; i < last;) {
    if (i >= count_at) {
      Work::walk(work_, 1 + std::exchange(full_steps_, 0));
      count_at = i + kNodesPerStep;
    }
    const TokenTrie::Node& node = nodes[i];
    const size_t before = node.depth - 1U;
    Frame& from = frames_[before];
    if (is_fast(from.reading, node.byte)) {
      if (from.moves == nullptr) {
        from.moves = machine_.lexer().ascii_moves(from.lex);
      }
      const LexState next = from.moves[node.byte];
      if (next == kDeadLex) {
        i = node.end;
        continue;
      }
      // Most nodes are the last ones of tokens.
      if (node.end > i + 1) {
        path_[before] = static_cast<char>(node.byte);
        frames_[before + 1] = {from.full, from.depth,   next,
                               0,         from.reading, nullptr};
      }
    } else {
      const bool leaves =
          content && node.byte == '"' && from.reading == Reading::kContent;
      path_[before] = static_cast<char>(node.byte);
      if (leaves || !step(from, before, node.byte, &frames_[before + 1])) {
        i = node.end;
        continue;
      }
    }
    if (node.tokens >= 0) {
      trie.for_each(node, [&](int32_t token) { mask->set(token); });
    }
    ++i;
  }
}

}  // namespace rc::text::grammar

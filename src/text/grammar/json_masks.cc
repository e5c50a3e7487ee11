#include "text/grammar/json_masks.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace rc::text::grammar {
namespace {

// Of masks of contents together, per grammar.
constexpr size_t kMaxContentBytes = size_t{16} << 20;

// A character that hardly any key has.
constexpr std::string_view kRare = "\xF4\x8F\xBF\xBF";

}  // namespace

JsonMasks::JsonMasks(std::shared_ptr<JsonMachine> machine,
                     std::shared_ptr<const VocabularyIndex> vocabulary)
    : machine_(std::move(machine)), vocabulary_(std::move(vocabulary)) {}

void JsonMasks::fill(const State& state, Walker* walker, TokenMask* mask) {
  if (machine_->reading(state) != JsonMachine::Reading::kContent) {
    walker->walk(vocabulary_->all(), state, mask);
    return;
  }
  fill_content(state, walker, mask);
  fill_quotes(state, walker, mask);
}

void JsonMasks::fill_content(const State& state, Walker* walker,
                             TokenMask* mask) {
  LexState next = kDeadLex;
  if (machine_->lexer().uniform(state.lex, &next) && next == state.lex) {
    mask->add(vocabulary_->content());
  } else {
    mask->add(*content(state, walker));
  }
}

JsonMasks::MaskPtr JsonMasks::content(const State& state, Walker* walker) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = contents_.find(state.lex);
    if (known != contents_.end()) return known->second;
  }
  const uint64_t mark = Work::walked();
  Lexer& lexer = machine_->lexer();
  auto mask = std::make_shared<TokenMask>(vocabulary_->size());
  const size_t freedom = lexer.freedom(state.lex);
  const bool limited = lexer.only_length(state.lex);
  if (freedom == UINT8_MAX || (limited && freedom > 0)) {
    mask->add(
        vocabulary_->plain(std::min(freedom, VocabularyIndex::kMaxPlain)));
    walker->walk_content(vocabulary_->odd(), state, mask.get());
  } else {
    walker->walk_content(vocabulary_->all(), state, mask.get());
  }
  const std::lock_guard lock(mutex_);
  if (contents_.size() * mask->words().size() * sizeof(uint64_t) >=
      kMaxContentBytes) {
    contents_.clear();
  }
  contents_[state.lex] = mask;
  Work::keep(mark);
  return mask;
}

void JsonMasks::fill_quotes(const State& state, Walker* walker,
                            TokenMask* mask) {
  walker->walk(vocabulary_->quote_first(), state, mask);
  walker->walk(vocabulary_->quote_odd(), state, mask);
  LexState next = kDeadLex;
  LexState after = kDeadLex;
  Lexer& lexer = machine_->lexer();
  // Where any character leads to a state that is never left, what stands
  // before the quote does not matter, unless it is a key.
  if (lexer.uniform(state.lex, &next) && lexer.uniform(next, &after) &&
      next == after) {
    if (!JsonMachine::text_matters(state)) {
      State later = state;
      later.lex = next;
      walker->walk(vocabulary_->quote_tails(), later, mask);
      return;
    }
    if (JsonMachine::in_key(state) && next == state.lex &&
        fill_key_quotes(state, walker, mask)) {
      return;
    }
  }
  walker->walk(vocabulary_->quote_later(), state, mask);
}

// Any key is allowed and nearly all are alike: tokens are judged by what comes
// after a key that is nowhere mentioned, and corrected where one is.
bool JsonMasks::fill_key_quotes(const State& state, Walker* walker,
                                TokenMask* mask) {
  std::vector<std::string> names;
  if (!machine_->keys_alike(state, &names)) return false;
  std::string unknown = state.text;
  do {
    unknown += kRare;
  } while (std::find(names.begin(), names.end(), unknown) != names.end());
  walker->walk(vocabulary_->quote_tails(),
               machine_->with_key(state, std::move(unknown)), mask);
  const TokenTrie& tokens = vocabulary_->quote_later();
  for (const std::string& name : names) {
    const std::string rest = name.substr(state.text.size()) + '"';
    // A key that is complete is quote_first's.
    if (rest.size() == 1 || rest.size() > tokens.max_depth()) continue;
    const size_t node = tokens.find(rest);
    if (node == tokens.nodes().size()) continue;
    const size_t end = tokens.nodes()[node].end;
    for (size_t i = node; i < end; ++i) {
      tokens.for_each(tokens.nodes()[i],
                      [&](int32_t token) { mask->reset(token); });
    }
    walker->walk(tokens, node, end, rest.size() - 1,
                 machine_->with_key(state, name), mask);
  }
  // Where there is another key, the one that ends matters.
  const TokenTrie& keys = vocabulary_->quote_keys();
  for (const TokenTrie::Node& node : keys.nodes()) {
    keys.for_each(node, [&](int32_t token) { mask->reset(token); });
  }
  walker->walk(keys, state, mask);
  return true;
}

}  // namespace rc::text::grammar

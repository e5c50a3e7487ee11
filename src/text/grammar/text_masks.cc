#include "text/grammar/text_masks.h"

namespace rc::text::grammar {
namespace {

// Of all masks that are remembered, per grammar.
constexpr size_t kMaxMaskBytes = size_t{16} << 20;

}  // namespace

void TextMasks::fill(const State& state, Walker* walker, TokenMask* mask) {
  if (!state.partial.none()) {
    walker->walk(vocabulary_->all(), state, mask);
    return;
  }
  std::shared_ptr<const TokenMask> known;
  {
    const std::lock_guard lock(mutex_);
    const auto at = masks_.find(state.lex);
    if (at != masks_.end()) known = at->second;
  }
  if (known == nullptr) {
    auto computed = std::make_shared<TokenMask>(vocabulary_->size());
    walker->walk(vocabulary_->all(), state, computed.get());
    known = computed;
    const std::lock_guard lock(mutex_);
    if (masks_.size() * known->words().size() * sizeof(uint64_t) >=
        kMaxMaskBytes) {
      masks_.clear();
    }
    masks_[state.lex] = known;
  }
  mask->add(*known);
}

}  // namespace rc::text::grammar

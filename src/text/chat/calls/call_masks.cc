#include "text/chat/calls/call_masks.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rc::text::chat {
namespace {

using grammar::TokenMask;
using grammar::TokenTrie;

// Of masks of raw strings together, per grammar.
constexpr size_t kMaxRawBytes = size_t{16} << 20;

// The bytes with which a mark of the form may become whole, or a call begin.
std::string deciding_bytes(const CallForm& form) {
  std::string bytes;
  for (const Watch* watch : {&form.trigger, &form.reasoning_end}) {
    if (!watch->text().empty()) bytes += watch->text().back();
  }
  for (const Watch& watch : form.forbidden) bytes += watch.text().back();
  if (form.bare) bytes += '{';
  return bytes;
}

// The bytes with which what may be the end of a raw string begins.
std::string ending_bytes(const CallForm& form) {
  std::string bytes;
  if (!form.string_end.empty()) bytes += form.string_end[0];
  if (!form.value_mark.text().empty()) bytes += form.value_mark.text()[0];
  return bytes;
}

}  // namespace

CallMasks::CallMasks(std::shared_ptr<CallMachine> machine,
                     std::shared_ptr<const grammar::VocabularyIndex> vocabulary)
    : machine_(std::move(machine)),
      vocabulary_(std::move(vocabulary)),
      json_masks_(
          // The machine keeps it.
          std::shared_ptr<grammar::JsonMachine>(machine_, &machine_->json()),
          vocabulary_),
      plain_(vocabulary_->size()) {
  const std::string deciding = deciding_bytes(machine_->form());
  const std::string ending = ending_bytes(machine_->form());
  std::vector<TokenTrie::Entry> decides, inner, ends;
  for (size_t i = 0; i < vocabulary_->size(); ++i) {
    const auto token = static_cast<int32_t>(i);
    const std::string_view text = vocabulary_->text(token);
    if (text.empty() || vocabulary_->is_end(token)) continue;
    if (text.find_first_of(deciding) == text.npos) {
      plain_.set(token);
    } else {
      decides.emplace_back(text, token);
    }
    (text.find_first_of(ending) == text.npos ? inner : ends)
        .emplace_back(text, token);
  }
  deciding_ = TokenTrie(std::move(decides));
  inner_ = TokenTrie(std::move(inner));
  ending_ = TokenTrie(std::move(ends));
}

void CallMasks::fill(const State& state, Walker* walker, TokenMask* mask) {
  using Stage = CallMachine::Stage;
  switch (state.stage) {
    case Stage::kText:
    case Stage::kReasoning:
      return fill_text(state, walker, mask);
    case Stage::kJson:
      return fill_json(state, walker, mask);
    case Stage::kValue:
      if (state.raw && !state.or_null && state.held.empty() &&
          state.json.partial.none()) {
        return fill_raw(state, walker, mask);
      }
      [[fallthrough]];
    default:
      walker->walk(vocabulary_->all(), state, mask);
  }
}

void CallMasks::fill_text(const State& state, Walker* walker, TokenMask* mask) {
  mask->add(plain_);
  walker->walk(deciding_, state, mask);
}

// Tokens that stay within a string are the same wherever the JSON is; a token
// that leaves it may go beyond the end of the JSON.
void CallMasks::fill_json(const State& state, Walker* walker, TokenMask* mask) {
  if (machine_->reading(state) != CallMachine::Reading::kContent) {
    return walker->walk(vocabulary_->all(), state, mask);
  }
  grammar::JsonMasks::Walker json_walker(&machine_->json());
  json_masks_.fill_content(state.json, &json_walker, mask);
  walker->walk(vocabulary_->quote_first(), state, mask);
  walker->walk(vocabulary_->quote_odd(), state, mask);
  walker->walk(vocabulary_->quote_later(), state, mask);
}

void CallMasks::fill_raw(const State& state, Walker* walker, TokenMask* mask) {
  MaskPtr known;
  {
    const std::lock_guard lock(mutex_);
    const auto at = raw_.find(state.lex);
    if (at != raw_.end()) known = at->second;
  }
  if (known == nullptr) {
    auto computed = std::make_shared<TokenMask>(vocabulary_->size());
    walker->walk(inner_, state, computed.get());
    known = computed;
    const std::lock_guard lock(mutex_);
    if (raw_.size() * known->words().size() * sizeof(uint64_t) >=
        kMaxRawBytes) {
      raw_.clear();
    }
    raw_[state.lex] = known;
  }
  mask->add(*known);
  walker->walk(ending_, state, mask);
}

}  // namespace rc::text::chat

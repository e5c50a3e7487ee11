#include "engine/dry.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "engine/logit.h"
#include "text/tokenizer.h"

namespace rc::engine {
namespace {

// Counts the last tokens that equal the tokens that end at each place, at
// most `limit`: the Z-function of the reversed text (Gusfield 1997, section
// 1.3). (*same)[i] is of the tokens that end i before the last one.
void count_same(std::span<const TokenId> text, size_t limit,
                std::vector<size_t>* same) {
  const size_t size = text.size();
  const auto at = [&](size_t i) { return text[size - 1 - i]; };
  same->assign(size, 0);
  size_t begin = 0;
  size_t end = 0;  // the last stretch that is known to be the same
  for (size_t i = 1; i < size; ++i) {
    size_t count = i < end ? std::min(end - i, (*same)[i - begin]) : 0;
    while (i + count < size && count < limit && at(count) == at(i + count)) {
      ++count;
    }
    (*same)[i] = count;
    if (i + count > end) {
      begin = i;
      end = i + count;
    }
  }
}

}  // namespace

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const size_t size = std::max<size_t>(decode_utf8(text).size, 1);
    characters.emplace_back(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  return characters;
}

Dry::Dry(const SamplingOptions& options,
         std::shared_ptr<const text::Tokenizer> tokenizer)
    : multiplier_(options.dry_multiplier),
      base_(options.dry_base),
      allowed_length_(static_cast<size_t>(options.dry_allowed_length)),
      tokens_(options.dry_tokens),
      tokenizer_(std::move(tokenizer)) {
  if (is_on() && tokenizer_ != nullptr) {
    breakers_ = characters_of(options.breakers.value_or("\n:\"*"));
    known_.assign(static_cast<size_t>(tokenizer_->size()), -1);
  }
}

bool Dry::breaks(TokenId token) {
  // No row repeats another.
  if (token == kNoToken) return true;
  const auto index = static_cast<size_t>(token);
  if (index >= known_.size()) return false;
  if (known_[index] < 0) {
    const std::string text = tokenizer_->token_bytes(token);
    known_[index] =
        tokenizer_->token_type(token) == text::TokenType::kControl ||
        std::any_of(breakers_.begin(), breakers_.end(),
                    [&](const std::string& breaker) {
                      return text.find(breaker) != text.npos;
                    });
  }
  return known_[index] > 0;
}

// multiplier * base^(repeated - allowed_length), by squaring, so that it is the
// same everywhere.
float Dry::penalty(size_t repeated) const {
  double power = 1.0;
  double square = base_;
  for (size_t left = repeated - allowed_length_; left > 0; left /= 2) {
    if (left % 2 != 0) power *= square;
    square = std::min(square * square, 1e300);
    power = std::min(power, 1e300);
  }
  return static_cast<float>(std::min<double>(power * multiplier_, kLargest));
}

void Dry::penalize(std::span<const TokenId> history, std::span<float> logits) {
  if (tokens_ >= 0 && history.size() > static_cast<size_t>(tokens_)) {
    history = history.last(static_cast<size_t>(tokens_));
  }
  size_t limit = 0;  // of tokens since the last breaker
  while (limit < history.size() &&
         !breaks(history[history.size() - 1 - limit])) {
    ++limit;
  }
  if (limit < allowed_length_ || history.size() < 2) return;
  count_same(history, limit, &same_);
  longest_.resize(logits.size());
  touched_.clear();
  for (size_t i = 1; i < history.size(); ++i) {
    const TokenId next = history[history.size() - i];
    if (same_[i] < allowed_length_ || same_[i] == 0 || breaks(next)) continue;
    size_t& longest = longest_[static_cast<size_t>(next)];
    if (longest == 0) touched_.push_back(next);
    longest = std::max(longest, same_[i]);
  }
  for (const TokenId token : touched_) {
    const auto index = static_cast<size_t>(token);
    float& logit = logits[index];
    if (logit >= -kLargest) {
      logit = std::max(logit - penalty(longest_[index]), -kLargest);
    }
    longest_[index] = 0;
  }
}

}  // namespace rc::engine

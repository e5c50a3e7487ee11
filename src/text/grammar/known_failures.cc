#include "text/grammar/known_failures.h"

namespace rc::text::grammar {
namespace {

TextHash key_of(const TextHash& text, KnownFailures::Call call) {
  return text.after(static_cast<uint64_t>(call));
}

}  // namespace

struct KnownFailures::Registry {
  std::mutex mutex;
  std::map<TextHash, std::shared_ptr<KnownFailures>> grammars;
  std::deque<TextHash> order;
};

// Never destroyed: threads may compile grammars while the process exits.
KnownFailures::Registry& KnownFailures::registry() {
  static Registry* const kRegistry = new Registry;
  return *kRegistry;
}

std::shared_ptr<KnownFailures> KnownFailures::of(const TextHash& grammar) {
  Registry& all = registry();
  std::shared_ptr<KnownFailures> known;
  {
    const std::lock_guard lock(all.mutex);
    const auto at = all.grammars.find(grammar);
    if (at != all.grammars.end()) known = at->second;
  }
  if (known == nullptr) return std::make_shared<KnownFailures>(grammar);
  for (const Call call :
       {Call::kCompile, Call::kMask, Call::kForced, Call::kComplete}) {
    known->check(TextHash(), call);
  }
  return known;
}

void KnownFailures::check(const TextHash& text, Call call) const {
  if (!any()) return;
  const std::lock_guard lock(mutex_);
  const auto at = errors_.find(key_of(text, call));
  if (at != errors_.end()) throw Error(at->second);
}

void KnownFailures::add(const TextHash& text, Call call, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    const TextHash key = key_of(text, call);
    if (!errors_.emplace(key, error).second) return;
    order_.push_back(key);
    if (order_.size() > kMostTexts) {
      errors_.erase(order_.front());
      order_.pop_front();
    }
    any_.store(true, std::memory_order_release);
  }
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!all.grammars.emplace(grammar_, shared_from_this()).second) return;
  all.order.push_back(grammar_);
  if (all.order.size() > kMostGrammars) {
    all.grammars.erase(all.order.front());
    all.order.pop_front();
  }
}

}  // namespace rc::text::grammar

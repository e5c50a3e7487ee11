// The failures of a grammar, which are remembered so that the work that led to
// them is done once.
//
// A failure belongs to the text so far: under the same grammar the same text
// fails again. Grammars that are compiled again from the same source share
// their failures.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "text/grammar/text_hash.h"

namespace rc::text::grammar {

// For several threads at a time.
class KnownFailures : public std::enable_shared_from_this<KnownFailures> {
 public:
  // The functions of a matcher, and compiling.
  enum class Call : uint8_t { kCompile, kMask, kForced, kComplete, kAccept };

  explicit KnownFailures(const TextHash& grammar) : grammar_(grammar) {}

  // The failures of grammars with the hash of this source. Throws the error
  // with which one failed to compile, or before its text had begun.
  static std::shared_ptr<KnownFailures> of(const TextHash& grammar);

  // Whether there are any.
  bool any() const { return any_.load(std::memory_order_acquire); }
  // Throws the error with which the call failed for this text; nothing if it
  // is not known to fail.
  void check(const TextHash& text, Call call) const;
  // Remembers an error; the oldest ones are forgotten.
  void add(const TextHash& text, Call call, const Error& error);

 private:
  static constexpr size_t kMostTexts = 256;     // of a grammar
  static constexpr size_t kMostGrammars = 256;  // of the process

  struct Registry;
  static Registry& registry();

  const TextHash grammar_;
  std::atomic<bool> any_ = false;
  mutable std::mutex mutex_;
  std::map<TextHash, Error> errors_;
  std::deque<TextHash> order_;
};

}  // namespace rc::text::grammar

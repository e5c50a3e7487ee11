#include "engine/decoding.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/core.h"

namespace rc::engine {

Decoding::Decoding(std::shared_ptr<SessionState> session, bool all_logits,
                   std::shared_ptr<DecodeListener> listener)
    : Job(std::move(session)),
      all_logits_(all_logits),
      listener_(std::move(listener)) {}

void Decoding::wait() {
  std::unique_lock lock(mutex_);
  engine::wait(changed_, lock, [&] { return ended_; });
  if (status_ == RC_E_OUT_OF_MEMORY) throw std::bad_alloc();
  if (status_ != RC_OK) throw Error(status_, message_);
}

std::optional<End> Decoding::begin(Core& core) {
  SessionState& session = this->session();
  session.logits_rows = 0;
  if (session.items.empty()) {
    fail(RC_E_INVALID_ARGUMENT,
         "the session is empty: append tokens before decode");
  }
  const int64_t last = session.size() - 1;
  // A state may be that of fewer tokens.
  first_ = all_logits_ ? std::max(std::min(session.residence.evaluated, last),
                                  session.source)
                       : last;
  if (session.residence.evaluated > last) core.pages().truncate(session, last);
  session.logits.resize(static_cast<size_t>(session.size() - first_) *
                        core.vocabulary());
  prompt_tokens = session.size() - session.metered;
  wants_prefix = true;
  return std::nullopt;
}

std::optional<End> Decoding::take(Core& core, const RowLogits& logits) {
  SessionState& session = this->session();
  const auto vocabulary = static_cast<int64_t>(core.vocabulary());
  // Rows before the first are those of pages that were lost meanwhile.
  const int64_t skipped = std::max<int64_t>(first_ - logits.begin, 0);
  if (skipped < logits.count) {
    std::copy(logits.values.begin() + skipped * vocabulary, logits.values.end(),
              session.logits.begin() +
                  (logits.begin + skipped - first_) * vocabulary);
  }
  if (logits.begin + logits.count < session.size()) return std::nullopt;
  session.logits_rows = static_cast<size_t>(session.size() - first_);
  return End{RC_END_STOP, RC_OK};
}

void Decoding::ended(const End& end, const char* message) noexcept {
  if (const auto listener = std::move(listener_)) {
    listener->decoded(end.status, message);
    return;
  }
  const std::lock_guard lock(mutex_);
  status_ = end.status;
  std::snprintf(message_, sizeof message_, "%s", message);
  ended_ = true;
  changed_.notify_one();
}

}  // namespace rc::engine

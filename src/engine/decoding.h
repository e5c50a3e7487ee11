// A decode: evaluates what a session has not evaluated and keeps the logits.
//
// Waited for on the caller's thread, or reported to a listener; everything else
// on the engine thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/job.h"

namespace rc::engine {

class Decoding final : public Job, public Request {
 public:
  // `listener` nullptr: it is waited for.
  Decoding(std::shared_ptr<SessionState> session, bool all_logits,
           std::shared_ptr<DecodeListener> listener = nullptr);

  // Blocks until the end; throws if it failed.
  void wait();

  void cancel() noexcept override { cancel_job(); }
  // A caller that waits holds the session's lock instead.
  bool in_flight() const override { return listener_ != nullptr; }

  std::optional<End> begin(Core& core) override;
  std::optional<End> take(Core& core, const RowLogits& logits) override;
  void ended(const End& end, const char* message) noexcept override;
  int64_t outputs() const override { return all_logits_ ? kEveryRow : 1; }

 private:
  const bool all_logits_;
  std::shared_ptr<DecodeListener> listener_;  // until the end
  int64_t first_ = 0;  // the position of the first row of logits

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  rc_status status_ = RC_OK;
  char message_[1024] = "";
};

}  // namespace rc::engine

// A decode: evaluates what a session has not evaluated and keeps the logits.
//
// Waited for on the caller's thread, everything else on the engine thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/job.h"

namespace rc::engine {

class Decoding final : public Job {
 public:
  Decoding(std::shared_ptr<Engine> engine,
           std::shared_ptr<CommandQueue> commands,
           std::shared_ptr<SessionState> session, bool all_logits);

  // Blocks until the end; throws if it failed.
  void wait();

  std::optional<End> begin(Core& core) override;
  std::optional<End> take(Core& core, const RowLogits& logits) override;
  void ended(const End& end, const char* message) noexcept override;
  int64_t outputs() const override { return all_logits_ ? kEveryRow : 1; }

 private:
  const bool all_logits_;
  int64_t first_ = 0;  // the position of the first row of logits

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  rc_status status_ = RC_OK;
  char message_[1024] = "";
};

}  // namespace rc::engine

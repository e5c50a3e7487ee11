// The handle of embeddings and scores: rows in the making, or made.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "api/handle.h"
#include "api/handle_account.h"
#include "engine/embedding.h"
#include "runcible/embed.h"

namespace rc::api {

// Shared by handles and the work that makes the rows. Thread-safe.
class EmbeddingWork {
 public:
  // Throws RC_E_QUOTA.
  explicit EmbeddingWork(std::shared_ptr<HandleAccount> account)
      : slot_(std::move(account)) {}

  void cancel() noexcept { cancelled_.store(true); }
  bool cancelled() const noexcept { return cancelled_.load(); }

  // Ends the request with a status. Requires: the thread's message is set if
  // the status is an error.
  void end(rc_status status, engine::TextRows rows) noexcept;
  // Waits for the end. Throws the error of the request, or RC_E_TIMEOUT if it
  // has not ended within so many milliseconds (-1: no limit).
  void wait(int64_t timeout_ms);
  // Throws how it ended if that is an error, RC_E_BUSY if it has not.
  const engine::TextRows& rows();

 private:
  void throw_failure() const;

  HandleAccount::Slot slot_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  rc_status status_ = RC_OK;
  char message_[1024] = "";
  engine::TextRows rows_;
};

}  // namespace rc::api

struct rc_embedding {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kEmbedding;
  explicit rc_embedding(std::shared_ptr<rc::api::EmbeddingWork> work)
      : work(std::move(work)) {}

  const std::shared_ptr<rc::api::EmbeddingWork> work;
};

// Sessions that can go on on another engine: what others hold stays, what is
// behind it changes.
//
// Locks are taken in this order: that of a list, those of its sessions. Who
// moves sessions has them all to itself while it copies and until it has
// decided.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace rc::engine {

class MovableSession;

// The sessions of one model, as its handle has them. Thread-safe.
class SessionList {
 public:
  // The sessions that there are, under the lock of the list.
  std::vector<std::shared_ptr<MovableSession>> sessions();

  // Held while a session is made, so that none is missed.
  std::shared_mutex& mutex() { return mutex_; }
  // Under a shared lock of the list.
  void add(const std::shared_ptr<MovableSession>& session);

  // While this is so, generations are refused with RC_E_BUSY.
  void refuse(bool so) { refusing_ = so; }
  bool refusing() const { return refusing_; }

 private:
  std::shared_mutex mutex_;
  std::mutex entries_mutex_;
  std::vector<std::weak_ptr<MovableSession>> entries_;
  std::atomic<bool> refusing_{false};
};

class MovableSession final
    : public Session,
      public std::enable_shared_from_this<MovableSession> {
 public:
  // Under a shared lock of the list, to which it is added.
  static std::shared_ptr<MovableSession> create(
      std::shared_ptr<Session> session, std::shared_ptr<SessionList> list);

  std::shared_ptr<Engine> engine() const override;
  void append(std::vector<TokenId> tokens) override;
  void append_text(std::string_view text, uint32_t flags) override;
  void decode(bool all_logits) override;
  std::shared_ptr<Request> decode_later(
      bool all_logits, std::shared_ptr<DecodeListener> listener) override;
  Logits logits() override;
  int64_t position() override;
  std::vector<TokenId> tokens() override;
  void truncate(int64_t position) override;
  std::shared_ptr<Session> fork() override;
  std::vector<std::byte> save() override;
  void save(const std::string& path) override;
  SessionOptions options() const override;
  bool idle() const override;
  std::shared_ptr<Request> generate(
      RequestOptions options, std::shared_ptr<Listener> listener) override;

  // The right to exchange the session behind it. Everybody else waits.
  class Move {
   public:
    // `session` is alive as long as this.
    explicit Move(std::shared_ptr<MovableSession> session)
        : session_(std::move(session)), lock_(session_->mutex_) {}

    Session& session() const { return *session_->session_; }
    // What it holds, for Engine::restore_session; RC_E_BUSY as Session::save.
    std::vector<std::byte> save() const { return session().save(); }
    void prepare(std::shared_ptr<Session> next) { next_ = std::move(next); }
    // From now on it is the one that was prepared; gives the one before.
    std::shared_ptr<Session> commit() noexcept {
      session_->session_.swap(next_);
      lock_.unlock();
      return std::move(next_);
    }

   private:
    std::shared_ptr<MovableSession> session_;
    std::unique_lock<std::shared_mutex> lock_;
    std::shared_ptr<Session> next_;
  };

 private:
  // Throws RC_E_BUSY while it is moved: event loops, which call what begins
  // requests, are refused rather than kept waiting.
  std::shared_lock<std::shared_mutex> lock_unless_moved() const;

  MovableSession(std::shared_ptr<Session> session,
                 std::shared_ptr<SessionList> list)
      : session_(std::move(session)), list_(std::move(list)) {}

  mutable std::shared_mutex mutex_;  // of session_
  std::shared_ptr<Session> session_;
  const std::shared_ptr<SessionList> list_;
};

}  // namespace rc::engine

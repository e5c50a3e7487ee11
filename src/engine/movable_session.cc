#include "engine/movable_session.h"

#include <utility>

#include "base/error.h"

namespace rc::engine {
namespace {

using Using = std::shared_lock<std::shared_mutex>;

}  // namespace

std::vector<std::shared_ptr<MovableSession>> SessionList::sessions() {
  const std::lock_guard lock(entries_mutex_);
  std::vector<std::shared_ptr<MovableSession>> found;
  for (const auto& entry : entries_) {
    if (auto session = entry.lock()) found.push_back(std::move(session));
  }
  return found;
}

void SessionList::add(const std::shared_ptr<MovableSession>& session) {
  const std::lock_guard lock(entries_mutex_);
  // As often as it grows, so that adding stays cheap.
  if (entries_.size() == entries_.capacity()) {
    std::erase_if(entries_, [](const auto& entry) { return entry.expired(); });
  }
  entries_.push_back(session);
}

std::shared_ptr<MovableSession> MovableSession::create(
    std::shared_ptr<Session> session, std::shared_ptr<SessionList> list) {
  const std::shared_ptr<MovableSession> made(
      new MovableSession(std::move(session), std::move(list)));
  made->list_->add(made);
  return made;
}

std::shared_ptr<Engine> MovableSession::engine() const {
  const Using lock(mutex_);
  return session_->engine();
}

void MovableSession::append(std::vector<TokenId> tokens) {
  const Using lock(mutex_);
  session_->append(std::move(tokens));
}

void MovableSession::append_text(std::string_view text, uint32_t flags) {
  const Using lock(mutex_);
  session_->append_text(text, flags);
}

void MovableSession::decode(bool all_logits) {
  const Using lock(mutex_);
  session_->decode(all_logits);
}

Session::Logits MovableSession::logits() {
  const Using lock(mutex_);
  return session_->logits();
}

int64_t MovableSession::position() {
  const Using lock(mutex_);
  return session_->position();
}

std::vector<TokenId> MovableSession::tokens() {
  const Using lock(mutex_);
  return session_->tokens();
}

void MovableSession::truncate(int64_t position) {
  const Using lock(mutex_);
  session_->truncate(position);
}

std::shared_ptr<Session> MovableSession::fork() {
  const Using list_lock(list_->mutex());
  const Using lock(mutex_);
  return create(session_->fork(), list_);
}

std::vector<std::byte> MovableSession::save() {
  const Using lock(mutex_);
  return session_->save();
}

void MovableSession::save(const std::string& path) {
  const Using lock(mutex_);
  session_->save(path);
}

SessionOptions MovableSession::options() const {
  const Using lock(mutex_);
  return session_->options();
}

bool MovableSession::idle() const {
  const Using lock(mutex_);
  return session_->idle();
}

std::shared_ptr<Request> MovableSession::generate(
    RequestOptions options, std::shared_ptr<Listener> listener) {
  const Using lock = lock_unless_moved();
  return session_->generate(std::move(options), std::move(listener));
}

std::shared_ptr<Request> MovableSession::decode_later(
    bool all_logits, std::shared_ptr<DecodeListener> listener) {
  const Using lock = lock_unless_moved();
  return session_->decode_later(all_logits, std::move(listener));
}

std::shared_lock<std::shared_mutex> MovableSession::lock_unless_moved() const {
  Using lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || list_->refusing()) {
    fail(RC_E_BUSY,
         "the backend is being switched, and the session with it; try again "
         "when that is over");
  }
  return lock;
}

}  // namespace rc::engine

#include "engine/session_list.h"

#include <algorithm>
#include <chrono>

#include "engine/session_state.h"
#include "engine/turns.h"

namespace rc::engine {
namespace {

// The time between two questions to a waiting caller whether to stop.
constexpr std::chrono::milliseconds kBetweenQuestions(10);

}  // namespace

void SessionList::add(const std::shared_ptr<SessionState>& session) {
  // As often as it grows, so that adding stays cheap.
  if (entries_.size() == entries_.capacity()) {
    std::erase_if(entries_, [](const auto& entry) { return entry.expired(); });
  }
  entries_.push_back(session);
}

void SessionList::remove(const SessionState& session) noexcept {
  std::erase_if(entries_, [&](const auto& entry) {
    return entry.lock().get() == &session;
  });
}

std::vector<std::shared_ptr<SessionState>> SessionList::sessions() const {
  std::vector<std::shared_ptr<SessionState>> found;
  for (const auto& entry : entries_) {
    if (auto session = entry.lock()) found.push_back(std::move(session));
  }
  return found;
}

void SessionList::begin_requests(int64_t count) noexcept {
  const std::lock_guard lock(requests_mutex_);
  requests_ += count;
}

void SessionList::end_requests(int64_t count) noexcept {
  const std::lock_guard lock(requests_mutex_);
  requests_ -= count;
  if (requests_ == 0) changed_.notify_all();
}

void SessionList::wait_until_idle(
    std::optional<std::chrono::steady_clock::time_point> until,
    const std::function<bool()>& should_stop) {
  const auto idle = [this] { return requests_ == 0; };
  std::unique_lock lock(requests_mutex_);
  if (!should_stop && !until) return wait(changed_, lock, idle);
  while (!idle() && !(should_stop && should_stop())) {
    const auto now = std::chrono::steady_clock::now();
    if (until && now >= *until) return;
    auto next = until.value_or(now + kBetweenQuestions);
    if (should_stop) next = std::min(next, now + kBetweenQuestions);
    wait_until(changed_, lock, next, idle);
  }
}

bool SessionState::begin_request(bool alone) noexcept {
  const std::lock_guard lock(list_mutex_);
  int64_t others = 0;
  if (!alone) {
    in_flight.fetch_add(1);
  } else if (!in_flight.compare_exchange_strong(others, 1)) {
    return false;
  }
  if (list_ != nullptr) list_->begin_requests(1);
  return true;
}

void SessionState::end_request() noexcept {
  const std::lock_guard lock(list_mutex_);
  in_flight.fetch_sub(1);
  if (list_ != nullptr) list_->end_requests(1);
}

std::shared_ptr<SessionList> SessionState::list() const noexcept {
  const std::lock_guard lock(list_mutex_);
  return list_;
}

void SessionState::change_list(std::shared_ptr<SessionList> list) noexcept {
  const std::lock_guard lock(list_mutex_);
  const int64_t requests = in_flight.load();
  list->begin_requests(requests);
  if (list_ != nullptr) list_->end_requests(requests);
  list_ = std::move(list);
}

}  // namespace rc::engine

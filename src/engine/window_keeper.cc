#include "engine/window_keeper.h"

#include <algorithm>

#include "engine/job.h"

namespace rc::engine {

size_t WindowSize::first_seen(int64_t position) const {
  return static_cast<size_t>(std::max<int64_t>(position - window + 1, 0) /
                             page_size);
}

int64_t WindowSize::most_pages(int64_t tokens) const {
  return std::min(pages_for(tokens), pages_for(window) + 3) + 3;
}

WindowKeeper::WindowKeeper(model::ResidentModel& model)
    : model_(model),
      size_{model::widest_window(model.file().hyper_parameters()),
            model.options().cache.page_size},
      pool_(model.options().cache.window_pages) {}

size_t WindowKeeper::jobs_at_ease() const {
  const int64_t pages =
      pool_.size() - size_.pages_of_step(model_.options().limits.max_rows);
  return static_cast<size_t>(
      std::max<int64_t>(pages / size_.most_pages(INT64_MAX / 2), 1));
}

size_t WindowKeeper::most_jobs(
    std::span<const std::shared_ptr<Job>> jobs) const {
  int64_t pages =
      pool_.size() - size_.pages_of_step(model_.options().limits.max_rows);
  size_t most = 0;
  for (; most < jobs.size(); ++most) {
    pages -= size_.most_pages(jobs[most]->session().size());
    if (pages < 0 && most > 0) break;
  }
  return most;
}

bool WindowKeeper::reaches(const SessionState& session,
                           int64_t position) const {
  return !any() || position == 0 ||
         session.window_begin <= size_.first_seen(position);
}

int64_t WindowKeeper::last_reachable(const SessionState& session, int64_t begin,
                                     int64_t end) const {
  if (!any()) return end;
  int64_t reachable = begin;
  size_t first = session.window_begin;  // of the unbroken row of pages
  for (int64_t at = begin; at < end; at += size_.page_size) {
    const auto i = static_cast<size_t>(at / size_.page_size);
    if (session.entries[i]->window_page == kNoPage) first = i + 1;
    const int64_t after = at + size_.page_size;
    if (first <= size_.first_seen(after)) reachable = after;
  }
  return reachable;
}

void WindowKeeper::take_cached(SessionState& session) noexcept {
  if (!any()) return;
  const size_t first = size_.first_seen(session.evaluated);
  while (session.window_pages.size() < session.pages.size()) {
    const size_t i = session.window_pages.size();
    const PageId page = i < first ? kNoPage : session.entries[i]->window_page;
    if (page != kNoPage) pool_.retain(page);
    session.window_pages.push_back(page);  // reserved by PageKeeper::prepare
  }
  give_back_before(session, first);
}

bool WindowKeeper::make_room(SessionState& session) {
  if (!any()) return true;
  const auto next = static_cast<size_t>(session.evaluated / size_.page_size);
  if (session.evaluated % size_.page_size != 0 &&
      pool_.references(session.window_pages[next]) > 1) {
    const PageId copy = pool_.allocate();
    if (copy == kNoPage) return false;
    PageId& page = session.window_pages[next];
    try {
      model_.caches(model::LayerState::Kind::kWindow).copy(copy, page);
    } catch (...) {
      pool_.release(copy);
      throw;
    }
    pool_.release(page);
    page = copy;
  }
  while (session.window_pages.size() < session.pages.size()) {
    const PageId page = pool_.allocate();
    if (page == kNoPage) return false;
    session.window_pages.push_back(page);
  }
  return true;
}

void WindowKeeper::give_back(SessionState& session) noexcept {
  if (!any()) return;
  // One page more stays, for going back.
  give_back_before(session,
                   size_.first_seen(session.evaluated - size_.page_size));
}

void WindowKeeper::give_back_before(SessionState& session,
                                    size_t first) noexcept {
  for (; session.window_begin < first; ++session.window_begin) {
    PageId& page = session.window_pages[session.window_begin];
    if (page != kNoPage) pool_.release(page);
    page = kNoPage;
  }
}

void WindowKeeper::cut(SessionState& session) noexcept {
  while (session.window_pages.size() > session.pages.size()) {
    const PageId page = session.window_pages.back();
    if (page != kNoPage) pool_.release(page);
    session.window_pages.pop_back();
  }
  session.window_begin =
      std::min(session.window_begin, session.window_pages.size());
}

void WindowKeeper::share(const SessionState& from, SessionState& to) noexcept {
  for (const PageId page : from.window_pages) {
    if (page != kNoPage) pool_.retain(page);
    to.window_pages.push_back(page);  // reserved by PageKeeper::prepare
  }
  to.window_begin = from.window_begin;
}

void WindowKeeper::begin_at(SessionState& session, size_t first) noexcept {
  session.window_pages.assign(first, kNoPage);
  session.window_begin = first;
}

}  // namespace rc::engine

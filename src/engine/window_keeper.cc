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
         session.residence.window_begin <= size_.first_seen(position);
}

int64_t WindowKeeper::last_reachable(const SessionState& session, int64_t begin,
                                     int64_t end) const {
  const Residence& here = session.residence;
  if (!any()) return end;
  int64_t reachable = begin;
  size_t first = here.window_begin;  // of the unbroken row of pages
  for (int64_t at = begin; at < end; at += size_.page_size) {
    const auto i = static_cast<size_t>(at / size_.page_size);
    if (here.entries[i]->window_page == kNoPage) first = i + 1;
    const int64_t after = at + size_.page_size;
    if (first <= size_.first_seen(after)) reachable = after;
  }
  return reachable;
}

void WindowKeeper::take_cached(SessionState& session) noexcept {
  Residence& here = session.residence;
  if (!any()) return;
  const size_t first = size_.first_seen(here.evaluated);
  while (here.window_pages.size() < here.pages.size()) {
    const size_t i = here.window_pages.size();
    const PageId page = i < first ? kNoPage : here.entries[i]->window_page;
    if (page != kNoPage) pool_.retain(page);
    here.window_pages.push_back(page);  // reserved by PageKeeper::prepare
  }
  give_back_before(session, first);
}

bool WindowKeeper::make_room(SessionState& session) {
  Residence& here = session.residence;
  if (!any()) return true;
  const auto next = static_cast<size_t>(here.evaluated / size_.page_size);
  if (here.evaluated % size_.page_size != 0 &&
      pool_.references(here.window_pages[next]) > 1) {
    const PageId copy = pool_.allocate();
    if (copy == kNoPage) return false;
    PageId& page = here.window_pages[next];
    try {
      model_.caches(model::LayerState::Kind::kWindow).copy(copy, page);
    } catch (...) {
      pool_.release(copy);
      throw;
    }
    pool_.release(page);
    page = copy;
  }
  while (here.window_pages.size() < here.pages.size()) {
    const PageId page = pool_.allocate();
    if (page == kNoPage) return false;
    here.window_pages.push_back(page);
  }
  return true;
}

void WindowKeeper::give_back(SessionState& session) noexcept {
  if (!any()) return;
  // One page more stays, for going back.
  give_back_before(
      session, size_.first_seen(session.residence.evaluated - size_.page_size));
}

void WindowKeeper::give_back_before(SessionState& session,
                                    size_t first) noexcept {
  Residence& here = session.residence;
  for (; here.window_begin < first; ++here.window_begin) {
    PageId& page = here.window_pages[here.window_begin];
    if (page != kNoPage) pool_.release(page);
    page = kNoPage;
  }
}

void WindowKeeper::cut(SessionState& session) noexcept {
  Residence& here = session.residence;
  while (here.window_pages.size() > here.pages.size()) {
    const PageId page = here.window_pages.back();
    if (page != kNoPage) pool_.release(page);
    here.window_pages.pop_back();
  }
  here.window_begin = std::min(here.window_begin, here.window_pages.size());
}

void WindowKeeper::share(const SessionState& from, SessionState& to) noexcept {
  for (const PageId page : from.residence.window_pages) {
    if (page != kNoPage) pool_.retain(page);
    to.residence.window_pages.push_back(
        page);  // reserved by PageKeeper::prepare
  }
  to.residence.window_begin = from.residence.window_begin;
}

void WindowKeeper::begin_at(SessionState& session, size_t first) noexcept {
  Residence& here = session.residence;
  here.window_pages.assign(first, kNoPage);
  here.window_begin = first;
}

}  // namespace rc::engine

#include "engine/page_keeper.h"

#include <algorithm>
#include <utility>

namespace rc::engine {

PageKeeper::PageKeeper(model::ResidentModel& model, bool prefix_cache)
    : model_(model),
      page_size_(model.options().cache.page_size),
      prefix_cache_(prefix_cache),
      pool_(model.options().cache.pages),
      cache_(pool_),
      holders_(static_cast<size_t>(model.options().cache.pages)) {}

void PageKeeper::prepare(SessionState& session) const {
  const auto most =
      static_cast<size_t>(pages_for(session.options.context_length));
  session.pages.reserve(most);
  session.entries.reserve(most);
}

void PageKeeper::add(std::shared_ptr<SessionState> session) {
  SessionState& added = *session;
  sessions_.push_back(std::move(session));
  added.kept = true;
}

void PageKeeper::sweep() noexcept {
  std::erase_if(sessions_, [&](const std::shared_ptr<SessionState>& session) {
    if (session->open || !session->jobs.empty()) return false;
    truncate(*session, 0);
    return true;
  });
}

void PageKeeper::attach_prefix(SessionState& session) noexcept {
  if (!prefix_cache_ || !session.computed_here) return;
  while (session.evaluated % page_size_ == 0 &&
         session.entries.size() == session.pages.size() &&
         session.evaluated + page_size_ < session.size()) {
    const std::span tokens =
        std::span(session.tokens)
            .subspan(static_cast<size_t>(session.evaluated),
                     static_cast<size_t>(page_size_));
    const auto* parent =
        session.entries.empty() ? nullptr : session.entries.back();
    const auto* entry = cache_.find(parent, tokens);
    if (entry == nullptr) return;
    pool_.retain(entry->page);
    session.pages.push_back(entry->page);  // reserved by prepare()
    session.entries.push_back(entry);
    session.evaluated += page_size_;
  }
}

void PageKeeper::publish(SessionState& session) noexcept {
  if (!prefix_cache_ || !session.computed_here) return;
  const auto full = static_cast<size_t>(session.evaluated / page_size_);
  while (session.entries.size() < full) {
    const size_t i = session.entries.size();
    const auto* parent =
        session.entries.empty() ? nullptr : session.entries.back();
    const std::span tokens = std::span(session.tokens)
                                 .subspan(i * static_cast<size_t>(page_size_),
                                          static_cast<size_t>(page_size_));
    try {
      const auto* entry = cache_.insert(parent, tokens, session.pages[i]);
      // Another session may have computed the same: one copy is enough.
      if (entry->page != session.pages[i]) {
        pool_.retain(entry->page);
        pool_.release(session.pages[i]);
        session.pages[i] = entry->page;
      }
      session.entries.push_back(entry);
    } catch (...) {
      return;  // Out of memory: then this page is not shared.
    }
  }
}

bool PageKeeper::shares_next_page(const SessionState& session) const {
  return session.evaluated % page_size_ != 0 &&
         pool_.references(session.pages[next_page(session)]) > 1;
}

bool PageKeeper::make_room(SessionState& session, int64_t rows) {
  if (shares_next_page(session)) {
    const PageId copy = allocate();
    if (copy == kNoPage) return false;
    PageId& page = session.pages[next_page(session)];
    try {
      model_.copy_page(copy, page);
    } catch (...) {
      pool_.release(copy);
      throw;
    }
    pool_.release(page);
    page = copy;
  }
  const int64_t wanted = pages_for(session.evaluated + rows);
  while (static_cast<int64_t>(session.pages.size()) < wanted) {
    const PageId page = allocate();
    if (page == kNoPage) {
      truncate(session, session.evaluated);
      return false;
    }
    session.pages.push_back(page);
  }
  return true;
}

void PageKeeper::truncate(SessionState& session, int64_t position) noexcept {
  session.evaluated = std::min(session.evaluated, position);
  const auto wanted = static_cast<size_t>(pages_for(session.evaluated));
  while (session.pages.size() > wanted) drop_last_page(session);
  const auto full = static_cast<size_t>(session.evaluated / page_size_);
  if (session.entries.size() > full) session.entries.resize(full);
  if (session.evaluated == 0) session.computed_here = true;
}

void PageKeeper::share(const SessionState& from, SessionState& to) noexcept {
  for (PageId page : from.pages) {
    pool_.retain(page);
    to.pages.push_back(page);  // reserved by prepare()
  }
  for (const auto* entry : from.entries) to.entries.push_back(entry);
  to.evaluated = from.evaluated;
  to.computed_here = from.computed_here;
}

void PageKeeper::adopt(SessionState& session, int64_t evaluated,
                       std::span<const std::byte> data) {
  if (!make_room(session, evaluated)) return;
  const auto bytes = static_cast<size_t>(model_.page_bytes());
  try {
    for (size_t i = 0; i < session.pages.size(); ++i) {
      model_.upload_page(session.pages[i], data.subspan(i * bytes, bytes));
    }
  } catch (...) {
    truncate(session, 0);
    throw;
  }
  session.evaluated = evaluated;
  session.computed_here = evaluated == 0;
}

void PageKeeper::count_holders() {
  std::fill(holders_.begin(), holders_.end(), 0);
  held_ = 0;
  for (const auto& session : sessions_) {
    if (session->begun_job() == nullptr) continue;
    for (PageId page : session->pages) {
      if (holders_[static_cast<size_t>(page)]++ == 0) ++held_;
    }
  }
}

int64_t PageKeeper::pages_held_alone(const SessionState& session) const {
  return std::count_if(
      session.pages.begin(), session.pages.end(),
      [&](PageId page) { return holders_[static_cast<size_t>(page)] == 1; });
}

void PageKeeper::drop_idle() noexcept {
  while (take_from_idle()) {
  }
  while (cache_.evict()) {
  }
}

PageId PageKeeper::allocate() noexcept {
  for (;;) {
    const PageId page = pool_.allocate();
    if (page != kNoPage) return page;
    if (!cache_.evict() && !take_from_idle()) return kNoPage;
  }
}

// Drops the last page of the idle session that was used longest ago.
bool PageKeeper::take_from_idle() noexcept {
  SessionState* oldest = nullptr;
  for (const auto& session : sessions_) {
    if (session->begun_job() != nullptr || session->pages.empty()) continue;
    if (oldest == nullptr || session->last_used < oldest->last_used) {
      oldest = session.get();
    }
  }
  if (oldest == nullptr) return false;
  truncate(*oldest,
           (static_cast<int64_t>(oldest->pages.size()) - 1) * page_size_);
  return true;
}

void PageKeeper::drop_last_page(SessionState& session) noexcept {
  pool_.release(session.pages.back());
  session.pages.pop_back();
}

}  // namespace rc::engine

// Pages of layers with a window, in a separate pool. A session holds the pages
// that its next rows see and one more, so that it can go back a little. Older
// pages are released, so a long context takes hardly more pages than a short
// one.
//
// Belongs to the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/page_pool.h"
#include "engine/session_state.h"
#include "model/resident_model.h"

namespace rc::engine {

// The number of pages that the windows of sessions take.
struct WindowSize {
  int64_t window;     // positions that a row sees, itself included; 0: none
  int64_t page_size;  // positions

  int64_t pages_for(int64_t positions) const {
    return (positions + page_size - 1) / page_size;
  }
  // The number of the first page that a row at `position` sees.
  size_t first_seen(int64_t position) const;
  // The most pages of a session of so many tokens, but for the rows of a step:
  // first and last pages of which it needs a part, the one to go back to, and
  // the copy of one that was shared.
  int64_t most_pages(int64_t tokens) const;
  // The additional pages of the rows of one step, however they are shared out.
  int64_t pages_of_step(int64_t max_rows) const { return pages_for(max_rows); }
};

class WindowKeeper {
 public:
  explicit WindowKeeper(model::ResidentModel& model);

  // Whether there is such a layer, and a pool for it.
  bool any() const { return pool_.size() > 0; }
  PagePool& pool() { return pool_; }
  // Returns the number of jobs of any length that can have rows in turn without
  // losing their pages to each other, and the most of those in `jobs`, the
  // first ones.
  size_t jobs_at_ease() const;
  size_t most_jobs(std::span<const std::shared_ptr<Job>> jobs) const;

  // Whether the session has all that a row at `position` sees of earlier ones.
  bool reaches(const SessionState& session, int64_t position) const;
  // The last end of a page up to `end` that can be reached with pages that the
  // prefix cache still has, all of whose entries the session holds; at least
  // `begin`, which it reaches already.
  int64_t last_reachable(const SessionState& session, int64_t begin,
                         int64_t end) const;
  // Takes them, to go on from the end of the session's pages.
  void take_cached(SessionState& session) noexcept;

  // Gives the session a window page for each of its pages, and a copy of the
  // next one if that is shared. False: there are too few, and it has what there
  // were. Throws what the device throws.
  bool make_room(SessionState& session);
  // Gives back what the coming rows do not see.
  void give_back(SessionState& session) noexcept;
  // Gives back what is beyond the session's pages.
  void cut(SessionState& session) noexcept;
  // Gives `to`, which has none, those of `from`.
  void share(const SessionState& from, SessionState& to) noexcept;
  // The session, which has none, begins with page `first`.
  void begin_at(SessionState& session, size_t first) noexcept;

 private:
  void give_back_before(SessionState& session, size_t first) noexcept;

  model::ResidentModel& model_;
  const WindowSize size_;
  PagePool pool_;
};

}  // namespace rc::engine

// Moves sessions to other engines while their requests go on.
//
// First the evaluated part of each session is copied, some sessions at a time,
// while the engines go on. Then all sessions change at once, between two steps:
// their requests and the calls that wait go with them, and nothing is refused
// or waits for more than the step under way. What was evaluated since it was
// copied, and what the other engine cannot use, is evaluated again there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/saved_session.h"
#include "engine/session_list.h"

namespace rc::engine {

class Core;

class SessionMove {
 public:
  struct Model {
    std::shared_ptr<SessionList> sessions;
    std::shared_ptr<Engine> from;
    // One with the same weights; the same one if only the list changes.
    std::shared_ptr<Engine> to;
    // The only one of them that moves, and the list that it joins; nullptr: all
    // move, and stay in theirs.
    std::shared_ptr<SessionState> only = nullptr;
    std::shared_ptr<SessionList> joins = nullptr;
  };

  explicit SessionMove(std::vector<Model> models);

  // Throws RC_E_CANCELLED if should_stop() gives true. What a device does not
  // give, as one that is lost, is evaluated again.
  void copy(const std::function<bool()>& should_stop);
  // Moves them. Calls decided(), which must not throw, when nothing can fail
  // any more, on any thread, before the first session goes and under the locks
  // of all lists. Throws, with nothing changed, std::bad_alloc, and
  // RC_E_CONTEXT_FULL if a session has more tokens than it can have there.
  void run(const std::function<void()>& decided) {
    run_if([] { return true; }, decided);
  }
  // The same if may_go(), which is called under the locks of all lists, returns
  // true; returns whether it did.
  bool run_if(const std::function<bool()>& may_go,
              const std::function<void()>& decided);

 private:
  class Arrival;
  struct Departure;

  // On the engine thread.
  void copy(Core& core, const std::shared_ptr<SessionState>& session);
  // Calls function() while the engines from number `next` on wait between two
  // steps.
  void hold(size_t next, const std::function<void()>& function);
  static std::vector<std::shared_ptr<SessionState>> sessions_of(
      const Model& model);
  Departure prepare(const Model& model,
                    const std::shared_ptr<SessionState>& session);
  static void depart(Departure& departure) noexcept;
  // Under the locks of both lists.
  static void join(const Model& model);
  static void change_list(const Model& model) noexcept;

  const std::vector<Model> models_;
  std::vector<std::shared_ptr<Engine>> engines_;  // that sessions leave
  std::map<std::shared_ptr<SessionState>, SavedSession> copies_;
};

// Moves a session of a list, with its requests, to the engine of another list,
// which it joins. The others of both lists may move meanwhile, but not the
// session. Throws what SessionMove::copy() and run() do, to which the functions
// go, and RC_E_UNSUPPORTED for another model.
void move_session(const std::shared_ptr<SessionState>& session,
                  const Session::Destination& destination,
                  const std::function<bool()>& should_stop,
                  const std::function<void()>& decided);

}  // namespace rc::engine

// Where a session is: the loaded model to which it belongs, which it keeps.
// Shared by the handles that use the session. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "api/model.h"

namespace rc::api {

class SessionPlace {
 public:
  explicit SessionPlace(std::shared_ptr<const LoadedModel> model)
      : model_(std::move(model)) {}

  std::shared_ptr<const LoadedModel> model() const;

  // The session moves to another loaded model. Waits for a move under way.
  // Throws what engine::move_session() does.
  void move(engine::Session& session,
            const std::shared_ptr<const LoadedModel>& target,
            const std::function<bool()>& should_stop);

  // Calls make(), which makes another session of this one, and returns the
  // place of that. This one does not move meanwhile. Throws RC_E_BUSY if it is
  // moving.
  template <class Make>
  std::shared_ptr<SessionPlace> place_of(const Make& make) const {
    const std::shared_lock lock = hold();
    make();
    return std::make_shared<SessionPlace>(model());
  }

 private:
  std::shared_lock<std::shared_mutex> hold() const;

  mutable std::shared_mutex moving_;
  mutable std::mutex mutex_;  // held for moments only
  std::shared_ptr<const LoadedModel> model_;
};

}  // namespace rc::api

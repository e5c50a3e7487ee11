#include "api/session_place.h"

#include <utility>

#include "base/error.h"

namespace rc::api {

std::shared_ptr<const LoadedModel> SessionPlace::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

void SessionPlace::move(engine::Session& session,
                        const std::shared_ptr<const LoadedModel>& target,
                        const std::function<bool()>& should_stop) {
  // Kept until all locks are released, because it may be the last reference.
  std::shared_ptr<const LoadedModel> before;
  const std::unique_lock moving(moving_);
  const engine::Session::Destination destination = {
      target->sessions(), [&] { return target->engine(); }};
  session.move(destination, should_stop, [&] {
    const std::lock_guard lock(mutex_);
    before = std::exchange(model_, target);
  });
}

std::shared_lock<std::shared_mutex> SessionPlace::hold() const {
  std::shared_lock lock(moving_, std::try_to_lock);
  if (!lock.owns_lock()) fail(RC_E_BUSY, "the session is moving");
  return lock;
}

}  // namespace rc::api

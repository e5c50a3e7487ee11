// The handle of a session.
#pragma once

#include <memory>

#include "api/handle.h"
#include "api/model.h"
#include "engine/engine.h"
#include "runcible/session.h"

struct rc_session {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kSession;
  rc_session(std::shared_ptr<const rc::api::LoadedModel> model,
             std::shared_ptr<rc::engine::Session> session)
      : model(std::move(model)), session(std::move(session)) {}

  const std::shared_ptr<const rc::api::LoadedModel> model;
  const std::shared_ptr<rc::engine::Session> session;
};

// The handle of a session.
#pragma once

#include <memory>

#include "api/handle.h"
#include "api/model.h"
#include "api/session_place.h"
#include "engine/engine.h"
#include "runcible/session.h"

struct rc_session {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kSession;
  rc_session(std::shared_ptr<rc::api::HandleAccount> account,
             std::shared_ptr<const rc::model::ModelFile> file,
             std::shared_ptr<rc::api::SessionPlace> place,
             std::shared_ptr<rc::engine::Session> session,
             std::unique_ptr<rc::api::Tenant::Slot> slot)
      : account(std::move(account)),
        file(std::move(file)),
        place(std::move(place)),
        session(std::move(session)),
        slot(std::move(slot)) {}

  // Those of the model with which it was made, wherever it moves.
  const std::shared_ptr<rc::api::HandleAccount> account;
  const std::shared_ptr<const rc::model::ModelFile> file;
  const std::shared_ptr<rc::api::SessionPlace> place;
  const std::shared_ptr<rc::engine::Session> session;
  const std::unique_ptr<rc::api::Tenant::Slot> slot;  // of its tenant
};

namespace rc::api {

// Whether flags of rc_session_decode ask for all; throws RC_E_INVALID_ARGUMENT.
bool decodes_all_logits(uint32_t flags);

}  // namespace rc::api
